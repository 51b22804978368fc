// SPDX-License-Identifier: Apache-2.0
//
// Threads on several devices at once: graphs of their own, graphs that share nodes, values that go
// both ways between devices, and devices that hang while the others go on. The devices are those of
// TUTTI_DEVICE; the last is the faulty one whose faults are used.
#include <future>

#include "faulty_control.hpp"
#include "tutti_test/arrays.hpp"
#include "tutti_test/dlpack.hpp"

namespace {

constexpr auto patience = std::chrono::seconds(60);

std::vector<tutti::device> all() { return tutti::devices(); }

// Of the last device, among those of the faulty plugin.
int faulty_index() {
  const std::string name = all().back().name();
  return std::stoi(name.substr(name.find(':') + 1));
}

array ramp(std::int64_t n, const tutti::device& on) {
  return array::from(tutti::arange(n, dtype::f32).to_vector<float>(), on).wait();
}

// Work of a thread of its own, which hangs until something is disarmed.
class hanging {
 public:
  explicit hanging(std::function<void()> work)
      : thread_(std::async(std::launch::async, std::move(work))) {}
  ~hanging() {
    tutti_test::disarm_all();
    thread_.wait();
  }
  bool hangs() const {
    return thread_.wait_for(std::chrono::milliseconds(50)) == std::future_status::timeout;
  }
  bool ends() const { return thread_.wait_for(patience) == std::future_status::ready; }

 private:
  std::future<void> thread_;
};

// Whether all devices but the last one work, from now until an answer is there.
bool others_work() {
  const auto devices = all();
  auto done = std::async(std::launch::async, [&] {
    for (std::size_t d = 0; d + 1 < devices.size(); ++d) {
      const array x = array::from({1.f, 2.f}, devices[d]);
      if (tutti::sum(tutti::matmul(x, x) * 2.f).item<float>() != 10.f) return false;
      if (tutti::sum(x.to(devices[0]) + 1.f).item<float>() != 5.f) return false;
    }
    return true;
  });
  const bool in_time = done.wait_for(patience) == std::future_status::ready;
  if (!in_time) tutti_test::disarm_all();
  return done.get() && in_time;
}

}  // namespace

BOOST_AUTO_TEST_CASE(graphs_of_their_own) {
  const auto devices = all();
  std::atomic<int> wrong{0};
  at_once(2 * static_cast<int>(devices.size()), [&](int t) {
    const auto& on = devices[static_cast<std::size_t>(t) % devices.size()];
    const array x = ramp(64, on).reshape({8, 8});
    array y = x;
    for (int i = 0; i < 40; ++i) {
      y = (y * 0.5f + x).eval();
      const float s = static_cast<float>(t * 100 + i);
      if (tutti::max(tutti::sum(x + s, 0)).item<float>() != 4 * (7.f + 63.f) + 8 * s) ++wrong;
    }
    if (std::abs(tutti::max(y).item<float>() - 126.f) > 1e-3f) ++wrong;
  });
  BOOST_TEST(wrong.load() == 0);
}

BOOST_AUTO_TEST_CASE(a_node_that_several_threads_ask_for_is_computed_once) {
  const auto on = all().back();
  const array x = ramp(16, on).reshape({4, 4});
  for (int round = 0; round < 20; ++round) {
    const array product = tutti::matmul(x, x + static_cast<float>(round));
    tutti::reset_stats();
    std::atomic<int> wrong{0};
    at_once(4, [&](int) {
      if (product.to_vector<float>()[0] != 56.f + 6.f * static_cast<float>(round)) ++wrong;
    });
    BOOST_TEST(wrong.load() == 0);
    BOOST_TEST(tutti::stats().launches == 2u);  // the sum and the product
  }
}

// A value that is still to be computed is read on its own device and, moved, on all others.
BOOST_AUTO_TEST_CASE(graphs_that_share_nodes) {
  const auto devices = all();
  const auto count = devices.size();
  const array five = 5.f;  // fits every device
  for (int round = 0; round < 15; ++round) {
    const float s = static_cast<float>(round);
    const array source = ramp(32, devices[static_cast<std::size_t>(round) % count]);
    array shared = tutti::sqrt(tutti::square(source + s));
    std::vector<array> there;
    for (const auto& d : devices) there.push_back(shared.to(d));
    if (round % 2 == 0) shared = {};  // else it is kept for somebody
    std::atomic<int> wrong{0};
    at_once(2 * static_cast<int>(count), [&](int t) {
      const auto d = static_cast<std::size_t>(t) % count;
      const array mine = tutti::sum(there[d] * 2.f + five) + static_cast<float>(t);
      const float expected = 2 * (31 * 16 + 32 * s) + 160 + static_cast<float>(t);
      if (std::abs(mine.item<float>() - expected) > 0.5f) ++wrong;
    });
    BOOST_TEST(wrong.load() == 0);
  }
}

BOOST_AUTO_TEST_CASE(values_that_go_both_ways) {
  const auto devices = all();
  const auto count = devices.size();
  std::atomic<int> wrong{0};
  at_once(2 * static_cast<int>(count), [&](int t) {
    const auto home = static_cast<std::size_t>(t) % count;
    // Half of the threads go round one way, half the other.
    const std::size_t step = t < static_cast<int>(count) ? 1 : count - 1;
    for (int i = 0; i < 12; ++i) {
      array x = array::from({1.f, 2.f, static_cast<float>(t)}, devices[home]);
      for (std::size_t k = 1; k <= count; ++k)
        x = (x.to(devices[(home + k * step) % count]) + 1.f) * 2.f;
      const float growth = static_cast<float>(1 << count);
      const auto got = x.to_vector<float>();
      if (got[0] != growth + 2 * (growth - 1)) ++wrong;
      if (got[2] != static_cast<float>(t) * growth + 2 * (growth - 1)) ++wrong;
    }
  });
  BOOST_TEST(wrong.load() == 0);
}

// Threads take their handles away while others evaluate what was made of them: memory is taken over
// only where nobody reads it any more.
BOOST_AUTO_TEST_CASE(handles_dropped_beside_an_evaluation) {
  const auto devices = all();
  std::atomic<int> wrong{0};
  for (int round = 0; round < 40; ++round) {
    const auto& on = devices[static_cast<std::size_t>(round) % devices.size()];
    const auto& other = devices[static_cast<std::size_t>(round + 1) % devices.size()];
    array x = ramp(256, on) + 1.f;
    x.eval();
    array moved = x.to(other), y = x * 2.f, z = y + 3.f;
    at_once(3, [&](int t) {
      if (t == 0) x = {}, y = {};
      if (t == 1 && z.to_vector<float>()[255] != 515.f) ++wrong;
      if (t == 2 && moved.to_vector<float>()[255] != 256.f) ++wrong;
    });
  }
  BOOST_TEST(wrong.load() == 0);
}

BOOST_AUTO_TEST_CASE(gradients_on_several_devices) {
  const auto devices = all();
  const array weight = ramp(8, devices[0]);
  std::atomic<int> wrong{0};
  at_once(static_cast<int>(devices.size()), [&](int t) {
    const auto& on = devices[static_cast<std::size_t>(t)];
    const auto f = tutti::value_and_grad([&](const std::vector<array>& p) {
      return tutti::sum(tutti::square(p[0].to(on)) * 3.f).to(devices[0]);
    });
    for (int i = 0; i < 5; ++i) {
      const auto [value, slopes] = f({weight});
      tutti::eval({value, slopes[0]});
      if (value.item() != 420.0 || slopes[0].to_vector<float>()[7] != 42.f) ++wrong;
    }
  });
  BOOST_TEST(wrong.load() == 0);
}

BOOST_AUTO_TEST_CASE(memory_of_others_goes_back_from_all_devices) {
  std::vector<float> memory(16, 4.f);
  tutti_test::fate end;
  std::atomic<int> wrong{0};
  const auto devices = all();
  at_once(2 * static_cast<int>(devices.size()), [&](int t) {
    for (int i = 0; i < 20; ++i) {
      const array x =
          tutti::from_dlpack(tutti_test::produce(memory.data(), tutti_test::dl_f32, {16}, {}, end),
                             devices[static_cast<std::size_t>(t) % devices.size()]);
      const auto& next = devices[static_cast<std::size_t>(t + 1) % devices.size()];
      if (tutti::sum(tutti::sqrt(x).to(next)).item<float>() != 32.f) ++wrong;
    }
  });
  BOOST_TEST(wrong.load() == 0);
  const int imports = 40 * static_cast<int>(devices.size());
  BOOST_TEST(tutti_test::eventually([&] { return end.deletions == imports; }));
}

BOOST_AUTO_TEST_CASE(a_compile_that_hangs_holds_up_no_other_device) {
  const array x = array::from({0.5f, 1.f}, all().back()).wait();
  arm(fault_hang_compile, 1, faulty_index());
  const hanging compile([&] { tutti::sinh(tutti::cos(x) - 0.125f).eval(); });
  BOOST_TEST(compile.hangs());
  BOOST_TEST(others_work());
  // Nor does somebody who waits for the device that hangs, on the way to another one.
  const hanging reader([&] { (x.to(all()[0]) + 1.f).eval(); });
  BOOST_TEST(reader.hangs());
  BOOST_TEST(others_work());
  tutti_test::disarm_all();
  BOOST_TEST(compile.ends());
  BOOST_TEST(reader.ends());
}

BOOST_AUTO_TEST_CASE(a_fallback_that_hangs_holds_up_no_other_device) {
  const array x = array::from({1.f, 2.f}, all().back()).wait();
  arm(fault_no_operators, 1, faulty_index());
  arm(fault_hang, 1, faulty_index());
  const array y = x + 1.f;
  float found = 0;
  {
    const hanging fallback([&] { found = tutti::matmul(y, y).item<float>(); });
    BOOST_TEST(fallback.hangs());
    BOOST_TEST(others_work());
    tutti_test::disarm_all();
    BOOST_TEST(fallback.ends());
  }
  BOOST_TEST(found == 13.f);
}

BOOST_AUTO_TEST_CASE(a_wait_that_hangs_holds_up_no_other_device) {
  const array x = array::from({1.f, 4.f}, all().back()).wait();
  arm(fault_hang, 1, faulty_index());
  const array y = tutti::sqrt(x);
  const hanging reader([&] { y.wait(); });
  BOOST_TEST(reader.hangs());
  BOOST_TEST(others_work());
  tutti_test::disarm_all();
  BOOST_TEST(reader.ends());
  BOOST_TEST(y.to_vector<float>()[1] == 2.f);
}
