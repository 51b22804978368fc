// SPDX-License-Identifier: Apache-2.0
//
// The digits: reads the table and creates standardised training and test parts on a device.
#pragma once

#include <cstdint>
#include <filesystem>
#include <tutti/array.hpp>
#include <tutti/random.hpp>
#include <vector>

namespace digits {

inline constexpr std::int64_t pixels = 64;
inline constexpr std::int64_t classes = 10;

struct images {
  std::vector<float> pixels;         ///< row-major [count, 64], 0 to 16
  std::vector<std::int32_t> labels;  ///< 0 to 9
  std::int64_t count() const { return static_cast<std::int64_t>(labels.size()); }
};

/// Reads lines of 64 pixels and a digit. Throws tutti::io_error for anything else.
images load(const std::filesystem::path& path);

struct part {
  tutti::array x;  ///< f32 [N, 64]
  tutti::array y;  ///< i32 [N]
};
struct parts {
  part training, test;
  std::vector<std::int64_t> test_rows{};  ///< the rows of the test images
};

/// Shuffles by `key` and uses round(test_share * count) images for the test. Both parts are
/// standardised with mean and deviation of the training part; constant pixels are only centred.
/// Throws tutti::value_error if a part would be empty.
parts split(const images& all, double test_share, tutti::random::key key, const tutti::device& on);

}  // namespace digits
