// SPDX-License-Identifier: Apache-2.0
//
// Memory of the host for results whose size a caller or a file decides: what this machine cannot
// have is an error with the name of the call, before any of it is taken.
#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "tutti/export.hpp"

namespace tutti::detail {

/// Throws out_of_memory naming `op` and the size where `count` objects of `width` bytes are more
/// than the machine's memory with all of its swap.
TUTTI_API void require_host_memory(std::string_view op, std::uint64_t count, std::uint64_t width);
[[noreturn]] TUTTI_API void host_memory_ran_out(std::string_view op, std::uint64_t count,
                                                std::uint64_t width);

/// What make() returns, which takes `count` objects of `width` bytes from the host's memory. Throws
/// out_of_memory where there is no room for them.
template <class F>
auto within_host_memory(std::string_view op, std::uint64_t count, std::uint64_t width, F&& make) {
  require_host_memory(op, count, width);
  try {
    return make();
  } catch (const std::bad_alloc&) {
    host_memory_ran_out(op, count, width);
  } catch (const std::length_error&) {
    host_memory_ran_out(op, count, width);
  }
}

/// `count` objects on the host. Throws out_of_memory likewise.
template <class T>
std::vector<T> host_vector(std::string_view op, std::uint64_t count) {
  return within_host_memory(op, count, sizeof(T), [&] { return std::vector<T>(count); });
}

}  // namespace tutti::detail
