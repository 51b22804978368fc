// SPDX-License-Identifier: Apache-2.0
//
// The dynamic linker does one thing at a time. Behind a file whose constructors hang no other can
// be loaded, and the process cannot end as others do: exit() asks the linker for the order of what
// is left.
#pragma once

#include <filesystem>
#include <list>

namespace tutti::detail {

class linker_use {
 public:
  /// Of a file that is being mapped.
  explicit linker_use(const std::filesystem::path& file);
  ~linker_use();
  linker_use(const linker_use&) = delete;
  linker_use& operator=(const linker_use&) = delete;

  /// Before anything that asks the linker, dladdr() included. Throws plugin_error where a file is
  /// being mapped that nobody waits for any more, since TUTTI_TIMEOUT is set: the next one is not
  /// to blame.
  static void require_free();

  /// Before the first attempt, for what the exit has to wait for comes first then: a process that
  /// exits while the linker hangs ends without what stands behind in the order of its exit.
  static void prepare_exit();

 private:
  std::list<std::filesystem::path>::iterator mine_;
};

}  // namespace tutti::detail
