// SPDX-License-Identifier: Apache-2.0
//
// Where the samples find their data and put their results.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>

namespace samples {

/// The file `name` in `folder`; where that is empty, in the folder of the environment variable
/// TUTTI_DATA or in share/tutti/data of a folder above the program. Throws tutti::io_error naming
/// the places searched.
std::filesystem::path find_data(const std::string& name, const std::filesystem::path& folder);

/// All bytes of a file. Throws tutti::io_error, also where there are fewer than `least`.
std::string read_text(const std::filesystem::path& path, std::int64_t least = 0);

/// Makes the folder where it is missing. Throws tutti::io_error.
void make_folder(const std::filesystem::path& folder);

}  // namespace samples
