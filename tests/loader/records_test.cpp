// SPDX-License-Identifier: Apache-2.0
//
// What one process leaves for the next about a plugin file. A process that ends is a fork that
// does.
#include "plugin/records.hpp"

#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <thread>

#include "support.hpp"

using namespace loader_test;
using tutti::detail::plugin_records;
namespace fs = std::filesystem;

namespace {

struct place {
  temporary_folder folder;
  fs::path cache = folder.path() / "cache";
  fs::path plugin = folder.path() / "libtutti_some.so";
  place() { write_file(plugin, "a plugin"); }

  std::string failure() const {
    plugin_records records(cache);
    return records.failure(plugin).value_or("");
  }

  /// Whether the record says so.
  bool is_waiting() const {
    for (const auto& file : fs::directory_iterator(cache))
      if (file_content(file.path()).starts_with("waiting ")) return true;
    return false;
  }

  std::string record() const {
    for (const auto& file : fs::directory_iterator(cache)) return file_content(file.path());
    return "";
  }

  /// Runs `body` in a process that it does not leave.
  template <class Body>
  void in_a_process(Body&& body) const {
    const pid_t child = ::fork();
    if (child == 0) {
      // Without what the test's own process has for faults.
      for (const int signal :
           {SIGSEGV, SIGBUS, SIGILL, SIGFPE, SIGABRT, SIGINT, SIGTERM, SIGHUP, SIGQUIT})
        ::signal(signal, SIG_DFL);
      const rlimit no_core{0, 0};
      ::setrlimit(RLIMIT_CORE, &no_core);
      plugin_records records(cache);
      body(records);
      ::_exit(0);
    }
    int status = 0;
    BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
  }

  /// A process that goes down by `signal` within that step of an attempt.
  void end_within(const char* step, int signal = SIGSEGV) const {
    in_a_process([&](plugin_records& records) {
      plugin_records::attempt attempt(&records, plugin, "the loading");
      attempt.go_on(step);
      ::raise(signal);
    });
  }

  void crash_in_another_thread() const {
    in_a_process([&](plugin_records& records) {
      const plugin_records::attempt attempt(&records, plugin, "device.count");
      std::thread([] { std::abort(); }).join();
    });
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(an_attempt_that_ends_leaves_nothing_that_counts) {
  const place p;
  plugin_records records(p.cache);
  {
    const plugin_records::attempt attempt(&records, p.plugin, "device.count");
    BOOST_TEST(p.failure() == "");  // it is held
  }
  BOOST_TEST(p.failure() == "");
  BOOST_TEST(p.record().starts_with("passed  "), p.record());
}

BOOST_AUTO_TEST_CASE(what_has_gone_well_is_not_written_of_again) {
  const place p;
  plugin_records records(p.cache);
  const auto steps = [&] {
    plugin_records::attempt attempt(&records, p.plugin, "the loading");
    attempt.go_on("device.count");
    return p.record();
  };
  BOOST_TEST(steps().starts_with("entered "));
  const std::string known = p.record();
  for (const auto& file : fs::directory_iterator(p.cache))
    fs::last_write_time(file.path(), fs::last_write_time(file.path()) - std::chrono::minutes(1));
  const auto written = [&] { return fs::last_write_time(fs::directory_iterator(p.cache)->path()); };
  const auto before = written();
  BOOST_TEST(steps() == known);
  BOOST_TEST((written() == before));
  // What has gone well is the user's to interrupt, and crashes count as ever.
  for (int i = 0; i < 3; ++i) p.end_within("device.count", SIGKILL);
  BOOST_TEST(p.failure() == "");
  {
    const plugin_records::attempt proof(&records, p.plugin, "the proof of transfers",
                                        plugin_records::patience,
                                        plugin_records::silent_ends::tell_nothing);
    BOOST_TEST(p.record().starts_with("running "));
  }
  BOOST_TEST(p.record() == known);
  p.end_within("device.count");
  BOOST_TEST(p.failure() == "an earlier process ended within a use of it, by a crash");
  steps();
  BOOST_TEST(p.record() == known);
}

BOOST_AUTO_TEST_CASE(an_end_without_a_word_counts_the_second_time_at_a_new_step) {
  for (const int signal : {SIGKILL, 0}) {
    const place p;
    const auto end = [&](const char* step) {
      if (signal != 0) return p.end_within(step, signal);
      p.in_a_process([&](plugin_records& records) {
        plugin_records::attempt attempt(&records, p.plugin, "the loading");
        attempt.go_on(step);
        ::_exit(0);
      });
    };
    end("device.count");
    BOOST_TEST(p.failure() == "");
    end("device.count");
    const std::string why =
        "an earlier process ended within device.count of it, without a word, and so did one before";
    BOOST_TEST(p.failure() == why);
    end("device.count");
    BOOST_TEST(p.failure() == why);
    plugin_records records(p.cache);
    { const plugin_records::attempt attempt(&records, p.plugin, "device.count"); }
    BOOST_TEST(p.failure() == "");
    // A later step counts as well, though what comes before it goes well each time.
    for (int i = 0; i < 2; ++i) {
      { const plugin_records::attempt attempt(&records, p.plugin, "the loading"); }
      BOOST_TEST(p.failure() == "");
      end("device.open");
    }
    BOOST_TEST(has(p.failure(), "device.open"), p.failure());
    { const plugin_records::attempt attempt(&records, p.plugin, "device.open"); }
    for (int i = 0; i < 2; ++i) end("device.open");  // which is known now
    BOOST_TEST(p.failure() == "");
  }
}

BOOST_AUTO_TEST_CASE(a_process_that_crashes_within_an_attempt_is_noticed) {
  for (const int signal : {SIGSEGV, SIGABRT, SIGBUS, SIGILL, SIGFPE}) {
    const place p;
    p.end_within("device.count", signal);
    BOOST_TEST(p.failure() == "an earlier process ended within device.count of it, by a crash");
    BOOST_TEST(p.failure() != "");  // and is not forgotten by looking
    p.end_within("device.count", SIGINT);
    BOOST_TEST(p.failure() != "");  // nor by another try that tells nothing
    plugin_records records(p.cache);
    { const plugin_records::attempt attempt(&records, p.plugin, "device.count"); }
    BOOST_TEST(p.failure() == "");
  }
}

BOOST_AUTO_TEST_CASE(interrupts_have_no_consequences) {
  const place p;
  for (const char* step : {"the loading", "device.count", "device.open"})
    for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
      p.end_within(step, signal);
      BOOST_TEST(p.failure() == "");
    }
  plugin_records records(p.cache);
  records.fail(p.plugin, "it hangs");
  p.end_within("device.count", SIGINT);
  BOOST_TEST(p.failure() == "it hangs");
}

#ifndef __SANITIZE_THREAD__  // which puts handlers off for ever in a fork of a process with threads
BOOST_AUTO_TEST_CASE(an_interrupt_ends_the_process_as_ever) {
  const place p;
  const pid_t child = ::fork();
  if (child == 0) {
    ::signal(SIGTERM, SIG_DFL);
    plugin_records records(p.cache);
    const plugin_records::attempt attempt(&records, p.plugin, "device.count");
    ::raise(SIGTERM);
    ::_exit(0);
  }
  int status = 0;
  BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
  BOOST_TEST((WIFSIGNALED(status) && WTERMSIG(status) == SIGTERM));
  BOOST_TEST(p.record().starts_with("running "), p.record());
}
#endif

// Signals are the application's: ours is there for a new step only, and never in place of another.
BOOST_AUTO_TEST_CASE(handlers_of_interrupts_come_and_go) {
  const place p;
  using handler = void (*)(int);
  const auto current = [](int signal) {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    return action.sa_handler;
  };
  const handler none = SIG_DFL, own = [](int) {};
  const handler before_int = ::signal(SIGINT, none), before_term = ::signal(SIGTERM, own),
                before_hup = ::signal(SIGHUP, SIG_IGN);
  plugin_records records(p.cache);
  for (const bool is_new : {true, false}) {
    plugin_records::attempt attempt(&records, p.plugin, "the loading");
    BOOST_TEST((current(SIGINT) != none) == is_new);
    BOOST_TEST((current(SIGTERM) == own));
    BOOST_TEST((current(SIGHUP) == SIG_IGN));
    attempt.go_on("device.count");
    BOOST_TEST((current(SIGINT) != none) == is_new);
  }
  BOOST_TEST((current(SIGINT) == none));
  {
    plugin_records::attempt attempt(&records, p.plugin, "device.open");
    ::signal(SIGINT, own);  // the application's, meanwhile
  }
  BOOST_TEST((current(SIGINT) == own));
  ::signal(SIGINT, before_int);
  ::signal(SIGTERM, before_term);
  ::signal(SIGHUP, before_hup);
}

BOOST_AUTO_TEST_CASE(a_long_wait_counts_however_the_process_ends) {
  for (const int signal : {SIGINT, SIGKILL, 0}) {
    const place p;
    p.in_a_process([&](plugin_records& records) {
      static_cast<void>(
          new plugin_records::attempt(&records, p.plugin, "device.open", std::chrono::seconds(0)));
      while (!p.is_waiting()) std::this_thread::yield();
      if (signal == 0)
        std::thread([&] { records.end_others(); }).join();  // as exit() does
      else
        ::raise(signal);
    });
    BOOST_TEST(p.failure() == "an earlier process waited in vain for device.open of it");
  }
}

BOOST_AUTO_TEST_CASE(a_wait_that_ends_is_forgotten) {
  const place p;
  plugin_records records(p.cache);
  {
    plugin_records::attempt attempt(&records, p.plugin, "device.open", std::chrono::seconds(0));
    while (!p.is_waiting()) std::this_thread::yield();
    BOOST_TEST(p.failure() == "");  // it may come back yet
    attempt.go_on("another step");
  }
  BOOST_TEST(p.record().starts_with("passed  "), p.record());
}

BOOST_AUTO_TEST_CASE(what_is_given_up_counts_at_once) {
  const place p;
  p.in_a_process([&](plugin_records& records) {
    static_cast<void>(new plugin_records::attempt(&records, p.plugin, "device.open"));
    records.give_up(p.plugin);
    records.give_up(p.plugin);
    std::thread([&] { records.end_others(); }).join();
  });
  BOOST_TEST(p.failure() == "an earlier process waited in vain for device.open of it");
}

BOOST_AUTO_TEST_CASE(crashes_in_other_threads_count_the_second_time) {
  const place p;
  {
    plugin_records records(p.cache);
    plugin_records::attempt attempt(&records, p.plugin, "the loading");
    attempt.go_on("device.count");
  }
  p.crash_in_another_thread();
  BOOST_TEST(p.failure() == "");
  p.end_within("device.count", SIGKILL);
  BOOST_TEST(p.failure() == "");
  p.crash_in_another_thread();
  BOOST_TEST(p.failure() ==
             "an earlier process ended within device.count of it, by a crash, and so did one "
             "before");
  plugin_records records(p.cache);
  { const plugin_records::attempt attempt(&records, p.plugin, "device.count"); }
  p.crash_in_another_thread();
  BOOST_TEST(p.failure() == "");
}

BOOST_AUTO_TEST_CASE(an_exit_of_an_interrupts_handler_is_not_the_plugins) {
  static plugin_records* all = nullptr;
  const auto handler = [](int) {
    all->end_others();  // as exit() does
    ::_exit(0);
  };
  for (const int signal : {SIGINT, SIGTERM, SIGSEGV}) {
    const place p;
    p.in_a_process([&](plugin_records& records) {
      all = &records;
      ::signal(signal, handler);
      const plugin_records::attempt attempt(&records, p.plugin, "device.count");
      ::raise(signal);
    });
    BOOST_TEST(p.failure().empty() == (signal != SIGSEGV), signal);
  }
}

BOOST_AUTO_TEST_CASE(another_plugin_file_starts_anew) {
  const place p;
  p.end_within("device.count");
  write_file(p.plugin, "another plugin");
  BOOST_TEST(p.failure() == "");
  p.end_within("device.open");
  BOOST_TEST(has(p.failure(), "device.open"));
  fs::last_write_time(p.plugin, fs::last_write_time(p.plugin) + std::chrono::seconds(1));
  BOOST_TEST(p.failure() == "");
}

BOOST_AUTO_TEST_CASE(a_verdict_stays_until_it_is_taken_back) {
  const place p;
  plugin_records records(p.cache);
  records.fail(p.plugin, "it sorts wrongly");
  BOOST_TEST(p.failure() == "it sorts wrongly");
  { const plugin_records::attempt attempt(&records, p.plugin, "device.count"); }
  BOOST_TEST(p.failure() == "it sorts wrongly");
  records.clear(p.plugin);
  BOOST_TEST(p.failure() == "");
}

BOOST_AUTO_TEST_CASE(only_the_thread_that_exits_has_failed) {
  const place p;
  p.in_a_process([&](plugin_records& records) {
    std::thread other([&] {
      const plugin_records::attempt attempt(&records, p.plugin, "device.count");
      records.end_others();  // as exit() does, here from the thread of the attempt
      ::_exit(0);
    });
    other.join();
  });
  BOOST_TEST(p.failure() ==
             "an earlier process ended within device.count of it, by the plugin's exit()");
  fs::remove_all(p.cache);
  p.in_a_process([&](plugin_records& records) {
    static_cast<void>(new plugin_records::attempt(&records, p.plugin, "device.count"));
    std::thread([&] {
      records.end_others();
      ::_exit(0);
    }).join();
  });
  BOOST_TEST(p.failure() == "");
}

BOOST_AUTO_TEST_CASE(damaged_records_and_folders_that_cannot_be_used_keep_nothing) {
  const place p;
  p.end_within("device.count");
  for (const auto& file : fs::directory_iterator(p.cache))
    for (const std::string text :
         {"", "running", "crashed 8\n", "stopped 1 2", "garbage\n\n", "failed 1 2\nx"}) {
      write_file(file.path(), text);
      BOOST_TEST(p.failure() == "", text);
    }
  plugin_records nowhere{fs::path()};
  { const plugin_records::attempt attempt(&nowhere, p.plugin, "device.count"); }
  nowhere.fail(p.plugin, "x");
  BOOST_TEST(!nowhere.failure(p.plugin).has_value());
  plugin_records file(p.plugin);
  { const plugin_records::attempt attempt(&file, p.plugin, "device.count"); }
  BOOST_TEST(!file.failure(p.plugin).has_value());
}
