// SPDX-License-Identifier: Apache-2.0
//
// Host memory for results whose size a caller or a file determines: requests that exceed the
// machine's memory throw an error with the name of the call, before any memory is allocated.
#pragma once

#include <cstdint>
#include <new>
#include <stdexcept>
#include <string_view>
#include <vector>

#include "tutti/export.hpp"

namespace tutti::detail {

/// Throws out_of_memory with `op` and the size if `count` objects of `width` bytes exceed the
/// machine's memory including its swap.
TUTTI_API void require_host_memory(std::string_view op, std::uint64_t count, std::uint64_t width);
[[noreturn]] TUTTI_API void host_memory_ran_out(std::string_view op, std::uint64_t count,
                                                std::uint64_t width);

/// The result of make(), which allocates `count` objects of `width` bytes in host memory. Throws
/// out_of_memory if memory does not suffice.
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

/// `count` objects on the host. Throws out_of_memory in the same way.
template <class T>
std::vector<T> host_vector(std::string_view op, std::uint64_t count) {
  return within_host_memory(op, count, sizeof(T), [&] { return std::vector<T>(count); });
}

}  // namespace tutti::detail
