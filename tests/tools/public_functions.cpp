// SPDX-License-Identifier: Apache-2.0
//
// Functions of a header: declarations at namespace scope that have a name before a parenthesis.
#include "public_functions.hpp"

#include <algorithm>
#include <cctype>

namespace tutti_test {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// Comments and preprocessor lines with their continuations become blanks, strings become "".
std::string bare(std::string_view text) {
  std::string out;
  bool line_begins = true;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "//") == 0 || (line_begins && text[i] == '#')) {
      const bool directive = text[i] == '#';
      while (i < text.size() && (text[i] != '\n' || (directive && text[i - 1] == '\\'))) ++i;
      out += '\n';
      line_begins = true;
    } else if (text.compare(i, 2, "/*") == 0) {
      i = std::min(text.find("*/", i), text.size() - 2) + 1;
    } else if (text[i] == '"' || text[i] == '\'') {
      const char quote = text[i];
      while (++i < text.size() && text[i] != quote)
        if (text[i] == '\\') ++i;
      out += "\"\"";
    } else {
      out += text[i];
      line_begins = text[i] == '\n' || (line_begins && text[i] == ' ');
    }
  }
  return out;
}

std::vector<std::string> words_of(std::string_view text) {
  std::vector<std::string> out;
  bool inside = false;
  for (char c : text) {
    if (is_word(c) && !inside) out.emplace_back();
    if (is_word(c)) out.back() += c;
    inside = is_word(c);
  }
  return out;
}

bool has(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// The function that a declaration without its body declares, or nothing.
std::string declared(std::string text) {
  if (const std::size_t start = text.find("template"); start != std::string::npos) {
    int depth = 0;
    std::size_t i = text.find('<', start);
    for (; i < text.size(); ++i)
      if ((depth += (text[i] == '<') - (text[i] == '>')) == 0) break;
    text = i < text.size() ? text.substr(i + 1) : text;
  }
  const std::size_t open = text.find('(');
  if (open == std::string::npos || text.find('=') < open) return {};
  const std::vector<std::string> words = words_of(text.substr(0, open));
  for (const char* other :
       {"class", "struct", "enum", "union", "using", "operator", "static_assert", "concept"})
    if (has(words, other)) return {};
  return words.size() < 2 ? std::string() : words.back();  // a type stands before the name
}

class reader {
 public:
  std::vector<std::string> read(const std::string& text) {
    for (char c : text) {
      if (c == '{' && depth_ == 0 && opens_namespace()) continue;
      if (c == '{' && depth_++ == 0) note();
      if (depth_ == 0 && c == '}') {
        scopes_.pop_back();
      } else if (depth_ > 0) {
        if (c == '}' && --depth_ == 0) after_body_ = true;
      } else if (c == ';') {
        note();
        after_body_ = false;
      } else {
        // A declaration may follow a body without a semicolon.
        if (after_body_ && is_word(c)) text_.clear(), after_body_ = false;
        text_ += c;
      }
    }
    return std::move(found_);
  }

 private:
  bool opens_namespace() {
    const std::vector<std::string> words = words_of(text_);
    if (!has(words, "namespace")) return false;
    // "tutti::random" gives both of its words.
    std::string path;
    for (const std::string& word : words)
      if (word != "namespace" && word != "tutti" && word != "inline") path += word + "::";
    scopes_.push_back(path);
    text_.clear();
    return true;
  }
  void note() {
    std::string name = declared(text_);
    text_.clear();
    if (name.empty()) return;
    std::string path;
    for (const std::string& scope : scopes_) path += scope;
    name = path + name;
    if (path.find("detail::") == std::string::npos && !has(found_, name)) found_.push_back(name);
  }

  int depth_ = 0;  // of braces that are no namespaces
  bool after_body_ = false;
  std::string text_;
  std::vector<std::string> scopes_, found_;
};

}  // namespace

std::vector<std::string> public_functions(std::string_view header) {
  return reader().read(bare(header));
}

}  // namespace tutti_test
