// SPDX-License-Identifier: Apache-2.0
//
// Pixels of images on the host, and flood filling from one of them.
#pragma once

#include <cstdint>
#include <vector>

#include "tutti/image/features.hpp"

namespace tutti::op {

/// Extents of images [..., height, width, channels] on the host, row-major.
struct image_extents {
  std::int64_t height, width, channels;
  explicit image_extents(const shape& of)
      : height(of[of.rank() - 3]), width(of[of.rank() - 2]), channels(of[of.rank() - 1]) {}
};

/// Calls joins(place) for the neighbours of `start` in its channel, then for those of each
/// neighbour for which it returned true, and so on. `waiting` must be empty, and is empty again
/// afterwards.
template <class F>
void flood(const image_extents& e, std::int64_t start, image::connectivity by,
           std::vector<std::int64_t>& waiting, F&& joins) {
  const bool diagonal = by == image::connectivity::eight;
  const std::int64_t line = e.width * e.channels;
  waiting.push_back(start);
  while (!waiting.empty()) {
    const std::int64_t place = waiting.back();
    waiting.pop_back();
    const std::int64_t column = place / e.channels % e.width, row = place / line % e.height;
    for (std::int64_t down = row == 0 ? 0 : -1; down <= (row + 1 == e.height ? 0 : 1); ++down)
      for (std::int64_t right = column == 0 ? 0 : -1; right <= (column + 1 == e.width ? 0 : 1);
           ++right) {
        if (!diagonal && down != 0 && right != 0) continue;
        const std::int64_t next = place + down * line + right * e.channels;
        if (next != place && joins(next)) waiting.push_back(next);
      }
  }
}

}  // namespace tutti::op
