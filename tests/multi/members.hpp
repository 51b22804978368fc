// SPDX-License-Identifier: Apache-2.0
//
// Groups of the first devices of TUTTI_DEVICE, and values on them that a host loop can follow.
#pragma once

#include "tutti_test/arrays.hpp"

namespace tutti_test {

inline tutti::device_group first_devices(std::size_t count) {
  const std::vector<tutti::device>& all = tutti::devices();
  return tutti::device_group(
      std::vector<tutti::device>(all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)));
}

/// Groups of 1, 2, 3 and 5 members, as far as there are devices.
inline std::vector<tutti::device_group> groups() {
  std::vector<tutti::device_group> out;
  for (const std::size_t count : {1, 2, 3, 5})
    if (count <= tutti::devices().size()) out.push_back(first_devices(count));
  return out;
}

inline tutti::device_group largest_group() { return groups().back(); }

/// Small integers, so that sums and products are exact in any order; other values for each member.
inline std::vector<dense> values_for(std::size_t members, const tutti::shape& extents, double low,
                                     double high) {
  std::vector<dense> out;
  for (std::size_t m = 0; m < members; ++m)
    out.push_back(random_integers(extents, low, high, 31 * m + 7));
  return out;
}

/// d's values on `on`, without any work there.
inline tutti::array put(const dense& d, const tutti::device& on,
                        tutti::dtype type = tutti::dtype::f32) {
  const auto as = [&]<class T>(T) {
    std::vector<T> values;
    for (const double v : d.values) values.push_back(static_cast<T>(v));
    return tutti::array::from(values, d.extents, on);
  };
  if (type == tutti::dtype::i32) return as(std::int32_t{});
  if (type == tutti::dtype::i64) return as(std::int64_t{});
  if (type == tutti::dtype::f64) return as(double{});
  return as(float{});
}

inline std::vector<tutti::array> put_each(const std::vector<dense>& values,
                                          const tutti::device_group& group,
                                          tutti::dtype type = tutti::dtype::f32) {
  std::vector<tutti::array> out;
  for (std::size_t m = 0; m < group.size(); ++m) out.push_back(put(values[m], group[m], type));
  return out;
}

/// Elements first to last of an axis.
inline dense cut(const dense& d, int axis, std::int64_t first, std::int64_t last) {
  tutti::shape extents = d.extents;
  extents[axis] = last - first;
  return tabulate(extents, [&](position i) {
    i[static_cast<std::size_t>(axis)] += first;
    return d.at(i);
  });
}

/// One after the other along an axis.
inline dense joined(const std::vector<dense>& parts, int axis) {
  tutti::shape extents = parts[0].extents;
  extents[axis] = 0;
  for (const dense& p : parts) extents[axis] += p.extents[axis];
  return tabulate(extents, [&](position i) {
    std::int64_t& k = i[static_cast<std::size_t>(axis)];
    std::size_t part = 0;
    for (; k >= parts[part].extents[axis]; ++part) k -= parts[part].extents[axis];
    return parts[part].at(i);
  });
}

/// The rule for equal parts, written out: the first extent % count parts have one more.
inline std::vector<std::int64_t> equal_cuts(std::int64_t extent, std::size_t count) {
  std::vector<std::int64_t> out{0};
  for (std::size_t i = 0; i < count; ++i) {
    const auto n = static_cast<std::int64_t>(count);
    out.push_back(out.back() + extent / n + (static_cast<std::int64_t>(i) < extent % n ? 1 : 0));
  }
  return out;
}

}  // namespace tutti_test
