// SPDX-License-Identifier: Apache-2.0
//
// Whoever comes from NumPy or PyTorch finds every public function in the guide's tables.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <regex>
#include <set>

#include "markdown.hpp"
#include "operators_document.hpp"
#include "tutti_test/files.hpp"
#include "tutti_test/paths.hpp"

namespace {

using namespace tutti_test;

std::set<std::string> names_in_tables() {
  static const std::regex name(
      "((random|linalg|fft|signal|image|sparse|data|nn)::)?[a-z][a-z0-9_]*");
  std::set<std::string> names;
  for (const char* page : {"numpy.md", "pytorch.md"}) {
    const auto path = std::filesystem::path(paths::source_folder) / "docs/guide" / page;
    for (const guide::part& p : guide::parse_page(read_bytes(path)))
      if (p.kind == guide::part_kind::expression)
        names.insert(std::sregex_token_iterator(p.text.begin(), p.text.end(), name), {});
  }
  return names;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_tables_of_the_guide_have_every_function) {
  const std::set<std::string> there = names_in_tables();
  const auto ask = [&](const std::string& name) {
    BOOST_TEST(there.contains(name),
               name << " is in no table of docs/guide/numpy.md and pytorch.md");
  };
  for (const auto& row : tutti::tools::elementwise_rows()) ask(std::string(row.name));
  for (const auto& row : tutti::tools::function_rows()) ask(row.name);
}
