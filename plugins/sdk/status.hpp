// SPDX-License-Identifier: Apache-2.0
//
// The edge between C++ and the plugin ABI: plugins throw inside and convert once, here. Also the
// two halves of the append-only rule: reading a struct that is shorter or longer than ours.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/plugin.h"

namespace tutti::sdk {

// A failure with everything that tutti_status carries. Each copy has a text of its own: copies are
// kept in events and reported by other threads, and the text that copies of std::runtime_error
// share is counted inside the standard library, where ThreadSanitizer does not see it.
class plugin_error : public std::exception {
 public:
  plugin_error(tutti_code error_code, std::string message, int32_t vendor_number = 0,
               bool may_retry = false)
      : code(error_code),
        vendor_code(vendor_number),
        retryable(may_retry),
        message_(std::move(message)) {}

  const char* what() const noexcept override { return message_.c_str(); }

  tutti_code code;
  int32_t vendor_code;
  bool retryable;

 private:
  std::string message_;
};

[[noreturn]] void throw_invalid(const std::string& message);
[[noreturn]] void throw_unsupported(const std::string& message);
[[noreturn]] void throw_timeout(const std::string& action);
// What a function of the host's returned: throws it, with `what` before its message, and releases
// it, unless it is NULL.
void throw_status(tutti_status* status, const std::string& what);

// A status that owns a copy of `message` and is freed by its own release. Where not even that can
// be allocated, a static status of the same code is returned. Never NULL.
tutti_status* make_status(int32_t code, const char* message, int32_t vendor_code = 0,
                          bool retryable = false) noexcept;

// The exception being handled as a status: plugin_error as it is, std::bad_alloc as
// TUTTI_ERROR_OUT_OF_MEMORY, anything else as TUTTI_ERROR_INTERNAL. Call in a catch clause only.
tutti_status* status_of_current_exception() noexcept;

// Runs `body`, which returns nothing or a status, and turns what it throws into a status.
template <typename F>
tutti_status* guarded(F&& body) noexcept {
  try {
    if constexpr (std::is_void_v<std::invoke_result_t<F>>) {
      std::forward<F>(body)();
      return nullptr;
    } else {
      return std::forward<F>(body)();
    }
  } catch (...) {
    return status_of_current_exception();
  }
}

// Copy of a struct that the host filled in: what it does not have reads as zero, what we do not
// know is ignored. Throws TUTTI_ERROR_INVALID_ARGUMENT, naming `what`, for NULL or no size.
template <typename T>
T read_struct(const T* given, const char* what) {
  if (given == nullptr) throw_invalid(std::string(what) + " is NULL");
  if (given->struct_size < sizeof(uint64_t)) {
    throw_invalid(std::string(what) + ": struct_size is " + std::to_string(given->struct_size));
  }
  T mine{};
  const size_t known = static_cast<size_t>(std::min<uint64_t>(sizeof(T), given->struct_size));
  std::memcpy(static_cast<void*>(&mine), given, known);
  return mine;
}

// Fills a struct of the host's, whose struct_size says how much room there is, and sets
// struct_size to the bytes that were filled in.
template <typename T>
void write_struct(T* to, T from, const char* what) {
  if (to == nullptr) throw_invalid(std::string(what) + " is NULL");
  if (to->struct_size < sizeof(uint64_t)) {
    throw_invalid(std::string(what) + ": struct_size is " + std::to_string(to->struct_size));
  }
  from.struct_size = std::min<uint64_t>(sizeof(T), to->struct_size);
  std::memcpy(static_cast<void*>(to), &from, static_cast<size_t>(from.struct_size));
}

// Copy of an array of structs that the host filled in, whose elements are `size` bytes apart: as
// read_struct, for each. Throws TUTTI_ERROR_INVALID_ARGUMENT, naming `what`, where that is too few.
template <typename T>
void read_array(const T* given, uint32_t count, uint64_t size, const std::string& what,
                std::vector<T>& to) {
  if (count > 0 && size < sizeof(uint64_t)) throw_invalid(what + " is " + std::to_string(size));
  to.assign(count, T{});
  const size_t known = static_cast<size_t>(std::min<uint64_t>(sizeof(T), size));
  const char* at = reinterpret_cast<const char*>(given);
  for (T& mine : to) {
    std::memcpy(static_cast<void*>(&mine), at, known);
    at += size;
  }
}

// For drivers that have no wait with a limit: asks `is_done`, which may throw, again and again, at
// growing intervals of 5 us to 1 ms. Throws TUTTI_ERROR_TIMEOUT after `timeout_ns`.
template <typename F>
void poll_until_done(uint64_t timeout_ns, F&& is_done) {
  using namespace std::chrono;
  const auto start = steady_clock::now();
  for (microseconds pause(5); !is_done(); pause = std::min(pause * 2, microseconds(1000))) {
    const auto passed = static_cast<uint64_t>(nanoseconds(steady_clock::now() - start).count());
    if (passed >= timeout_ns) throw_timeout("event wait");
    std::this_thread::sleep_for(pause);
  }
}

template <typename T>
T& deref(T* pointer, const char* what) {
  if (pointer == nullptr) throw_invalid(std::string(what) + " is NULL");
  return *pointer;
}

}  // namespace tutti::sdk
