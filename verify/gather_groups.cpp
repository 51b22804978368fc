// SPDX-License-Identifier: Apache-2.0
//
// Operators that move rows by an index: take, scatter-add and the other scatters.
#include <algorithm>
#include <cmath>

#include "harness.hpp"
#include "oracle.hpp"
#include "views.hpp"

namespace tutti::conformance {
namespace {

struct rows_case {
  uint64_t outer, rows, picked, inner;
  uint64_t hot = 0;  // how many of four indices select one row
};
constexpr rows_case rows_cases[] = {{1, 10, 25, 1},   {1, 10, 7, 64}, {3, 5, 17, 33},
                                    {2, 1000, 1, 15}, {1, 1, 300, 5}, {4, 31, 1000, 1},
                                    {3, 12, 70, 2},   {2, 31, 90, 3}, {1, 9, 130, 4}};
// So many that devices sort them.
constexpr rows_case many_cases[] = {
    {2, 300, 8500, 3, 2}, {1, 140000, 8200, 1}, {1, 2, 8192, 1, 4}, {1, 700, 8193, 33, 1}};

view_spec table(uint8_t dtype, uint64_t outer, uint64_t rows, uint64_t inner, bool strided) {
  view_spec v;
  v.extent = {outer, rows, inner};
  v.data = packed(dtype, v.extent);
  if (strided) {
    v.data.data = image(dtype, 2 * v.data.data.size());
    for (int64_t& step : v.data.stride) step *= 2;
  }
  return v;
}

view_spec indices(uint8_t dtype, const rows_case& c, generator& random) {
  view_spec v;
  v.extent = {c.picked};
  v.data = packed(dtype, v.extent);
  for (uint64_t i = 0; i < c.picked; ++i) {
    const bool hot = random() % 4 < c.hot;
    v.data.data.set(3 + i, hot ? c.rows / 2 : random() % c.rows);
  }
  // Unchecked indices are clamped to the nearest row.
  v.data.data.set(3, static_cast<uint64_t>(-3));
  if (c.picked > 1) v.data.data.set(4, c.rows + 5);
  return v;
}

uint64_t row_of(const view_spec& index, uint64_t i, const rows_case& c) {
  const auto row = static_cast<int64_t>(index.data.data.get(3 + i));
  return static_cast<uint64_t>(std::clamp<int64_t>(row, 0, static_cast<int64_t>(c.rows) - 1));
}

// The indices of each row, in their order.
std::vector<std::vector<uint64_t>> picks_by_row(const view_spec& index, const rows_case& c) {
  std::vector<std::vector<uint64_t>> picks(c.rows);
  for (uint64_t i = 0; i < c.picked; ++i) picks[row_of(index, i, c)].push_back(i);
  return picks;
}

void check_take(session& s, uint8_t dtype, uint8_t index_dtype) {
  generator random(s.seed);
  for (const rows_case& c : rows_cases) {
    for (const bool strided : {false, true}) {
      std::vector<view_spec> v = {table(dtype, c.outer, c.picked, c.inner, false),
                                  table(dtype, c.outer, c.rows, c.inner, strided),
                                  indices(index_dtype, c, random)};
      fill(v[1], -100, 100, random);
      const image before = v[0].data.data;
      launch_operator(s, TUTTI_OPERATOR_TAKE, v);
      check_guards(v[0], before);
      for (uint64_t e = 0; e < points_of(v[0].extent); ++e) {
        const uint64_t o = e / (c.picked * c.inner), i = e / c.inner % c.picked, n = e % c.inner;
        const uint64_t got = v[0].data.data.get(at(v[0], o, i, n));
        const uint64_t want = v[1].data.data.get(at(v[1], o, row_of(v[2], i, c), n));
        if (got != want)
          fail("element {} of {} is {}, expected {}", list_text({o, i, n}), list_text(v[0].extent),
               value_text(sdk::register_dtype(dtype), got),
               value_text(sdk::register_dtype(dtype), want));
      }
    }
  }
}

// The operator scatter_add beside TUTTI_SCATTER_SET and the others.
constexpr int32_t scatter_add = -1;

// One update after the other, as bits of an element in memory.
uint64_t combined_bits(uint8_t dtype, int32_t how, uint64_t a, uint64_t b) {
  if (how == TUTTI_SCATTER_SET) return b;
  const auto x = static_cast<double>(real_of(dtype, a));
  const auto y = static_cast<double>(real_of(dtype, b));
  if (how == TUTTI_SCATTER_MIN) return y < x || y != y ? b : a;
  if (how == TUTTI_SCATTER_MAX) return y > x || y != y ? b : a;
  if (how == scatter_add) return from_storage(dtype, a + b);
  return sdk::is_floating(dtype) ? bits_of(dtype, x * y) : from_storage(dtype, a * b);
}

// Products of many are the same in any order: signs, and few enough powers of two to stay in range.
void fill_with_exact_factors(view_spec& v, uint8_t dtype, generator& random) {
  constexpr double factors[] = {2, 0.5, -2, -0.5};
  for (uint64_t e = 0; e < points_of(v.extent); ++e) {
    const uint64_t n = e % v.extent[2], i = e / v.extent[2] % v.extent[1];
    const uint64_t k = random() % 64;
    const double factor = k < 4 ? factors[k] : k % 2 == 0 ? 1 : -1;
    v.data.data.set(at(v, e / v.extent[2] / v.extent[1], i, n), bits_of(dtype, factor));
  }
}

void check_scatter_case(session& s, uint8_t dtype, uint8_t index_dtype, int32_t how,
                        const rows_case& c, generator& random) {
  const bool adds = how == scatter_add, sums_floats = adds && sdk::is_floating(dtype);
  const bool strided = how % 2 == 0;
  std::vector<view_spec> v = {table(dtype, c.outer, c.rows, c.inner, false),
                              table(dtype, c.outer, c.picked, c.inner, strided),
                              indices(index_dtype, c, random)};
  const double most = adds ? 10 : 3;
  fill(v[0], -most, most, random);
  fill(v[1], -most, most, random);
  if (how == TUTTI_SCATTER_MULTIPLY && sdk::is_floating(dtype) && c.hot > 0)
    fill_with_exact_factors(v[1], dtype, random);
  const std::vector<view_spec> given = v;
  const tutti_scatter_params params{sizeof(tutti_scatter_params), how, 0};
  const auto launch = [&](std::vector<view_spec>& views) {
    launch_operator(s, adds ? TUTTI_OPERATOR_SCATTER_ADD : TUTTI_OPERATOR_SCATTER, views,
                    adds ? nullptr : &params);
  };
  launch(v);
  check_guards(v[0], given[0].data.data);
  if (adds) {
    std::vector<view_spec> again = given;
    launch(again);
    require(again[0].data.data.bytes == v[0].data.data.bytes, "two runs differ in their bits");
  }
  const uint8_t type = sdk::register_dtype(dtype);
  const std::vector<std::vector<uint64_t>> picks = picks_by_row(v[2], c);
  for (uint64_t e = 0; e < points_of(v[0].extent); ++e) {
    const uint64_t o = e / (c.rows * c.inner), r = e / c.inner % c.rows, n = e % c.inner;
    uint64_t want = given[0].data.data.get(at(v[0], o, r, n));
    long double sum = real_of(type, want), magnitude = std::fabs(sum);
    for (const uint64_t i : picks[r]) {
      const uint64_t update = v[1].data.data.get(at(v[1], o, i, n));
      if (!sums_floats) want = combined_bits(dtype, how, want, update);
      sum += real_of(type, update);
      magnitude += std::fabs(real_of(type, update));
    }
    if (sums_floats) want = bits_of(dtype, sum);
    const uint64_t got = v[0].data.data.get(at(v[0], o, r, n));
    const long double bound = magnitude * (dtype == TUTTI_F32 ? 1e-6L : 1e-14L);
    if (!(sums_floats ? std::fabs(real_of(dtype, got) - sum) <= bound : got == want))
      fail("element {} of {} is {}, expected {}", list_text({o, r, n}), list_text(v[0].extent),
           value_text(type, got), value_text(type, want));
  }
}

void check_scatter(session& s, uint8_t dtype, uint8_t index_dtype, int32_t how) {
  generator random(s.seed);
  for (const rows_case& c : rows_cases) check_scatter_case(s, dtype, index_dtype, how, c, random);
  for (const rows_case& c : many_cases) check_scatter_case(s, dtype, index_dtype, how, c, random);
}

}  // namespace

void add_gather_groups(groups& all, const session& s) {
  for (const uint8_t index : {TUTTI_I32, TUTTI_I64}) {
    for (uint8_t dtype = TUTTI_BOOL; dtype <= TUTTI_F64; ++dtype) {
      if (!s.stores(dtype)) continue;
      const std::string name = std::string(sdk::dtype_name(dtype)) + "/" + sdk::dtype_name(index);
      all.push_back({"take/" + name, [dtype, index](session& t) { check_take(t, dtype, index); }});
      if (dtype == TUTTI_BOOL || !sdk::is_register(dtype) || !s.computes(dtype)) continue;
      all.push_back({"scatter_add/" + name,
                     [dtype, index](session& t) { check_scatter(t, dtype, index, scatter_add); }});
    }
  }
  const char* const names[] = {"set", "multiply", "min", "max"};
  for (int32_t how = TUTTI_SCATTER_SET; how <= TUTTI_SCATTER_MAX; ++how) {
    for (uint8_t dtype = TUTTI_BOOL; dtype <= TUTTI_F64; ++dtype) {
      const bool computes = dtype != TUTTI_BOOL && sdk::is_register(dtype) && s.computes(dtype);
      if (!s.stores(dtype) || (!computes && how != TUTTI_SCATTER_SET)) continue;
      const auto index = static_cast<uint8_t>(how % 2 == 0 ? TUTTI_I32 : TUTTI_I64);
      all.push_back({std::string("scatter_") + names[how] + "/" + sdk::dtype_name(dtype),
                     [=](session& t) { check_scatter(t, dtype, index, how); }});
    }
  }
}

}  // namespace tutti::conformance
