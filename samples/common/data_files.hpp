// SPDX-License-Identifier: Apache-2.0
//
// Locations of data files and results.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace samples {

/// The file `name` in `folder`; if that is empty, in the directory TUTTI_DATA or in
/// share/tutti/data of a directory above the program. Throws tutti::io_error naming the searched
/// places.
std::filesystem::path find_data(const std::string& name, const std::filesystem::path& folder);

/// Where a sample looks for the data set `name`: in `folder` or, if that is empty, TUTTI_DATA, and
/// in their subdirectory `name`. Empty if neither is given. Throws tutti::io_error if it is no
/// directory.
std::vector<std::filesystem::path> data_places(const std::filesystem::path& folder,
                                               const std::string& name);

/// All bytes of a file. Throws tutti::io_error, also if there are fewer than `least`.
std::string read_text(const std::filesystem::path& path, std::int64_t least = 0);

/// Creates the directory if it is missing. Throws tutti::io_error.
void make_folder(const std::filesystem::path& folder);

}  // namespace samples
