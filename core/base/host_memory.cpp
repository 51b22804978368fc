// SPDX-License-Identifier: Apache-2.0
//
// How much memory the machine has; the Linux side of host_memory.hpp.
#include "tutti/host_memory.hpp"

#include <fmt/format.h>
#include <sys/sysinfo.h>

#include <limits>

#include "tutti/error.hpp"
#include "tutti/plugin.h"

namespace tutti::detail {
namespace {

std::uint64_t memory_of_machine() {
  struct sysinfo info {};
  if (::sysinfo(&info) != 0) return std::numeric_limits<std::uint64_t>::max();
  return (std::uint64_t{info.totalram} + info.totalswap) * info.mem_unit;
}

}  // namespace

void host_memory_ran_out(std::string_view op, std::uint64_t count, std::uint64_t width) {
  throw out_of_memory(fmt::format("{}: the host has no memory for {} x {} bytes", op, count, width),
                      TUTTI_ERROR_OUT_OF_MEMORY);
}

void require_host_memory(std::string_view op, std::uint64_t count, std::uint64_t width) {
  static const std::uint64_t most = memory_of_machine();
  std::uint64_t bytes = 0;
  if (__builtin_mul_overflow(count, width, &bytes) || bytes > most)
    host_memory_ran_out(op, count, width);
}

}  // namespace tutti::detail
