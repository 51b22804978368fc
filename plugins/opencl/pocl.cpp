// SPDX-License-Identifier: Apache-2.0
#include "opencl/pocl.hpp"

#include <signal.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>

#include "sdk/device_layer/host.hpp"

namespace tutti::opencl {
namespace {

// Null if none is set.
const char* folder_in_use() {
  const char* folder = std::getenv("POCL_CACHE_DIR");
  return folder != nullptr && *folder != '\0' ? folder : nullptr;
}

}  // namespace

bool is_pocl(std::string_view name) { return name.starts_with("Portable Computing Language"); }

bool keeps_programs(std::string_view driver) {
  const char* kept = std::getenv("POCL_KERNEL_CACHE");
  return is_pocl(driver) && (kept == nullptr || std::strcmp(kept, "0") != 0);
}

bool is_sys_mounted() { return access("/sys/devices/system/cpu", R_OK) == 0; }

void prepare_pocl() {
  // Pins its threads, which halves launch times.
  setenv("POCL_AFFINITY", "1", 0);
  // It needs a writable folder, and its own folder grows without bound.
  if (folder_in_use() != nullptr) return;
  if (const char* ours = sdk::driver_folder("pocl"))
    setenv("POCL_CACHE_DIR", ours, 1);
  else
    unsetenv("POCL_CACHE_DIR");  // an empty one makes it abort
}

void restore_pocl_folder() {
  const char* folder = folder_in_use();
  if (folder == nullptr || access(folder, F_OK) == 0 || errno != ENOENT) return;
  sdk::driver_folder(
      "pocl");  // made by asking for it; a folder of the user's is the user's to make
}

std::string about_pocl() {
  if (!is_sys_mounted())
    return "; PoCL is passed over, for it needs /sys, which is not mounted here";
  const char* folder = folder_in_use();
  if (folder == nullptr)
    return "; PoCL needs a folder to write to, and there is none: set POCL_CACHE_DIR or "
           "TUTTI_CACHE_DIR to one";
  if (access(folder, W_OK | X_OK) == 0) return {};
  return std::string("; PoCL needs to write to POCL_CACHE_DIR=") + folder +
         ", which this process may not: " + std::strerror(errno);
}

void warn_of_ignored_children() {
  struct sigaction now {};
  if (sigaction(SIGCHLD, nullptr, &now) != 0) return;
  const bool is_ignored = (now.sa_flags & SA_SIGINFO) == 0 && now.sa_handler == SIG_IGN;
  if (!is_ignored && (now.sa_flags & SA_NOCLDWAIT) == 0) return;
  sdk::log(TUTTI_LOG_WARN,
           "SIGCHLD is ignored (or SA_NOCLDWAIT set) in this process: PoCL does not learn how the "
           "linker ended that it starts for a new kernel, and aborts in \"Final linking of "
           "kernel\"; set SIGCHLD to SIG_DFL, or to a handler, before the first computation");
}

}  // namespace tutti::opencl
