// SPDX-License-Identifier: Apache-2.0
//
// Linear recurrences, with offsets and guards, compared with their definition in long double. The
// error is bounded by a recurrence of magnitudes.
#include <cmath>
#include <limits>
#include <string>

#include "harness.hpp"
#include "numbers.hpp"

namespace tutti::conformance {
namespace {

template <typename T>
void check_lines(session& s, uint8_t dtype, const extents& extent, bool reverse) {
  s.note(std::to_string(extent[0]) + " x " + std::to_string(extent[1]) + " x " +
         std::to_string(extent[2]) + (reverse ? " in reverse" : ""));
  generator random(s.seed + extent[1]);
  std::vector<view_spec> v(3, packed_view(dtype, extent));
  fill<T>(v[1], random);
  fill<T>(v[2], random);
  const image before = v[0].data.data;
  tutti_scan_params params{sizeof(tutti_scan_params), TUTTI_SCAN_SUM, 0, reverse, 0};
  launch_operator(s, TUTTI_OPERATOR_RECURRENCE, v, &params);
  check_guards(v[0], before);
  const long double unit = std::ldexp(1.0L, sizeof(T) == 4 ? -24 : -53);
  const uint64_t length = extent[1], inner = extent[2];
  for (uint64_t line = 0; line < extent[0] * inner; ++line) {
    wide value = 0;
    long double magnitude = 0, error = 0;
    for (uint64_t n = 0; n < length; ++n) {
      const uint64_t place = reverse ? length - 1 - n : n;
      const uint64_t at = (line / inner * length + place) * inner + line % inner;
      const wide a = n == 0 ? wide(0) : number_at<T>(v[1], at), x = number_at<T>(v[2], at);
      value = a * value + x;
      magnitude = std::abs(a) * magnitude + std::abs(x);
      error = std::abs(a) * error + 8 * unit * magnitude;
      const wide found = number_at<T>(v[0], at);
      require(std::abs(found - value) <= error, [&] {
        return "element " + std::to_string(place) + " of line " + std::to_string(line) + " is " +
               std::to_string(static_cast<double>(found.real())) + ", expected " +
               std::to_string(static_cast<double>(value.real()));
      });
    }
  }
}

// Factors that overflow when multiplied do not reach results after a 0, nor does the first factor.
template <typename T>
void check_overflow(session& s, uint8_t dtype) {
  s.note("products that overflow");
  const uint64_t length = 20000, start = 12000;
  std::vector<view_spec> v(3, packed_view(dtype, {1, length, 1}));
  const T large = std::sqrt(std::numeric_limits<T>::max()), infinity = HUGE_VAL, one = 1;
  for (uint64_t n = 0; n < length; ++n) {
    std::memset(element<T>(v[1], n), 0, sdk::dtype_size(dtype));
    std::memset(element<T>(v[2], n), 0, sdk::dtype_size(dtype));
    const T a = n == 0 ? infinity : n < start ? large : one;
    std::memcpy(element<T>(v[1], n), &a, sizeof a);
    if (n == start) std::memcpy(element<T>(v[2], n), &one, sizeof one);
  }
  tutti_scan_params params{sizeof(tutti_scan_params), TUTTI_SCAN_SUM, 0, 0, 0};
  launch_operator(s, TUTTI_OPERATOR_RECURRENCE, v, &params);
  for (uint64_t n = 0; n < length; ++n)
    require(number_at<T>(v[0], n).real() == (n < start ? 0 : 1),
            [&] { return "element " + std::to_string(n) + " after large factors"; });
}

template <typename T>
void check_recurrence(session& s, uint8_t dtype) {
  for (const bool reverse : {false, true})
    for (const extents& extent : {extents{1, 1, 1}, extents{3, 7, 5}, extents{2, 65, 33},
                                  extents{300, 40, 1}, extents{1, 9001, 1}, extents{2, 5000, 3}})
      check_lines<T>(s, dtype, extent, reverse);
  check_overflow<T>(s, dtype);
}

}  // namespace

void add_recurrence_groups(groups& all, const session& s) {
  for (const uint8_t dtype : {TUTTI_F32, TUTTI_F64, TUTTI_C64, TUTTI_C128}) {
    if (!s.stores(dtype)) continue;
    const bool single = dtype == TUTTI_F32 || dtype == TUTTI_C64;
    all.push_back({std::string("recurrence/") + sdk::dtype_name(dtype), [=](session& t) {
                     single ? check_recurrence<float>(t, dtype)
                            : check_recurrence<double>(t, dtype);
                   }});
  }
}

}  // namespace tutti::conformance
