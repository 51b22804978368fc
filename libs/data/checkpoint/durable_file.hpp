// SPDX-License-Identifier: Apache-2.0
//
// A new file that has its name only when the disk has all of its bytes. POSIX.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

#include "base/descriptor.hpp"

namespace tutti::detail {

/// Bytes go to PATH.HEX.tmp, which is locked while it is written; without commit() it goes away.
/// All functions throw io_error "OP: PATH: ..." where the system refuses.
class durable_file {
 public:
  durable_file(std::string_view op, std::filesystem::path path);
  ~durable_file();
  durable_file(const durable_file&) = delete;
  durable_file& operator=(const durable_file&) = delete;

  void write(const void* data, std::size_t bytes);
  /// Waits until the disk has the file and its name.
  void commit();

 private:
  [[noreturn]] void fail(std::string_view what, int number) const;

  std::string op_;
  std::filesystem::path path_, temporary_;
  std::unique_ptr<descriptor> file_;
};

/// Waits until the disk has the names in a folder.
void sync_folder(std::string_view op, const std::filesystem::path& folder);

/// Removes temporary files of durable_file in a folder whose writers are gone.
void remove_abandoned(const std::filesystem::path& folder, std::string_view prefix);

}  // namespace tutti::detail
