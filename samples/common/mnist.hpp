// SPDX-License-Identifier: Apache-2.0
//
// Images of handwritten digits with their labels: MNIST from a directory, or the smaller digits
// included with the samples.
#pragma once

#include <filesystem>
#include <optional>
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

/// What find_mnist() looks for.
inline constexpr const char* mnist_files =
    "train-images-idx3-ubyte, train-labels-idx1-ubyte, t10k-images-idx3-ubyte and "
    "t10k-labels-idx1-ubyte, and no mnist_train.csv and mnist_test.csv";

/// MNIST in data_places(folder, "mnist"): the four IDX files, plain or gzip, or mnist_train.csv and
/// mnist_test.csv (optional header; label, then 784 pixels). Throws tutti::io_error for other
/// contents, and for labels above 9.
std::optional<digit_pictures> find_mnist(const std::filesystem::path& folder);

/// MNIST as above. If no directory is given and none is found, digits.csv.gz of the samples with 8
/// x 8 pixels. Throws tutti::io_error also if `folder` has none.
digit_pictures load_digit_pictures(const std::filesystem::path& folder);

}  // namespace samples
