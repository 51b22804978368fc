// SPDX-License-Identifier: Apache-2.0
//
// Images of handwritten digits with their labels: MNIST from a directory, or the smaller digits
// included with the samples.
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
  std::string source;  ///< readable origin
};

/// MNIST from `folder`, or from TUTTI_DATA or its subdirectory mnist: the four IDX files, plain or
/// gzip, or mnist_train.csv and mnist_test.csv (optional header; label, then 784 pixels). If no
/// directory is given and none is found, digits.csv.gz of the samples with 8 x 8 pixels. Throws
/// tutti::io_error for other files, and for labels above 9.
digit_pictures load_digit_pictures(const std::filesystem::path& folder);

}  // namespace samples
