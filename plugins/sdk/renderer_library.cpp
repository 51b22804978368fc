// SPDX-License-Identifier: Apache-2.0
//
// Looks up rows of op_table.def, dtypes, and device functions with their dependencies.
#include <array>
#include <cctype>
#include <map>
#include <sstream>

#include "sdk/renderer_internal.hpp"

namespace tutti::sdk::detail {

void writer::put(const std::string& content) {
  if (!content.empty() && content.front() == '}') --depth_;
  if (!content.empty()) text.append(static_cast<size_t>(2 * depth_), ' ');
  text += content;
  text += '\n';
  if (!content.empty() && content.back() == '{') ++depth_;
}

std::string replaced(std::string text, std::string_view what, std::string_view with) {
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at)) {
    text.replace(at, what.size(), with);
    at += with.size();
  }
  return text;
}

uint8_t unsigned_dtype(uint8_t dtype) {
  if (dtype == TUTTI_BOOL) return TUTTI_U8;
  return dtype >= TUTTI_I8 && dtype <= TUTTI_I64 ? static_cast<uint8_t>(dtype + 4) : dtype;
}

op_texts texts_of(uint16_t opcode) {
  static const auto table = [] {
    std::array<op_texts, 128> rows{};
#define TUTTI_OP(id, op, arity, kinds, result, float_text, int_text, ...) \
  rows[id] = {float_text, int_text};
#include "tutti/op_table.def"
#undef TUTTI_OP
    return rows;
  }();
  return opcode < table.size() ? table[opcode] : op_texts{};
}

void collect_functions(std::string_view text, std::set<std::string>& names) {
  for (size_t at = text.find("tutti_"); at != std::string_view::npos;
       at = text.find("tutti_", at + 1)) {
    size_t end = at;
    while (end < text.size() &&
           (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_')) {
      ++end;
    }
    names.emplace(text.substr(at, end - at));
  }
}

namespace {

struct entry {
  std::string_view body;
  std::string word;  // replaces $, if the body serves several functions
};

// The first library that defines a name wins.
std::map<std::string, entry> parse(const std::vector<std::string_view>& libraries) {
  std::map<std::string, entry> entries;
  for (std::string_view text : libraries) {
    size_t at = 0;
    while ((at = text.find("//@fn ", at)) != std::string_view::npos) {
      const size_t line_end = text.find('\n', at);
      const size_t end = text.find("//@end", at);
      if (line_end == std::string_view::npos || end == std::string_view::npos) break;
      const std::string_view body = text.substr(line_end + 1, end - line_end - 1);
      std::istringstream head(std::string(text.substr(at + 6, line_end - at - 6)));
      std::string name, word;
      head >> name >> word;  // "for", or nothing
      if (word.empty()) entries.emplace(name, entry{body, {}});
      while (head >> word) entries.emplace(replaced(name, "$", word), entry{body, word});
      at = end;
    }
  }
  return entries;
}

// Adds a function after those that its body names.
void take(const std::map<std::string, entry>& entries, const std::string& name,
          std::set<std::string>& done, std::string& out) {
  const auto found = entries.find(name);
  if (found == entries.end() || !done.insert(name).second) return;
  const auto& [body, word] = found->second;
  const std::string text =
      word.empty() ? std::string(body) : replaced(std::string(body), "$", word);
  std::set<std::string> needs;
  collect_functions(text, needs);
  for (const std::string& need : needs) take(entries, need, done, out);
  out += text;
}

}  // namespace

std::string library_functions(const dialect& words, const std::set<std::string>& used) {
  if (used.empty()) return {};
  const std::map<std::string, entry> entries = parse(words.libraries);
  std::set<std::string> done;
  std::string out;
  for (const std::string& name : used) take(entries, name, done, out);
  return out;
}

std::string helper_text(const dialect& words, const helpers& needed) {
  writer out;
  for (uint8_t dtype : needed.integers) {
    out.line("TUTTI_INTEGER(", dtype_name(dtype), ", ", words.types[dtype], ", ",
             words.types[unsigned_dtype(dtype)], ", ", dtype_size(dtype) * 8, ")");
  }
  for (const auto& [from, to] : needed.saturating) {
    const uint8_t unsigned_to = unsigned_dtype(to);
    out.line(unsigned_to == to ? "TUTTI_FLOAT_TO_UNSIGNED(" : "TUTTI_FLOAT_TO_SIGNED(",
             dtype_name(from), ", ", words.types[from], ", ", dtype_name(to), ", ", words.types[to],
             ", ", words.types[unsigned_to], ", ", dtype_size(to) * 8, ")");
  }
  return out.text + library_functions(words, needed.functions);
}

}  // namespace tutti::sdk::detail
