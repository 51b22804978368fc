// SPDX-License-Identifier: Apache-2.0
//
// A new file that gets its name only when all of its bytes are on disk. POSIX.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"

namespace tutti::data {

/// Writes to PATH.HEX.tmp, which is locked meanwhile, and removed without commit(). All functions
/// throw io_error "OP: PATH: ..." if the system refuses.
class durable_file {
 public:
  durable_file(std::string_view op, std::filesystem::path path);
  ~durable_file();
  durable_file(const durable_file&) = delete;
  durable_file& operator=(const durable_file&) = delete;

  void write(const void* data, std::size_t bytes);
  /// Waits until the file and its name are on disk.
  void commit();

 private:
  [[noreturn]] void fail(std::string_view what, int number) const;

  std::string op_;
  std::filesystem::path path_, temporary_;
  std::unique_ptr<base::descriptor> file_;
};

/// Waits until the names in a folder are on disk.
void sync_folder(std::string_view op, const std::filesystem::path& folder);

/// Removes temporary files of durable_file in a folder whose writers have ended.
void remove_abandoned(const std::filesystem::path& folder, std::string_view prefix);

}  // namespace tutti::data
