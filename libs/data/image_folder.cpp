// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/image_folder.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <cstring>
#include <system_error>

#include "base/fail.hpp"
#include "data/io/image_codecs.hpp"

namespace tutti::data {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view list_name = "list_folder";

bool is_hidden(const fs::path& path) { return path.filename().string().starts_with('.'); }

std::string small_ending(const fs::path& path) {
  std::string end = path.extension().string();
  std::transform(end.begin(), end.end(), end.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  return end;
}

[[noreturn]] void fail_to_read(const fs::path& folder, const std::error_code& code) {
  io::fail(list_name, folder, "cannot be read: {}", code.message());
}

std::vector<std::string> folders_in(const fs::path& folder) {
  std::error_code code;
  std::vector<std::string> out;
  fs::directory_iterator at(folder, code);
  if (code) fail_to_read(folder, code);
  for (; at != fs::directory_iterator(); at.increment(code)) {
    if (at->is_directory(code) && !is_hidden(at->path()))
      out.push_back(at->path().filename().string());
  }
  if (code) fail_to_read(folder, code);
  std::sort(out.begin(), out.end());
  return out;
}

/// The last component of the absolute path, also for "." and for a path that ends in a slash.
std::string own_name(const fs::path& folder) {
  const fs::path whole = fs::absolute(folder / ".").lexically_normal().parent_path();
  return whole.filename().string();
}

std::vector<fs::path> files_below(const fs::path& folder, std::span<const std::string> endings) {
  std::error_code code;
  std::vector<fs::path> out;
  fs::recursive_directory_iterator at(folder, code);
  if (code) fail_to_read(folder, code);
  while (at != fs::recursive_directory_iterator()) {
    std::error_code ignored;
    const bool hidden = is_hidden(at->path());
    if (hidden && at->is_directory(ignored)) at.disable_recursion_pending();
    if (!hidden && at->is_regular_file(ignored) &&
        std::find(endings.begin(), endings.end(), small_ending(at->path())) != endings.end())
      out.push_back(at->path());
    at.increment(code);
    if (code) fail_to_read(folder, code);
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// Converts grey and colour, with and without opacity, to other numbers of channels.
template <class T>
void convert_channels(std::span<const T> from, int channels, std::span<T> to, int wanted) {
  constexpr T full = static_cast<T>(~T{0});
  const bool was_grey = channels < 3, is_grey = wanted < 3;
  const T* in = from.data();
  for (T* out = to.data(); out != to.data() + to.size(); out += wanted, in += channels) {
    if (is_grey) {
      // Colours are at most `full`, and so is the sum.
      out[0] = was_grey ? in[0]
                        : static_cast<T>(std::lrint(0.299 * in[0] + 0.587 * in[1] + 0.114 * in[2]));
    } else {
      for (int c = 0; c < 3; ++c) out[c] = in[was_grey ? 0 : c];
    }
    if (wanted % 2 == 0) out[wanted - 1] = channels % 2 == 0 ? in[channels - 1] : full;
  }
}

template <class T>
host_array with_channels_of(const host_array& picture, int wanted) {
  const shape& s = picture.shape();
  host_array out(picture.dtype(), {s[0], s[1], wanted});
  convert_channels<T>(picture.values<T>(), static_cast<int>(s[2]), out.values<T>(), wanted);
  return out;
}

host_array as_u8(const host_array& picture) {
  host_array out(dtype::u8, picture.shape());
  const std::span<const std::uint16_t> from = picture.values<std::uint16_t>();
  std::transform(from.begin(), from.end(), out.values<std::uint8_t>().begin(), [](unsigned v) {
    return static_cast<std::uint8_t>((v + 128) / 257);  // no value is exactly between two integers
  });
  return out;
}

host_array fitted(host_array picture, const picture_options& options) {
  const bool is_wide = picture.dtype() == dtype::u16;
  if (options.channels != 0 && options.channels != picture.shape()[2])
    picture = is_wide ? with_channels_of<std::uint16_t>(picture, options.channels)
                      : with_channels_of<std::uint8_t>(picture, options.channels);
  return is_wide && options.to_u8 ? as_u8(picture) : picture;
}

}  // namespace

file_list list_folder(const fs::path& folder, std::span<const std::string> endings,
                      std::optional<std::vector<std::string>> classes) {
  std::vector<std::string> there = folders_in(folder);
  const bool is_flat = there.empty();
  if (is_flat) there.push_back(own_name(folder));
  file_list out;
  out.classes = classes ? std::move(*classes) : there;
  for (const std::string& name : there) {
    const fs::path place = is_flat ? folder : folder / name;
    const auto found = std::find(out.classes.begin(), out.classes.end(), name);
    if (found == out.classes.end())
      io::fail(list_name, place, "is none of the {} classes that are known", out.classes.size());
    std::vector<fs::path> files = files_below(place, endings);
    if (files.empty())
      io::fail(list_name, place, "has no files that end in {}",
               fmt::format("{}", fmt::join(endings, ", ")));
    out.labels.insert(out.labels.end(), files.size(), found - out.classes.begin());
    std::move(files.begin(), files.end(), std::back_inserter(out.files));
  }
  return out;
}

file_list list_images(const fs::path& folder, std::optional<std::vector<std::string>> classes) {
  static const std::vector<std::string> endings{".png", ".jpg", ".jpeg", ".pgm", ".ppm", ".pnm"};
  return list_folder(folder, endings, std::move(classes));
}

host_array read_picture(const fs::path& path) {
  constexpr std::string_view op = "read_picture";
  const std::string bytes = io::read_whole(op, path, "the picture");
  const io::image_samples image = io::decode_image({std::string(op), path, bytes});
  return host_array::from_bytes(image.bytes.data(), image.bytes.size() / size_of(image.type),
                                image.type, {image.height, image.width, image.channels});
}

dataset pictures_of(file_list files, picture_options options) {
  if (options.channels < 0 || options.channels > 4)
    base::fail<value_error>("pictures_of: {} channels", options.channels);
  if (files.files.size() != files.labels.size())
    base::fail<value_error>("pictures_of: {} files, but {} labels", files.files.size(),
                            files.labels.size());
  const auto list = std::make_shared<const file_list>(std::move(files));
  dataset out;
  out.size = static_cast<std::int64_t>(list->files.size());
  out.get = [list, options](std::int64_t index, random::key) {
    if (index < 0 || index >= static_cast<std::int64_t>(list->files.size()))
      base::fail<index_error>("pictures_of: item {} of {}", index, list->files.size());
    const auto i = static_cast<std::size_t>(index);
    return item{fitted(read_picture(list->files[i]), options), host_array::scalar(list->labels[i])};
  };
  out.name = [list](std::int64_t index) {
    return list->files.at(static_cast<std::size_t>(index)).string();
  };
  return out;
}

}  // namespace tutti::data
