// SPDX-License-Identifier: Apache-2.0
//
// Folders of pictures as data sets: what is found, in which order, and channels that are made.
#include "tutti/data/image_folder.hpp"

#include "tutti_test/arrays.hpp"

namespace image_folder_test {

using namespace tutti::data;
using tutti::host_array;

namespace {

using names = std::vector<std::string>;

// One pixel each, in formats that need no library.
const std::string grey = "P5 1 1 255\n\x40", colour = "P6 1 1 255\n\x10\x80\xf0";
const std::string wide = "P5 1 1 65535\n\x40\x81";

void write(const std::filesystem::path& path, const std::string& bytes) {
  std::filesystem::create_directories(path.parent_path());
  std::ofstream(path, std::ios::binary) << bytes;
}

std::vector<int> pixels(const host_array& a) {
  std::vector<int> out;
  for (const std::byte b : a.bytes()) out.push_back(std::to_integer<int>(b));
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(classes_and_files_by_name) {
  const temporary_folder folder;
  write(folder / "dog/2.ppm", colour);
  write(folder / "dog/1.PGM", grey);
  write(folder / "dog/notes.txt", "");
  write(folder / "dog/.hidden.pgm", grey);
  write(folder / "dog/more/0.pgm", grey);
  write(folder / "cat/9.pgm", grey);
  write(folder / ".git/1.pgm", grey);
  write(folder / "readme.pgm", grey);
  const file_list list = list_images(folder.path());
  BOOST_TEST(list.classes == (names{"cat", "dog"}), same);
  names found;
  for (const auto& path : list.files)
    found.push_back(path.lexically_relative(folder.path()).generic_string());
  BOOST_TEST(found == (names{"cat/9.pgm", "dog/1.PGM", "dog/2.ppm", "dog/more/0.pgm"}), same);
  BOOST_TEST(list.labels == (std::vector<std::int64_t>{0, 1, 1, 1}), same);
  const file_list known = list_images(folder.path(), names{"dog", "bird", "cat"});
  BOOST_TEST(known.labels == (std::vector<std::int64_t>{2, 0, 0, 0}), same);
  FAILS(io_error, list_images(folder.path(), names{"cat"}), "none of the 1 classes");

  const dataset plain = pictures_of(list);
  BOOST_TEST(plain.size == 4);
  BOOST_TEST(plain.name(0) == list.files[0].string());
  BOOST_TEST(plain.get(2, {})[1].values<std::int64_t>()[0] == 1);
  for (const std::int64_t wrong : {-1, 4})
    FAILS(index_error, plain.get(wrong, {}),
          "pictures_of: item " + std::to_string(wrong) + " of 4");
  epoch e = loader(plain, {.batch_size = 4, .shuffle = false}).start(0);
  FAILS(shape_error, e.next(), "2.ppm) is [1,1,3]");
  epoch rgb =
      loader(pictures_of(list, {.channels = 3}), {.batch_size = 4, .shuffle = false}).start(0);
  const std::optional<batch> b = rgb.next();
  BOOST_TEST((b->arrays[0].shape() == shape{4, 1, 1, 3}));
  BOOST_TEST((b->arrays[0].dtype() == dtype::u8));
  BOOST_TEST(b->arrays[1].to_vector<std::int64_t>() == list.labels, same);
}

BOOST_AUTO_TEST_CASE(a_folder_without_folders_is_one_class) {
  const temporary_folder folder;
  write(folder / "holiday/2.ppm", colour);
  write(folder / "holiday/1.pgm", grey);
  write(folder / "holiday/.git/0.pgm", grey);
  for (const char* name : {"holiday", "holiday/", "holiday/.", "holiday/../holiday"}) {
    const file_list list = list_images(folder / name);
    BOOST_TEST(list.classes == names{"holiday"}, same);
    BOOST_TEST(list.labels == (std::vector<std::int64_t>{0, 0}), same);
    BOOST_TEST((list.files.front().parent_path() == (folder / name / "x").parent_path()), name);
    BOOST_TEST(list.files.front().filename() == "1.pgm");
  }
  BOOST_TEST(list_images(folder / "holiday", names{"a", "holiday"}).labels ==
                 (std::vector<std::int64_t>{1, 1}),
             same);
  FAILS(io_error, list_images(folder / "holiday", names{"cat"}),
        "holiday: is none of the 1 classes");
}

BOOST_AUTO_TEST_CASE(channels_of_pictures) {
  const temporary_folder folder;
  write(folder / "a/grey.pgm", grey);
  write(folder / "a/colour.ppm", colour);
  write(folder / "a/wide.pgm", wide);
  const auto get = [&](std::int64_t index, picture_options options) {
    return pictures_of(list_images(folder.path()), options).get(index, {})[0];
  };
  BOOST_TEST(pixels(get(0, {})) == (std::vector<int>{0x10, 0x80, 0xf0}), same);
  // 0.299 * 16 + 0.587 * 128 + 0.114 * 240 = 107.28
  BOOST_TEST(pixels(get(0, {.channels = 1})) == (std::vector<int>{107}), same);
  BOOST_TEST(pixels(get(0, {.channels = 2})) == (std::vector<int>{107, 255}), same);
  BOOST_TEST(pixels(get(0, {.channels = 4})) == (std::vector<int>{0x10, 0x80, 0xf0, 255}), same);
  BOOST_TEST(pixels(get(1, {.channels = 3})) == (std::vector<int>{64, 64, 64}), same);
  BOOST_TEST(pixels(get(1, {.channels = 4})) == (std::vector<int>{64, 64, 64, 255}), same);
  BOOST_TEST(pixels(get(2, {})) == (std::vector<int>{64}), same);  // 0x4081 = 64 * 257 + 65
  const host_array kept = get(2, {.channels = 3, .to_u8 = false});
  BOOST_TEST((kept.dtype() == dtype::u16));
  BOOST_TEST(kept.values<std::uint16_t>()[2] == 0x4081);
  BOOST_TEST((read_picture(folder / "a/colour.ppm").shape() == shape{1, 1, 3}));
  FAILS(value_error, get(0, {.channels = 5}), "5 channels");
}

BOOST_AUTO_TEST_CASE(u16_is_rounded_to_u8) {
  const temporary_folder folder;
  for (const int value : {0, 128, 129, 256, 257, 385, 386, 65406, 65407, 65535}) {
    const std::string bytes{static_cast<char>(value >> 8), static_cast<char>(value & 255)};
    write(folder / "a/x.pgm", "P5 1 1 65535\n" + bytes);
    const host_array got = pictures_of(list_images(folder.path())).get(0, {})[0];
    BOOST_TEST(pixels(got)[0] == static_cast<int>(std::lround(value / 257.0)), value);
  }
}

BOOST_AUTO_TEST_CASE(folders_that_are_none) {
  const temporary_folder folder;
  FAILS(io_error, list_images(folder / "none"), "none: cannot be read");
  FAILS(io_error, list_images(folder.path()), "has no files that end in");
  write(folder / "a/x.txt", "");
  FAILS(io_error, list_images(folder.path()), "a: has no files that end in");
  write(folder / "a/x.png", "P");
  const dataset bad = pictures_of(list_images(folder.path()));
  FAILS(io_error, loader(bad).start(0).next(), "x.png): read_picture: ");
  FAILS(value_error, pictures_of({{}, {"a"}, {}}), "1 files, but 0");
}

}  // namespace image_folder_test
