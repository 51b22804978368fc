// SPDX-License-Identifier: Apache-2.0
//
// A folder that only this user may write to, and complete files in it: read, replaced atomically,
// listed, locked, removed. Everything that the disk cache needs from the operating system.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/export.hpp"

namespace tutti::base {

class TUTTI_INTERNAL_API private_folder {
 public:
  struct entry {
    std::string name;
    uint64_t bytes = 0;
    int64_t modified_ns = 0;  ///< since 1970
  };

  /// Opens `path`, which is created with mode 0700. Throws io_error if that fails, if it belongs to
  /// another user, or if the group or others may write to it.
  explicit private_folder(const std::filesystem::path& path);
  ~private_folder();
  private_folder(private_folder&&) = delete;

  bool writable() const;

  /// The content of a regular file of this user, of at most `most` bytes; nothing otherwise. Marks
  /// it as used.
  std::optional<std::string> read(const std::string& name, uint64_t most) const;
  /// Replaces the file; readers see the old content or the new one. Throws io_error.
  void write(const std::string& name, std::string_view head, std::string_view body) const;
  void remove(const std::string& name) const noexcept;
  /// Regular files.
  std::vector<entry> list() const;

  /// A file that this process locks until the claim is destroyed or the process ends in any way.
  class claim {
   public:
    claim(int fd, std::string content, int64_t modified_ns)
        : fd_(fd), content_(std::move(content)), modified_ns_(modified_ns) {}
    claim(claim&& other) noexcept
        : fd_(std::exchange(other.fd_, -1)),
          content_(std::move(other.content_)),
          modified_ns_(other.modified_ns_) {}
    claim& operator=(claim&&) = delete;
    ~claim();
    const std::string& content() const { return content_; }  ///< when it was claimed
    int64_t modified_ns() const { return modified_ns_; }     ///< likewise; since 1970
    /// In place: for short contents that are not read meanwhile. False if it failed.
    bool rewrite(std::string_view text) const;
    int file() const { return fd_; }

   private:
    int fd_;
    std::string content_;
    int64_t modified_ns_;
  };
  /// The file, created empty if it does not exist; nothing if another claim holds it, or on
  /// failure.
  std::optional<claim> hold(const std::string& name) const { return lock(name, false); }
  /// The same for a file that several processes may share, and none locks exclusively.
  std::optional<claim> share(const std::string& name) const { return lock(name, true); }

 private:
  std::optional<claim> lock(const std::string& name, bool shared) const;

  int fd_ = -1;
  std::filesystem::path path_;
};

/// Nanoseconds since 1970, the clock of entry::modified_ns.
TUTTI_INTERNAL_API int64_t file_clock_now_ns();

}  // namespace tutti::base
