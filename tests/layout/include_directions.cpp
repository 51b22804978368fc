// SPDX-License-Identifier: Apache-2.0
//
// Include lines, and the rooms that they lead to.
#include "include_directions.hpp"

#include <filesystem>
#include <optional>
#include <regex>
#include <sstream>

namespace tutti_test {
namespace {

using path_set = std::set<std::string>;

// Where the builds look for headers, after the including file's own folder.
constexpr std::string_view include_folders[] = {"core/",  "core/include/", "plugins/", "samples/",
                                                "tools/", "bench/",        "libs/"};

// Headers of libraries: "libs/report/include/" for tutti/report.hpp and what is below tutti/report.
std::string library_folder(std::string_view header) {
  constexpr std::string_view before = "tutti/";
  if (!header.starts_with(before)) return {};
  header.remove_prefix(before.size());
  return "libs/" + std::string(header.substr(0, header.find_first_of("./"))) + "/include/";
}

// Nothing for headers of other projects.
std::optional<std::string> room_of_header(const std::string& header, bool quoted,
                                          const source_file& from, const path_set& known) {
  const auto beside = (std::filesystem::path(from.path).parent_path() / header).lexically_normal();
  if (quoted && known.contains(beside.generic_string())) return room_of(beside.generic_string());
  for (const std::string_view folder : include_folders) {
    const std::string path = std::string(folder) + header;
    if (known.contains(path)) return room_of(path);
  }
  const std::string in_library = library_folder(header) + header;
  if (known.contains(in_library)) return room_of(in_library);
  if (!quoted) return std::nullopt;
  // Written by the build: in a room's name, or beside the sources of the room that uses it.
  const std::size_t slash = header.find('/');
  return slash == std::string::npos ? room_of(from.path) : header.substr(0, slash);
}

// Mermaid has words of its own, which an underscore tells from a room's name: "graph_".
std::string name_of(std::string id) {
  if (id.ends_with('_')) id.pop_back();
  return id;
}

}  // namespace

std::string room_of(std::string_view path) {
  if (path.starts_with("core/include/"))
    path.remove_prefix(std::string_view("core/include/").size());
  for (const std::string_view house : {"core/", "plugins/", "libs/"})
    if (path.starts_with(house)) path.remove_prefix(house.size());
  return std::string(path.substr(0, path.find('/')));
}

std::set<std::string> allowed(const room_table& table, const std::string& room) {
  std::set<std::string> found;
  std::vector<std::string> next{room};
  while (!next.empty()) {
    const auto row = table.find(next.back());
    next.pop_back();
    if (row == table.end()) continue;
    for (const std::string& below : row->second)
      if (found.insert(below).second) next.push_back(below);
  }
  return found;
}

std::vector<std::string> forbidden_includes(const room_table& table,
                                            const std::vector<source_file>& files) {
  static const std::regex include(R"(\s*#\s*include\s*([<"])([^">]+)[">].*)");
  path_set known;
  for (const source_file& file : files) known.insert(file.path);
  std::vector<std::string> out;
  for (const source_file& file : files) {
    const std::string room = room_of(file.path);
    if (!table.contains(room)) {
      out.push_back(file.path + ": no room " + room + " is known");
      continue;
    }
    const std::set<std::string> may = allowed(table, room);
    std::istringstream lines(file.text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
      std::smatch parts;
      if (!std::regex_match(line, parts, include)) continue;
      const auto target = room_of_header(parts[2], parts[1] == "\"", file, known);
      if (!target || *target == room || may.contains(*target)) continue;
      const std::string at = file.path + ":" + std::to_string(number) + ": ";
      if (table.contains(*target))
        out.push_back(at + room + " may not include " + *target + " (" + parts[2].str() + ")");
      else
        out.push_back(at + "no room " + *target + " is known (" + parts[2].str() + ")");
    }
  }
  return out;
}

std::set<std::pair<std::string, std::string>> arrows_of_picture(std::string_view document) {
  static const std::regex arrow(R"(\s*(\w+) --> (\w+)\s*)");
  constexpr std::string_view opening = "```mermaid\n";
  std::set<std::pair<std::string, std::string>> out;
  const std::size_t begin = document.find(opening);
  if (begin == std::string_view::npos) return out;
  document.remove_prefix(begin + opening.size());
  std::istringstream lines(std::string(document.substr(0, document.find("```"))));
  std::string line;
  while (std::getline(lines, line)) {
    std::smatch ends;
    if (std::regex_match(line, ends, arrow)) out.emplace(name_of(ends[1]), name_of(ends[2]));
  }
  return out;
}

}  // namespace tutti_test
