// SPDX-License-Identifier: Apache-2.0
//
// Pictures to learn from: MNIST, or a folder with a folder a class.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <tutti/tutti.hpp>
#include <vector>

namespace samples {

struct picture_part {
  tutti::host_array x;       ///< u8 [n, height, width, channels]
  tutti::host_array labels;  ///< i64 [n]
};

struct picture_data {
  picture_part training, test;
  std::vector<std::string> classes;
};

/// FOLDER/train and FOLDER/test with a folder a class each, or FOLDER with a folder a class, a
/// fifth of which is the test; pictures of one size. MNIST where `folder` has that, or is empty.
/// Throws tutti::io_error.
picture_data load_pictures(const std::filesystem::path& folder, tutti::random::key key);

}  // namespace samples
