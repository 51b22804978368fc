// SPDX-License-Identifier: Apache-2.0
//
// The safetensors format apart from files: what is to be written, in which order, and reading from
// wherever the bytes are.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "data/io/file.hpp"
#include "data/io/safetensors_header.hpp"
#include "tutti/data/io.hpp"

namespace tutti::io::safetensors {

/// The header with its length before it, and the tensors that follow it, in this order.
struct layout {
  std::string header;
  std::vector<entry> entries;
};

/// Throws io_error naming `op` and `path` for what the format does not hold.
layout layout_of(std::string_view op, const std::filesystem::path& path, const named_arrays& arrays,
                 const std::map<std::string, std::string>& metadata);

/// The header, after which `in` is at the first tensor. Throws io_error for whatever is wrong.
std::vector<entry> read_entries(reader& in, std::map<std::string, std::string>* metadata = nullptr);

/// Everything up to the end of `in`. `metadata`, where given, gets the texts of the header.
named_arrays read(reader& in, const device& on,
                  std::map<std::string, std::string>* metadata = nullptr);

}  // namespace tutti::io::safetensors
