// SPDX-License-Identifier: Apache-2.0
//
// A look at a plugin file before the dynamic linker gets it: that one reports a file for another
// processor as absent, and the process dies of one that was cut off.
#pragma once

#include <filesystem>
#include <string>

#include "tutti/export.hpp"

namespace tutti::detail {

/// Why this process cannot map the file: "is for another processor", "is cut off: ...". Empty where
/// nothing speaks against it, and for what is no ELF file at all.
TUTTI_INTERNAL_API std::string elf_problem(const std::filesystem::path& file);

}  // namespace tutti::detail
