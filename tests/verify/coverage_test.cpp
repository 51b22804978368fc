// SPDX-License-Identifier: Apache-2.0
//
// Everything that plugin.h asks of a backend is checked by `tutti verify`: each operator, opcode
// and reduction has a group of its name, each function of each table is called. What there is, is
// read from the header itself.
#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cctype>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tutti_test/command.hpp"
#include "tutti_test/files.hpp"
#include "tutti_test/paths.hpp"

namespace {

namespace fs = std::filesystem;
namespace paths = tutti_test::paths;
using nlohmann::json;
using names = std::vector<std::string>;
using tutti_test::has;

const fs::path source = paths::source_folder;
const fs::path reference = fs::path(paths::plugin_output) / "libtutti_reference.so";

// With the headers that it includes, without comments.
std::string plugin_header() {
  const fs::path folder = source / "core/include/tutti";
  std::string text = tutti_test::read_bytes(folder / "plugin.h");
  for (const char* part : {"operators.h", "collectives.h", "kernels.h"})
    text += tutti_test::read_bytes(folder / "plugin" / part);
  for (size_t at; (at = text.find("/*")) != std::string::npos;)
    text.erase(at, text.find("*/", at) + 2 - at);
  return text;
}

names all_matches(const std::string& text, const std::string& pattern) {
  const std::regex expression(pattern);
  names all;
  for (std::sregex_iterator at(text.begin(), text.end(), expression), end; at != end; ++at)
    all.push_back((*at)[1]);
  return all;
}

// What stands between "typedef KIND NAME {" and "}".
std::string body_of(const std::string& kind, const std::string& name) {
  static const std::string header = plugin_header();
  const std::string begin = "typedef " + kind + " " + name + " {";
  const size_t from = header.find(begin);
  BOOST_TEST_REQUIRE((from != std::string::npos), "plugin.h has no " << name);
  return header.substr(from, header.find("} " + name + ";", from) - from);
}

// Enumerators without their prefix, in small letters.
names enumerators(const std::string& name, const std::string& prefix) {
  names all = all_matches(body_of("enum", name), prefix + R"((\w+) =)");
  for (std::string& one : all)
    std::ranges::transform(one, one.begin(), [](unsigned char c) { return std::tolower(c); });
  BOOST_TEST_REQUIRE(!all.empty());
  return all;
}

const names& opcodes() {
  static const names all = {
#define TUTTI_OP(id, name, ...) #name,
#include "tutti/op_table.def"
#undef TUTTI_OP
  };
  return all;
}

const names& operators() {
  static const names all = {
#define TUTTI_OPERATOR(number, NAME, name, ...) #name,
#include "tutti/operator.def"
#undef TUTTI_OPERATOR
  };
  return all;
}

std::set<std::string> groups_of_reference() {
  const auto list = tutti_test::run("'" + std::string(paths::tutti_program) + "' verify '" +
                                    reference.string() + "' --list");
  BOOST_TEST_REQUIRE(list.status == 0, list.output);
  std::istringstream lines(list.output);
  std::set<std::string> all;
  for (std::string line; std::getline(lines, line);) all.insert(line);
  return all;
}

// Whether a group is called `name` or lies below it.
bool has_group(const std::set<std::string>& groups, const std::string& name) {
  const auto below = groups.lower_bound(name + "/");
  return groups.contains(name) || (below != groups.end() && below->starts_with(name + "/"));
}

// scatter_set is one of scatter's, scatter_add is an operator of its own.
bool has_variant(const std::set<std::string>& groups, const std::string& name) {
  return std::ranges::any_of(groups, [&](const std::string& group) {
    const std::string first = group.substr(0, group.find('/'));
    return first.starts_with(name + "_") &&
           std::ranges::find(operators(), first) == operators().end();
  });
}

names without_group(const std::set<std::string>& groups) {
  names lacking;
  for (const std::string& name : operators())
    if (!has_group(groups, name) && !has_variant(groups, name))
      lacking.push_back("operator " + name);
  for (const std::string& name : opcodes())
    if (!has_group(groups, "op/" + name) && !has_group(groups, name))
      lacking.push_back("opcode " + name);
  for (const std::string& name : enumerators("tutti_reduction", "TUTTI_REDUCE_"))
    if (name != "none" && !has_group(groups, "reduce/" + name))
      lacking.push_back("reduction " + name);
  return lacking;
}

std::set<std::string> without(std::set<std::string> groups, const std::string& begin) {
  std::erase_if(groups, [&](const std::string& group) { return group.starts_with(begin); });
  return groups;
}

names sources_of_verify() {
  names all;
  for (const auto& file : fs::directory_iterator(source / "verify"))
    if (file.path().extension() == ".cpp" || file.path().extension() == ".hpp")
      all.push_back(tutti_test::read_bytes(file.path()));
  return all;
}

// Whether a text has a function called as a member, or handed on as one of that table.
bool uses(const std::string& text, const std::string& table, const std::string& function) {
  const std::string handed_on = "->" + table + "->" + function;
  return has(text, "->" + function + "(") || has(text, "." + function + "(") ||
         has(text, handed_on + ")") || has(text, handed_on + "}");
}

// Functions of tables that no file uses which names the table.
names uncalled(const names& sources) {
  names lacking;
  for (const std::string& field :
       all_matches(body_of("struct", "tutti_plugin_api"), R"(const tutti_\w+_api\* (\w+);)")) {
    const std::string type = "tutti_" + (field == "op" ? "operator" : field) + "_api";
    for (const std::string& function : all_matches(
             body_of("struct", type),
             R"([;{]\s*(?:const )?(?:void|u?int\w+|char\*|tutti_status\*) \(\*(\w+)\)\()")) {
      const bool is_called = std::ranges::any_of(sources, [&](const std::string& text) {
        const bool has_table =
            std::ranges::any_of(names{"->" + field, "." + field + "->", "const " + type + "&"},
                                [&](const std::string& part) { return has(text, part); });
        return has_table && uses(text, field, function);
      });
      if (!is_called) lacking.push_back(field + "." + function);
    }
  }
  return lacking;
}

std::string joined(const names& all) {
  std::string text;
  for (const std::string& name : all) text += (text.empty() ? "" : ", ") + name;
  return text;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_operator_opcode_and_reduction_has_a_group) {
  const std::set<std::string> groups = groups_of_reference();
  BOOST_TEST(joined(without_group(groups)) == "");
  // And is missed where the group is taken away.
  const std::pair<const char*, const char*> missed[] = {{"cholesky/", "operator cholesky"},
                                                        {"eig/", "operator eig"},
                                                        {"scatter_add/", "operator scatter_add"},
                                                        {"op/tanh/", "opcode tanh"},
                                                        {"cast/", "opcode cast"},
                                                        {"philox", "opcode philox"},
                                                        {"reduce/argmin/", "reduction argmin"}};
  for (const auto& [group, name] : missed)
    BOOST_TEST(joined(without_group(without(groups, group))) == name);
}

BOOST_AUTO_TEST_CASE(every_operator_is_listed_with_its_dtypes) {
  const auto told = tutti_test::run("'" + std::string(paths::tutti_program) + "' verify '" +
                                    reference.string() + "' --filter iota --json");
  const json can = json::parse(told.output, nullptr, false)["can"];
  names listed;
  for (const json& row : can["operators"]) {
    listed.push_back(row["name"]);
    BOOST_TEST(!row["dtypes"].empty(), row.dump());
  }
  BOOST_TEST(joined(listed) == joined(operators()));
}

BOOST_AUTO_TEST_CASE(every_function_of_every_table_is_called) {
  names sources = sources_of_verify();
  BOOST_TEST(joined(uncalled(sources)) == "");
  for (std::string& text : sources)
    for (size_t at; (at = text.find("event_times(")) != std::string::npos;) text.erase(at, 5);
  BOOST_TEST(joined(uncalled(sources)) == "profile.event_times");
}
