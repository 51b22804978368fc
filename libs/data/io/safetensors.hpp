// SPDX-License-Identifier: Apache-2.0
//
// The safetensors format independent of files: the data to write and their order, and reading from
// any source.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "data/io/file.hpp"
#include "tutti/data/io.hpp"

namespace tutti::io::safetensors {

struct entry {
  std::string name;
  dtype type = dtype::f32;
  shape extents;
  std::uint64_t begin = 0;  ///< bytes from the start of the data
  std::uint64_t end = 0;
};

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
