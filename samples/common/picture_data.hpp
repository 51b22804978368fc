// SPDX-License-Identifier: Apache-2.0
//
// Pictures to learn from: MNIST, or a folder with a folder a class.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <tutti/image.hpp>
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
/// fifth of which is the test; all made `side` pixels each way, or where that is 0, as large as the
/// first picture. MNIST where `folder` has that, or is empty. Throws tutti::io_error, and
/// tutti::value_error for a side with MNIST.
picture_data load_pictures(const std::filesystem::path& folder, std::int64_t side,
                           tutti::random::key key);

/// A picture u8 [height, width, channels] of that size.
tutti::host_array resized(const tutti::host_array& picture, std::int64_t height, std::int64_t width,
                          const tutti::device& on);

}  // namespace samples
