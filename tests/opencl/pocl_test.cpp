// SPDX-License-Identifier: Apache-2.0
//
// PoCL in processes that take away what it needs: its folder, the exit statuses of its linkers.
// What depends on a first look at devices runs in a fork.
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tutti_test/arrays.hpp"

namespace {

// What a fork of this process writes to its standard error.
template <class F>
std::string said_by(F&& body) {
  int ends[2] = {};
  BOOST_REQUIRE(::pipe(ends) == 0);
  const pid_t child = ::fork();
  if (child == 0) {
    ::dup2(ends[1], STDERR_FILENO);
    body();
    ::_exit(0);
  }
  ::close(ends[1]);
  std::string text;
  char part[512];
  for (ssize_t n = 0; (n = ::read(ends[0], part, sizeof part)) > 0;)
    text.append(part, static_cast<std::size_t>(n));
  ::close(ends[0]);
  int status = -1;
  ::waitpid(child, &status, 0);
  BOOST_TEST(status == 0);
  return text;
}

void look_at_devices() {
  try {
    tutti::device("opencl:0");
  } catch (const std::exception&) {
    ::_exit(1);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(ignored_children_are_warned_of) {
  const std::string text = said_by([] {
    ::signal(SIGCHLD, SIG_IGN);
    look_at_devices();
  });
  BOOST_TEST(text.find("SIGCHLD is ignored") != std::string::npos, text);
  BOOST_TEST(said_by(look_at_devices).find("SIGCHLD") == std::string::npos);
}

// For binaries it compiles each kernel once more, for any size of work-groups ("0-0-0").
BOOST_AUTO_TEST_CASE(a_folder_that_was_removed_is_made_again_and_has_each_kernel_once) {
  const tutti_test::temporary_folder folder;
  ::unsetenv("POCL_CACHE_DIR");
  ::setenv("TUTTI_CACHE_MB", "512", 1);
  ::setenv("TUTTI_CACHE_DIR", (folder / "cache").c_str(), 1);
  const tutti::array x = tutti::array::from({1.f, 2.f, 3.f}, tutti::device("opencl:0"));
  BOOST_TEST((x * 2.f).to_vector<float>()[2] == 6.f);
  int kernels = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(folder / "cache/pocl")) {
    kernels += entry.path().extension() == ".so" ? 1 : 0;
    BOOST_TEST(entry.path().filename() != "0-0-0", entry.path());
  }
  BOOST_TEST(kernels > 0);
  std::filesystem::remove_all(folder / "cache");
  BOOST_TEST(tutti::sinh(x * 0.f + 0.f).to_vector<float>()[2] == 0.f);
}

// The operands of the difference have no memory yet when its program is compiled.
BOOST_AUTO_TEST_CASE(what_is_compiled_ahead_is_what_is_launched) {
  const tutti::device on("opencl:0");
  const tutti::array x = tutti::array::from({1, 2, 3}, on), y = tutti::array::from({4, 5, 7}, on);
  const uint64_t before = tutti::stats().compiles;
  BOOST_TEST((tutti::sum(x) - tutti::sum(y)).item<std::int64_t>() == -10);
  BOOST_TEST(tutti::stats().compiles - before == 2);  // sum and subtract
}
