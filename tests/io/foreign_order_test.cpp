// SPDX-License-Identifier: Apache-2.0
//
// Owners of memory get it back when its own work has ended, whatever other devices are still at.
// TUTTI_DEVICE=first,second.
#include <future>

#include "tutti_test/arrays.hpp"
#include "tutti_test/dlpack.hpp"

BOOST_AUTO_TEST_CASE(owners_wait_for_their_own_work_only) {
  std::promise<void> gate;
  const std::shared_future<void> open = gate.get_future().share();
  const tutti::kernel slow({.name = "slow", .host = [open](const tutti::kernel_host_call& c) {
                              open.wait();
                              c.output<float>(0)[0] = c.input<float>(0)[3];
                            }});
  std::vector<float> memory = {1, 2, 3, 4};
  fate held, free;
  array busy =
      tutti::from_dlpack(produce(memory.data(), dl_f32, {4}, {}, held), tutti::devices().at(0));
  const array late = slow({busy}, {.outputs = {{{1}}}})[0];
  busy = {};
  for (int n = 1; n <= 3; ++n) {
    array other =
        tutti::from_dlpack(produce(memory.data(), dl_f32, {4}, {}, free), tutti::devices().at(1));
    const array sum = tutti::sum(other * 2.f);
    sum.eval();
    other = {};
    BOOST_TEST(sum.item() == 20);
    BOOST_TEST(eventually([&] { return free.deletions == n; }));
  }
  BOOST_TEST(held.deletions == 0);
  gate.set_value();
  BOOST_TEST(late.item() == 4);
  BOOST_TEST(eventually([&] { return held.deletions == 1; }));
}
