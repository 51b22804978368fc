// SPDX-License-Identifier: Apache-2.0
//
// docs/operators.md is what the tables of operators give; every public function of the headers has
// a row there, in the order of the headers; elementwise.hpp says what its rows say.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>

#include "operators_document.hpp"
#include "tutti_test/files.hpp"
#include "tutti_test/paths.hpp"

namespace {

using namespace tutti::tools;

const std::filesystem::path source = tutti_test::paths::source_folder;

// Folders of public headers: the core's, then those of the libraries.
std::vector<std::filesystem::path> header_folders() {
  std::vector<std::filesystem::path> out = {source / "core/include/tutti"};
  for (const auto& library : std::filesystem::directory_iterator(source / "libs"))
    if (library.is_directory()) out.push_back(library.path() / "include/tutti");
  return out;
}

constexpr const char* elementwise = "elementwise.hpp";

std::string header_text(const std::string& name) {
  for (const std::filesystem::path& folder : header_folders())
    if (std::filesystem::exists(folder / name)) return tutti_test::read_bytes(folder / name);
  throw std::runtime_error("no header " + name);
}

// Functions that a header declares in namespaces, in their order, each name once; those in
// namespace tutti without it ("random::normal"). Their declarations begin at the left edge.
// Operators and members of classes are left out.
std::vector<std::string> public_functions(const std::string& header) {
  static const std::regex opening(R"(namespace (?:tutti(?:::)?)?([\w:]*) \{)"), angles("<[^<>]*>"),
      function(
          "(?!template|using|struct|class|enum|static_assert|concept|#|//|/\\*)"
          R"((\w[^(={]*\W)(\w+)\(.*)"),
      no_name(R"(\boperator\b)");
  std::vector<std::string> found, scopes;
  std::istringstream lines(header);
  for (std::string line; std::getline(lines, line);) {
    std::smatch part;
    if (std::regex_match(line, part, opening)) {
      scopes.push_back(part[1].length() > 0 ? part[1].str() + "::" : "");
    } else if (line.starts_with("}  // namespace")) {
      scopes.pop_back();
    } else {
      while (std::regex_search(line, angles)) line = std::regex_replace(line, angles, "");
      if (!std::regex_match(line, part, function) || std::regex_search(part[1].str(), no_name))
        continue;
      std::string name;
      for (const std::string& scope : scopes) name += scope;
      name += part[2];
      if (name.find("detail::") == std::string::npos &&
          std::ranges::find(found, name) == found.end())
        found.push_back(name);
    }
  }
  return found;
}

}  // namespace

BOOST_AUTO_TEST_CASE(the_document_is_up_to_date) {
  const bool same = tutti_test::read_bytes(source / "docs/operators.md") == operators_document();
  BOOST_TEST(same,
             "docs/operators.md differs from its tables; write it anew with: cmake --build "
             "build/release --target operators_document");
}

// The formulas of "GRAD(g * b, g * a)" with the names that the header has for a, b and y.
std::vector<std::string> gradients_of(const elementwise_row& row, const std::string& parameters) {
  const std::string_view list = row.gradient;
  std::vector<std::string> out;
  if (!list.starts_with("GRAD(")) return out;
  std::vector<std::string> names;
  const std::regex parameter("const array& (\\w+)");
  for (std::sregex_iterator p(parameters.begin(), parameters.end(), parameter), end; p != end; ++p)
    names.push_back((*p)[1]);
  out.emplace_back();
  int depth = 0;
  for (const char c : list.substr(5, list.size() - 6)) {
    depth += (c == '(') - (c == ')');
    if (c == ',' && depth == 0)
      out.emplace_back();
    else if (c != ' ' || !out.back().empty())
      out.back() += c;
  }
  const std::pair<const char*, std::string> words[] = {
      {"\\by\\b(?!\\.)", "result"}, {"\\bb\\b(?!\\.)", names.back()}, {"\\ba\\b(?!\\.)", names[0]}};
  for (std::string& formula : out) {
    for (const auto& [word, name] : words)
      formula = std::regex_replace(formula, std::regex(word), name);
    formula = '`' + formula + '`';
  }
  return out;
}

BOOST_AUTO_TEST_CASE(the_elementwise_header_says_what_the_rows_say) {
  const std::map<std::string_view, std::string> operands = {
      {"NUMERIC", "integers, floats, complex"},
      {"REAL", "integers, floats"},
      {"FLOATING", "floats, complex; bool and integers become f32"},
      {"REAL_FLOATING", "floats; bool and integers become f32"},
      {"INTEGRAL", "bool, integers"},
      {"LOGICAL", "all, as truth values"},
      {"ANY", "all"}};
  const std::map<std::string_view, std::string> results = {
      {"SAME", "the same"},
      {"BOOL", "bool"},
      {"REAL_OF", "the same, of complex operands that of their parts"},
      {"COMPLEX_OF", "c128 for f64, else c64"}};
  const std::string text = header_text(elementwise);
  std::vector<std::string> names;
  for (const elementwise_row& row : elementwise_rows()) {
    names.emplace_back(row.name);
    const std::size_t at = text.find("TUTTI_API array " + names.back() + "(");
    BOOST_TEST_CONTEXT("elementwise.hpp, " << row.name) {
      BOOST_TEST_REQUIRE(at != std::string::npos);
      const std::size_t begin = text.rfind("\n\n", at);
      const std::string comment = text.substr(begin, at - begin);
      const auto says = [&](const std::string& what) {
        return comment.find("\n/// - " + what) != std::string::npos;
      };
      const std::string parameters = text.substr(at, text.find(';', at) - at);
      BOOST_TEST(std::count(parameters.begin(), parameters.end(), '&') == row.arity);
      BOOST_TEST(says("dtypes: " + operands.at(row.kinds)));
      BOOST_TEST(comment.find("Result: " + results.at(row.result) + ".\n") != std::string::npos);
      BOOST_TEST(says("Edges: "));
      BOOST_TEST(says("Tolerance: ") == (row.ulp > 0));
      if (row.ulp > 0)
        BOOST_TEST(says("Tolerance: " + number(row.ulp) + " ulp, from " + number(row.low) + " to " +
                        number(row.high) + "."));
      BOOST_TEST(says("Gradient: ") == (row.result != "BOOL" && row.kinds != "INTEGRAL"));
      const std::string in_one_line = std::regex_replace(comment, std::regex("\n/// +"), " ");
      for (const std::string& formula : gradients_of(row, parameters))
        BOOST_TEST(in_one_line.find(formula) != std::string::npos, formula);
    }
  }
  BOOST_TEST(public_functions(text) == names, boost::test_tools::per_element());
}

BOOST_AUTO_TEST_CASE(every_function_has_a_row) {
  std::vector<std::string> sections;
  for (const function_row& row : function_rows())
    if (sections.empty() || sections.back() != row.header) sections.push_back(row.header);
  BOOST_TEST(std::set(sections.begin(), sections.end()).size() == sections.size(),
             "a header's sections stand apart");
  for (const std::string& header : sections) {
    BOOST_TEST_CONTEXT(header) {
      std::vector<std::string> rows;
      for (const function_row& row : function_rows())
        if (row.header == header) rows.push_back(row.name);
      const std::vector<std::string> declared = public_functions(header_text(header));
      BOOST_TEST(!declared.empty());
      for (const std::string& name : declared)
        BOOST_TEST((std::find(rows.begin(), rows.end(), name) != rows.end()),
                   name << " has no row in tools/function_table.def");
      for (const std::string& name : rows)
        BOOST_TEST((std::find(declared.begin(), declared.end(), name) != declared.end()),
                   "the row " << name << " in tools/function_table.def has no function");
      BOOST_TEST(rows == declared, boost::test_tools::per_element());
    }
  }
}

BOOST_AUTO_TEST_CASE(every_header_is_accounted_for) {
  std::set<std::string> known = {elementwise};  // of the rows of op_table.def
  for (const function_row& row : function_rows()) known.insert(row.header);
  for (const other_header& other : other_headers()) {
    BOOST_TEST(!known.contains(other.header), other.header << " is named twice");
    known.insert(other.header);
  }
  int found = 0;
  for (const std::filesystem::path& folder : header_folders()) {
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder)) {
      if (entry.path().extension() != ".hpp") continue;
      ++found;
      const std::string name = entry.path().lexically_relative(folder).generic_string();
      BOOST_TEST(known.contains(name), name << " is not in tools/function_table.def");
    }
  }
  BOOST_TEST(std::size_t(found) == known.size(), "a header of the table does not exist");
}

BOOST_AUTO_TEST_CASE(rows_have_no_holes) {
  for (const function_row& row : function_rows()) {
    BOOST_TEST_CONTEXT(row.name) {
      for (const char* cell : {row.gradient, row.tolerance, row.doc})
        BOOST_TEST(std::string_view(cell).size() >= 1u);
      BOOST_TEST(row.made_of != 0u);
      // A reason stands where there is no gradient.
      const std::string_view gradient = row.gradient;
      BOOST_TEST((gradient.rfind("none", 0) != 0 || gradient.size() > 7));
    }
  }
}

// What cuda lacks beside opencl is linear algebra by host functions.
BOOST_AUTO_TEST_CASE(cuda_has_what_opencl_has) {
  for (const operator_row& row : operator_rows())
    if (row.number < TUTTI_OPERATOR_CHOLESKY || row.number > TUTTI_OPERATOR_EIG)
      BOOST_TEST((row.opencl - row.cuda - device_halves).bits == 0u, row.id);
}
