// SPDX-License-Identifier: Apache-2.0
//
// Text functions of the `tutti` command: aligned tables, sizes, sets of dtypes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace tutti::tools {

/// Rows of equally many cells, columns as wide as their widest cell, two spaces apart.
std::string table(const std::vector<std::vector<std::string>>& rows);

/// "512 MiB", "3.1 GiB".
std::string size_text(uint64_t bytes);

/// Names in a set of 1 << tutti_dtype bits: {"bool", "i8", ...}.
std::vector<std::string> dtype_names(uint32_t set);

/// The same in short form: "bool i8-i64 u8-u64 f16 bf16 f32 f64".
std::string dtype_text(uint32_t set);

/// The text with "(64 digits)" instead of every hexadecimal number of 64 digits or more: a user may
/// have passed a checkpoint key in the wrong position, and messages are stored.
std::string without_keys(const std::string& text);

}  // namespace tutti::tools
