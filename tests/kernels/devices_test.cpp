// SPDX-License-Identifier: Apache-2.0
//
// Kernels on two devices, TUTTI_DEVICE=first,second: the same program takes the source of each.
#include "sources.hpp"
#include "tutti_test/arrays.hpp"

namespace {

const tutti::device& device_of(std::size_t i) { return tutti::devices().at(i); }

array ramp_on(const tutti::device& on) {
  std::vector<float> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i);
  return array::from(values, {1000}, on);
}

dense ramp_times(double factor) {
  return tabulate({1000}, [&](const position& i) { return factor * static_cast<double>(i[0]); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(one_program_on_both) {
  const tutti::kernel k = saxpy();
  for (const std::size_t i : {0, 1}) {
    const array x = ramp_on(device_of(i));
    const array out = k({x, x}, {.outputs = {{{1000}}}, .scalars = {3.f}})[0];
    BOOST_TEST((out.device() == device_of(i)));
    BOOST_TEST(matches(out, ramp_times(4)));
    const array made = k({1.0, 2.0}, {.outputs = {{{}}}, .scalars = {3.f}, .on = device_of(i)})[0];
    BOOST_TEST((made.device() == device_of(i)));
    BOOST_TEST(made.item() == 5);
  }
}

// The second device's kernel waits for the copy of what the first one's makes.
BOOST_AUTO_TEST_CASE(results_travel) {
  const tutti::kernel k = saxpy();
  array x = ramp_on(device_of(0));
  for (int round = 0; round < 6; ++round) {
    x = k({x, x}, {.outputs = {{{1000}}}, .scalars = {1.f}})[0].to(device_of((round + 1) % 2));
    x = x - 0.5f * x;
  }
  BOOST_TEST(matches(x, ramp_times(1)));
}

BOOST_AUTO_TEST_CASE(inputs_of_two_devices_are_refused) {
  const array here = ramp_on(device_of(0)), there = ramp_on(device_of(1));
  const tutti::kernel k = saxpy();
  FAILS(device_error, k({here, there}, {.outputs = {{{1000}}}, .scalars = {1.f}}),
        "kernel saxpy: operands are on different devices");
  FAILS(device_error,
        k({here, here}, {.outputs = {{{1000}}}, .scalars = {1.f}, .on = device_of(1)}),
        "move them with to()");
  FAILS(device_error, add_to()({here}, {.outputs = {{{1000}, tutti::dtype::f32, there}, {{1000}}}}),
        "move it with to()");
}

BOOST_AUTO_TEST_CASE(threads_on_both) {
  const tutti::kernel k = saxpy();
  std::vector<std::vector<float>> got(4);
  at_once(4, [&](int number) {
    const auto t = static_cast<std::size_t>(number);
    array x = ramp_on(device_of(t % 2));
    for (int round = 0; round < 8; ++round)
      x = k({x, x}, {.outputs = {{{1000}}}, .scalars = {1.f}})[0] * 0.5f;
    got[t] = x.to_vector<float>();
  });
  for (const auto& values : got)
    BOOST_TEST(all_close(std::vector<double>(values.begin(), values.end()), ramp_times(1).values));
}
