// SPDX-License-Identifier: Apache-2.0
//
// The safetensors format independent of files: the data to write and their order, and reading from
// any source.
#pragma once

#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "data/io/file.hpp"
#include "tutti/data/io.hpp"

namespace tutti::io::safetensors {

inline constexpr std::string_view metadata_name = "__metadata__";
inline constexpr std::uint64_t longest_header = 100'000'000;  // limit of the format

struct malformed_header : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct entry {
  std::string name;
  dtype type = dtype::f32;
  shape extents;
  std::uint64_t begin = 0;  ///< bytes from the start of the data
  std::uint64_t end = 0;
};

/// Entries by offset; they follow each other without holes from 0 to `data_bytes`. Throws
/// malformed_header for whatever is wrong. `metadata`, where given, gets the texts of that name.
std::vector<entry> parse_header(std::string_view text, std::uint64_t data_bytes,
                                std::map<std::string, std::string>* metadata = nullptr);

/// Header text padded with blanks to a multiple of 8 bytes.
std::string render_header(const std::vector<entry>& entries,
                          const std::map<std::string, std::string>& metadata);

/// Whether the format can hold arrays of this dtype.
bool has_dtype(dtype type);

/// The header with its length before it, and the tensors that follow it, in this order.
struct layout {
  std::string header;
  std::vector<entry> entries;
};

/// Throws io_error with `op` and `path` for data that the format does not support.
layout layout_of(std::string_view op, const std::filesystem::path& path, const named_arrays& arrays,
                 const std::map<std::string, std::string>& metadata);

/// Reads the header, after which `in` is at the first tensor. Throws io_error for any error.
std::vector<entry> read_entries(reader& in, std::map<std::string, std::string>* metadata = nullptr);

/// Reads everything up to the end of `in`. `metadata`, if given, receives the texts of the header.
named_arrays read(reader& in, const device& on,
                  std::map<std::string, std::string>* metadata = nullptr);

}  // namespace tutti::io::safetensors
