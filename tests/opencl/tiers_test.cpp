// SPDX-License-Identifier: Apache-2.0
//
// TUTTI_TIER: which programs are compiled, and that results stay the same bits when the kernel
// takes over from the host engine.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdlib>
#include <string>
#include <tutti/tutti.hpp>
#include <vector>

using tutti::array;

namespace {

constexpr int64_t count = int64_t{1} << 18;

std::vector<float> values_of(const array& x) {
  return (tutti::erf(x) * tutti::sin(x) - tutti::exp(x)).to_vector<float>();
}

}  // namespace

BOOST_AUTO_TEST_CASE(kernels_take_over_where_they_are_asked_for) {
  const std::string tier = std::getenv("TUTTI_TIER");
  const array x = tutti::arange(count, tutti::dtype::f32) / float(count);
  x.wait();
  const std::vector<float> first = values_of(x);
  BOOST_TEST((tutti::stats().compiles > 0) == (tier == "compiled"));
  // Until a kernel was worth it, or long after it would have been.
  uint64_t launches = 1;
  bool same = true;
  for (; launches < 1000 && same; ++launches) {
    if (tier != "host" && tutti::stats().compiles > 0) break;
    if (tier == "host" && launches == 300) break;
    same = values_of(x) == first;
  }
  BOOST_TEST(same, "after " << launches << " launches");
  BOOST_TEST((tutti::stats().compiles > 0) == (tier != "host"));
  for (int n = 0; n < 3; ++n) BOOST_TEST((values_of(x) == first), "after the change");
}

// Programs of any tier between products, which are compiled in each of them.
BOOST_AUTO_TEST_CASE(launches_run_in_order_with_operators) {
  constexpr int64_t n = 24;
  array x = tutti::arange(n * n, tutti::dtype::f32).reshape({n, n}) - 200.0f;
  std::vector<double> want(n * n);
  for (int64_t i = 0; i < n * n; ++i) want[static_cast<size_t>(i)] = double(i - 200);
  for (int round = 0; round < 6; ++round) {
    x = tutti::remainder(tutti::matmul(x, x), 7.0f) - 3.0f;  // exact: whole numbers below 2^24
    x.wait();
    std::vector<double> next(n * n, 0.0);
    for (int64_t i = 0; i < n; ++i) {
      for (int64_t j = 0; j < n; ++j) {
        double sum = 0;
        for (int64_t k = 0; k < n; ++k)
          sum += want[static_cast<size_t>(i * n + k)] * want[static_cast<size_t>(k * n + j)];
        next[static_cast<size_t>(i * n + j)] = sum - 7 * std::floor(sum / 7) - 3;
      }
    }
    want = next;
  }
  const std::vector<float> got = x.to_vector<float>();
  BOOST_TEST(std::equal(got.begin(), got.end(), want.begin(), want.end()));
}
