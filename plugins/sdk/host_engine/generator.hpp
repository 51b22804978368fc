// SPDX-License-Identifier: Apache-2.0
//
// Shared by the build-time programs that write C++.
#pragma once

#include <cstdio>
#include <exception>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <vector>

namespace tutti::sdk::generator {

/// Throws std::runtime_error if the file cannot be read or is empty.
inline std::string read(const std::string& path) {
  std::ifstream file(path);
  std::stringstream text;
  text << file.rdbuf();
  if (!file || text.str().empty()) throw std::runtime_error("cannot read " + path);
  return text.str();
}

/// The main function of `NAME OUTPUT ARGUMENT...` with at least `least` arguments: writes the
/// result of text(arguments). `usage` names the arguments.
template <typename Text>
int run(const char* name, const char* usage, size_t least, int count, char** words,
        const Text& text) {
  try {
    const std::vector<std::string> all(words + 1, words + count);
    if (all.size() < least + 1)
      throw std::runtime_error(std::string("usage: ") + name + " OUTPUT " + usage);
    std::ofstream file(all[0]);
    file << text(std::vector<std::string>(all.begin() + 1, all.end())) << std::flush;
    if (!file) throw std::runtime_error("cannot write " + all[0]);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s: %s\n", name, error.what());
    return 1;
  }
}

}  // namespace tutti::sdk::generator
