// SPDX-License-Identifier: Apache-2.0
//
// Any public call from any thread: several threads build, evaluate and read, sharing inputs.
#include <mutex>

#include "tutti_test/arrays.hpp"

BOOST_AUTO_TEST_CASE(threads_share_arrays_and_devices) {
  const array shared = tutti::arange(4096, tutti::dtype::f32).reshape({64, 64});
  const array pending = tutti::sum(shared * 2.f, 1);  // evaluated by whoever comes first
  std::atomic<int> wrong{0};
  at_once(4, [&](int t) {
    for (int i = 0; i < 25; ++i) {
      const float s = static_cast<float>(t * 100 + i);
      const array mine = tutti::max(shared + s) + tutti::min(pending);
      const float expected = 4095.f + s + 2.f * 63.f * 64.f / 2.f;
      if (mine.item<float>() != expected) ++wrong;
      const array round_trip = array::from(std::vector<float>{s, s + 1.f});
      if ((round_trip * 2.f).to_vector<float>()[1] != 2.f * s + 2.f) ++wrong;
    }
  });
  BOOST_TEST(wrong.load() == 0);
}

BOOST_AUTO_TEST_CASE(gradients_in_several_threads_do_not_disturb_each_other) {
  std::atomic<int> wrong{0};
  at_once(4, [&](int t) {
    const auto f = tutti::value_and_grad(
        [](const std::vector<array>& v) { return tutti::sum(tutti::square(v[0])); });
    for (int i = 0; i < 10; ++i) {
      const auto [value, slopes] = f({array::from({1.f + static_cast<float>(t), 2.f})});
      if (slopes[0].to_vector<float>()[0] != 2.f + 2.f * static_cast<float>(t)) ++wrong;
    }
  });
  BOOST_TEST(wrong.load() == 0);
}

// The end of a trace lets go of inputs that an evaluation elsewhere may be at.
BOOST_AUTO_TEST_CASE(a_trace_that_ends_beside_an_evaluation_of_its_nodes) {
  const array x = tutti::arange(64, tutti::dtype::f32);
  std::atomic<int> wrong{0};
  for (int i = 0; i < 30; ++i) {
    std::thread other;
    const auto f = tutti::value_and_grad([&](const std::vector<array>& v) {
      const array middle = v[0] * 2.f + 1.f;
      other = std::thread([middle, &wrong] {
        if (middle.to_vector<float>()[3] != 7.f) ++wrong;
      });
      return tutti::sum(middle * middle);
    });
    const auto [value, slopes] = f({x});
    if (slopes[0].to_vector<float>()[1] != 12.f) ++wrong;
    other.join();
  }
  BOOST_TEST(wrong.load() == 0);
}

// Each node of the mean belongs to the traces of several threads, which end in any order.
BOOST_AUTO_TEST_CASE(threads_that_share_a_running_mean_within_their_gradients) {
  const array x = tutti::full({100}, 1.f, tutti::dtype::f32) + tutti::zeros({100});
  const array w = tutti::full({100}, 3.f, tutti::dtype::f32) + tutti::zeros({100});
  array running = tutti::zeros({100});
  std::mutex mutex;
  std::atomic<int> wrong{0};
  at_once(4, [&](int t) {
    for (int i = 0; i < 500; ++i) {
      const auto f = [&](const array& v) {
        const array h = v * x;
        array mean;
        {
          const std::lock_guard lock(mutex);
          running = running * 0.5f + h * 0.f;
          if (i % 8 == t) running.eval();
          mean = running;
        }
        return tutti::sum(tutti::square(h - mean));
      };
      if (tutti::grad(f)(w).to_vector<float>() != std::vector<float>(100, 6.f)) ++wrong;
    }
  });
  BOOST_TEST(wrong.load() == 0);
}
