// SPDX-License-Identifier: Apache-2.0
//
// A file descriptor that is closed with its owner, and its contents as text. POSIX.
#pragma once

#include <unistd.h>

#include <cstddef>
#include <string>

#include "tutti/export.hpp"

namespace tutti::base {

class descriptor {
 public:
  explicit descriptor(int fd) : fd_(fd) {}
  ~descriptor() {
    if (fd_ >= 0) ::close(fd_);
  }
  descriptor(descriptor&&) = delete;
  int get() const { return fd_; }
  /// Closes now; false if the data did not reach the file.
  bool close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0;
  }

 private:
  int fd_;
};

/// The rest of the file, at most `bytes` of it; less if reading fails.
TUTTI_INTERNAL_API std::string read_all(int fd, std::size_t bytes);

}  // namespace tutti::base
