// SPDX-License-Identifier: Apache-2.0
//
// `tutti cache`: what is told of a folder, what is removed and what is not, beside processes that
// use it, and what running a program leaves there.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <filesystem>
#include <set>

#include "base/disk_cache.hpp"
#include "tools/cache_contents.hpp"
#include "tutti_test/command.hpp"
#include "tutti_test/files.hpp"
#include "tutti_test/paths.hpp"

namespace {

namespace fs = std::filesystem;
using tutti::base::disk_cache;
using tutti::tools::cache_use;
using tutti::tools::use_of_key;
using tutti_test::has;
using tutti_test::outcome;

std::string field(const std::string& text) { return std::to_string(text.size()) + ":" + text; }

// As the core makes them for a device's program.
std::string program_key(const std::string& device) {
  return field("2.0/0") + field("opencl") + field("1.0") + field("build") + field(device) +
         field("the source");
}

struct fixture {
  tutti_test::temporary_folder outside;
  fs::path folder = outside.path() / "cache";

  outcome tutti(const std::string& arguments, const std::string& environment = "") const {
    return tutti_test::run("env -u POCL_CACHE_DIR TUTTI_CACHE_MB=512 TUTTI_CACHE_DIR='" +
                           folder.string() + "' " + environment + " '" +
                           tutti_test::paths::tutti_program + "' cache " + arguments);
  }
  void fill() const {
    disk_cache cache({true, folder, uint64_t{1} << 20});
    for (const std::string key : {"a", "bb", "ccc"}) cache.store(program_key(key), key);
    cache.store("proof 1, 0.1.0\n" + program_key("a"), "good");
    cache.store("sha256 of /a/file 1 2 3", "0123");
  }
  void write(const fs::path& name, const std::string& text) const {
    fs::create_directories((folder / name).parent_path());
    std::ofstream(folder / name) << text;
  }
  void age(const fs::path& name) const {
    fs::last_write_time(folder / name, fs::file_time_type::clock::now() - std::chrono::hours(3));
  }
};

}  // namespace

BOOST_FIXTURE_TEST_SUITE(cache, fixture)

BOOST_AUTO_TEST_CASE(keys_say_what_they_are_for) {
  BOOST_TEST((use_of_key(program_key("gpu 7")) == cache_use{"compiled programs", "opencl: gpu 7"}));
  BOOST_TEST((use_of_key(program_key("a\nb")) == cache_use{"compiled programs", "opencl: a b"}));
  BOOST_TEST((use_of_key("proof 1, 0.1.0\n" + program_key("x")) ==
              cache_use{"answers of devices", "opencl: x"}));
  BOOST_TEST((use_of_key("sha256 of /x 1") == cache_use{"hashes of plugin files", ""}));
  BOOST_TEST((use_of_key("throughput of f32 products\ncuda\nbuild\n") ==
              cache_use{"measured speeds", "cuda"}));
  for (const std::string odd : {"", "5:abc", "proof", "throughput of", "99999999999999999999:x"})
    BOOST_TEST(use_of_key(odd).device.empty(), odd);
}

BOOST_AUTO_TEST_CASE(a_folder_that_is_not_there_is_not_made) {
  const outcome told = tutti("info");
  BOOST_TEST(told.status == 0);
  BOOST_TEST(has(told.output, "not there yet"), told.output);
  BOOST_TEST(tutti("clear").status == 0);
  BOOST_TEST(!fs::exists(folder));
  BOOST_TEST(has(tutti("info", "TUTTI_CACHE_MB=0").output, "TUTTI_CACHE_MB=0"));
  BOOST_TEST(tutti("").status == 2);
  BOOST_TEST(tutti("warm").status == 2);
  BOOST_TEST(tutti("sweep").status == 2);
}

BOOST_AUTO_TEST_CASE(info_counts_by_kind_and_device_and_marks_nothing_as_used) {
  fill();
  write("0.tutti", "no entry");
  write("pocl/.used", "");
  write("pocl/tempfiles/kernel.so", std::string(3000, 'x'));
  for (const auto& file : fs::directory_iterator(folder)) age(file.path().filename());
  const auto contents = tutti::tools::contents_of_cache(folder);
  BOOST_REQUIRE(contents);
  uint64_t programs = 0, damaged = 0, entries = 0;
  for (const auto& share : contents->shares) {
    entries += share.entries;
    if (share.use.kind == "compiled programs") programs += share.entries;
    if (share.use.kind == "damaged") damaged += share.entries;
    if (share.use.device == "opencl: bb") BOOST_TEST(share.entries == 1u);
  }
  BOOST_TEST(programs == 3u);
  BOOST_TEST(damaged == 1u);
  BOOST_TEST(entries == 6u);
  BOOST_REQUIRE(contents->drivers.size() == 1u);
  BOOST_TEST(contents->drivers[0].files == 1u);
  BOOST_TEST(contents->drivers[0].bytes == 3000u);
  BOOST_TEST(!contents->drivers[0].in_use);
  const outcome told = tutti("info", "POCL_CACHE_DIR=/elsewhere");
  for (const char* part : {"compiled programs", "opencl: bb", "answers of devices", "damaged",
                           "of at most 512 MiB", "1 file,", "/elsewhere: PoCL's"})
    BOOST_TEST(has(told.output, part), part << " is not in " << told.output);
  for (const auto& file : fs::directory_iterator(folder))
    if (file.is_regular_file())
      BOOST_TEST(
          (fs::file_time_type::clock::now() - file.last_write_time() > std::chrono::hours(2)));
}

BOOST_AUTO_TEST_CASE(clear_removes_what_is_ours_and_nothing_else) {
  fill();
  write("x.entered", "failed 0 2\n1\nwhy");
  write("0.tutti.17-0.tmp", "stale");
  age("0.tutti.17-0.tmp");
  write("1.tutti.18-0.tmp", "being written");
  write("notes.txt", "the user's");
  write("mine/.keep", "the user's");
  write("pocl/.used", "");
  write("pocl/ab/cd/kernel.so", "code");
  const outcome done = tutti("clear");
  BOOST_TEST(done.status == 0);
  BOOST_TEST(has(done.output, "8 files, "), done.output);
  std::set<std::string> left;
  for (const auto& file : fs::recursive_directory_iterator(folder))
    left.insert(fs::relative(file.path(), folder).string());
  const std::set<std::string> expected{"1.tutti.18-0.tmp", "notes.txt", "mine",
                                       "mine/.keep",       "pocl",      "pocl/.used"};
  BOOST_TEST(left == expected, boost::test_tools::per_element());
  fill();
  const disk_cache again({true, folder, uint64_t{1} << 20});
  BOOST_TEST(has(tutti("info").output, "compiled programs"));
}

BOOST_AUTO_TEST_CASE(what_running_processes_use_stays) {
  write("held.entered", "entered 0 0\n\nwhat");
  write("pocl/.used", "");
  write("pocl/ab/old/kernel.so", "code");
  write("pocl/ab/new/kernel.so", "code");
  for (const char* name : {"pocl/ab/old/kernel.so", "pocl/ab/old"}) age(name);
  const int mark = ::open((folder / "held.entered").c_str(), O_RDWR | O_CLOEXEC);
  const int use = ::open((folder / "pocl/.used").c_str(), O_RDWR | O_CLOEXEC);
  BOOST_REQUIRE(::flock(mark, LOCK_EX | LOCK_NB) == 0);
  BOOST_REQUIRE(::flock(use, LOCK_SH | LOCK_NB) == 0);
  BOOST_TEST(has(tutti("info").output, "; in use"));
  const outcome done = tutti("clear");
  BOOST_TEST(has(done.output, "1 mark of running processes stayed"), done.output);
  BOOST_TEST(has(done.output, "pocl: in use"), done.output);
  BOOST_TEST(fs::exists(folder / "held.entered"));
  BOOST_TEST(fs::exists(folder / "pocl/ab/new/kernel.so"));
  BOOST_TEST(!fs::exists(folder / "pocl/ab/old"));
  ::close(mark);
  ::close(use);
  BOOST_TEST(tutti("clear").status == 0);
  BOOST_TEST(!fs::exists(folder / "held.entered"));
  BOOST_TEST(!fs::exists(folder / "pocl/ab"));
}

BOOST_AUTO_TEST_CASE(warm_runs_programs_and_tells_what_they_left) {
  const std::string store = "mkdir -p -m 700 '" + folder.string() + "' && printf %5s x >'" +
                            folder.string() + "/9.tutti'";
  const outcome done = tutti("warm \"" + store + "\"");
  BOOST_TEST(done.status == 0, done.output);
  BOOST_TEST(has(done.output, ": 1 entry and 5 bytes more are kept"), done.output);
  const outcome failed = tutti("warm true 'exit 3' 'kill -9 $$'");
  BOOST_TEST(failed.status == 1);
  BOOST_TEST(has(failed.output, "true: 0 entries and 0 bytes more are kept"), failed.output);
  BOOST_TEST(has(failed.output, "exit 3: ended with exit status 3"), failed.output);
  BOOST_TEST(has(failed.output, "ended with signal 9"), failed.output);
  BOOST_TEST(tutti("warm true", "TUTTI_CACHE_MB=0").status == 1);
}

BOOST_AUTO_TEST_SUITE_END()
