// SPDX-License-Identifier: Apache-2.0
//
// SVG documents as XML, read by Boost.
#pragma once

#include <algorithm>
#include <boost/property_tree/xml_parser.hpp>
#include <sstream>
#include <string>
#include <vector>

namespace report_test {

using tree = boost::property_tree::ptree;

/// The document's root; throws where the text is not well-formed.
inline tree parse(const std::string& svg) {
  std::istringstream in(svg);
  tree document;
  boost::property_tree::read_xml(in, document);
  return document.get_child("svg");
}

inline std::vector<std::string> texts(const tree& root) {
  std::vector<std::string> out;
  for (const auto& [name, child] : root) {
    if (name == "text") out.push_back(child.data());
  }
  return out;
}

inline std::vector<std::string> paths_of(const tree& root) {
  std::vector<std::string> out;
  for (const auto& [name, child] : root) {
    if (name == "path") out.push_back(child.get<std::string>("<xmlattr>.d"));
  }
  return out;
}

struct rectangle {
  double x = 0, y = 0, width = 0, height = 0;
  std::string fill;
};

/// Without the paper below everything.
inline std::vector<rectangle> rectangles(const tree& root) {
  std::vector<rectangle> out;
  for (const auto& [name, child] : root) {
    if (name != "rect" || child.get("<xmlattr>.class", "") == "paper") continue;
    const auto of = [&, &shape = child](const char* what) {
      return shape.get<double>(std::string("<xmlattr>.") + what);
    };
    out.push_back(
        {of("x"), of("y"), of("width"), of("height"), child.get<std::string>("<xmlattr>.fill")});
  }
  return out;
}

inline bool holds(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

inline std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++n;
  return n;
}

}  // namespace report_test
