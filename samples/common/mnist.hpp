// SPDX-License-Identifier: Apache-2.0
//
// Pictures of handwritten digits with their labels: MNIST in a folder, or the smaller digits that
// come with the samples.
#pragma once

#include <filesystem>
#include <string>
#include <tutti/host_array.hpp>

namespace samples {

struct labelled_pictures {
  tutti::host_array pictures;  ///< u8 [n, height, width], white on black
  tutti::host_array labels;    ///< i64 [n]
};

struct digit_pictures {
  labelled_pictures training, test;
  std::string source;  ///< where they are from, for people
};

/// MNIST from `folder`, or from TUTTI_DATA or its folder mnist: the four IDX files, plain or gzip,
/// or mnist_train.csv and mnist_test.csv (a header or none; label, then 784 pixels). Where no place
/// is named and none is found, digits.csv.gz of the samples, 8 x 8 pixels. Throws tutti::io_error
/// for files that are no such pictures, or labels beyond 9.
digit_pictures load_digit_pictures(const std::filesystem::path& folder);

}  // namespace samples
