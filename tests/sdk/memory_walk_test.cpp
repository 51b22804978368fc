// SPDX-License-Identifier: Apache-2.0
//
// Ranges of strided operands to and from blocks, against coordinates that are computed for each
// element: of every size, from every point on, with lines that are short, long, reversed or apart.
#include "sdk/host_engine/memory_walk.hpp"

#include <boost/test/unit_test.hpp>
#include <cstring>
#include <vector>

using namespace tutti::sdk;

namespace {

struct layout {
  std::vector<uint64_t> extents;
  std::vector<int64_t> strides;  // in elements
  int64_t origin;
};

constexpr size_t room = 400;  // elements

std::vector<std::byte> numbered(size_t bytes) {
  std::vector<std::byte> out(bytes);
  for (size_t i = 0; i < bytes; ++i) out[i] = static_cast<std::byte>(i * 167 + (i >> 8));
  return out;
}

// The byte at which element `number` of the layout begins.
size_t place_of(const layout& l, uint64_t number, size_t element) {
  int64_t at = l.origin;
  for (size_t d = l.extents.size(); d-- > 0; number /= l.extents[d])
    at += static_cast<int64_t>(number % l.extents[d]) * l.strides[d];
  return static_cast<size_t>(at) * element;
}

void check(const layout& l, uint32_t element, uint64_t first, uint64_t count) {
  const walk_space space(l.extents.data(), static_cast<uint32_t>(l.extents.size()));
  const walk_access access(space, l.strides.data(), element);
  const walk_point from(space, first);
  const std::vector<std::byte> memory = numbered(room * element);
  const auto origin = static_cast<size_t>(l.origin) * element;
  std::vector<std::byte> block(count * element), expected(count * element);
  for (uint64_t i = 0; i < count; ++i)
    std::memcpy(expected.data() + i * element, memory.data() + place_of(l, first + i, element),
                element);
  gather(space, access, from, memory.data() + origin, count, block.data());
  BOOST_TEST((block == expected));
  std::vector<std::byte> stored = memory, wanted = memory;
  const std::vector<std::byte> fresh = numbered(count * element + 1);
  for (uint64_t i = 0; i < count; ++i)
    std::memcpy(wanted.data() + place_of(l, first + i, element), fresh.data() + i * element,
                element);
  scatter(space, access, from, fresh.data(), count, stored.data() + origin);
  BOOST_TEST((stored == wanted));
}

}  // namespace

BOOST_AUTO_TEST_CASE(strided_lines_to_and_from_blocks) {
  const layout layouts[] = {{{7}, {1}, 0},
                            {{7}, {3}, 2},
                            {{7}, {-2}, 20},
                            {{4, 3}, {3, 1}, 0},
                            {{4, 3}, {6, 1}, 5},     // every second pixel of three channels
                            {{4, 3}, {-5, 1}, 20},   // in reverse
                            {{4, 2}, {1, 4}, 0},     // transposed
                            {{18, 19}, {1, 20}, 0},  // in squares of every element size
                            {{16, 17}, {1, 17}, 3},
                            {{5, 23}, {1, 11}, 1},
                            {{11, 9}, {1, 40}, 0},
                            {{2, 6, 7}, {180, 1, 6}, 4},
                            {{3, 1, 4}, {8, 0, 1}, 1},
                            {{3, 4, 3}, {40, 6, 1}, 7},
                            {{3, 4, 2}, {50, 2, 1}, 3},
                            {{4, 3}, {2, 0}, 3},  // one for all three channels
                            {{3, 5, 2}, {11, 2, 0}, 1},
                            {{3, 5, 4}, {-11, 2, 0}, 40},
                            {{3, 5, 6}, {0, 2, 0}, 4},
                            {{5, 3}, {0, 1}, 6},  // the same pixel for all
                            {{2, 3, 2, 5}, {100, 30, 12, 2}, 9}};
  for (const layout& l : layouts)
    for (const uint32_t element : {1u, 2u, 4u, 8u, 16u}) {
      uint64_t size = 1;
      for (const uint64_t extent : l.extents) size *= extent;
      for (uint64_t first = 0; first < size; ++first)
        for (uint64_t count = 1; first + count <= size; count += 1 + count / 4) {
          BOOST_TEST_CONTEXT("layout " << &l - layouts << ", " << element << " bytes, " << count
                                       << " from " << first) {
            check(l, element, first, count);
          }
        }
    }
}
