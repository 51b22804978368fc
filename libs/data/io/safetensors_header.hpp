// SPDX-License-Identifier: Apache-2.0
//
// The JSON header of a safetensors file: text to checked entries and back.
#pragma once

#include <cstdint>
#include <map>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/dtype.hpp"
#include "tutti/shape.hpp"

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

}  // namespace tutti::io::safetensors
