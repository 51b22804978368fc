// SPDX-License-Identifier: Apache-2.0
#include "plugin/linker_use.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <mutex>

#include "base/env.hpp"
#include "base/process.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

struct mapped_files {
  std::mutex mutex;
  std::list<std::filesystem::path> all;

  static mapped_files& now() {
    static auto* const made = new mapped_files;
    return *made;
  }
};

// A constructor that calls exit() does not wait for its own thread.
thread_local constinit bool maps_here = false;

void leave(int status, void*) {
  if (is_fork() || maps_here) return;
  {
    mapped_files& files = mapped_files::now();
    const std::lock_guard lock(files.mutex);
    if (files.all.empty()) return;
  }
  std::cout.flush();
  std::fflush(nullptr);
  ::_exit(status);
}

}  // namespace

void linker_use::prepare_exit() {
  static std::once_flag once;
  std::call_once(once, [] { static_cast<void>(::on_exit(leave, nullptr)); });
}

void linker_use::require_free() {
  mapped_files& files = mapped_files::now();
  const std::lock_guard lock(files.mutex);
  if (!files.all.empty() && transfer_time_limit() > 0)
    throw plugin_error(
        fmt::format("cannot be loaded: the dynamic linker does not come back from {}",
                    files.all.front().string()));
}

linker_use::linker_use(const std::filesystem::path& file) {
  mapped_files& files = mapped_files::now();
  const std::lock_guard lock(files.mutex);
  mine_ = files.all.insert(files.all.end(), file);
  maps_here = true;
}

linker_use::~linker_use() {
  mapped_files& files = mapped_files::now();
  const std::lock_guard lock(files.mutex);
  files.all.erase(mine_);
  maps_here = false;
}

}  // namespace tutti::detail
