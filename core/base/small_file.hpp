// SPDX-License-Identifier: Apache-2.0
//
// Whole files of a few lines that others may have left: manifests and keys. No pipe is waited for,
// and nothing large is read.
#pragma once

#include <sys/stat.h>

#include <cstddef>
#include <filesystem>
#include <optional>
#include <string>

#include "tutti/export.hpp"

namespace tutti::base {

struct small_file {
  std::string content;
  struct stat info {};  ///< of the very file that was read
};

/// Nothing where there is no such file. Throws plugin_error "PATH: ..." for what is no regular
/// file, has more than `most` bytes or cannot be read, and io_error for what is no fault of the
/// file: too many others are open.
TUTTI_INTERNAL_API std::optional<small_file> read_small_file(const std::filesystem::path& path,
                                                             std::size_t most);

}  // namespace tutti::base
