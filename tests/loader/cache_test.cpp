// SPDX-License-Identifier: Apache-2.0
//
// The cache of compiled programs: damage, hostile and unusable folders, the size limit, many
// threads and processes at once.
#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/counters.hpp"
#include "base/disk_cache.hpp"
#include "base/driver_folder.hpp"
#include "base/private_folder.hpp"
#include "support.hpp"
#include "tutti_test/arrays.hpp"

namespace cache_test {

using namespace loader_test;
using tutti::base::cache_options;
using tutti::base::disk_cache;
using tutti::base::trim_driver_folder;
namespace fs = std::filesystem;

namespace {

struct fixture {
  temporary_folder outside;
  fs::path folder = outside.path() / "deep" / "cache";

  cache_options options(uint64_t limit = uint64_t{1} << 20) const { return {true, folder, limit}; }

  std::vector<fs::path> files() const {
    std::vector<fs::path> all;
    for (const auto& entry : fs::directory_iterator(folder)) all.push_back(entry.path());
    return all;
  }

  fs::path only_file() const {
    const auto all = files();
    BOOST_REQUIRE(all.size() == 1u);
    return all.front();
  }
};

bool holds(disk_cache& cache, const std::string& key, const std::string& data) {
  const auto found = cache.load(key);
  return found && *found == data;
}

/// Runs `body` as a user without special rights (root may write anywhere); true where it returned
/// true. `folder` is handed to that user first where `give` is set.
bool as_nobody(const fs::path& folder, bool give, const std::function<bool()>& body) {
  constexpr uid_t nobody = 65534;
  const bool root = ::geteuid() == 0;
  if (root && give && ::chown(folder.c_str(), nobody, nobody) != 0) return false;
  const pid_t child = ::fork();
  if (child == 0) {
    if (root && (::setgid(nobody) != 0 || ::setuid(nobody) != 0)) ::_exit(3);
    bool good = false;
    try {
      good = body();
    } catch (...) {
    }
    ::_exit(good ? 0 : 1);
  }
  int status = 0;
  ::waitpid(child, &status, 0);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

}  // namespace

BOOST_FIXTURE_TEST_SUITE(cache, fixture)

BOOST_AUTO_TEST_CASE(entries_outlive_the_process) {
  const std::string binary("\0\1\2 binary \xff", 12);
  {
    disk_cache first(options());
    BOOST_TEST(!first.load("key"));
    first.store("key", binary);
    first.store("empty", "");
    BOOST_TEST(holds(first, "key", binary));
  }
  disk_cache second(options());
  BOOST_TEST(holds(second, "key", binary));
  BOOST_TEST(holds(second, "empty", ""));
  BOOST_TEST(!second.load("other"));
  BOOST_TEST(second.problem() == "");
  struct stat info {};
  BOOST_REQUIRE(::stat(folder.c_str(), &info) == 0);
  BOOST_TEST((info.st_mode & 07777) == 0700u);
  BOOST_REQUIRE(::stat(files().front().c_str(), &info) == 0);
  BOOST_TEST((info.st_mode & 0777) == 0600u);
}

BOOST_AUTO_TEST_CASE(a_later_store_replaces) {
  disk_cache cache(options());
  cache.store("key", "old");
  cache.store("key", "new and longer");
  BOOST_TEST(holds(cache, "key", "new and longer"));
  BOOST_TEST(files().size() == 1u);
}

BOOST_AUTO_TEST_CASE(hits_and_misses_are_counted) {
  tutti::reset_stats();
  disk_cache cache(options());
  cache.load("key");
  cache.store("key", "data");
  cache.load("key");
  cache.load("key");
  BOOST_TEST(tutti::stats().disk_cache_misses == 1u);
  BOOST_TEST(tutti::stats().disk_cache_hits == 2u);
}

BOOST_AUTO_TEST_CASE(every_damaged_byte_is_noticed) {
  disk_cache cache(options());
  cache.store("key", "data");
  const fs::path file = only_file();
  const std::string sound = file_content(file);
  for (size_t i = 0; i < sound.size(); ++i) {
    std::string damaged = sound;
    damaged[i] = static_cast<char>(damaged[i] ^ 0x20);
    write_file(file, damaged);
    BOOST_TEST(!cache.load("key"), "byte " << i);
  }
  write_file(file, sound);
  BOOST_TEST(holds(cache, "key", "data"));
}

BOOST_AUTO_TEST_CASE(every_wrong_length_is_noticed_and_repaired) {
  disk_cache cache(options());
  cache.store("key", "data");
  const fs::path file = only_file();
  const std::string sound = file_content(file);
  for (size_t n = 0; n < sound.size(); ++n) {
    write_file(file, sound.substr(0, n));
    BOOST_TEST(!cache.load("key"), n << " bytes");
  }
  write_file(file, sound + "x");
  BOOST_TEST(!cache.load("key"));
  cache.store("key", "data");
  BOOST_TEST(holds(cache, "key", "data"));
}

BOOST_AUTO_TEST_CASE(an_entry_under_the_wrong_name_is_not_believed) {
  disk_cache cache(options());
  cache.store("one", "data of one");
  const fs::path first = only_file();
  cache.store("two", "data of two");
  for (const fs::path& file : files())
    if (file != first) fs::copy_file(first, file, fs::copy_options::overwrite_existing);
  BOOST_TEST(!cache.load("two"));
  BOOST_TEST(holds(cache, "one", "data of one"));
}

BOOST_AUTO_TEST_CASE(links_and_folders_are_not_followed) {
  disk_cache cache(options());
  cache.store("key", "data");
  const fs::path file = only_file();
  const fs::path elsewhere = outside.path() / "elsewhere";
  fs::rename(file, elsewhere);
  fs::create_symlink(elsewhere, file);
  BOOST_TEST(!cache.load("key"));
  fs::remove(file);
  fs::create_directory(file);
  BOOST_TEST(!cache.load("key"));
  cache.store("key", "data");
  BOOST_TEST(holds(cache, "key", "data"));
}

BOOST_AUTO_TEST_CASE(folders_others_may_write_to_are_refused) {
  for (const auto extra : {fs::perms::group_write, fs::perms::others_write}) {
    fs::create_directories(folder);
    fs::permissions(folder, fs::perms::owner_all | extra);
    disk_cache cache(options());
    BOOST_TEST(has(cache.problem(), "other users may write"), cache.problem());
    cache.store("key", "data");
    BOOST_TEST(holds(cache, "key", "data"));
    BOOST_TEST(files().empty());
    fs::remove_all(folder);
  }
}

BOOST_AUTO_TEST_CASE(a_folder_of_another_user_is_refused) {
  if (::geteuid() != 0) {
    // Without root no folder can be given away, but / belongs to somebody else.
    BOOST_TEST(has(disk_cache({true, "/", 1 << 20}).problem(), "belongs to another user"));
    return;
  }
  fs::create_directories(folder);
  fs::permissions(folder, fs::perms::owner_all);
  BOOST_REQUIRE(::chown(folder.c_str(), 65534, 65534) == 0);
  disk_cache cache(options());
  BOOST_TEST(has(cache.problem(), "belongs to another user (id 65534)"), cache.problem());
  cache.store("key", "data");
  BOOST_TEST(holds(cache, "key", "data"));
  BOOST_TEST(files().empty());
}

BOOST_AUTO_TEST_CASE(an_unwritable_folder_serves_reads_and_memory) {
  fs::create_directories(folder);
  fs::permissions(folder, fs::perms::owner_all);
  fs::permissions(outside.path(), fs::perms::owner_all | fs::perms::others_exec);
  const bool good = as_nobody(folder, true, [&] {
    disk_cache(options()).store("old", "from before");
    if (::chmod(folder.c_str(), 0500) != 0) return false;
    disk_cache cache(options());
    cache.store("new", "in memory");
    return has(cache.problem(), "not writable") && holds(cache, "old", "from before") &&
           holds(cache, "new", "in memory") && !disk_cache(options()).load("new");
  });
  BOOST_TEST(good);
}

BOOST_AUTO_TEST_CASE(a_folder_that_cannot_be_made_is_reported) {
  write_file(outside.path() / "file", "in the way");
  disk_cache cache({true, outside.path() / "file" / "cache", 1 << 20});
  BOOST_TEST(has(cache.problem(), "cannot create the folder"), cache.problem());
  cache.store("key", "data");
  BOOST_TEST(holds(cache, "key", "data"));
  disk_cache on_file({true, outside.path() / "file", 1 << 20});
  BOOST_TEST(has(on_file.problem(), "cannot open the folder"), on_file.problem());
  disk_cache nowhere({true, {}, 1 << 20});
  BOOST_TEST(has(nowhere.problem(), "TUTTI_CACHE_DIR"), nowhere.problem());
}

BOOST_AUTO_TEST_CASE(a_limit_on_the_size_of_files_is_a_full_disk) {
  const pid_t child = ::fork();
  if (child == 0) {
    const rlimit tight{4096, 4096};
    ::signal(SIGXFSZ, SIG_DFL);
    disk_cache cache(options());
    if (::setrlimit(RLIMIT_FSIZE, &tight) != 0) ::_exit(2);
    cache.store("long", std::string(100000, 'x'));
    sigset_t waiting;
    const bool is_left = ::sigpending(&waiting) != 0 || ::sigismember(&waiting, SIGXFSZ) != 0;
    ::_exit(is_left ? 1 : 0);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  BOOST_TEST(status == 0);
  BOOST_TEST(files().empty());
}

BOOST_AUTO_TEST_CASE(switched_off_keeps_nothing) {
  disk_cache cache({false, folder, 1 << 20});
  cache.store("key", "data");
  BOOST_TEST(!cache.load("key"));
  BOOST_TEST(!fs::exists(folder));
}

BOOST_AUTO_TEST_CASE(the_limit_removes_the_oldest) {
  const std::string data(1000, 'x');
  const auto hours_ago = [](int hours) {
    return fs::file_time_type::clock::now() - std::chrono::hours(hours);
  };
  {
    disk_cache filling(options());
    filling.store("oldest", data);
    fs::last_write_time(only_file(), hours_ago(50));
    for (int i = 0; i < 8; ++i) filling.store("filler " + std::to_string(i), data);
    filling.store("read lately", data);
    for (const fs::path& file : files())
      if (has(file_content(file), "read lately")) fs::last_write_time(file, hours_ago(60));
    BOOST_TEST(holds(filling, "read lately", data));
  }
  write_file(folder / "not ours", data);
  write_file(folder / "left.tutti.1-2.tmp", data);
  fs::last_write_time(folder / "left.tutti.1-2.tmp", hours_ago(2));
  disk_cache small(options(10 * 1060));
  small.store("newest", data);
  BOOST_TEST(!small.load("oldest"));
  BOOST_TEST(holds(small, "read lately", data));
  BOOST_TEST(holds(small, "newest", data));
  BOOST_TEST(fs::exists(folder / "not ours"));
  BOOST_TEST(!fs::exists(folder / "left.tutti.1-2.tmp"));
  uint64_t total = 0;
  for (const fs::path& file : files())
    if (file.extension() == ".tutti") total += fs::file_size(file);
  BOOST_TEST(total <= 10u * 1060u);
  BOOST_TEST(total >= 8u * 1000u);

  small.store("too big for the disk", std::string(20000, 'y'));
  BOOST_TEST(holds(small, "too big for the disk", std::string(20000, 'y')));
  BOOST_TEST(!disk_cache(options()).load("too big for the disk"));
}

BOOST_AUTO_TEST_CASE(threads_share_a_cache) {
  disk_cache cache(options());
  std::atomic<int> wrong{0};
  tutti_test::at_once(4, [&](int) {
    for (int i = 0; i < 200; ++i) {
      const std::string key = "key " + std::to_string(i % 10);
      const std::string data(1000 + i % 10, static_cast<char>('a' + i % 10));
      if (const auto found = cache.load(key); found && *found != data) ++wrong;
      cache.store(key, data);
    }
  });
  BOOST_TEST(wrong == 0);
  BOOST_TEST(files().size() == 10u);
}

BOOST_AUTO_TEST_CASE(an_entry_beyond_the_limit_is_not_read) {
  disk_cache cache(options());
  cache.store("key", "data");
  fs::resize_file(only_file(), std::uintmax_t{1} << 40);  // of which the rest is a hole
  BOOST_TEST(!cache.load("key"));
  cache.store("key", "data again");
  BOOST_TEST(holds(cache, "key", "data again"));
}

BOOST_AUTO_TEST_CASE(processes_share_a_folder) {
  // Entries of one key differ in length by writer, so a torn file could not pass.
  const auto data = [](int who) { return std::string(5000 + 100 * who, static_cast<char>(who)); };
  std::vector<pid_t> children;
  for (int who = 1; who <= 4; ++who) {
    const pid_t child = ::fork();
    if (child == 0) {
      bool good = true;
      disk_cache cache(options(100'000));
      for (int i = 0; i < 150; ++i) {
        const std::string key = "key " + std::to_string(i % 5);
        cache.store(key, data(who));
        const auto found = cache.load(key);
        good = good && found && !found->empty() && *found == data(found->front());
      }
      ::_exit(good ? 0 : 1);
    }
    children.push_back(child);
  }
  for (const pid_t child : children) {
    int status = 0;
    ::waitpid(child, &status, 0);
    BOOST_TEST(status == 0);
  }
  BOOST_TEST(files().size() == 5u);
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_CASE(options_come_from_the_environment) {
  const auto read = [] { return tutti::base::cache_options_from_environment(); };
  const scoped_variable home("HOME", "/home/somebody");
  const scoped_variable none("TUTTI_CACHE_DIR", "");
  const scoped_variable size("TUTTI_CACHE_MB", "");
  {
    const scoped_variable xdg("XDG_CACHE_HOME", "");
    BOOST_TEST(read().folder == "/home/somebody/.cache/tutti");
    BOOST_TEST(read().enabled);
    BOOST_TEST(read().limit_bytes == uint64_t{512} << 20);
  }
  const scoped_variable xdg("XDG_CACHE_HOME", "/xdg");
  BOOST_TEST(read().folder == "/xdg/tutti");
  {
    const scoped_variable relative("XDG_CACHE_HOME", "relative");
    BOOST_TEST(read().folder == "/home/somebody/.cache/tutti");
  }
  const scoped_variable folder("TUTTI_CACHE_DIR", "/own");
  BOOST_TEST(read().folder == "/own");
  {
    const scoped_variable off("TUTTI_CACHE_MB", "0");
    BOOST_TEST(!read().enabled);
  }
  const scoped_variable limit("TUTTI_CACHE_MB", "7");
  BOOST_TEST(read().limit_bytes == uint64_t{7} << 20);
  for (const char* text : {"7x", "-1", "1.5", "99999999999999999999"}) {
    const scoped_variable wrong("TUTTI_CACHE_MB", text);
    BOOST_TEST(read().limit_bytes == uint64_t{512} << 20, text);
  }
}

namespace {

// As PoCL makes one for each program.
fs::path driver_entry(const fs::path& folder, const std::string& name, std::size_t bytes,
                      std::chrono::hours age) {
  const fs::path entry = folder / name.substr(0, 2) / name.substr(2);
  fs::create_directories(entry / "kernel");
  std::ofstream(entry / "kernel" / "code.so") << std::string(bytes, 'x');
  std::ofstream(entry / "last_accessed") << "";
  const auto then = fs::file_time_type::clock::now() - age;
  for (const fs::path& p :
       {entry / "kernel" / "code.so", entry / "kernel", entry / "last_accessed", entry})
    fs::last_write_time(p, then);
  return entry;
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_drivers_folder_loses_what_was_not_used_for_longest) {
  const tutti_test::temporary_folder folder;
  const fs::path outside = folder / "outside", inside = folder / "inside";
  fs::create_directories(inside);
  std::ofstream(outside) << std::string(100000, 'x');
  const fs::path oldest = driver_entry(inside, "AAold", 400, std::chrono::hours(30)),
                 old = driver_entry(inside, "AAnew", 400, std::chrono::hours(20)),
                 newer = driver_entry(inside, "BBnew", 400, std::chrono::hours(10)),
                 used = driver_entry(inside, "CCnow", 4000, std::chrono::hours(0));
  fs::create_symlink(outside, inside / "link");
  trim_driver_folder(inside, 5200);
  BOOST_TEST(fs::exists(oldest));  // small enough
  trim_driver_folder(inside, 5000);
  BOOST_TEST(!fs::exists(oldest));
  BOOST_TEST(!fs::exists(old));
  BOOST_TEST(fs::exists(newer));
  trim_driver_folder(inside, 1000);
  BOOST_TEST(!fs::exists(newer));
  BOOST_TEST(fs::exists(used));  // perhaps by a process that runs
  BOOST_TEST(fs::file_size(outside) == 100000u);
}

// What a library or a shell writes to a standard stream that is closed must not go to the folder.
BOOST_AUTO_TEST_CASE(standard_streams_stay_closed) {
  const temporary_folder outside;
  const pid_t child = ::fork();
  if (child == 0) {
    for (int fd = 0; fd < 3; ++fd) ::close(fd);
    const tutti::base::private_folder folder(outside.path() / "cache");
    const auto held = folder.hold("file");
    for (int fd = 0; fd < 3; ++fd)
      if (::fcntl(fd, F_GETFD) != -1) ::_exit(1);
    ::_exit(held ? 0 : 2);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  BOOST_TEST(status == 0);
}

}  // namespace cache_test
