// SPDX-License-Identifier: Apache-2.0
//
// Queries of POSIX and Linux: memory sizes and pages, processor name.
#include "sdk/host_layer/host_info.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <thread>

namespace tutti::sdk {
namespace {

uint64_t pages(int name) {
  const long count = sysconf(name);
  const long size = sysconf(_SC_PAGESIZE);
  return count > 0 && size > 0 ? static_cast<uint64_t>(count) * static_cast<uint64_t>(size) : 0;
}

}  // namespace

uint64_t physical_memory() { return pages(_SC_PHYS_PAGES); }

uint64_t available_memory() {
  std::ifstream file("/proc/meminfo");
  std::string key;
  uint64_t kilobytes = 0;
  std::string unit;
  while (file >> key >> kilobytes) {
    if (key == "MemAvailable:") return kilobytes * 1024;
    std::getline(file, unit);
  }
  return pages(_SC_AVPHYS_PAGES);
}

uint32_t usable_cores() {
  // The affinity mask is already taken into account.
  const auto cores = static_cast<uint32_t>(std::max(std::thread::hardware_concurrency(), 1u));
  std::ifstream file(
      "/sys/fs/cgroup/cpu.max");  // "max 100000", or quota and period in microseconds
  uint64_t quota = 0, period = 0;
  if (!(file >> quota >> period) || quota == 0 || period == 0) return cores;
  return static_cast<uint32_t>(std::clamp<uint64_t>((quota + period - 1) / period, 1, cores));
}

std::string processor_name() {
  std::ifstream file("/proc/cpuinfo");
  for (std::string line; std::getline(file, line);) {
    if (line.rfind("model name", 0) != 0) continue;
    const size_t colon = line.find(": ");
    if (colon != std::string::npos) return line.substr(colon + 2);
  }
  return "processor";
}

void ask_for_large_pages([[maybe_unused]] void* data, [[maybe_unused]] uint64_t bytes) {
#ifdef MADV_HUGEPAGE
  madvise(data, bytes, MADV_HUGEPAGE);
#endif
}

}  // namespace tutti::sdk
