// SPDX-License-Identifier: Apache-2.0
//
// Copies between strided operands and contiguous blocks. Points are numbered row-major.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "tutti/plugin.h"

namespace tutti::sdk {

/// The extents of a row-major space without extents of 1, but at least one extent.
struct walk_space {
  uint32_t rank = 0;
  uint64_t extent[TUTTI_MAX_RANK] = {};
  // The original dimension of each extent.
  uint32_t given[TUTTI_MAX_RANK] = {};

  walk_space() = default;
  walk_space(const uint64_t* extents, uint32_t count);
};

enum class walk_kind : uint8_t { constant, dense, strided };

/// An operand over a space: its address at the origin, and its strides, in elements, in the
/// dimensions of the space.
struct walk_access {
  walk_kind kind = walk_kind::strided;
  uint32_t element = 0;  // bytes: 1, 2, 4, 8 or 16
  int64_t stride[TUTTI_MAX_RANK] = {};

  walk_access() = default;
  walk_access(const walk_space& space, const int64_t* strides, uint32_t element_bytes);
};

struct walk_point {
  uint64_t at[TUTTI_MAX_RANK] = {};
  walk_point(const walk_space& space, uint64_t number);
};

/// The byte offset of the point if `count` points from there on are on one innermost line.
std::optional<int64_t> line_offset(const walk_space& space, const walk_access& access,
                                   const walk_point& from, uint64_t count);

/// Copies `count` elements from the point on into a contiguous block, or back.
void gather(const walk_space& space, const walk_access& access, const walk_point& from,
            const std::byte* base, uint64_t count, std::byte* block);
/// Copies `count` elements of each of `lines` lines, which follow one another in the last but one
/// dimension; the first begins at the point.
void gather_lines(const walk_space& space, const walk_access& access, const walk_point& from,
                  const std::byte* base, uint64_t lines, uint64_t count, std::byte* block);
/// `streams`: lines bypass the caches where possible.
void scatter(const walk_space& space, const walk_access& access, const walk_point& from,
             const std::byte* block, uint64_t count, std::byte* base, bool streams = false);
/// Whether `lines` lines that are next to each other in memory are copied in squares, which is
/// several times as fast as one after the other.
bool transposes(uint32_t element, uint64_t lines);
/// block[0, count) = *value.
void fill_block(const std::byte* value, uint32_t element, uint64_t count, std::byte* block);

}  // namespace tutti::sdk
