// SPDX-License-Identifier: Apache-2.0
//
// Folders of examples, a folder a class: FOLDER/cat/0001.jpg, FOLDER/dog/0001.jpg; or one folder of
// files, without classes: FOLDER/0001.jpg.
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

/// The files below each folder of `folder`, those with one of these endings (".jpg", in small
/// letters, whatever the file's name has). A folder without folders is one class, which is called
/// as it is. Names that begin with a point are passed over, links to folders are not followed.
/// `classes`, where given, are those of a model: folders of other names throw io_error. Throws
/// io_error where the folder cannot be read, and for a class without files.
TUTTI_API file_list list_folder(const std::filesystem::path& folder,
                                std::span<const std::string> endings,
                                std::optional<std::vector<std::string>> classes = {});
/// The same of pictures: .png, .jpg, .jpeg, .pgm, .ppm, .pnm.
TUTTI_API file_list list_images(const std::filesystem::path& folder,
                                std::optional<std::vector<std::string>> classes = {});

/// A picture in the host's memory, [height, width, channels], as image::read_image() reads it.
TUTTI_API host_array read_picture(const std::filesystem::path& path);

/// What pictures become, so that all items are alike.
struct picture_options {
  /// 0: as many as the file has; else grey becomes colour (the value three times) and colour grey
  /// (image::rgb_to_grey, rounded), opacity is added full or left out.
  int channels = 0;
  /// u8 of u16 by division by 257, rounded.
  bool to_u8 = true;
};

/// Items of the picture, u8 or u16 [height, width, channels], and its label, i64 []. Pictures of
/// one batch have to be of one size.
TUTTI_API dataset pictures_of(file_list files, picture_options options = {});

}  // namespace tutti::data
