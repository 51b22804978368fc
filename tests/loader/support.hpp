// SPDX-License-Identifier: Apache-2.0
//
// What the loader's tests share: files, commands, a variable that is put back.
#pragma once

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "tutti_test/command.hpp"
#include "tutti_test/files.hpp"
#include "tutti_test/threads.hpp"

namespace loader_test {

class scoped_variable {
 public:
  scoped_variable(const char* name, const std::string& value) : name_(name) {
    if (const char* old = std::getenv(name)) old_ = old;
    ::setenv(name, value.c_str(), 1);
  }
  ~scoped_variable() { old_ ? ::setenv(name_, old_->c_str(), 1) : ::unsetenv(name_); }
  scoped_variable(const scoped_variable&) = delete;
  scoped_variable& operator=(const scoped_variable&) = delete;

 private:
  const char* name_;
  std::optional<std::string> old_;
};

using tutti_test::error_of;
using tutti_test::has;
using tutti_test::message_of;
using tutti_test::outcome;
using tutti_test::quoted;
using tutti_test::run;
using tutti_test::temporary_folder;

inline std::string file_content(const std::filesystem::path& path) {
  return tutti_test::read_bytes(path);
}

inline void write_file(const std::filesystem::path& path, const std::string& content) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << content;
}

}  // namespace loader_test
