// SPDX-License-Identifier: Apache-2.0
//
// Rooms of the source tree (a folder of core/, libs/ or plugins/, or tools, samples, bench) and the
// include lines that go from one to another.
#pragma once

#include <map>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tutti_test {

/// Each room with those that it may include; what these may include, it may as well.
using room_table = std::map<std::string, std::set<std::string>, std::less<>>;

struct source_file {
  std::string path;  // from the root of the sources
  std::string text;
};

/// "graph" for core/graph/node.cpp, "cuda" for plugins/cuda/blas.cpp, "report" for
/// libs/report/page.cpp, "tools" for tools/main.cpp; "tutti" for the public headers.
std::string room_of(std::string_view path);

/// The rooms that `room` may include, itself only where the table has a circle.
std::set<std::string> allowed(const room_table& table, const std::string& room);

/// A line for each include that the table does not allow, and for each room that it does not know.
std::vector<std::string> forbidden_includes(const room_table& table,
                                            const std::vector<source_file>& files);

/// The arrows "a --> b", a line each, of the first mermaid picture in a document.
std::set<std::pair<std::string, std::string>> arrows_of_picture(std::string_view document);

}  // namespace tutti_test
