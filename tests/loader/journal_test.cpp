// SPDX-License-Identifier: Apache-2.0
//
// The journal: what a process leaves that ends within a step, and what none leaves that comes out
// of it, exits by itself or still is within it.
#include "safety/journal.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <functional>
#include <thread>

#include "base/process.hpp"
#include "support.hpp"

namespace {

using namespace loader_test;
using tutti::safety::journal;
namespace fs = std::filesystem;

struct fixture {
  temporary_folder outside;
  fs::path folder = outside.path() / "cache";
  journal notes{folder};

  size_t files() const {
    std::error_code none;
    return static_cast<size_t>(
        std::distance(fs::directory_iterator(folder, none), fs::directory_iterator()));
  }

  /// A process of its own runs `body` on the same folder, and is gone then.
  void in_process(const std::function<void(journal&)>& body) const {
    const pid_t child = ::fork();
    if (child == 0) {
      const rlimit no_core{0, 0};
      ::setrlimit(RLIMIT_CORE, &no_core);
      journal own(folder);
      body(own);
      ::_exit(0);
    }
    ::waitpid(child, nullptr, 0);
  }
  void end_within(const char* key, const char* stamp = "") const {
    in_process([&](journal& own) {
      own.enter(key, "the compiler", stamp);
      ::raise(SIGKILL);
    });
  }
  /// As if `hours` had passed since the process ended.
  void wait(int hours) const {
    for (const auto& file : fs::directory_iterator(folder))
      fs::last_write_time(file, fs::last_write_time(file) - std::chrono::hours(hours));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(steps, fixture)

BOOST_AUTO_TEST_CASE(one_that_is_left_leaves_nothing) {
  BOOST_TEST(notes.enter("key", "what") == 0u);
  BOOST_TEST(files() == 1u);
  BOOST_TEST(!notes.find("key"));
  notes.leave("another");
  std::thread([&] { notes.leave("key"); }).join();
  BOOST_TEST(files() == 0u);
}

BOOST_AUTO_TEST_CASE(an_end_asks_for_care_until_the_step_went_well) {
  end_within("key");
  BOOST_REQUIRE(notes.find("key").has_value());
  BOOST_TEST(notes.find("key")->text == "the compiler");
  BOOST_TEST(notes.all().size() == 1u);
  BOOST_TEST(notes.enter("key", "what") == 1u);
  BOOST_TEST(notes.enter("key", "in another thread") == 1u);
  notes.leave("key");
  notes.leave("key");
  BOOST_TEST(files() == 0u);
  BOOST_TEST(notes.enter("key", "what") == 0u);
}

// Its user may have ended it.
BOOST_AUTO_TEST_CASE(a_single_end_asks_for_no_safer_way) {
  end_within("key");
  BOOST_TEST(notes.enter("key", "what") == 1u);
  notes.leave("key", journal::past::settled);
  BOOST_TEST(files() == 0u);
}

BOOST_AUTO_TEST_CASE(what_went_well_the_safer_way_goes_it_again_for_a_day) {
  end_within("key");
  end_within("key");
  for (int i = 0; i < 2; ++i) {
    BOOST_TEST(notes.enter("key", "what") == 2u);
    BOOST_TEST(!notes.find("key"));
    notes.leave("key", journal::past::settled);
  }
  BOOST_TEST(!notes.find("key"));  // nobody has ended within it since
}

BOOST_AUTO_TEST_CASE(two_ends_are_forgotten_after_a_day_and_three_are_not) {
  for (const char* key : {"two", "two", "three", "three", "three"}) end_within(key);
  wait(25);
  BOOST_TEST(notes.enter("two", "what") == 0u);
  notes.leave("two", journal::past::settled);
  BOOST_TEST(notes.enter("three", "what") == 2u);
  BOOST_TEST(files() == 1u);
}

BOOST_AUTO_TEST_CASE(ends_of_the_safer_way_count_for_a_day) {
  for (const std::uint32_t care : {1u, 2u, 2u, 3u}) {
    end_within("key");
    BOOST_REQUIRE(notes.all().size() == 1u);
    BOOST_TEST(notes.all()[0].care == care);
  }
  wait(25);
  BOOST_TEST(notes.all()[0].care == 2u);
}

BOOST_AUTO_TEST_CASE(one_under_way_is_no_end) {
  notes.enter("key", "what");
  in_process([](journal& own) {
    if (own.enter("key", "what") != 0 || own.find("key")) ::raise(SIGKILL);
    own.leave("key");
    own.enter("told", "that all is well");
  });
  BOOST_TEST(notes.find("told").has_value());
  BOOST_TEST(files() == 2u);
}

BOOST_AUTO_TEST_CASE(whoever_exits_has_ended_within_what_the_same_thread_is_at) {
  in_process([](journal& own) {
    own.enter("mine", "a plugin that exits");
    std::thread([&] { own.enter("another's", "what"); }).join();
    own.close();
    own.enter("late", "what");
  });
  BOOST_TEST(notes.find("mine").has_value());
  BOOST_TEST(!notes.find("another's"));
  BOOST_TEST(files() == 1u);
}

BOOST_AUTO_TEST_CASE(a_stamp_tells_another_file) {
  end_within("key", "1");
  BOOST_TEST(notes.find("key", "1").has_value());
  BOOST_TEST(!notes.find("key", "2"));
  BOOST_TEST(notes.enter("key", "what", "2") == 0u);
}

BOOST_AUTO_TEST_CASE(a_verdict_stays_until_it_is_taken_back_or_a_step_goes_well) {
  notes.fail("key", "wrong", "1");
  BOOST_REQUIRE(notes.find("key", "1").has_value());
  BOOST_TEST(notes.find("key", "1")->is_verdict);
  BOOST_TEST(notes.find("key", "1")->text == "wrong");
  BOOST_TEST(!notes.find("key", "2"));
  notes.forget("key");
  BOOST_TEST(!notes.find("key", "1"));
  notes.fail("key", "wrong", "1");
  BOOST_TEST(notes.enter("key", "what", "1") == 0u);
  notes.leave("key");
  BOOST_TEST(files() == 0u);
}

BOOST_AUTO_TEST_CASE(damaged_files_and_folders_that_cannot_be_used_tell_nothing) {
  end_within("key");
  for (const std::string text : {"", "entered", "entered x 1\n\nwhat", "maybe 1 1\n\nwhat"}) {
    for (const auto& file : fs::directory_iterator(folder)) write_file(file, text);
    BOOST_TEST(!notes.find("key"), text);
  }
  BOOST_TEST(notes.enter("key", "what") == 0u);
  journal nowhere{fs::path()};
  BOOST_TEST(nowhere.enter("key", "what") == 0u);
  nowhere.leave("key");
  nowhere.fail("key", "wrong");
  BOOST_TEST(!nowhere.find("key"));
}

// Last: from now on forks of this process are known as such.
BOOST_AUTO_TEST_CASE(a_fork_leaves_the_entries_of_its_parent) {
  tutti::base::note_plugin_loaded();
  notes.enter("key", "what");
  const pid_t child = ::fork();
  if (child == 0) {
    notes.leave("key");
    notes.close();
    ::_exit(0);
  }
  ::waitpid(child, nullptr, 0);
  BOOST_TEST(files() == 1u);
  notes.leave("key");
  BOOST_TEST(files() == 0u);
}

BOOST_AUTO_TEST_SUITE_END()
