// SPDX-License-Identifier: Apache-2.0
//
// A check of a plugin file before it is passed to the dynamic linker, which reports a file for
// another processor as absent, and crashes on a truncated one.
#pragma once

#include <filesystem>
#include <string>

#include "tutti/export.hpp"

namespace tutti::plugins {

/// Why this process cannot map the file: "is for another processor", "is cut off: ...". Empty if
/// there is no problem, and for files that are not ELF files.
TUTTI_INTERNAL_API std::string elf_problem(const std::filesystem::path& file);

}  // namespace tutti::plugins
