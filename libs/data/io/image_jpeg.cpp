// SPDX-License-Identifier: Apache-2.0
//
// JPEG with libjpeg-turbo. Its errors use longjmp across frames of C and of functions here whose
// locals have no destructors; objects with destructors belong to their callers.
#include "data/io/image_codecs.hpp"

#if TUTTI_HAVE_JPEG
// jpeglib.h needs size_t and FILE before it.
#include <cstddef>
#include <cstdio>
// clang-format off
#include <jpeglib.h>
#include <jerror.h>
// clang-format on
#include <fmt/format.h>

#include <csetjmp>
#include <cstdlib>

#include "tutti/host_memory.hpp"
#endif

namespace tutti::io {

bool is_jpeg(std::string_view bytes) { return bytes.starts_with("\xff\xd8\xff"); }

#if TUTTI_HAVE_JPEG

namespace {

// libjpeg receives a pointer to the first member and passes it back.
struct jpeg_errors {
  jpeg_error_mgr base;
  std::jmp_buf out;
  int code;
  char message[JMSG_LENGTH_MAX];
};

[[noreturn]] void failed(j_common_ptr codec) {
  auto& errors = *reinterpret_cast<jpeg_errors*>(codec->err);
  errors.code = codec->err->msg_code;
  codec->err->format_message(codec, errors.message);
  std::longjmp(errors.out, 1);
}

// Level -1 are warnings: the data are damaged, but libjpeg continued with made-up data.
void warned(j_common_ptr codec, int level) {
  if (level >= 0) return;
  switch (codec->err->msg_code) {
    case JWRN_EXTRANEOUS_DATA:  // some cameras' padding
    case JWRN_JFIF_MAJOR:
    case JWRN_ADOBE_XFORM:
      return;
    default:
      failed(codec);
  }
}

void say_nothing(j_common_ptr) {}

void catch_errors(jpeg_errors& errors) {
  jpeg_std_error(&errors.base);
  errors.base.error_exit = failed;
  errors.base.emit_message = warned;
  errors.base.output_message = say_nothing;
}

// Each scan of a progressive file processes the whole image, however short the scan is.
constexpr int most_scans = 500;
struct scan_limit {
  jpeg_progress_mgr base;
  bool reached;
};

void count_scans(j_common_ptr codec) {
  auto& limit = *reinterpret_cast<scan_limit*>(codec->progress);
  if (reinterpret_cast<j_decompress_ptr>(codec)->input_scan_number <= most_scans) return;
  limit.reached = true;
  codec->err->msg_code = JERR_BAD_PROG_SCRIPT;
  failed(codec);
}

struct decoder {
  jpeg_decompress_struct codec{};
  jpeg_errors errors{};
  scan_limit limit{};
  ~decoder() { jpeg_destroy_decompress(&codec); }
};

bool read_header(decoder& d, const unsigned char* data, unsigned long size) {
  if (setjmp(d.errors.out)) return false;
  catch_errors(d.errors);
  d.codec.err = &d.errors.base;
  jpeg_create_decompress(&d.codec);
  d.limit.base.progress_monitor = count_scans;
  d.codec.progress = &d.limit.base;
  jpeg_mem_src(&d.codec, data, size);
  jpeg_read_header(&d.codec, TRUE);
  return true;
}

bool read_rows(decoder& d, unsigned char* to, std::size_t row_bytes) {
  if (setjmp(d.errors.out)) return false;
  d.codec.dct_method = JDCT_ISLOW;
  jpeg_start_decompress(&d.codec);
  while (d.codec.output_scanline < d.codec.output_height) {
    JSAMPROW row = to + row_bytes * d.codec.output_scanline;
    jpeg_read_scanlines(&d.codec, &row, 1);
  }
  jpeg_finish_decompress(&d.codec);
  return true;
}

struct encoder {
  jpeg_compress_struct codec{};
  jpeg_errors errors{};
  unsigned char* bytes = nullptr;
  unsigned long size = 0;
  ~encoder() {
    jpeg_destroy_compress(&codec);
    std::free(bytes);
  }
};

bool write_rows(encoder& e, unsigned char* from, std::size_t row_bytes, JDIMENSION width,
                JDIMENSION height, int channels, int quality) {
  if (setjmp(e.errors.out)) return false;
  catch_errors(e.errors);
  e.codec.err = &e.errors.base;
  jpeg_create_compress(&e.codec);
  jpeg_mem_dest(&e.codec, &e.bytes, &e.size);
  e.codec.image_width = width;
  e.codec.image_height = height;
  e.codec.input_components = channels;
  e.codec.in_color_space = channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&e.codec);
  jpeg_set_quality(&e.codec, quality, TRUE);
  e.codec.dct_method = JDCT_ISLOW;
  jpeg_start_compress(&e.codec, TRUE);
  while (e.codec.next_scanline < e.codec.image_height) {
    JSAMPROW row = from + row_bytes * e.codec.next_scanline;
    jpeg_write_scanlines(&e.codec, &row, 1);
  }
  jpeg_finish_compress(&e.codec);
  return true;
}

[[noreturn]] void refuse(const decoder& d, const image_source& from) {
  if (d.limit.reached) from.fail("has more than {} scans", most_scans);
  if (d.errors.code == JERR_OUT_OF_MEMORY) from.fail("the host has no memory to read JPEG");
  from.fail("as JPEG it is malformed: {}", d.errors.message);
}

}  // namespace

image_samples decode_jpeg(const image_source& from) {
  decoder d;
  if (!read_header(d, reinterpret_cast<const unsigned char*>(from.bytes.data()), from.bytes.size()))
    refuse(d, from);
  const J_COLOR_SPACE space = d.codec.jpeg_color_space;
  if (space == JCS_CMYK || space == JCS_YCCK) from.fail("JPEG of CMYK colours is not supported");
  if (space != JCS_GRAYSCALE && space != JCS_YCbCr && space != JCS_RGB)
    from.fail("JPEG of {} components is not supported", d.codec.num_components);
  if (d.codec.arith_code) from.fail("arithmetic coding of JPEG is not supported");
  d.codec.out_color_space = space == JCS_GRAYSCALE ? JCS_GRAYSCALE : JCS_RGB;
  image_samples image;
  image.width = d.codec.image_width;
  image.height = d.codec.image_height;
  image.channels = space == JCS_GRAYSCALE ? 1 : 3;
  // A block of 8 x 8 samples needs at least one bit, and covers up to 4 x 4 pixels each.
  take_sample_memory(image, from, 1, 8 * 64 * 16);
  if (!read_rows(d, reinterpret_cast<unsigned char*>(image.bytes.data()), image.row_bytes()))
    refuse(d, from);
  return image;
}

std::string encode_jpeg(const image_samples& image, int quality, const image_source& to) {
  encoder e;
  // libjpeg's interface does not use const.
  auto* samples = reinterpret_cast<unsigned char*>(const_cast<std::byte*>(image.bytes.data()));
  if (!write_rows(e, samples, image.row_bytes(), static_cast<JDIMENSION>(image.width),
                  static_cast<JDIMENSION>(image.height), image.channels, quality)) {
    if (e.errors.code == JERR_OUT_OF_MEMORY)
      detail::host_memory_ran_out(to.op, image.bytes.size(), 1);
    to.fail("cannot be written as JPEG: {}", e.errors.message);
  }
  return detail::within_host_memory(to.op, e.size, 1, [&] {
    return std::string(reinterpret_cast<const char*>(e.bytes), e.size);
  });
}

#else

image_samples decode_jpeg(const image_source& from) {
  from.fail("is JPEG, which this build of the library does not read: it has no libjpeg");
}
std::string encode_jpeg(const image_samples&, int, const image_source& to) {
  to.fail("JPEG is not supported: this build of the library has no libjpeg");
}

#endif

}  // namespace tutti::io
