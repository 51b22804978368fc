// SPDX-License-Identifier: Apache-2.0
//
// A new file: nothing is overwritten, and no link is followed.
#pragma once

#include <sys/types.h>

#include <filesystem>
#include <string_view>

namespace tutti::tools {

/// Throws tutti::io_error if the file exists or cannot be written; then no file is left.
void write_new_file(const std::filesystem::path& file, std::string_view text, mode_t mode);

}  // namespace tutti::tools
