// SPDX-License-Identifier: Apache-2.0
//
// guide_extract PAGE.md FOLDER FILE...: writes FOLDER/PAGE.cpp, the page's part of the test
// program, and the whole files that the page shows, which must be those that are named. With
// --files before PAGE.md only these.
#include <filesystem>
#include <iostream>
#include <set>
#include <stdexcept>

#include "page_source.hpp"
#include "tutti_test/files.hpp"

namespace {

using namespace tutti_test::guide;

void write(const std::filesystem::path& path, const std::string& text) {
  std::ofstream out(path, std::ios::binary);
  out << text;
  if (!out.flush()) throw std::runtime_error("cannot write " + path.string());
}

void extract(const std::filesystem::path& page, const std::filesystem::path& folder,
             const std::set<std::string>& files, bool only_files) {
  const std::string text = tutti_test::read_bytes(page);
  const std::vector<part> parts = only_files ? parse_files(text) : parse_page(text);
  std::set<std::string> found;
  for (const part& p : parts) {
    if (p.kind != part_kind::file) continue;
    if (!files.contains(p.file) || !found.insert(p.file).second)
      throw std::runtime_error("line " + std::to_string(p.line) + ": " + p.file +
                               " is shown twice, or missing in tests/guide/CMakeLists.txt");
    write(folder / p.file, p.text);
  }
  if (found != files) throw std::runtime_error("not all files of tests/guide/CMakeLists.txt");
  if (only_files) return;
  const std::string name = page.stem().string();
  write(folder / (name + ".cpp"), page_source(name, page.string(), parts));
}

}  // namespace

int main(int argc, char** argv) try {
  const bool only_files = argc > 1 && std::string(argv[1]) == "--files";
  argv += only_files ? 1 : 0, argc -= only_files ? 1 : 0;
  if (argc < 3) throw std::runtime_error("usage: guide_extract [--files] PAGE.md FOLDER FILE...");
  extract(argv[1], argv[2], {argv + 3, argv + argc}, only_files);
} catch (const std::exception& e) {
  std::cerr << (argc > 1 ? argv[1] : "guide_extract") << ": " << e.what() << '\n';
  return 1;
}
