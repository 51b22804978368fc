// SPDX-License-Identifier: Apache-2.0
//
// The line that people at a terminal see while compilers keep them waiting, on a pseudoterminal.
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <string>
#include <thread>

#include "base/compile_progress.hpp"

namespace tutti::test {
namespace {

using std::chrono::milliseconds;

/// A terminal, and what was written to it.
class terminal {
 public:
  terminal() {
    BOOST_REQUIRE_EQUAL(openpty(&ours_, &theirs_, nullptr, nullptr, nullptr), 0);
    setenv("TERM", "xterm", 1);
  }
  ~terminal() {
    close(ours_);
    close(theirs_);
  }
  int descriptor() const { return theirs_; }

  /// All that has come, once `text` has; or what there is after `limit`.
  std::string seen(const std::string& text, milliseconds limit = milliseconds(20'000)) {
    const auto end = std::chrono::steady_clock::now() + limit;
    while (seen_.find(text) == std::string::npos && std::chrono::steady_clock::now() < end) {
      pollfd wanted{ours_, POLLIN, 0};
      if (poll(&wanted, 1, 10) <= 0) continue;
      char some[256];
      const ssize_t count = read(ours_, some, sizeof some);
      if (count > 0) seen_.append(some, static_cast<size_t>(count));
    }
    return seen_;
  }

 private:
  int ours_ = -1, theirs_ = -1;
  std::string seen_;
};

boost::test_tools::assertion_result has_terminals(boost::unit_test::test_unit_id) {
  boost::test_tools::assertion_result answer(access("/dev/ptmx", R_OK | W_OK) == 0);
  answer.message() << "this machine gives out no pseudoterminals";
  return answer;
}

}  // namespace

BOOST_AUTO_TEST_CASE(who_waits_for_compilers_sees_how_far_they_are,
                     *boost::unit_test::precondition(has_terminals)) {
  terminal screen;
  base::compile_progress progress(screen.descriptor(), milliseconds(20));
  progress.begin();
  progress.end();  // before anybody waited: no part of what follows
  progress.enter();
  progress.expect(58);
  for (int n = 0; n < 12; ++n) progress.begin();
  for (int n = 0; n < 11; ++n) progress.end();
  BOOST_TEST(progress.is_compiling());
  const std::string during = screen.seen("12 of 58");
  BOOST_TEST(during.find("compiling programs: 12 of 58") != std::string::npos, during);
  BOOST_TEST(during.find('\n') == std::string::npos);
  progress.end();
  screen.seen("13 of 58");
  progress.leave();
  const std::string after = screen.seen("no more", milliseconds(300));
  BOOST_TEST(after.ends_with("13 of 58\r\033[K"), after);
  BOOST_TEST(!progress.is_compiling());
}

// Many waits of a moment add up; programs that nobody announced count when they begin.
BOOST_AUTO_TEST_CASE(short_waits_count_together, *boost::unit_test::precondition(has_terminals)) {
  terminal screen;
  base::compile_progress progress(screen.descriptor(), milliseconds(50));
  for (int n = 0; n < 200; ++n) {
    progress.enter();
    progress.begin();
    std::this_thread::sleep_for(milliseconds(5));
    progress.end();
    progress.leave();
  }
  const std::string all = screen.seen("compiling programs: ");
  BOOST_TEST(all.find("compiling programs: ") != std::string::npos, all);
  BOOST_TEST(all.find("compiling programs: 1 of 1") == std::string::npos, all);
}

BOOST_AUTO_TEST_CASE(nothing_is_written_soon_nor_to_what_is_no_terminal,
                     *boost::unit_test::precondition(has_terminals)) {
  terminal screen;
  {
    base::compile_progress progress(screen.descriptor(), std::chrono::hours(1));
    progress.enter();
    progress.begin();
    BOOST_TEST(screen.seen("compiling", milliseconds(100)) == "");
    progress.leave();
  }
  int ends[2];
  BOOST_REQUIRE_EQUAL(pipe(ends), 0);
  {
    base::compile_progress progress(ends[1], milliseconds(0));
    progress.enter();
    std::this_thread::sleep_for(milliseconds(100));
    progress.leave();
  }
  close(ends[1]);
  char any = 0;
  BOOST_TEST(read(ends[0], &any, 1) == 0);
  close(ends[0]);
}

}  // namespace tutti::test
