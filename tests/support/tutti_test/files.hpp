// SPDX-License-Identifier: Apache-2.0
//
// Files for tests: a folder that disappears again, reading and writing of bytes, and checks of what
// an exception says.
#pragma once

#include <boost/test/tools/assertion_result.hpp>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tutti_test {

inline std::string read_bytes(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

/// An empty folder for one test case, removed with all it holds.
class temporary_folder {
 public:
  temporary_folder() {
    std::random_device source;
    path_ = std::filesystem::temp_directory_path() /
            ("tutti-test-" + std::to_string(source()) + std::to_string(source()));
    std::filesystem::create_directories(path_);
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all);
  }
  ~temporary_folder() {
    std::error_code ignored;
    std::filesystem::permissions(path_, std::filesystem::perms::owner_all, ignored);
    std::filesystem::remove_all(path_, ignored);
  }
  temporary_folder(const temporary_folder&) = delete;
  temporary_folder& operator=(const temporary_folder&) = delete;

  const std::filesystem::path& path() const { return path_; }
  std::filesystem::path operator/(std::string_view name) const { return path_ / name; }

  std::filesystem::path write(std::string_view name, std::string_view bytes) const {
    std::ofstream out(path_ / name, std::ios::binary);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return path_ / name;
  }
  std::size_t file_count() const {
    const std::filesystem::directory_iterator files(path_);
    return static_cast<std::size_t>(std::distance(begin(files), end(files)));
  }

 private:
  std::filesystem::path path_;
};

/// For BOOST_TEST(fails<tutti::io_error>([&] { ... }, "text that the message must hold")).
template <class Exception, class F>
boost::test_tools::assertion_result fails(F&& f, std::string_view text) {
  boost::test_tools::assertion_result result(true);
  try {
    f();
    result = false;
    result.message() << "nothing was thrown";
  } catch (const Exception& e) {
    if (std::string_view(e.what()).find(text) == std::string_view::npos) {
      result = false;
      result.message() << "the message is \"" << e.what() << "\", without \"" << text << '"';
    }
  }
  return result;
}

/// The E that f throws; other exceptions pass.
template <class E, class F>
E error_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e;
  }
  throw std::logic_error("nothing was thrown");
}

/// The message of the E that f throws; other exceptions pass.
template <class E, class F>
std::string message_of(F&& f) {
  try {
    f();
  } catch (const E& e) {
    return e.what();
  }
  return "(nothing was thrown)";
}

}  // namespace tutti_test
