// SPDX-License-Identifier: Apache-2.0
//
// Line by line along the innermost dimension.
#include "sdk/host_engine/memory_walk.hpp"

#include <algorithm>
#include <cstring>

namespace tutti::sdk {
namespace {

struct sixteen {
  uint64_t low, high;
};

// Only the bytes of elements are moved, whatever their type.
template <typename T>
void copy_elements(const std::byte* from, int64_t from_step, std::byte* to, int64_t to_step,
                   uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, from + static_cast<int64_t>(i) * from_step, sizeof(T));
    std::memcpy(to + static_cast<int64_t>(i) * to_step, &element, sizeof(T));
  }
}

// Steps in bytes.
void copy_line(uint32_t element, const std::byte* from, int64_t from_step, std::byte* to,
               int64_t to_step, uint64_t count) {
  if (from_step == element && to_step == element) {
    std::memcpy(to, from, count * element);
    return;
  }
  switch (element) {
    case 1:
      return copy_elements<uint8_t>(from, from_step, to, to_step, count);
    case 2:
      return copy_elements<uint16_t>(from, from_step, to, to_step, count);
    case 4:
      return copy_elements<uint32_t>(from, from_step, to, to_step, count);
    case 8:
      return copy_elements<uint64_t>(from, from_step, to, to_step, count);
    default:
      return copy_elements<sixteen>(from, from_step, to, to_step, count);
  }
}

// Calls `line(offset of its first element in bytes, elements)` for each piece of a line.
template <typename F>
void each_line(const walk_space& space, const walk_access& access, const walk_point& from,
               uint64_t count, F&& line) {
  walk_point p = from;
  const uint32_t inner = space.rank - 1;
  while (count > 0) {
    int64_t offset = 0;
    for (uint32_t d = 0; d <= inner; ++d)
      offset += static_cast<int64_t>(p.at[d]) * access.stride[d];
    const uint64_t length = std::min(count, space.extent[inner] - p.at[inner]);
    line(offset * access.element, length);
    count -= length;
    p.at[inner] += length;
    for (uint32_t d = inner; d > 0 && p.at[d] == space.extent[d]; --d) {
      p.at[d] = 0;
      ++p.at[d - 1];
    }
  }
}

}  // namespace

walk_space::walk_space(const uint64_t* extents, uint32_t count) {
  for (uint32_t d = 0; d < count; ++d) {
    if (extents[d] == 1) continue;
    given[rank] = d;
    extent[rank++] = extents[d];
  }
  if (rank == 0) {
    extent[0] = 1;
    given[0] = TUTTI_MAX_RANK;
    rank = 1;
  }
}

walk_access::walk_access(const walk_space& space, const int64_t* strides, uint32_t element_bytes)
    : element(element_bytes) {
  bool zero = true, dense = true;
  int64_t expected = 1;
  for (uint32_t d = space.rank; d-- > 0;) {
    stride[d] = space.given[d] < TUTTI_MAX_RANK ? strides[space.given[d]] : 1;
    zero = zero && stride[d] == 0;
    dense = dense && stride[d] == expected;
    expected *= static_cast<int64_t>(space.extent[d]);
  }
  kind = zero ? walk_kind::constant : dense ? walk_kind::dense : walk_kind::strided;
}

walk_point::walk_point(const walk_space& space, uint64_t number) {
  for (uint32_t d = space.rank; d-- > 1;) {
    at[d] = number % space.extent[d];
    number /= space.extent[d];
  }
  at[0] = number;
}

void gather(const walk_space& space, const walk_access& access, const walk_point& from,
            const std::byte* base, uint64_t count, std::byte* block) {
  const int64_t step = access.stride[space.rank - 1] * access.element;
  each_line(space, access, from, count, [&](int64_t offset, uint64_t length) {
    copy_line(access.element, base + offset, step, block, access.element, length);
    block += length * access.element;
  });
}

void scatter(const walk_space& space, const walk_access& access, const walk_point& from,
             const std::byte* block, uint64_t count, std::byte* base) {
  const int64_t step = access.stride[space.rank - 1] * access.element;
  each_line(space, access, from, count, [&](int64_t offset, uint64_t length) {
    copy_line(access.element, block, access.element, base + offset, step, length);
    block += length * access.element;
  });
}

void fill_block(const std::byte* value, uint32_t element, uint64_t count, std::byte* block) {
  copy_line(element, value, 0, block, element, count);
}

}  // namespace tutti::sdk
