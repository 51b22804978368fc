// SPDX-License-Identifier: Apache-2.0
//
// Operands and, computed by plain loops, results of the operators in tests of plans.
#include "plan_trials.hpp"

#include <numeric>

namespace tutti::conformance {
namespace {

floats numbers(size_t count, uint64_t seed) {
  generator random(seed);
  floats values(count);
  for (float& v : values) v = static_cast<float>(static_cast<int>(random() % 19) - 9);
  return values;
}

}  // namespace

trial gather(uint64_t seed) {
  constexpr uint64_t rows = 40, picked = 60, columns = 7;
  const floats x = numbers(rows * columns, seed);
  indices index(picked);
  floats want(picked * columns);
  for (uint64_t i = 0; i < picked; ++i) {
    const uint64_t row = (i * 13 + seed) % rows;
    index[i] = static_cast<int64_t>(row);
    std::copy_n(&x[row * columns], columns, &want[i * columns]);
  }
  trial t{TUTTI_OPERATOR_TAKE, nullptr, {}, {}, trial::bytes(want)};
  t.add(TUTTI_F32, {1, picked, columns}, floats(want.size(), 77.0f));
  t.add(TUTTI_F32, {1, rows, columns}, x);
  t.add(TUTTI_I64, {picked}, index);
  return t;
}

trial product(uint64_t seed) {
  constexpr uint64_t m = 65, k = 70, n = 130;
  const floats a = numbers(m * k, seed), b = numbers(k * n, seed + 1);
  floats want(m * n, 0.0f);
  for (uint64_t i = 0; i < m; ++i)
    for (uint64_t q = 0; q < k; ++q)
      for (uint64_t j = 0; j < n; ++j) want[i * n + j] += a[i * k + q] * b[q * n + j];
  trial t{TUTTI_OPERATOR_MATMUL, nullptr, {}, {}, trial::bytes(want)};
  t.add(TUTTI_F32, {1, m, n}, floats(want.size(), 77.0f));
  t.add(TUTTI_F32, {1, m, k}, a);
  t.add(TUTTI_F32, {1, k, n}, b);
  return t;
}

// Long enough for devices to divide it, with workspace.
trial running_sum(uint64_t seed) {
  static const tutti_scan_params params{sizeof params, TUTTI_SCAN_SUM, 0, 0, 0};
  constexpr uint64_t length = 100000;
  const floats x = numbers(length, seed);
  floats want(length);
  std::partial_sum(x.begin(), x.end(), want.begin());
  trial t{TUTTI_OPERATOR_SCAN, &params, {}, {}, trial::bytes(want)};
  t.add(TUTTI_F32, {1, length, 1}, floats(length, 77.0f));
  t.add(TUTTI_F32, {1, length, 1}, x);
  return t;
}

trial permutation(uint64_t seed) {
  static const tutti_sort_params params{sizeof params, 0, 0};
  constexpr uint64_t length = 6000;
  const floats x = numbers(length, seed);
  indices want(length);
  std::iota(want.begin(), want.end(), int64_t{0});
  std::stable_sort(want.begin(), want.end(), [&](int64_t a, int64_t b) {
    return x[static_cast<size_t>(a)] < x[static_cast<size_t>(b)];
  });
  trial t{TUTTI_OPERATOR_ARGSORT, &params, {}, {}, trial::bytes(want)};
  t.add(TUTTI_I64, {1, length}, indices(length, 77));
  t.add(TUTTI_F32, {1, length}, x);
  return t;
}

handle<tutti_plan> prepare(session& s, const trial& t) {
  const std::vector<tutti_view_desc> views = describe(t.views);
  const tutti_operator_desc desc = describe(t.kind, views, t.params);
  require_support(s, desc);
  return s.plan(desc);
}

}  // namespace tutti::conformance
