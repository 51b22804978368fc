// SPDX-License-Identifier: Apache-2.0
//
// Training images: MNIST, or a directory with one subdirectory per class.
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
  std::string source;  ///< readable origin
};

/// FOLDER/train and FOLDER/test with a subdirectory per class each, or FOLDER with a subdirectory
/// per class, a fifth of which is the test part; all resized to `side` x `side` pixels, or, if that
/// is 0, to the size of the first image. MNIST if `folder` contains it or is empty. Throws
/// tutti::io_error, and tutti::value_error for a side with MNIST.
picture_data load_pictures(const std::filesystem::path& folder, std::int64_t side,
                           tutti::random::key key);

/// An image u8 [height, width, channels] resized to that size.
tutti::host_array resized(const tutti::host_array& picture, std::int64_t height, std::int64_t width,
                          const tutti::device& on);

}  // namespace samples
