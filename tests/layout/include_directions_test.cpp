// SPDX-License-Identifier: Apache-2.0
//
// All include lines, held against the arrows of the picture in docs/architecture.md. A room is a
// folder of core/, libs/ or plugins/, or verify, tools, samples or bench; "tutti" are the public
// headers of the core.
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <vector>

#include "tutti_test/files.hpp"
#include "tutti_test/paths.hpp"

namespace {

using tutti_test::read_bytes;
namespace fs = std::filesystem;
using path_set = std::set<std::string>;

const fs::path source = tutti_test::paths::source_folder;

struct source_file {
  std::string path;  // from the root of the sources
  std::string text;
};

// Each room with those that an arrow leads to. Mermaid has words of its own, which an underscore
// tells from a room's name: "graph_".
const std::map<std::string, std::set<std::string>>& rooms() {
  static const auto table = [] {
    std::map<std::string, std::set<std::string>> out;
    std::string picture = read_bytes(source / "docs/architecture.md");
    picture.erase(0, picture.find("```mermaid\n"));
    picture.erase(picture.find("```", 3));
    const std::regex arrow(R"(([\w &]+) --> ([\w &]+)\n)"), name(R"([A-Za-z]+(?:_[a-z]+)*)");
    const auto names = [&](const std::string& side) {
      return path_set(std::sregex_token_iterator(side.begin(), side.end(), name), {});
    };
    for (std::sregex_iterator at(picture.begin(), picture.end(), arrow), end; at != end; ++at) {
      const path_set to = names((*at)[2]);
      for (const std::string& room : names((*at)[1])) out[room].insert(to.begin(), to.end());
      for (const std::string& room : to) out[room];
    }
    return out;
  }();
  return table;
}

// Those that a room may include, itself only where arrows lead back.
std::set<std::string> allowed(const std::string& room) {
  std::set<std::string> found;
  std::vector<std::string> next{room};
  while (!next.empty()) {
    const std::string from = next.back();
    next.pop_back();
    for (const std::string& below : rooms().at(from))
      if (found.insert(below).second) next.push_back(below);
  }
  return found;
}

// "graph" for core/graph/node.cpp, "cuda" for plugins/cuda/blas.cpp, "report" for
// libs/report/page.cpp, "tools" for tools/main.cpp.
std::string room_of(std::string_view path) {
  for (const std::string_view house : {"core/include/", "core/", "plugins/", "libs/"}) {
    if (!path.starts_with(house)) continue;
    path.remove_prefix(house.size());
    break;
  }
  return std::string(path.substr(0, path.find('/')));
}

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
  const std::string beside =
      (fs::path(from.path).parent_path() / header).lexically_normal().generic_string();
  if (quoted && known.contains(beside)) return room_of(beside);
  // Where the builds look for headers, after the including file's own folder.
  for (const std::string& folder :
       {std::string("core/"), std::string("core/include/"), std::string("plugins/"),
        std::string("samples/"), std::string("tools/"), std::string("bench/"), std::string("libs/"),
        library_folder(header)})
    if (known.contains(folder + header)) return room_of(folder + header);
  if (!quoted) return std::nullopt;
  // Written by the build: in a room's name, or beside the sources of the room that uses it.
  const std::size_t slash = header.find('/');
  return slash == std::string::npos ? room_of(from.path) : header.substr(0, slash);
}

// A line for each include that no arrow allows, and for each room that the picture lacks.
std::vector<std::string> forbidden_includes(const std::vector<source_file>& files) {
  static const std::regex include(R"(\s*#\s*include\s*([<"])([^">]+)[">].*)");
  path_set known;
  for (const source_file& file : files) known.insert(file.path);
  std::vector<std::string> out;
  for (const source_file& file : files) {
    const std::string room = room_of(file.path);
    if (!rooms().contains(room)) {
      out.push_back(file.path + ": no room " + room + " is known");
      continue;
    }
    const std::set<std::string> may = allowed(room);
    std::istringstream lines(file.text);
    std::string line;
    for (int number = 1; std::getline(lines, line); ++number) {
      std::smatch parts;
      if (!std::regex_match(line, parts, include)) continue;
      const auto target = room_of_header(parts[2], parts[1] == "\"", file, known);
      if (!target || *target == room || may.contains(*target)) continue;
      out.push_back(file.path + ":" + std::to_string(number) + ": " + room + " may not include " +
                    *target + " (" + parts[2].str() + ")");
    }
  }
  return out;
}

std::vector<source_file> all_files() {
  static const std::set<std::string> endings = {".c", ".h", ".cpp", ".hpp", ".def", ".in"};
  std::vector<source_file> out;
  for (const char* folder : {"core", "libs", "plugins", "verify", "tools", "samples", "bench"}) {
    for (const auto& entry : fs::recursive_directory_iterator(source / folder)) {
      if (!entry.is_regular_file() || !endings.contains(entry.path().extension().string()))
        continue;
      const std::string path = entry.path().lexically_relative(source).generic_string();
      if (path.starts_with("libs/") && path.find("/tests/") != std::string::npos) continue;
      out.push_back({path, read_bytes(entry.path())});
    }
  }
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(files_include_along_the_arrows_only) {
  const std::vector<source_file> files = all_files();
  for (const std::string& line : forbidden_includes(files)) BOOST_TEST(false, line);
  std::set<std::string> seen;
  for (const source_file& file : files) seen.insert(room_of(file.path));
  for (const auto& [room, below] : rooms()) {
    BOOST_TEST(seen.contains(room), "the room " << room << " of the picture has no files");
    BOOST_TEST(!allowed(room).contains(room), room << " leads back to itself");
  }
}

// The search itself: what it must find.
BOOST_AUTO_TEST_CASE(forbidden_includes_are_told) {
  const char* const executor = "core/runtime/execute/executor.hpp";
  const std::string cases[][3] = {
      {"core/graph/node.cpp", "//\n#include \"runtime/execute/executor.hpp\"\n",
       ":2: graph may not include runtime (runtime/execute/executor.hpp)"},
      {"core/base/log.cpp", "  #  include <runtime/execute/executor.hpp>  // why",
       ":1: base may not include runtime (runtime/execute/executor.hpp)"},
      {"core/op/a/sorts.cpp", "#include \"../../runtime/execute/executor.hpp\"",
       ":1: op may not include runtime (../../runtime/execute/executor.hpp)"},
      {"plugins/cuda/blas.cpp", "#include \"opencl/written_by_the_build.hpp\"",
       ":1: cuda may not include opencl (opencl/written_by_the_build.hpp)"},
      {"core/array/file.hpp", "#include <tutti/report/page.hpp>",
       ":1: array may not include report (tutti/report/page.hpp)"},
      {"core/kitchen/stove.cpp", "", ": no room kitchen is known"}};
  for (const auto& [path, text, told] : cases)
    BOOST_TEST(forbidden_includes({{executor, ""},
                                   {"libs/report/include/tutti/report/page.hpp", ""},
                                   {path, text}}) == std::vector<std::string>{path + told},
               boost::test_tools::per_element());
}
