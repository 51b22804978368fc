// SPDX-License-Identifier: Apache-2.0
#include "data/checkpoint/durable_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <random>
#include <system_error>

#include "base/fail.hpp"
#include "base/signals.hpp"

namespace tutti::data {

namespace fs = std::filesystem;

namespace {

[[noreturn]] void refuse(std::string_view op, const fs::path& path, std::string_view what,
                         int number) {
  base::fail<io_error>("{}: {}: {}: {}", op, path.string(), what,
                       std::generic_category().message(number));
}

/// A new file, locked. Nothing if a process that cleans up removed it in between.
std::unique_ptr<base::descriptor> new_locked_file(const fs::path& path, int& number) {
  const int fd = ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
  number = errno;
  if (fd < 0) return nullptr;
  auto file = std::make_unique<base::descriptor>(fd);
  struct stat info {};
  // A process that cleans up may hold it briefly. On file systems without locks it is not locked,
  // and not cleaned up either.
  while (::flock(fd, LOCK_EX) != 0 && errno == EINTR) {
  }
  number = EEXIST;
  return ::fstat(fd, &info) == 0 && info.st_nlink == 0 ? nullptr : std::move(file);
}

bool sync(int fd) {
  int result = 0;
  do {
    result = ::fsync(fd);
  } while (result != 0 && errno == EINTR);
  return result == 0;
}

}  // namespace

durable_file::durable_file(std::string_view op, fs::path path) : op_(op), path_(std::move(path)) {
  std::random_device source;
  for (int tries = 0; file_ == nullptr; ++tries) {
    temporary_ = path_.string() + fmt::format(".{:08x}{:08x}.tmp", source(), source());
    int number = 0;
    file_ = new_locked_file(temporary_, number);
    constexpr int most_tries = 8;
    if (file_ == nullptr && (number != EEXIST || tries == most_tries))
      fail("cannot be written", number);
  }
}

durable_file::~durable_file() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void durable_file::fail(std::string_view what, int number) const {
  refuse(op_, path_, what, number);
}

void durable_file::write(const void* data, std::size_t bytes) {
  const base::limits_are_errors here;
  const auto* at = static_cast<const char*>(data);
  while (bytes > 0) {
    const ssize_t count = ::write(file_->get(), at, bytes);
    if (count < 0 && errno == EINTR) continue;
    if (count <= 0) fail("cannot be written", count < 0 ? errno : ENOSPC);
    at += count;
    bytes -= static_cast<std::size_t>(count);
  }
}

void durable_file::commit() {
  if (!sync(file_->get())) fail("the disk does not take it", errno);
  if (::rename(temporary_.c_str(), path_.c_str()) != 0) fail("cannot get its name", errno);
  temporary_.clear();
  if (!file_->close()) fail("the disk does not take it", errno);
  sync_folder(op_, path_.parent_path());
}

void sync_folder(std::string_view op, const fs::path& folder) {
  const fs::path place = folder.empty() ? fs::path(".") : folder;
  const base::descriptor opened(::open(place.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  // Some file systems do not support fsync of folders.
  if (opened.get() < 0 || (!sync(opened.get()) && errno != EINVAL))
    refuse(op, folder, "the disk does not take its names", errno);
}

void remove_abandoned(const fs::path& folder, std::string_view prefix) {
  std::error_code code;
  fs::directory_iterator at(folder, code);
  for (; !code && at != fs::directory_iterator(); at.increment(code)) {
    const std::string name = at->path().filename().string();
    if (!name.starts_with(prefix) || !name.ends_with(".tmp")) continue;
    const base::descriptor opened(
        ::open(at->path().c_str(), O_RDONLY | O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC));
    if (opened.get() >= 0 && ::flock(opened.get(), LOCK_EX | LOCK_NB) == 0)
      ::unlink(at->path().c_str());
  }
}

}  // namespace tutti::data
