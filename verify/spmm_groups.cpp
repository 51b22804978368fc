// SPDX-License-Identifier: Apache-2.0
//
// Products of sparse matrices and products at sparse positions, with offsets and guards, compared
// with their definition in long double: rows of all lengths, in any order, with repeated columns.
// The error is bounded by the sum of magnitudes.
#include <cmath>
#include <limits>

#include "matrices.hpp"

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

void put(view_spec& v, const std::vector<uint64_t>& numbers) {
  for (uint64_t i = 0; i < numbers.size(); ++i) v.data.data.set(v.data.offset + i, numbers[i]);
}

template <typename S>
operands operands_of(const spmm_case& c, uint8_t index, generator& random) {
  const uint8_t dtype = dtype_of<S>();
  operands o;
  o.starts = {0};
  for (const uint64_t length : c.lengths) o.starts.push_back(o.starts.back() + length);
  const uint64_t count = o.starts.back();
  for (uint64_t k = 0; k < count; ++k) o.columns.push_back(random() % c.depth);
  o.views = {packed_view(dtype, {c.lengths.size(), c.width}),
             packed_view(index, {c.lengths.size() + 1}), packed_view(index, {count}),
             packed_view(dtype, {count}), packed_view(dtype, {c.depth, c.width})};
  put(o.views[1], o.starts);
  put(o.views[2], o.columns);
  fill_randomly<S>(o.views[3], random);
  fill_randomly<S>(o.views[4], random);
  return o;
}

template <typename S>
struct sum_of_products {
  wide_of<S> sum = 0;
  long double magnitude = 0;
  uint64_t terms = 0;

  void add(const S& a, const S& b) {
    const auto term = times(wide_of<S>(a), wide_of<S>(b));
    sum += term;
    magnitude += std::abs(term);
    ++terms;
  }
  void judge(const S& found, const std::string& what) const {
    const long double bound = unit_roundoff<S>() * static_cast<long double>(terms + 3) * magnitude;
    if (!(std::abs(wide_of<S>(found) - sum) <= bound))
      fail("{} is {}, expected {}", what, static_cast<double>(std::real(found)),
           static_cast<double>(std::real(sum)));
  }
};

template <typename S>
void check_case(session& s, const spmm_case& c, uint8_t index) {
  generator random(s.seed + c.width);
  operands o = operands_of<S>(c, index, random);
  const image before = o.views[0].data.data;
  launch_operator(s, TUTTI_OPERATOR_SPMM, o.views);
  check_guards(o.views[0], before);
  for (uint64_t m = 0; m < c.lengths.size(); ++m)
    for (uint64_t n = 0; n < c.width; ++n) {
      sum_of_products<S> want;
      for (uint64_t k = o.starts[m]; k < o.starts[m + 1]; ++k)
        want.add(*element_of<S>(o.views[3], k),
                 *element_of<S>(o.views[4], o.columns[k] * c.width + n));
      want.judge(*element_of<S>(o.views[0], m * c.width + n),
                 std::string(c.name) + ": element " + list_text({m, n}));
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
template <typename S>
void check_infinities(session& s, uint8_t index) {
  generator random(s.seed);
  const spmm_case c{"infinities", {1, 2, 0, 3}, 4, 3};
  operands o = operands_of<S>(c, index, random);
  put(o.views[2], {0, 1, 2, 0, 3, 2});
  for (uint64_t n = 0; n < c.width; ++n)
    *element_of<S>(o.views[4], c.width + n) = std::numeric_limits<real_type<S>>::infinity();
  launch_operator(s, TUTTI_OPERATOR_SPMM, o.views);
  for (uint64_t m = 0; m < 4; ++m)
    for (uint64_t n = 0; n < c.width; ++n) {
      const auto found =
          static_cast<double>(std::real(*element_of<S>(o.views[0], m * c.width + n)));
      require(std::isfinite(found) == (m != 1),
              "an infinity of row 1 of b: row {} of the result is {}", m, found);
    }
}

template <typename S>
void check_spmm(session& s, uint8_t index, bool vector) {
  for (const uint64_t width : vector ? extents{1} : extents{2, 5, 8, 43}) {
    for (const spmm_case& c : cases_of(width)) {
      s.note(std::string(c.name) + ", " + std::to_string(width) + " columns");
      check_case<S>(s, c, index);
    }
  }
  if (!vector) check_infinities<S>(s, index);
}

// Elements of products of dense matrices at positions in any order, by their definition; some of
// the last positions are beyond a and b, and are clamped to the nearest row.
template <typename S>
void check_sddmm(session& s, uint8_t index) {
  constexpr uint64_t rows = 37, depth = 53;
  const uint8_t dtype = dtype_of<S>();
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
      fill_randomly<S>(v[3], random);
      fill_randomly<S>(v[4], random);
      const image before = v[0].data.data;
      launch_operator(s, TUTTI_OPERATOR_SDDMM, v);
      check_guards(v[0], before);
      for (uint64_t k = 0; k < count; ++k) {
        sum_of_products<S> want;
        for (uint64_t n = 0; n < width; ++n)
          want.add(*element_of<S>(v[3], row[k] * width + n),
                   *element_of<S>(v[4], column[k] * width + n));
        want.judge(*element_of<S>(v[0], k), "element " + std::to_string(k));
      }
    }
}

}  // namespace

void add_spmm_groups(groups& all, const session& s) {
  for (const uint8_t index : {TUTTI_I32, TUTTI_I64}) {
    const std::string name = sdk::dtype_name(index);
    add_matrix_groups(all, s, "sddmm", name, [index](auto element) {
      return [index](session& t) { check_sddmm<decltype(element)>(t, index); };
    });
    for (const bool vector : {false, true})
      add_matrix_groups(all, s, vector ? "spmv" : "spmm", name, [=](auto element) {
        return [=](session& t) { check_spmm<decltype(element)>(t, index, vector); };
      });
  }
}

}  // namespace tutti::conformance
