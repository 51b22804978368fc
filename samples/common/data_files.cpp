// SPDX-License-Identifier: Apache-2.0
//
// Locations of data files and results.
#define BOOST_DLL_USE_STD_FS
#include "common/data_files.hpp"

#include <fmt/format.h>

#include <boost/dll/runtime_symbol_info.hpp>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <system_error>
#include <tutti/error.hpp>
#include <vector>

namespace samples {

namespace fs = std::filesystem;

namespace {

fs::path named_folder() {
  const char* const named = std::getenv("TUTTI_DATA");
  return named == nullptr ? fs::path() : fs::path(named);
}

std::vector<fs::path> places(const fs::path& folder) {
  if (!folder.empty()) return {folder};
  std::vector<fs::path> out;
  if (!named_folder().empty()) out.push_back(named_folder());
  // bin/NAME in the build tree, lib/ARCHITECTURE/tutti/samples/NAME when installed.
  fs::path above = boost::dll::program_location().parent_path();
  for (int level = 0; level < 4 && above.has_relative_path(); ++level) {
    above = above.parent_path();
    out.push_back(above / "share" / "tutti" / "data");
  }
  return out;
}

}  // namespace

fs::path find_data(const std::string& name, const fs::path& folder) {
  std::string searched;
  for (const fs::path& place : places(folder)) {
    std::error_code ignored;
    if (fs::exists(place / name, ignored)) return place / name;
    searched += (searched.empty() ? "" : ", ") + place.string();
  }
  throw tutti::io_error(fmt::format("cannot find {} in {}", name, searched));
}

std::vector<fs::path> data_places(const fs::path& folder, const std::string& name) {
  const fs::path place = folder.empty() ? named_folder() : folder;
  if (place.empty()) return {};
  std::error_code ignored;
  if (!fs::is_directory(place, ignored))
    throw tutti::io_error(
        fmt::format("{}{} is no folder", folder.empty() ? "TUTTI_DATA=" : "", place.string()));
  return {place, place / name};
}

std::string read_text(const fs::path& path, std::int64_t least) {
  std::error_code code;
  if (!fs::is_regular_file(path, code))
    throw tutti::io_error(fmt::format("{}: {}", path.string(), code ? code.message() : "no file"));
  std::ifstream in(path, std::ios::binary);
  std::string text{std::istreambuf_iterator<char>(in), {}};
  if (!in) throw tutti::io_error(path.string() + ": cannot be read");
  if (std::ssize(text) < least)
    throw tutti::io_error(
        fmt::format("{}: {} letters, at least {} are needed", path.string(), text.size(), least));
  return text;
}

void make_folder(const fs::path& folder) {
  std::error_code code;
  fs::create_directories(folder, code);
  if (code || !fs::is_directory(folder)) {
    throw tutti::io_error(fmt::format("cannot make the folder {}: {}", folder.string(),
                                      code ? code.message() : "a file has that name"));
  }
}

}  // namespace samples
