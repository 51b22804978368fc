// SPDX-License-Identifier: Apache-2.0
//
// Parts of a page put together as C++.
#include "page_source.hpp"

#include <algorithm>
#include <cmath>

namespace tutti_test::guide {
namespace {

std::string literal(const std::string& text) { return "R\"guide(" + text + ")guide\""; }

std::string output_arguments(const part& p) {
  const std::string tolerance = std::isinf(p.tolerance) ? "INFINITY" : std::to_string(p.tolerance);
  return std::to_string(p.line) + ", " + literal(p.text) + ", " + tolerance;
}

}  // namespace

std::string page_source(std::string name, const std::string& path, const std::vector<part>& parts) {
  std::replace(name.begin(), name.end(), '-', '_');
  std::string out = "// Generated from " + path + ".\n" +
                    "#include \"page.hpp\"\n\nusing namespace tutti;\n\n"
                    "BOOST_AUTO_TEST_CASE(page_" +
                    name + ") {\n  tutti_test::guide::page this_page;\n  {\n";
  const auto place = [&](int line) {
    return "#line " + std::to_string(line) + " \"" + path + "\"\n";
  };
  for (const part& p : parts) {
    switch (p.kind) {
      case part_kind::section:
        out += "  }\n  {\n";
        break;
      case part_kind::snippet:
        out += "  this_page.start();\n" + place(p.line) + p.text;
        break;
      case part_kind::output:
        out += "  this_page.printed(" + output_arguments(p) + ");\n";
        break;
      case part_kind::command:
        out += "  this_page.run(" + literal(p.file) + ", " + output_arguments(p) + ");\n";
        break;
      case part_kind::expression:
        out += place(p.line) + "  this_page.row(" + std::to_string(p.line) + ", [&] { (void)(" +
               p.text + "); });\n";
        break;
      case part_kind::file:
        break;
    }
  }
  return out + "  }\n}\n";
}

}  // namespace tutti_test::guide
