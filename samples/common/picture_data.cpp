// SPDX-License-Identifier: Apache-2.0
//
// Training images: MNIST, or a directory with one subdirectory per class.
#include "common/picture_data.hpp"

#include <fmt/format.h>

#include <tutti/data.hpp>

#include "common/mnist.hpp"

namespace samples {

using tutti::host_array;
namespace data = tutti::data;
namespace fs = std::filesystem;

namespace {

/// All images, resized to `size`; if that is empty, it becomes the size of the first one.
picture_part read_all(const data::file_list& files, tutti::shape& size) {
  if (size.rank() == 0) size = data::read_picture(files.files.front()).shape();
  const data::dataset sized = data::map(
      data::pictures_of(files, {.channels = 3}), [&size](data::item item, tutti::random::key) {
        return data::item{resized(item[0], size[0], size[1], tutti::default_device()), item[1]};
      });
  const data::loader all(
      sized, {.batch_size = static_cast<std::int64_t>(files.files.size()), .shuffle = false});
  auto epoch = all.start(0);
  const auto batch = epoch.next();
  return {host_array::of(batch->arrays[0]), host_array::of(batch->arrays[1])};
}

picture_data from_folder(const fs::path& folder, std::int64_t side, tutti::random::key key) {
  tutti::shape size = side > 0 ? tutti::shape{side, side} : tutti::shape{};
  if (fs::is_directory(folder / "train") && fs::is_directory(folder / "test")) {
    const data::file_list training = data::list_images(folder / "train");
    picture_part part = read_all(training, size);
    return {std::move(part), read_all(data::list_images(folder / "test", training.classes), size),
            training.classes, folder.string()};
  }
  const data::file_list files = data::list_images(folder);
  if (files.classes.size() < 2)
    throw tutti::io_error(fmt::format("{}: pictures of the class {} alone; it takes two or more",
                                      folder.string(), files.classes.at(0)));
  const data::dataset all = data::rows_of([&] {
    picture_part p = read_all(files, size);
    return std::vector{p.x, p.labels};
  }());
  const data::split split = data::stratified_train_test_split(files.labels, 0.2, key);
  const auto rows = [&](const std::vector<std::int64_t>& which) {
    data::item got = all.get_batch(which);
    return picture_part{got[0], got[1]};
  };
  return {rows(split.train), rows(split.test), files.classes, folder.string()};
}

picture_part with_channel(labelled_pictures p) {
  tutti::shape extents = p.pictures.shape();
  extents.insert(3, 1);
  return {std::move(p.pictures).reshape(extents), std::move(p.labels)};
}

bool is_folder_of_classes(const fs::path& folder) {
  for (const auto& entry : fs::directory_iterator(folder))
    if (entry.is_directory()) return true;
  return false;
}

}  // namespace

host_array resized(const host_array& picture, std::int64_t height, std::int64_t width,
                   const tutti::device& on) {
  if (picture.shape()[0] == height && picture.shape()[1] == width) return picture;
  const tutti::array pixels = tutti::image::to_float(picture.to(on));
  return host_array::of(tutti::image::to_u8(tutti::image::resize(pixels, height, width)));
}

picture_data load_pictures(const fs::path& folder, std::int64_t side, tutti::random::key key) {
  std::optional<digit_pictures> found = find_mnist(folder);
  if (!found && !folder.empty()) {
    if (is_folder_of_classes(folder)) return from_folder(folder, side, key);
    throw tutti::io_error(
        fmt::format("{}: no folder for each class, no {}", folder.string(), mnist_files));
  }
  if (side > 0) throw tutti::value_error("--size is for a folder with a folder a class");
  digit_pictures digits = found ? *std::move(found) : load_digit_pictures({});
  picture_data out{with_channel(std::move(digits.training)),
                   with_channel(std::move(digits.test)),
                   {},
                   std::move(digits.source)};
  for (int digit = 0; digit < 10; ++digit) out.classes.push_back(std::to_string(digit));
  return out;
}

}  // namespace samples
