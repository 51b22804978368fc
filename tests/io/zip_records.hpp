// SPDX-License-Identifier: Apache-2.0
//
// ZIP archives record by record (PKWARE's APPNOTE.TXT, version 6.3), apart from the library: with
// ZIP64 fields at whatever size a test calls large, and with a hole of the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tutti_test/files.hpp"

namespace tutti_test {

using zip_contents = std::vector<std::pair<std::string, std::string>>;

/// An archive of these members, stored or deflated; what is `wide` or more is written as ZIP64.
std::string zip_records(const zip_contents& members, std::uint64_t wide, bool deflated);

/// A file of one stored member "far" that holds "away", whose header is at `at`, behind a hole.
std::filesystem::path zip_with_hole(const temporary_folder& folder, std::uint64_t at);

}  // namespace tutti_test
