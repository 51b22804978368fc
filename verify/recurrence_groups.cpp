// SPDX-License-Identifier: Apache-2.0
//
// Linear recurrences, with offsets and guards, compared with their definition in long double. The
// error is bounded by a recurrence of magnitudes.
#include <cmath>
#include <limits>

#include "matrices.hpp"

namespace tutti::conformance {
namespace {

void launch_recurrence(session& s, std::vector<view_spec>& views, bool reverse) {
  const tutti_scan_params params{sizeof(tutti_scan_params), TUTTI_SCAN_SUM, 0, reverse, 0};
  launch_operator(s, TUTTI_OPERATOR_RECURRENCE, views, &params);
}

template <typename S>
void check_lines(session& s, const extents& extent, bool reverse) {
  s.note(list_text(extent) + (reverse ? " in reverse" : ""));
  generator random(s.seed + extent[1]);
  std::vector<view_spec> v(3, packed_view(dtype_of<S>(), extent));
  fill_randomly<S>(v[1], random);
  fill_randomly<S>(v[2], random);
  const image before = v[0].data.data;
  launch_recurrence(s, v, reverse);
  check_guards(v[0], before);
  const uint64_t length = extent[1], inner = extent[2];
  for (uint64_t line = 0; line < extent[0] * inner; ++line) {
    wide_of<S> value = 0;
    long double magnitude = 0, error = 0;
    for (uint64_t n = 0; n < length; ++n) {
      const uint64_t place = reverse ? length - 1 - n : n;
      const uint64_t at = (line / inner * length + place) * inner + line % inner;
      const auto a = n == 0 ? wide_of<S>(0) : wide_of<S>(*element_of<S>(v[1], at));
      const auto x = wide_of<S>(*element_of<S>(v[2], at));
      value = times(a, value) + x;
      magnitude = std::abs(a) * magnitude + std::abs(x);
      error = std::abs(a) * error + 8 * unit_roundoff<S>() * magnitude;
      const S found = *element_of<S>(v[0], at);
      if (!(std::abs(wide_of<S>(found) - value) <= error))
        fail("element {} of line {} is {}, expected {}", place, line,
             static_cast<double>(std::real(found)), static_cast<double>(std::real(value)));
    }
  }
}

// Factors that overflow when multiplied do not reach results that follow a 0, nor does the first.
template <typename S>
void check_overflow(session& s) {
  s.note("products that overflow");
  using limits = std::numeric_limits<real_type<S>>;
  const uint64_t length = 20000, start = 12000;
  std::vector<view_spec> v(3, packed_view(dtype_of<S>(), {1, length, 1}));
  for (uint64_t n = 0; n < length; ++n) {
    *element_of<S>(v[1], n) = n == 0      ? limits::infinity()
                              : n < start ? std::sqrt(limits::max())
                                          : real_type<S>(1);
    *element_of<S>(v[2], n) = real_type<S>(n == start);
  }
  launch_recurrence(s, v, false);
  for (uint64_t n = 0; n < length; ++n)
    require(*element_of<S>(v[0], n) == S(n >= start), "element {} after large factors", n);
}

// A factor that is NaN shows in all that follows, though a 0 comes before it where a chunk begins.
template <typename S>
void check_nan(session& s) {
  s.note("a NaN after zeros");
  const uint64_t length = 20000, start = 8192;
  std::vector<view_spec> v(3, packed_view(dtype_of<S>(), {1, length, 1}));
  for (uint64_t n = 0; n < length; ++n) {
    *element_of<S>(v[1], n) = n == start ? not_a_number<S>() : S(1);
    *element_of<S>(v[2], n) = S(0);
  }
  launch_recurrence(s, v, false);
  for (uint64_t n = 0; n < length; ++n)
    require(std::isnan(std::real(*element_of<S>(v[0], n))) == (n >= start),
            "element {} beside a NaN", n);
}

template <typename S>
void check_recurrence(session& s) {
  const extents cases[] = {{1, 1, 1},    {3, 7, 5},    {2, 65, 33},
                           {300, 40, 1}, {1, 9001, 1}, {2, 5000, 3}};
  for (const bool reverse : {false, true})
    for (const extents& extent : cases) check_lines<S>(s, extent, reverse);
  check_overflow<S>(s);
  check_nan<S>(s);
}

}  // namespace

void add_recurrence_groups(groups& all, const session& s) {
  add_matrix_groups(all, s, "recurrence", "", [](auto element) {
    return [](session& t) { check_recurrence<decltype(element)>(t); };
  });
}

}  // namespace tutti::conformance
