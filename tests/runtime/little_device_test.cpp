// SPDX-License-Identifier: Apache-2.0
//
// A backend with sums, differences and products of f32 and nothing else is of use: what it lacks
// runs on the host, and takes nothing along that it does have.
#include "tutti_test/arrays.hpp"

namespace {

struct counters {
  tutti::statistics before = tutti::stats();
  std::uint64_t fallbacks() const { return tutti::stats().fallbacks - before.fallbacks; }
  std::uint64_t launches() const { return tutti::stats().launches - before.launches; }
};

array ramp(float first, float step) {
  return array::from<float>({first, first + step, first + 2 * step, first + 3 * step});
}

const array& a() {
  static const array x = ramp(0.5f, 0.25f);
  return x;
}
const array& b() {
  static const array x = ramp(2, -1);
  return x;
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_the_device_has_runs_there_as_one_program) {
  const counters c;
  const auto got = ((a() + b()) * a() - b()).to_vector<float>();
  BOOST_TEST(c.fallbacks() == 0u);
  BOOST_TEST(c.launches() == 1u);
  for (int i = 0; i < 4; ++i) {
    const float x = 0.5f + 0.25f * static_cast<float>(i), y = 2.0f - static_cast<float>(i);
    BOOST_TEST(got[static_cast<std::size_t>(i)] == (x + y) * x - y);
  }
}

BOOST_AUTO_TEST_CASE(what_it_lacks_takes_nothing_along) {
  const counters c;
  const auto got = ((tutti::tanh(tutti::exp(a() + b())) - b()) * a()).to_vector<float>();
  BOOST_TEST(c.fallbacks() == 1u);  // exp and tanh, as one program
  for (int i = 0; i < 4; ++i) {
    const float x = 0.5f + 0.25f * static_cast<float>(i), y = 2.0f - static_cast<float>(i);
    BOOST_TEST(std::fabs(got[static_cast<std::size_t>(i)] - (std::tanh(std::exp(x + y)) - y) * x) <
               1e-6f);
  }
}

BOOST_AUTO_TEST_CASE(other_dtypes_reductions_and_operators_come_out_right) {
  const array whole = array::from<std::int32_t>({3, 1, 2});
  BOOST_TEST((whole * whole + 1).to_vector<std::int32_t>() == (std::vector<std::int32_t>{10, 2, 5}),
             same);
  BOOST_TEST(tutti::sum(a() * b()).item<float>() == 1.0f + 0.75f + 0 - 1.25f);
  BOOST_TEST(tutti::argmax(a()).item<std::int64_t>() == 3);
  BOOST_TEST(tutti::sort(whole).to_vector<std::int32_t>() == (std::vector<std::int32_t>{1, 2, 3}),
             same);
  BOOST_TEST(tutti::matmul(a(), b()).item<float>() == 1.0f + 0.75f + 0 - 1.25f);
  BOOST_TEST(a().astype(tutti::dtype::f16).astype(tutti::dtype::f64).to_vector<double>()[1] ==
             0.75);
  BOOST_TEST(tutti::where(a() < b(), a(), b()).to_vector<float>()[0] == 0.5f);
}

BOOST_AUTO_TEST_CASE(gradients_mix_both) {
  const auto f = [](const std::vector<array>& x) {
    return tutti::sum(tutti::sin(x[0] * x[0]) * x[1]);
  };
  const auto slopes = tutti::grad(f)({a(), b()});
  const auto got = slopes[0].to_vector<float>();
  for (int i = 0; i < 4; ++i) {
    const float x = 0.5f + 0.25f * static_cast<float>(i), y = 2.0f - static_cast<float>(i);
    BOOST_TEST(std::fabs(got[static_cast<std::size_t>(i)] - 2 * x * y * std::cos(x * x)) < 1e-5f);
  }
}
