// SPDX-License-Identifier: Apache-2.0
//
// Rewriting a kernel's text, and finding its kernels.
#include "kernel_text.hpp"

#include <cctype>
#include <map>
#include <regex>

namespace tutti_emulator {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

// The text within the parentheses that begin at `at`, and the place after them.
std::string within(const std::string& text, size_t at, size_t* after) {
  int depth = 0;
  size_t end = at;
  do {
    depth += text[end] == '(' ? 1 : text[end] == ')' ? -1 : 0;
    ++end;
  } while (depth > 0 && end < text.size());
  *after = end;
  return text.substr(at + 1, end - at - 2);
}

struct found_kernel {
  std::string name, bound = "1024";
};

// What follows `__global__`, up to the name before the parameters.
found_kernel after_global(const std::string& text, size_t at) {
  found_kernel k;
  while (at < text.size() && text[at] != ';') {
    if (text[at] == '#') {  // where the lines that follow come from
      at = text.find('\n', at);
    } else if (!is_word(text[at])) {
      ++at;
    } else {
      size_t end = at;
      while (is_word(text[end])) ++end;
      const std::string word = text.substr(at, end - at);
      at = end;
      while (std::isspace(static_cast<unsigned char>(text[at])) != 0) ++at;
      if (text[at] != '(') continue;
      if (word != "__launch_bounds__") {
        k.name = word;
        return k;
      }
      const std::string bounds = within(text, at, &at);
      k.bound = bounds.substr(0, bounds.find(','));
    }
  }
  return k;
}

}  // namespace

std::string for_host(std::string text) {
  if (text.find("asm") != std::string::npos) {
    static const std::regex widen(
        R"(asm\("cvt\.f32\.f16 %0, %1;" : "=f"\((\w+)\) : "h"\((\w+)\)\))");
    static const std::regex narrow(
        R"(asm\("cvt\.rn\.f16\.f32 %0, %1;" : "=h"\((\w+)\) : "f"\((\w+)\)\))");
    text = std::regex_replace(text, widen, "$1 = emulator_asm_half_to_float($2)");
    text = std::regex_replace(text, narrow, "$1 = emulator_asm_float_to_half($2)");
  }
  if (text.find("extern __shared__") != std::string::npos) {
    static const std::regex dynamic(R"(extern __shared__ (\w[\w ]*?) ?(\w+)\[\];)");
    text = std::regex_replace(text, dynamic,
                              "$1* const $2 = static_cast<$1*>(emulator_dynamic_shared());");
  }
  if (text.find("__shared__ tutti_c") != std::string::npos) {
    // GCC guards static arrays of classes with constructors, even where those do nothing.
    static const std::regex numbers(R"(__shared__ (tutti_c\w+) (\w+)\[(\w+)\];)");
    text = std::regex_replace(text, numbers,
                              "alignas($1) __shared__ char $2_bytes[sizeof($1) * $3]; "
                              "$1* const $2 = reinterpret_cast<$1*>($2_bytes);");
  }
  std::map<std::string, std::string> kernels;
  const std::string mark = "__global__";
  for (size_t at = text.find(mark); at != std::string::npos; at = text.find(mark, at + 1)) {
    const found_kernel k = after_global(text, at + mark.size());
    if (!k.name.empty()) kernels.emplace(k.name, k.bound);
  }
  text += "\n";
  for (const auto& [name, bound] : kernels) text += "TUTTI_KERNEL(" + name + ", (" + bound + "))\n";
  return text;
}

}  // namespace tutti_emulator
