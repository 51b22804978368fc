// SPDX-License-Identifier: Apache-2.0
//
// What the generated cases of the guide's pages are written with. Snippets run in a folder of their
// own, where they may write files, with std::cout kept for the comparison.
#pragma once

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <functional>
#include <iostream>
#include <numbers>
#include <sstream>
#include <tutti/all.hpp>

#include "output.hpp"
#include "tutti_test/files.hpp"

namespace tutti_test::guide {

class page {
 public:
  page();
  ~page();
  page(const page&) = delete;
  page& operator=(const page&) = delete;

  /// From here on what std::cout gets is kept.
  void start();
  /// Checks what was printed since start().
  void printed(int line, std::string_view shown, double tolerance);
  /// Runs a program that the page shows, unless the command names another device than the test has.
  void run(std::string command, int line, std::string_view shown, double tolerance);
  /// Calls a row of a table; whatever it throws is a failure.
  void row(int line, const std::function<void()>& call);

 private:
  void stop() { std::cout.rdbuf(cout_); }  ///< Boost.Test reports to std::cout too

  temporary_folder folder_;
  std::filesystem::path before_ = std::filesystem::current_path();
  std::ostringstream printed_;
  std::streambuf* cout_ = std::cout.rdbuf();
};

}  // namespace tutti_test::guide
