// SPDX-License-Identifier: Apache-2.0
//
// POSIX side of private_folder. All accesses use the folder's descriptor, so a folder that is
// replaced after the check is not used.
#include "base/private_folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <memory>
#include <system_error>

#include "base/descriptor.hpp"
#include "base/fail.hpp"
#include "base/signals.hpp"
#include "tutti/error.hpp"

namespace tutti::base {
namespace {

constexpr int64_t second = 1'000'000'000;
constexpr int64_t hour = 3600 * second;
// A process may have closed its standard streams: writes to one of them must not reach a folder.
constexpr int first_of_ours = STDERR_FILENO + 1;

std::string system_text(int number) { return std::generic_category().message(number); }

[[noreturn]] void fail(const std::filesystem::path& path, const std::string& why) {
  base::fail<io_error>("{}: {}", path.string(), why);
}

bool write_all(int fd, std::string_view data) {
  const limits_are_errors here;
  while (!data.empty()) {
    const ssize_t written = ::write(fd, data.data(), data.size());
    if (written < 0 && errno == EINTR) continue;
    if (written <= 0) return false;
    data.remove_prefix(static_cast<size_t>(written));
  }
  return true;
}

int64_t modified_ns(const struct stat& info) {
  return static_cast<int64_t>(info.st_mtim.tv_sec) * second + info.st_mtim.tv_nsec;
}

}  // namespace

int64_t file_clock_now_ns() {
  timespec now{};
  ::clock_gettime(CLOCK_REALTIME, &now);
  return static_cast<int64_t>(now.tv_sec) * second + now.tv_nsec;
}

private_folder::private_folder(const std::filesystem::path& path)
    : path_(std::filesystem::absolute(path)) {
  std::error_code error;
  if (path_.has_parent_path()) std::filesystem::create_directories(path_.parent_path(), error);
  if (::mkdir(path_.c_str(), 0700) != 0 && errno != EEXIST)
    fail(path_, "cannot create the folder: " + system_text(errno));
  descriptor folder(::open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (folder.get() < 0) fail(path_, "cannot open the folder: " + system_text(errno));
  struct stat info {};
  if (::fstat(folder.get(), &info) != 0) fail(path_, system_text(errno));
  if (info.st_uid != ::geteuid())
    fail(path_, "the folder belongs to another user (id " + std::to_string(info.st_uid) + ")");
  if ((info.st_mode & (S_IWGRP | S_IWOTH)) != 0) fail(path_, "other users may write to the folder");
  fd_ = ::fcntl(folder.get(), F_DUPFD_CLOEXEC, first_of_ours);
  if (fd_ < 0) fail(path_, system_text(errno));
}

private_folder::~private_folder() { ::close(fd_); }

bool private_folder::writable() const {
  return ::faccessat(fd_, ".", W_OK | X_OK, AT_EACCESS) == 0;
}

std::optional<std::string> private_folder::read(const std::string& name, uint64_t most) const {
  descriptor file(::openat(fd_, name.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
  struct stat info {};
  if (file.get() < 0 || ::fstat(file.get(), &info) != 0 || !S_ISREG(info.st_mode) ||
      info.st_uid != ::geteuid() || static_cast<uint64_t>(info.st_size) > most)
    return std::nullopt;
  std::string content = read_all(file.get(), static_cast<size_t>(info.st_size));
  if (file_clock_now_ns() - modified_ns(info) > hour) ::futimens(file.get(), nullptr);
  return content;
}

void private_folder::write(const std::string& name, std::string_view head,
                           std::string_view body) const {
  static std::atomic<uint32_t> serial{0};
  const std::string temporary =
      name + "." + std::to_string(::getpid()) + "-" + std::to_string(serial++) + ".tmp";
  descriptor file(
      ::openat(fd_, temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600));
  if (file.get() < 0) fail(path_ / temporary, system_text(errno));
  errno = 0;
  const bool written = write_all(file.get(), head) && write_all(file.get(), body) && file.close();
  if (!written || ::renameat(fd_, temporary.c_str(), fd_, name.c_str()) != 0) {
    const int number = errno;
    remove(temporary);
    fail(path_ / name, system_text(number));
  }
}

void private_folder::remove(const std::string& name) const noexcept {
  ::unlinkat(fd_, name.c_str(), 0);
}

std::vector<private_folder::entry> private_folder::list() const {
  std::vector<entry> files;
  const int again = ::openat(fd_, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (again < 0) return files;
  const auto close = [](DIR* d) { ::closedir(d); };
  const std::unique_ptr<DIR, decltype(close)> folder(::fdopendir(again), close);
  if (!folder) {
    ::close(again);
    return files;
  }
  while (const dirent* item = ::readdir(folder.get())) {
    struct stat info {};
    if (::fstatat(fd_, item->d_name, &info, AT_SYMLINK_NOFOLLOW) == 0 && S_ISREG(info.st_mode))
      files.push_back({item->d_name, static_cast<uint64_t>(info.st_size), modified_ns(info)});
  }
  return files;
}

private_folder::claim::~claim() {
  if (fd_ >= 0) ::close(fd_);
}

bool private_folder::claim::rewrite(std::string_view text) const {
  return ::ftruncate(fd_, 0) == 0 && ::lseek(fd_, 0, SEEK_SET) == 0 && write_all(fd_, text);
}

std::optional<private_folder::claim> private_folder::lock(const std::string& name,
                                                          bool shared) const {
  for (;;) {
    const int fd =
        ::openat(fd_, name.c_str(), O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
    if (fd < 0) return std::nullopt;
    claim made(fd, {}, 0);
    struct stat info {};
    // The lock belongs to the descriptor, and the descriptor to the process.
    if (::flock(fd, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) != 0 || ::fstat(fd, &info) != 0 ||
        !S_ISREG(info.st_mode) || info.st_uid != ::geteuid())
      return std::nullopt;
    if (info.st_nlink == 0) continue;  // removed by its holder between the two calls
    return claim(::fcntl(fd, F_DUPFD_CLOEXEC, first_of_ours),
                 read_all(fd, static_cast<size_t>(info.st_size)), modified_ns(info));
  }
}

}  // namespace tutti::base
