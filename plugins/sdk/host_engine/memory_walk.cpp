// SPDX-License-Identifier: Apache-2.0
//
// Walks line by line along the innermost dimension; consecutive lines are merged.
#include "sdk/host_engine/memory_walk.hpp"

#include <algorithm>
#include <cstring>
#include <utility>
#ifdef __SSE2__
#include <emmintrin.h>
#endif

namespace tutti::sdk {
namespace {

constexpr int64_t least_streamed = 256;  // bytes per line

struct sixteen {
  uint64_t low, high;
};

// Copies every Step-th element to a dense line; the constant step lets the compiler vectorise.
template <typename T, int64_t Step>
void copy_every(const std::byte* __restrict from, std::byte* __restrict to, uint64_t count) {
  for (uint64_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, from + static_cast<int64_t>(i * sizeof(T)) * Step, sizeof(T));
    std::memcpy(to + i * sizeof(T), &element, sizeof(T));
  }
}

// Copies elements as bytes, whatever their type.
template <typename T>
void copy_elements(const std::byte* from, int64_t from_step, std::byte* to, int64_t to_step,
                   uint64_t count) {
  constexpr int64_t size = sizeof(T);
  if (to_step == size && from_step == 2 * size) return copy_every<T, 2>(from, to, count);
  if (to_step == size && from_step == -size) return copy_every<T, -1>(from, to, count);
  for (uint64_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, from + static_cast<int64_t>(i) * from_step, sizeof(T));
    std::memcpy(to + static_cast<int64_t>(i) * to_step, &element, sizeof(T));
  }
}

template <typename T>
void fill_elements(const std::byte* from, std::byte* to, uint64_t count) {
  T element;
  std::memcpy(&element, from, sizeof(T));
  for (uint64_t i = 0; i < count; ++i) std::memcpy(to + i * sizeof(T), &element, sizeof(T));
}

// Fills a dense line with one element.
void fill_line(uint32_t element, const std::byte* from, std::byte* to, uint64_t count) {
  switch (element) {
    case 1:
      return fill_elements<uint8_t>(from, to, count);
    case 2:
      return fill_elements<uint16_t>(from, to, count);
    case 4:
      return fill_elements<uint32_t>(from, to, count);
    case 8:
      return fill_elements<uint64_t>(from, to, count);
    default:
      return fill_elements<sixteen>(from, to, count);
  }
}

// Steps in bytes.
void copy_line(uint32_t element, const std::byte* from, int64_t from_step, std::byte* to,
               int64_t to_step, uint64_t count) {
  if (from_step == element && to_step == element) {
    std::memcpy(to, from, count * element);
    return;
  }
  if (from_step == 0 && to_step == element) return fill_line(element, from, to, count);
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

// Writes past the caches, which then need not read the overwritten lines.
void stream_bytes(const std::byte* from, std::byte* to, uint64_t bytes) {
#ifdef __SSE2__
  constexpr uint64_t unit = sizeof(__m128i);
  const uint64_t head = std::min(bytes, -reinterpret_cast<uintptr_t>(to) % unit);
  std::memcpy(to, from, head);
  uint64_t done = head;
  for (; done + unit <= bytes; done += unit)
    _mm_stream_si128(reinterpret_cast<__m128i*>(to + done),
                     _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + done)));
  from += done;
  to += done;
  bytes -= done;
#endif
  std::memcpy(to, from, bytes);
}

template <size_t Bytes>
void copy_pieces(const std::byte* from, int64_t from_step, std::byte* to, int64_t to_step,
                 uint64_t count) {
  for (uint64_t i = 0; i < count; ++i)
    std::memcpy(to + static_cast<int64_t>(i) * to_step, from + static_cast<int64_t>(i) * from_step,
                Bytes);
}

// Copies short pieces, such as pixel channels or complex numbers, for which a call takes longer
// than the copy. Returns whether the size is supported.
bool copy_short(uint64_t bytes, const std::byte* from, int64_t from_step, std::byte* to,
                int64_t to_step, uint64_t count) {
  const auto copied = [&](auto copy) {
    copy(from, from_step, to, to_step, count);
    return true;
  };
  switch (bytes) {
    case 2:
      return copied(copy_pieces<2>);
    case 3:
      return copied(copy_pieces<3>);
    case 4:
      return copied(copy_pieces<4>);
    case 6:
      return copied(copy_pieces<6>);
    case 8:
      return copied(copy_pieces<8>);
    case 12:
      return copied(copy_pieces<12>);
    case 16:
      return copied(copy_pieces<16>);
    case 24:
      return copied(copy_pieces<24>);
    case 32:
      return copied(copy_pieces<32>);
    default:
      return false;
  }
}

template <typename T, uint64_t Count>
void spread_pieces(const std::byte* from, int64_t from_step, std::byte* to, int64_t to_step,
                   uint64_t count) {
  if (from_step == sizeof(T) && to_step == Count * sizeof(T)) {
    // Constant steps let the compiler vectorise.
    for (uint64_t i = 0; i < count; ++i) {
      T element;
      std::memcpy(&element, from + i * sizeof(T), sizeof(T));
      for (uint64_t k = 0; k < Count; ++k)
        std::memcpy(to + (i * Count + k) * sizeof(T), &element, sizeof(T));
    }
    return;
  }
  for (uint64_t i = 0; i < count; ++i) {
    T element;
    std::memcpy(&element, from + static_cast<int64_t>(i) * from_step, sizeof(T));
    std::byte* const piece = to + static_cast<int64_t>(i) * to_step;
    for (uint64_t k = 0; k < Count; ++k) std::memcpy(piece + k * sizeof(T), &element, sizeof(T));
  }
}

// The same for longer pieces one behind the other, in whole vectors: what exceeds a piece is
// overwritten by the next one, so the last pieces are exact.
template <typename T>
void spread_dense(uint64_t length, const std::byte* from, int64_t from_step, std::byte* to,
                  uint64_t count) {
  constexpr uint64_t width = 64 / sizeof(T);
  const uint64_t vectors = (length + width - 1) / width, most = vectors * width;
  const uint64_t exact = std::min(count, (most - length + length - 1) / length);
  for (uint64_t i = 0; i < count; ++i, to += length * sizeof(T)) {
    T element, all[width];
    std::memcpy(&element, from + static_cast<int64_t>(i) * from_step, sizeof(T));
    if (i + exact >= count) {
      for (uint64_t k = 0; k < length; ++k) std::memcpy(to + k * sizeof(T), &element, sizeof(T));
      continue;
    }
    for (T& one : all) one = element;
    for (uint64_t k = 0; k < vectors; ++k) std::memcpy(to + k * sizeof all, all, sizeof all);
  }
}

template <typename T>
bool spread(uint64_t length, const std::byte* from, int64_t from_step, std::byte* to,
            int64_t to_step, uint64_t count) {
  if (length == 2) return spread_pieces<T, 2>(from, from_step, to, to_step, count), true;
  if (length == 3) return spread_pieces<T, 3>(from, from_step, to, to_step, count), true;
  if (length == 4) return spread_pieces<T, 4>(from, from_step, to, to_step, count), true;
  if (length * sizeof(T) > 512 || to_step != static_cast<int64_t>(length * sizeof(T))) return false;
  spread_dense<T>(length, from, from_step, to, count);
  return true;
}

// Fills short pieces with one element each: a weight of a pixel for all of its channels.
bool spread_short(uint32_t element, uint64_t length, const std::byte* from, int64_t from_step,
                  std::byte* to, int64_t to_step, uint64_t count) {
  switch (element) {
    case 1:
      return spread<uint8_t>(length, from, from_step, to, to_step, count);
    case 2:
      return spread<uint16_t>(length, from, from_step, to, to_step, count);
    case 4:
      return spread<uint32_t>(length, from, from_step, to, to_step, count);
    case 8:
      return spread<uint64_t>(length, from, from_step, to, to_step, count);
    default:
      return false;
  }
}

// The elements of both rows in turn, from half `Half` of each.
template <size_t Half, typename Row, size_t... I>
Row interleave(Row a, Row b, std::index_sequence<I...>) {
  constexpr size_t count = sizeof...(I);
  return __builtin_shufflevector(a, b, (Half * count / 2 + I / 2 + I % 2 * count)...);
}

// to[c][r] = from[r][c] for rows of adjacent elements, in squares of 16-byte registers; the last
// square of some rows may overlap the one before. Row steps in bytes.
template <typename T>
void transpose(const std::byte* from, int64_t from_row, std::byte* to, int64_t to_row,
               uint64_t rows, uint64_t columns) {
  typedef T square_row __attribute__((vector_size(16)));
  constexpr uint64_t side = sizeof(square_row) / sizeof(T);
  constexpr auto all = std::make_index_sequence<side>();
  const auto at = [](auto* first, uint64_t row, int64_t step, uint64_t column) {
    return first + static_cast<int64_t>(row) * step + column * sizeof(T);
  };
  const uint64_t rest = columns % side, whole_rows = rows - rows % side;
  const uint64_t whole_columns = rest >= side / 2 ? columns : columns - rest;
  for (uint64_t r = 0; r < whole_rows; r += side) {
    for (uint64_t done = 0; done < whole_columns; done += side) {
      const uint64_t c = std::min(done, whole_columns - side);
      square_row square[side], next[side];
#pragma GCC unroll 16
      for (uint64_t k = 0; k < side; ++k)
        std::memcpy(&square[k], at(from, r + k, from_row, c), sizeof square[k]);
#pragma GCC unroll 4
      for (uint64_t halved = side; halved > 1; halved /= 2) {
#pragma GCC unroll 8
        for (uint64_t k = 0; k < side / 2; ++k) {
          next[2 * k] = interleave<0>(square[k], square[k + side / 2], all);
          next[2 * k + 1] = interleave<1>(square[k], square[k + side / 2], all);
        }
#pragma GCC unroll 16
        for (uint64_t k = 0; k < side; ++k) square[k] = next[k];
      }
#pragma GCC unroll 16
      for (uint64_t k = 0; k < side; ++k)
        std::memcpy(at(to, c + k, to_row, r), &square[k], sizeof square[k]);
    }
  }
  for (uint64_t c = 0; c < columns; ++c) {
    const uint64_t first = c < whole_columns ? whole_rows : 0;
    copy_elements<T>(at(from, first, from_row, c), from_row, at(to, c, to_row, first), sizeof(T),
                     rows - first);
  }
}

// Returns whether there are squares to transpose.
bool transpose_lines(uint32_t element, const std::byte* from, int64_t from_row, std::byte* to,
                     int64_t to_row, uint64_t rows, uint64_t columns) {
  if (!transposes(element, std::min(rows, columns))) return false;
  switch (element) {
    case 1:
      return transpose<uint8_t>(from, from_row, to, to_row, rows, columns), true;
    case 2:
      return transpose<uint16_t>(from, from_row, to, to_row, rows, columns), true;
    case 4:
      return transpose<uint32_t>(from, from_row, to, to_row, rows, columns), true;
    default:
      return transpose<uint64_t>(from, from_row, to, to_row, rows, columns), true;
  }
}

// One side of a copy: the address of its first element, and the element and line steps in bytes.
template <typename Byte>
struct line_steps {
  Byte* first;
  int64_t element, line;
};

void copy_lines(uint32_t element, const line_steps<const std::byte>& from,
                const line_steps<std::byte>& to, uint64_t lines, uint64_t length) {
  const bool dense = from.element == element && to.element == element;
  if (lines > 1 && dense &&
      copy_short(length * element, from.first, from.line, to.first, to.line, lines))
    return;
  if (lines > 1 && from.element == 0 && to.element == element &&
      spread_short(element, length, from.first, from.line, to.first, to.line, lines))
    return;
  // Lines next to each other are read or written across.
  if (from.line == element && to.element == element && from.element != element &&
      transpose_lines(element, from.first, from.element, to.first, to.line, length, lines))
    return;
  if (to.line == element && from.element == element && to.element != element &&
      transpose_lines(element, from.first, from.line, to.first, to.element, lines, length))
    return;
  for (uint64_t i = 0; i < lines; ++i) {
    const auto n = static_cast<int64_t>(i);
    copy_line(element, from.first + n * from.line, from.element, to.first + n * to.line, to.element,
              length);
  }
}

// Calls `copy(offset of the first element in bytes, lines, length)` for each partial line and for
// consecutive lines of the next dimension.
template <typename F>
void each_run(const walk_space& space, const walk_access& access, const walk_point& from,
              uint64_t count, F&& copy) {
  walk_point p = from;
  const uint32_t inner = space.rank - 1;
  const uint64_t whole = space.extent[inner];
  int64_t offset = 0;
  for (uint32_t d = 0; d <= inner; ++d) offset += static_cast<int64_t>(p.at[d]) * access.stride[d];
  while (count > 0) {
    uint64_t lines = 1, length = std::min(count, whole - p.at[inner]);
    uint32_t moved = inner;
    if (inner > 0 && length == whole) {
      moved = inner - 1;
      lines = std::min(count / whole, space.extent[moved] - p.at[moved]);
    }
    copy(offset * access.element, lines, length);
    count -= lines * length;
    const uint64_t by = moved == inner ? length : lines;
    p.at[moved] += by;
    offset += static_cast<int64_t>(by) * access.stride[moved];
    for (uint32_t d = moved; d > 0 && p.at[d] == space.extent[d]; --d) {
      offset += access.stride[d - 1] - static_cast<int64_t>(p.at[d]) * access.stride[d];
      p.at[d] = 0;
      ++p.at[d - 1];
    }
  }
}

// The number of elements after which they repeat: the outermost dimensions have steps of 0.
uint64_t period_of(const walk_space& space, const walk_access& access) {
  uint32_t d = 0;
  while (d < space.rank && access.stride[d] == 0) ++d;
  uint64_t period = 1;
  for (; d < space.rank; ++d) period *= space.extent[d];
  return period;
}

// Repeats the first bytes of a block.
void repeat(std::byte* block, uint64_t period, uint64_t bytes) {
  for (uint64_t done = period; done < bytes; done *= 2)
    std::memcpy(block + done, block, std::min(done, bytes - done));
}

// A one-dimensional space has one line.
int64_t line_step(const walk_space& space, const walk_access& access) {
  return space.rank > 1 ? access.stride[space.rank - 2] * access.element : 0;
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

std::optional<int64_t> line_offset(const walk_space& space, const walk_access& access,
                                   const walk_point& from, uint64_t count) {
  const uint32_t inner = space.rank - 1;
  if (from.at[inner] + count > space.extent[inner]) return std::nullopt;
  int64_t offset = 0;
  for (uint32_t d = 0; d <= inner; ++d)
    offset += static_cast<int64_t>(from.at[d]) * access.stride[d];
  return offset * access.element;
}

void gather(const walk_space& space, const walk_access& access, const walk_point& from,
            const std::byte* base, uint64_t count, std::byte* block) {
  const uint64_t period = period_of(space, access);
  if (period < count) {
    gather(space, access, from, base, period, block);
    return repeat(block, period * access.element, count * access.element);
  }
  const int64_t element = access.element;
  const int64_t step = access.stride[space.rank - 1] * element, line = line_step(space, access);
  each_run(space, access, from, count, [&](int64_t offset, uint64_t lines, uint64_t length) {
    const auto bytes = static_cast<int64_t>(length) * element;
    copy_lines(access.element, {base + offset, step, line}, {block, element, bytes}, lines, length);
    block += static_cast<int64_t>(lines) * bytes;
  });
}

void gather_lines(const walk_space& space, const walk_access& access, const walk_point& from,
                  const std::byte* base, uint64_t lines, uint64_t count, std::byte* block) {
  const int64_t element = access.element;
  int64_t offset = 0;
  for (uint32_t d = 0; d < space.rank; ++d)
    offset += static_cast<int64_t>(from.at[d]) * access.stride[d];
  copy_lines(
      access.element,
      {base + offset * element, access.stride[space.rank - 1] * element, line_step(space, access)},
      {block, element, static_cast<int64_t>(count) * element}, lines, count);
}

void scatter(const walk_space& space, const walk_access& access, const walk_point& from,
             const std::byte* block, uint64_t count, std::byte* base, bool streams) {
  const int64_t element = access.element;
  const int64_t step = access.stride[space.rank - 1] * element, line = line_step(space, access);
  each_run(space, access, from, count, [&](int64_t offset, uint64_t lines, uint64_t length) {
    const auto bytes = static_cast<int64_t>(length) * element;
    if (streams && step == element && bytes >= least_streamed) {
      for (uint64_t i = 0; i < lines; ++i, block += bytes)
        stream_bytes(block, base + offset + static_cast<int64_t>(i) * line,
                     static_cast<uint64_t>(bytes));
      return;
    }
    copy_lines(access.element, {block, element, bytes}, {base + offset, step, line}, lines, length);
    block += static_cast<int64_t>(lines) * bytes;
  });
}

bool transposes(uint32_t element, uint64_t lines) { return element <= 8 && lines * element >= 16; }

void fill_block(const std::byte* value, uint32_t element, uint64_t count, std::byte* block) {
  copy_line(element, value, 0, block, element, count);
}

}  // namespace tutti::sdk
