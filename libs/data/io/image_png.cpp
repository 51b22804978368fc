// SPDX-License-Identifier: Apache-2.0
//
// PNG with libpng. Its errors use longjmp across frames of C and of functions here whose locals
// have no destructors; objects with destructors belong to their callers.
#include "data/io/image_codecs.hpp"

#if TUTTI_HAVE_PNG
#include <fmt/format.h>
#include <png.h>

#include <bit>
#include <csetjmp>
#include <cstdio>
#include <cstring>

#include "tutti/host_memory.hpp"
#endif

namespace tutti::io {

bool is_png(std::string_view bytes) { return bytes.starts_with("\x89PNG"); }

#if TUTTI_HAVE_PNG

namespace {

// The data for callbacks of libpng.
struct png_state {
  const image_source* file;
  std::size_t at = 0;          // next byte to be read
  std::string* out = nullptr;  // the output
  char message[200] = {};
  bool has_no_memory = false;
  png_structp png = nullptr;
  png_infop info = nullptr;
};

[[noreturn]] void failed(png_structp png, png_const_charp text) {
  auto& state = *static_cast<png_state*>(png_get_error_ptr(png));
  std::snprintf(state.message, sizeof state.message, "%s", text);
  png_longjmp(png, 1);
}
void ignored(png_structp, png_const_charp) {}

void read_bytes(png_structp png, png_bytep to, std::size_t count) {
  auto& state = *static_cast<png_state*>(png_get_io_ptr(png));
  const std::string_view bytes = state.file->bytes;
  if (count > bytes.size() - state.at) png_error(png, "truncated");
  std::memcpy(to, bytes.data() + state.at, count);
  state.at += count;
}

void append_bytes(png_structp png, png_bytep from, std::size_t count) {
  auto& state = *static_cast<png_state*>(png_get_io_ptr(png));
  try {
    state.out->append(reinterpret_cast<const char*>(from), count);
    return;
  } catch (const std::exception&) {
    state.has_no_memory = true;
  }
  png_error(png, "no memory");
}
void flush(png_structp) {}

constexpr png_uint_32 most_extent = 2147483647;

// Reads up to the first row of the image. For any colour type, the result is grey or RGB with or
// without opacity, of 8 or 16 bits.
bool read_header(png_state& s) {
  if (setjmp(png_jmpbuf(s.png))) return false;
  png_set_read_fn(s.png, &s, read_bytes);
  png_set_user_limits(s.png, most_extent, most_extent);
  png_set_chunk_malloc_max(s.png, 1 << 20);
  png_set_crc_action(s.png, PNG_CRC_ERROR_QUIT, PNG_CRC_ERROR_QUIT);
  png_set_benign_errors(s.png, 0);
  // Texts and profiles are not decompressed.
  png_set_keep_unknown_chunks(s.png, PNG_HANDLE_CHUNK_NEVER, nullptr, -1);
  png_read_info(s.png, s.info);
  png_set_expand(s.png);
  if constexpr (std::endian::native == std::endian::little) png_set_swap(s.png);
  return true;
}

bool read_rows(png_state& s, png_bytepp rows) {
  if (setjmp(png_jmpbuf(s.png))) return false;
  png_read_image(s.png, rows);
  png_read_end(s.png, nullptr);
  return true;
}

bool start_rows(png_state& s) {
  if (setjmp(png_jmpbuf(s.png))) return false;
  png_set_interlace_handling(s.png);
  png_read_update_info(s.png, s.info);
  return true;
}

bool write_rows(png_state& s, png_uint_32 width, png_uint_32 height, int depth, int color,
                int compression, png_bytepp rows) {
  if (setjmp(png_jmpbuf(s.png))) return false;
  png_set_write_fn(s.png, &s, append_bytes, flush);
  png_set_user_limits(s.png, most_extent, most_extent);
  png_set_compression_level(s.png, compression);
  png_set_IHDR(s.png, s.info, width, height, depth, color, PNG_INTERLACE_NONE,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_write_info(s.png, s.info);
  if (depth == 16 && std::endian::native == std::endian::little) png_set_swap(s.png);
  png_write_image(s.png, rows);
  png_write_end(s.png, s.info);
  return true;
}

/// The structs of libpng.
class png_codec {
 public:
  png_codec(png_state& s, bool writes) : s_(s), writes_(writes) {
    const auto create = writes ? png_create_write_struct : png_create_read_struct;
    s.png = create(PNG_LIBPNG_VER_STRING, &s, failed, ignored);
    if (s.png != nullptr) s.info = png_create_info_struct(s.png);
    if (s.info != nullptr) return;
    destroy();
    s.file->fail("the host has no memory to {} PNG", writes ? "write" : "read");
  }
  ~png_codec() { destroy(); }
  png_codec(const png_codec&) = delete;
  png_codec& operator=(const png_codec&) = delete;

 private:
  void destroy() {
    if (writes_)
      png_destroy_write_struct(&s_.png, &s_.info);
    else
      png_destroy_read_struct(&s_.png, &s_.info, nullptr);
  }
  png_state& s_;
  const bool writes_;
};

std::vector<png_bytep> row_pointers(const image_samples& image, std::byte* samples,
                                    const image_source& file) {
  auto rows = detail::host_vector<png_bytep>(file.op, static_cast<std::uint64_t>(image.height));
  for (png_bytep& row : rows) {
    row = reinterpret_cast<png_bytep>(samples);
    samples += image.row_bytes();
  }
  return rows;
}

[[noreturn]] void refuse(const png_state& s) {
  s.file->fail("as PNG it is malformed: {}", s.message);
}

}  // namespace

image_samples decode_png(const image_source& from) {
  png_state s{&from};
  const png_codec open(s, false);
  if (!read_header(s)) refuse(s);
  image_samples image;
  image.width = png_get_image_width(s.png, s.info);
  image.height = png_get_image_height(s.png, s.info);
  const auto stored_bits = static_cast<std::uint64_t>(png_get_bit_depth(s.png, s.info)) *
                           png_get_channels(s.png, s.info);
  if (!start_rows(s)) refuse(s);
  image.channels = png_get_channels(s.png, s.info);
  image.type = png_get_bit_depth(s.png, s.info) == 16 ? dtype::u16 : dtype::u8;
  // The compression ratio of deflate is at most 1032 to 1.
  take_sample_memory(image, from, stored_bits, 8 * 1032);
  if (png_get_rowbytes(s.png, s.info) != image.row_bytes()) from.fail("has rows of another length");
  std::vector<png_bytep> rows = row_pointers(image, image.bytes.data(), from);
  if (!read_rows(s, rows.data())) refuse(s);
  return image;
}

std::string encode_png(const image_samples& image, int compression, const image_source& to) {
  std::string out;
  png_state s{&to};
  s.out = &out;
  const png_codec open(s, true);
  // libpng's interface does not use const.
  auto* samples = const_cast<std::byte*>(image.bytes.data());
  std::vector<png_bytep> rows = row_pointers(image, samples, to);
  constexpr int colors[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                            PNG_COLOR_TYPE_RGB_ALPHA};
  const bool written = write_rows(
      s, static_cast<png_uint_32>(image.width), static_cast<png_uint_32>(image.height),
      image.type == dtype::u16 ? 16 : 8, colors[image.channels - 1], compression, rows.data());
  if (s.has_no_memory) detail::host_memory_ran_out(to.op, image.bytes.size(), 1);
  if (!written) to.fail("cannot be written as PNG: {}", s.message);
  return out;
}

#else

image_samples decode_png(const image_source& from) {
  from.fail("is PNG, which this build of the library does not read: it has no libpng");
}
std::string encode_png(const image_samples&, int, const image_source& to) {
  to.fail("PNG is not supported: this build of the library has no libpng");
}

#endif

}  // namespace tutti::io
