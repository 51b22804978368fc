// SPDX-License-Identifier: Apache-2.0
//
// Products of sparse matrices and products at sparse positions, with offsets and guards, compared
// with their definition in long double: rows of all lengths, in any order, with repeated columns.
// The error is bounded by the sum of magnitudes.
#include <cmath>
#include <cstring>
#include <limits>

#include "harness.hpp"
#include "numbers.hpp"
#include "sdk/op_info.hpp"
#include "views.hpp"

namespace tutti::conformance {
namespace {

struct spmm_case {
  const char* name;
  std::vector<uint64_t> lengths;  // of rows
  uint64_t depth, width;
};

struct operands {
  std::vector<view_spec> views;
  std::vector<uint64_t> starts, columns;
};

template <typename T>
operands operands_of(const spmm_case& c, uint8_t dtype, uint8_t index, generator& random) {
  operands o;
  o.starts = {0};
  for (const uint64_t length : c.lengths) o.starts.push_back(o.starts.back() + length);
  const uint64_t count = o.starts.back();
  for (uint64_t k = 0; k < count; ++k) o.columns.push_back(random() % c.depth);
  o.views = {packed_view(dtype, {c.lengths.size(), c.width}),
             packed_view(index, {c.lengths.size() + 1}), packed_view(index, {count}),
             packed_view(dtype, {count}), packed_view(dtype, {c.depth, c.width})};
  const auto put = [](view_spec& v, const std::vector<uint64_t>& numbers) {
    for (uint64_t i = 0; i < numbers.size(); ++i) v.data.data.set(v.data.offset + i, numbers[i]);
  };
  put(o.views[1], o.starts);
  put(o.views[2], o.columns);
  fill<T>(o.views[3], random);
  fill<T>(o.views[4], random);
  return o;
}

template <typename T>
void check_case(session& s, const spmm_case& c, uint8_t dtype, uint8_t index) {
  generator random(s.seed + c.width);
  operands o = operands_of<T>(c, dtype, index, random);
  const image before = o.views[0].data.data;
  launch_operator(s, TUTTI_OPERATOR_SPMM, o.views);
  check_guards(o.views[0], before);
  const long double unit = std::ldexp(1.0L, sizeof(T) == 4 ? -24 : -53);
  for (uint64_t m = 0; m < c.lengths.size(); ++m)
    for (uint64_t n = 0; n < c.width; ++n) {
      wide sum = 0;
      long double magnitude = 0;
      for (uint64_t k = o.starts[m]; k < o.starts[m + 1]; ++k) {
        const wide term =
            number_at<T>(o.views[3], k) * number_at<T>(o.views[4], o.columns[k] * c.width + n);
        sum += term;
        magnitude += std::abs(term);
      }
      const wide found = number_at<T>(o.views[0], m * c.width + n);
      const auto terms = static_cast<long double>(c.lengths[m] + 3);
      require(std::abs(found - sum) <= unit * terms * magnitude, [&] {
        return std::string(c.name) + ": element " + std::to_string(n) + " of row " +
               std::to_string(m) + " is " + std::to_string(static_cast<double>(found.real())) +
               ", expected " + std::to_string(static_cast<double>(sum.real()));
      });
    }
}

std::vector<spmm_case> cases_of(uint64_t width) {
  std::vector<uint64_t> uneven, short_rows(700), empty(300);
  for (uint64_t m = 0; m < 90; ++m) uneven.push_back(m % 30 == 7 ? 900 : m * m % 11);
  for (uint64_t m = 0; m < short_rows.size(); ++m) short_rows[m] = m % 4;
  return {{"one element", {1}, 1, width},
          {"uneven rows", uneven, 67, width},
          {"short rows", short_rows, 501, width},
          {"empty rows", empty, 5, width},
          {"one long row", {5000}, 131, width},
          {"a long row among empty ones", {0, 0, 3000, 0, 1, 0}, 40, width}};
}

// Elements that are not stored are skipped: infinities of b only affect the rows that refer to
// them.
template <typename T>
void check_infinities(session& s, uint8_t dtype, uint8_t index) {
  generator random(s.seed);
  const spmm_case c{"infinities", {1, 2, 0, 3}, 4, 3};
  operands o = operands_of<T>(c, dtype, index, random);
  o.columns = {0, 1, 2, 0, 3, 2};
  for (uint64_t k = 0; k < o.columns.size(); ++k)
    o.views[2].data.data.set(o.views[2].data.offset + k, o.columns[k]);
  const T infinity = std::numeric_limits<T>::infinity();
  for (uint64_t n = 0; n < c.width; ++n)
    std::memcpy(element<T>(o.views[4], c.width + n), &infinity, sizeof infinity);
  launch_operator(s, TUTTI_OPERATOR_SPMM, o.views);
  for (uint64_t m = 0; m < 4; ++m)
    for (uint64_t n = 0; n < c.width; ++n)
      require(std::isfinite(number_at<T>(o.views[0], m * c.width + n).real()) == (m != 1), [&] {
        return "an infinity of row 1 of b: row " + std::to_string(m) + " of the result is " +
               std::to_string(
                   static_cast<double>(number_at<T>(o.views[0], m * c.width + n).real()));
      });
}

template <typename T>
void check_spmm(session& s, uint8_t dtype, uint8_t index, bool vector) {
  for (const uint64_t width : vector ? extents{1} : extents{2, 5, 8, 43}) {
    for (const spmm_case& c : cases_of(width)) {
      s.note(std::string(c.name) + ", " + std::to_string(width) + " columns");
      check_case<T>(s, c, dtype, index);
    }
  }
  if (!vector) check_infinities<T>(s, dtype, index);
}

// Elements of products of dense matrices at positions in any order, by their definition; some of
// the last positions are beyond a and b, and are clamped to the nearest row.
template <typename T>
void check_sddmm(session& s, uint8_t dtype, uint8_t index) {
  constexpr uint64_t rows = 37, depth = 53;
  for (const uint64_t count : extents{1, 600})
    for (const uint64_t width : extents{1, 2, 7, 43, 200}) {
      s.note(std::to_string(count) + " places, " + std::to_string(width) + " columns");
      generator random(s.seed + width);
      std::vector<view_spec> v = {packed_view(dtype, {count}), packed_view(index, {count}),
                                  packed_view(index, {count}), packed_view(dtype, {rows, width}),
                                  packed_view(dtype, {depth, width})};
      std::vector<uint64_t> row(count), column(count);
      for (uint64_t k = 0; k < count; ++k) {
        const bool is_beyond = k + 2 > count && count > 1;
        row[k] = is_beyond ? rows - 1 : random() % rows;
        column[k] = is_beyond ? depth - 1 : random() % depth;
        v[1].data.data.set(v[1].data.offset + k, row[k] + (is_beyond ? 5 : 0));
        v[2].data.data.set(v[2].data.offset + k, column[k] + (is_beyond ? 9 : 0));
      }
      fill<T>(v[3], random);
      fill<T>(v[4], random);
      const image before = v[0].data.data;
      launch_operator(s, TUTTI_OPERATOR_SDDMM, v);
      check_guards(v[0], before);
      const long double unit = std::ldexp(1.0L, sizeof(T) == 4 ? -24 : -53);
      for (uint64_t k = 0; k < count; ++k) {
        wide sum = 0;
        long double magnitude = 0;
        for (uint64_t n = 0; n < width; ++n) {
          const wide term =
              number_at<T>(v[3], row[k] * width + n) * number_at<T>(v[4], column[k] * width + n);
          sum += term;
          magnitude += std::abs(term);
        }
        const wide found = number_at<T>(v[0], k);
        require(std::abs(found - sum) <= unit * static_cast<long double>(width + 3) * magnitude,
                [&] {
                  return "element " + std::to_string(k) + " is " +
                         std::to_string(static_cast<double>(found.real())) + ", expected " +
                         std::to_string(static_cast<double>(sum.real()));
                });
      }
    }
}

}  // namespace

void add_spmm_groups(groups& all, const session& s) {
  for (const uint8_t dtype : {TUTTI_F32, TUTTI_F64, TUTTI_C64, TUTTI_C128}) {
    if (!s.stores(dtype)) continue;
    const bool single = dtype == TUTTI_F32 || dtype == TUTTI_C64;
    for (const uint8_t index : {TUTTI_I32, TUTTI_I64}) {
      all.push_back({std::string("sddmm/") + sdk::dtype_name(dtype) + "/" + sdk::dtype_name(index),
                     [=](session& t) {
                       if (single)
                         check_sddmm<float>(t, dtype, index);
                       else
                         check_sddmm<double>(t, dtype, index);
                     }});
      for (const bool vector : {false, true})
        all.push_back({std::string(vector ? "spmv/" : "spmm/") + sdk::dtype_name(dtype) + "/" +
                           sdk::dtype_name(index),
                       [=](session& t) {
                         if (single)
                           check_spmm<float>(t, dtype, index, vector);
                         else
                           check_spmm<double>(t, dtype, index, vector);
                       }});
    }
  }
}

}  // namespace tutti::conformance
