// SPDX-License-Identifier: Apache-2.0
//
// A checkpoint's file, little-endian: a head of 64 bytes (magic, version, flags, step, bytes of the
// content, the header of its encryption), the content as it is stored, and a tail of 40 bytes
// (bytes stored, BLAKE2b-256 of all before the sum). The content is a safetensors file.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "data/checkpoint/packing.hpp"
#include "data/io/file.hpp"
#include "tutti/data/checkpoint.hpp"
#include "tutti/error.hpp"

namespace tutti::data {

/// For a file that differs from what was saved.
class damaged_checkpoint : public io_error {
 public:
  using io_error::io_error;
};

struct checkpoint_head {
  std::uint32_t flags = 0;
  std::int64_t step = 0;
  std::uint64_t content_bytes = 0;
  stream_header stream{};
  bool is_compressed() const { return (flags & compressed_flag) != 0; }
  bool is_encrypted() const { return (flags & encrypted_flag) != 0; }

  static constexpr std::uint32_t compressed_flag = 1, encrypted_flag = 2;
};

void write_checkpoint(std::string_view op, const std::filesystem::path& path,
                      const checkpoint& state, const checkpoint_options& options);

/// Checks the head, and that the length of the file matches it. Throws damaged_checkpoint.
checkpoint_head read_head(io::reader& in);
/// Reads the whole file. Throws damaged_checkpoint if the checksum differs.
void check_sum(io::reader& in);
/// The safetensors file in a file whose checksum is correct. Throws io_error if it needs a key or
/// zstd, or if the key is wrong.
std::string read_content(io::reader& in, const checkpoint_head& head,
                         const std::optional<checkpoint_key>& key);

}  // namespace tutti::data
