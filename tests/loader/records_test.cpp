// SPDX-License-Identifier: Apache-2.0
//
// What one process leaves for the next about a plugin file. A process that ends is a fork that
// does.
#include "plugin/records.hpp"

#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
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

  /// Runs `body` in a process that it does not leave.
  template <class Body>
  void in_a_process(Body&& body) const {
    const pid_t child = ::fork();
    if (child == 0) {
      plugin_records records(cache);
      body(records);
      ::_exit(0);
    }
    int status = 0;
    BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
    BOOST_TEST(WIFEXITED(status));
  }

  void end_within(const char* step) const {
    in_a_process([&](plugin_records& records) {
      plugin_records::attempt attempt(&records, plugin, "the loading");
      attempt.go_on(step);
      ::_exit(0);
    });
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(an_attempt_that_ends_leaves_nothing) {
  const place p;
  plugin_records records(p.cache);
  {
    const plugin_records::attempt attempt(&records, p.plugin, "device.count");
    BOOST_TEST(p.failure() == "");  // it is held
  }
  BOOST_TEST(p.failure() == "");
  BOOST_TEST(fs::is_empty(p.cache));
}

BOOST_AUTO_TEST_CASE(a_process_that_ends_within_an_attempt_is_noticed) {
  const place p;
  p.end_within("device.count");
  BOOST_TEST(p.failure() ==
             "an earlier process ended within device.count of it, by itself or by force");
  BOOST_TEST(p.failure() != "");  // and is not forgotten by looking
  plugin_records records(p.cache);
  { const plugin_records::attempt attempt(&records, p.plugin, "device.count"); }
  BOOST_TEST(p.failure() == "");
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
  BOOST_TEST(has(p.failure(), "device.count"));
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
    for (const std::string text : {"", "running", "running 8\n", "garbage\n\n", "failed 1 2\nx"}) {
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
