// SPDX-License-Identifier: Apache-2.0
//
// Runs snippets, programs and rows of tables, and reports lines of the page.
#include "page.hpp"

#include "tutti_test/command.hpp"
#include "tutti_test/paths.hpp"

namespace tutti_test::guide {

page::page() {
  std::filesystem::copy(paths::guide_data, folder_.path());
  std::filesystem::current_path(folder_.path());
}

page::~page() {
  stop();
  std::filesystem::current_path(before_);
}

void page::start() {
  printed_.str({});
  std::cout.rdbuf(printed_.rdbuf());
}

void page::printed(int line, std::string_view shown, double tolerance) {
  stop();
  BOOST_TEST_CONTEXT("output shown in line " << line) {
    BOOST_TEST(agrees(printed_.str(), shown, tolerance));
  }
}

void page::run(std::string command, int line, std::string_view shown, double tolerance) {
  stop();
  const std::string variable = "TUTTI_DEVICE=";
  if (command.starts_with(variable)) {
    const std::string wanted = command.substr(variable.size(), command.find(' ') - variable.size());
    if (wanted != tutti::default_device().backend()) return;
  }
  const std::string build = "./build/";
  const std::size_t from = command.find(build);
  const std::size_t to = std::min(command.find(' ', from), command.size());
  const std::string program = command.substr(from + build.size(), to - from - build.size());
  command.replace(from, to - from, beside("guide_" + program));
  BOOST_TEST_CONTEXT("command in line " << line << ": " << command) {
    const outcome result = tutti_test::run(command);
    BOOST_TEST(result.status == 0);
    BOOST_TEST(agrees(result.output, shown, tolerance));
  }
}

void page::row(int line, const std::function<void()>& call) {
  stop();
  BOOST_TEST_CONTEXT("row in line " << line) {
    std::string thrown;
    try {
      call();
    } catch (const std::exception& e) {
      thrown = e.what();
    }
    BOOST_TEST(thrown == "");
  }
}

}  // namespace tutti_test::guide
