// SPDX-License-Identifier: Apache-2.0
//
// The table of rooms and arrows, held against all include lines and against the picture in
// docs/architecture.md. A new room needs a row here and an arrow there.
#include "include_directions.hpp"

#include <boost/test/unit_test.hpp>
#include <filesystem>

#include "tutti_test/files.hpp"
#include "tutti_test/paths.hpp"

namespace {

using namespace tutti_test;

const std::filesystem::path source = paths::source_folder;

const room_table rooms = {
    {"tutti", {}},
    // core, from the bottom up
    {"base", {"tutti"}},
    {"semantics", {"tutti"}},
    {"safety", {"base"}},
    {"plugin", {"safety", "semantics"}},
    {"graph", {"plugin", "semantics"}},
    {"fusion", {"graph"}},
    {"runtime", {"fusion"}},
    {"array", {"runtime"}},
    {"op", {"graph"}},
    {"autograd", {"op"}},
    {"kernel", {"op", "runtime"}},
    {"dlpack", {"runtime"}},
    {"multi", {"op", "runtime"}},
    // plugins
    {"sdk", {"base", "semantics"}},
    {"cpu", {"sdk"}},
    {"reference", {"sdk"}},
    {"opencl", {"sdk"}},
    {"cuda", {"sdk"}},
    {"mpi", {"sdk"}},
    // libraries on the public headers, and on what every room may use
    {"signal", {"base"}},
    {"image", {"signal"}},
    {"sparse", {"base"}},
    {"data", {"image", "semantics"}},
    {"nn", {"base"}},
    {"ml", {"data", "nn"}},
    {"report", {"data"}},
    {"all", {"ml", "report", "sparse"}},
    // programs
    {"tools", {"data", "op", "runtime", "verify"}},
    {"verify", {"plugin", "sdk"}},
    {"samples", {"all"}},
    {"bench", {"all"}},
};

std::vector<source_file> all_files() {
  static const std::set<std::string> endings = {".c", ".h", ".cpp", ".hpp", ".def", ".in"};
  std::vector<source_file> out;
  for (const char* folder : {"core", "libs", "plugins", "verify", "tools", "samples", "bench"}) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(source / folder)) {
      if (!entry.is_regular_file() || !endings.contains(entry.path().extension().string()))
        continue;
      const std::string path = entry.path().lexically_relative(source).generic_string();
      if (path.starts_with("libs/") && path.find("/tests/") != std::string::npos) continue;
      out.push_back({path, read_bytes(entry.path())});
    }
  }
  return out;
}

std::vector<std::string> found_in(const std::vector<source_file>& files) {
  return forbidden_includes(rooms, files);
}

}  // namespace

BOOST_AUTO_TEST_CASE(files_include_along_the_arrows_only) {
  const std::vector<source_file> files = all_files();
  for (const std::string& line : found_in(files)) BOOST_TEST(false, line);
  std::set<std::string> seen;
  for (const source_file& file : files) seen.insert(room_of(file.path));
  for (const auto& [room, below] : rooms)
    BOOST_TEST(seen.contains(room), "the room " << room << " of the table has no files");
}

BOOST_AUTO_TEST_CASE(arrows_lead_to_rooms_and_not_back) {
  for (const auto& [room, below] : rooms) {
    BOOST_TEST(!allowed(rooms, room).contains(room), room << " leads back to itself");
    for (const std::string& name : below)
      BOOST_TEST(rooms.contains(name), room << " leads to " << name << ", which is no room");
  }
}

BOOST_AUTO_TEST_CASE(the_document_draws_the_same_arrows) {
  std::set<std::pair<std::string, std::string>> table;
  for (const auto& [room, below] : rooms)
    for (const std::string& name : below) table.emplace(room, name);
  const auto picture = arrows_of_picture(read_bytes(source / "docs/architecture.md"));
  for (const auto& [from, to] : table)
    BOOST_TEST(picture.contains({from, to}),
               "docs/architecture.md lacks " << from << " --> " << to);
  for (const auto& [from, to] : picture)
    BOOST_TEST(table.contains({from, to}), "the table lacks " << from << " --> " << to);
}

// The search itself: what it must find and what it must not.
BOOST_AUTO_TEST_CASE(forbidden_arrows_are_told) {
  const source_file executor{"core/runtime/execute/executor.hpp", "#pragma once\n"};
  const auto lines = [&](const char* path, const char* text) {
    return found_in({executor, {path, text}});
  };
  const auto told = [&](const char* path, const char* text, const char* message) {
    BOOST_TEST(lines(path, text) == std::vector<std::string>{message},
               boost::test_tools::per_element());
  };
  told("core/graph/node.cpp", "//\n#include \"runtime/execute/executor.hpp\"\n",
       "core/graph/node.cpp:2: graph may not include runtime (runtime/execute/executor.hpp)");
  told("core/base/log.cpp", "  #  include <runtime/execute/executor.hpp>  // why",
       "core/base/log.cpp:1: base may not include runtime (runtime/execute/executor.hpp)");
  told("core/op/a/sorts.cpp", "#include \"../../runtime/execute/executor.hpp\"",
       "core/op/a/sorts.cpp:1: op may not include runtime (../../runtime/execute/executor.hpp)");
  told("plugins/cuda/blas.cpp", "#include \"opencl/written_by_the_build.hpp\"",
       "plugins/cuda/blas.cpp:1: cuda may not include opencl (opencl/written_by_the_build.hpp)");
  told("core/include/tutti/array.hpp", "#include \"graph/node.hpp\"",
       "core/include/tutti/array.hpp:1: tutti may not include graph (graph/node.hpp)");
  told("libs/report/page.cpp", "#include \"runtime/execute/executor.hpp\"",
       "libs/report/page.cpp:1: report may not include runtime (runtime/execute/executor.hpp)");
  BOOST_TEST(found_in({{"libs/report/include/tutti/report/page.hpp", ""},
                       {"core/array/file.hpp", "#include <tutti/report/page.hpp>"}}) ==
                 std::vector<std::string>{
                     "core/array/file.hpp:1: array may not include report (tutti/report/page.hpp)"},
             boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(unknown_rooms_are_told) {
  BOOST_TEST(found_in({{"core/kitchen/stove.cpp", ""}}) ==
                 std::vector<std::string>{"core/kitchen/stove.cpp: no room kitchen is known"},
             boost::test_tools::per_element());
  BOOST_TEST(
      found_in({{"core/op/a.cpp", "#include \"kitchen/stove.hpp\""}}) ==
          std::vector<std::string>{"core/op/a.cpp:1: no room kitchen is known (kitchen/stove.hpp)"},
      boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(allowed_arrows_are_not_told) {
  const std::vector<source_file> files = {
      {"core/include/tutti/array.hpp", ""},
      {"core/base/log.hpp", "#include <string>\n#include <fmt/format.h>\n"},
      {"libs/data/io/file.hpp", "#include <tutti/array.hpp>"},
      {"libs/data/io/npy.cpp", "#include \"file.hpp\"\n#include \"base/log.hpp\"\n"},
      {"libs/data/idx.cpp", "#include \"data/io/file.hpp\"\n"},
      {"plugins/cuda/compile.cpp", "#include \"embedded_kernels.hpp\"\n// #include \"op/a.hpp\""},
      {"libs/report/include/tutti/report.hpp", "#include \"tutti/report/page.hpp\"\n"},
      {"libs/report/include/tutti/report/page.hpp", "#include \"tutti/array.hpp\"\n"},
      {"libs/report/page.cpp", "#include \"tutti/report/page.hpp\"\n"},
      {"samples/common/table.hpp", "#include <tutti/report.hpp>"},
      {"samples/digits/main.cpp", "#include \"common/table.hpp\"\n#include \"tutti/array.hpp\"\n"},
  };
  BOOST_TEST(found_in(files) == std::vector<std::string>{}, boost::test_tools::per_element());
}
