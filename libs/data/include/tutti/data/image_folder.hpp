// SPDX-License-Identifier: Apache-2.0
//
// Folders of examples with one subfolder per class: FOLDER/cat/0001.jpg, FOLDER/dog/0001.jpg; or a
// single folder of files without classes: FOLDER/0001.jpg.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tutti/data/loader.hpp"

namespace tutti::data {

/// Files and the class of each, classes and files in the order of their names.
struct file_list {
  std::vector<std::string> classes;
  std::vector<std::filesystem::path> files;
  std::vector<std::int64_t> labels;  ///< of each file, into `classes`
};

/// The files below each subfolder of `folder` with one of these endings (".jpg", in lower case; the
/// file's name may have any case). A folder without subfolders is one class with the name of the
/// folder. Names that begin with a dot are skipped, links to folders are not followed. `classes`,
/// if given, are those of a model: subfolders with other names throw io_error. Throws io_error if
/// the folder cannot be read, and for a class without files.
TUTTI_API file_list list_folder(const std::filesystem::path& folder,
                                std::span<const std::string> endings,
                                std::optional<std::vector<std::string>> classes = {});
/// The same for images: .png, .jpg, .jpeg, .pgm, .ppm, .pnm.
TUTTI_API file_list list_images(const std::filesystem::path& folder,
                                std::optional<std::vector<std::string>> classes = {});

/// An image in host memory, [height, width, channels], as image::read_image() reads it.
TUTTI_API host_array read_picture(const std::filesystem::path& path);

/// Conversion of images, so that all items are alike.
struct picture_options {
  /// 0: as many as the file has; otherwise grey is converted to colour (the value three times) and
  /// colour to grey (image::rgb_to_grey, rounded), and full opacity is added or opacity is removed.
  int channels = 0;
  /// Convert u16 to u8 by division by 257, rounded.
  bool to_u8 = true;
};

/// Items of the image, u8 or u16 [height, width, channels], and its label, i64 []. Images of one
/// batch must have the same size.
TUTTI_API dataset pictures_of(file_list files, picture_options options = {});

}  // namespace tutti::data
