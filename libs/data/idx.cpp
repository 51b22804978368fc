// SPDX-License-Identifier: Apache-2.0
//
// The IDX format: two zeros, a type, the rank, the extents as big-endian 32-bit numbers, then the
// elements, big-endian (as described with the MNIST database of Y. LeCun, C. Cortes, C. Burges).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "data/io/packed_file.hpp"
#include "tutti/data/loader.hpp"
#include "tutti/error.hpp"

namespace tutti::data {

namespace {

dtype idx_dtype(int code) {
  constexpr dtype types[] = {dtype::u8,  dtype::i8,  dtype{},   dtype::i16,
                             dtype::i32, dtype::f32, dtype::f64};  // from 0x08 to 0x0E
  return code < 0x08 || code > 0x0E ? dtype{} : types[code - 0x08];
}

/// Fills `out`, or fails with the name of what is missing in the file.
void fill_whole(io::packed_file& in, std::span<std::byte> out, std::string_view what) {
  std::size_t done = 0;
  while (done < out.size()) {
    const std::size_t count = in.read(out.data() + done, out.size() - done);
    if (count == 0)
      in.fail("truncated: {} {} {} bytes, {} are there", what,
              what.ends_with('s') ? "need" : "needs", out.size(), done);
    done += count;
  }
}

void swap_bytes(std::span<std::byte> bytes, std::size_t width) {
  if (width == 1) return;
  for (std::size_t i = 0; i < bytes.size(); i += width)
    std::reverse(bytes.begin() + static_cast<std::ptrdiff_t>(i),
                 bytes.begin() + static_cast<std::ptrdiff_t>(i + width));
}

/// Before memory is allocated: elements that the file cannot contain.
void require_room(const io::packed_file& in, const shape& extents, dtype type) {
  std::uint64_t bytes = size_of(type);
  bool overflow = false;
  const bool is_empty = std::find(extents.begin(), extents.end(), 0) != extents.end();
  for (const std::int64_t extent : extents)
    if (extent != 0)
      overflow |= __builtin_mul_overflow(bytes, static_cast<std::uint64_t>(extent), &bytes);
  overflow |= bytes > std::uint64_t{std::numeric_limits<std::int64_t>::max()};
  if (overflow || (!is_empty && bytes > in.most_bytes()))
    in.fail("truncated: {} of {} do not fit in it", extents, type);
}

}  // namespace

host_array read_idx(const std::filesystem::path& path) {
  // On the heap: the buffer inside is too large for the stacks of some threads.
  const auto in = std::make_unique<io::packed_file>("read_idx", path, "the content");
  std::array<std::byte, 4> magic{};
  fill_whole(*in, magic, "the header");
  const int code = std::to_integer<int>(magic[2]), rank = std::to_integer<int>(magic[3]);
  if (magic[0] != std::byte{0} || magic[1] != std::byte{0})
    in->fail("is no IDX file: it does not begin with two zeros");
  const dtype type = idx_dtype(code);
  if (type == dtype{}) in->fail("is no IDX file: unknown type {:#04x}", code);
  if (rank < 1 || rank > max_rank)
    in->fail("has rank {}, arrays here have 1 to {}", rank, max_rank);
  shape extents;
  for (int i = 0; i < rank; ++i) {
    std::array<std::byte, 4> bytes{};
    fill_whole(*in, bytes, "the extents");
    std::int64_t extent = 0;
    for (const std::byte b : bytes) extent = extent << 8 | std::to_integer<std::int64_t>(b);
    extents.push_back(extent);
  }
  require_room(*in, extents, type);
  host_array out(type, extents);
  fill_whole(*in, out.bytes(), "the elements");
  std::byte more{};
  if (in->read(&more, 1) != 0) in->fail("is longer than {} of {}", extents, type);
  swap_bytes(out.bytes(), size_of(type));
  return out;
}

}  // namespace tutti::data
