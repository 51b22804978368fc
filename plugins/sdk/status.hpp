// SPDX-License-Identifier: Apache-2.0
//
// The boundary between C++ and the plugin ABI: plugins throw internally, and the exceptions are
// converted here. Also reads and writes structs of other sizes than ours, which the append-only
// rule requires.
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/plugin.h"

namespace tutti::sdk {

// A failure with all data of tutti_status. Each copy owns its text, because events keep copies that
// other threads report, and ThreadSanitizer does not see the reference count in the standard
// library that copies of std::runtime_error share.
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

inline std::string as_text(std::string_view piece) { return std::string(piece); }
template <typename Number>
requires std::is_arithmetic_v<Number> std::string as_text(Number number) {
  return std::to_string(number);
}
// The texts and numbers, one after the other.
template <typename... Pieces>
std::string join(const Pieces&... pieces) {
  return (std::string() + ... + as_text(pieces));
}

[[noreturn]] void throw_invalid(const std::string& message);
[[noreturn]] void throw_unsupported(const std::string& message);
template <typename... Pieces>
[[noreturn]] void throw_invalid(const Pieces&... pieces) {
  throw_invalid(join(pieces...));
}
template <typename... Pieces>
[[noreturn]] void throw_unsupported(const Pieces&... pieces) {
  throw_unsupported(join(pieces...));
}
[[noreturn]] void throw_timeout(const std::string& action);
// Throws a status of the host, with `what` before its message, and releases it, unless NULL.
void throw_status(tutti_status* status, const std::string& what);

// A status that owns a copy of `message` and is freed by its own release. If the allocation fails,
// returns a static status of the same code. Never NULL.
tutti_status* make_status(int32_t code, const char* message, int32_t vendor_code = 0,
                          bool retryable = false) noexcept;

// The current exception as a status: plugin_error unchanged, std::bad_alloc as
// TUTTI_ERROR_OUT_OF_MEMORY, anything else as TUTTI_ERROR_INTERNAL. Call in a catch clause only.
tutti_status* status_of_current_exception() noexcept;

// Runs `body`, which returns nothing or a status, and converts exceptions to a status.
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

// Copies a struct of the host: missing members are zero, unknown ones are ignored. Throws
// TUTTI_ERROR_INVALID_ARGUMENT, naming `what`, for NULL or a missing size.
template <typename T>
T read_struct(const T* given, const char* what) {
  if (given == nullptr) throw_invalid(what, " is NULL");
  if (given->struct_size < sizeof(uint64_t)) {
    throw_invalid(what, ": struct_size is ", given->struct_size);
  }
  T mine{};
  const size_t known = static_cast<size_t>(std::min<uint64_t>(sizeof(T), given->struct_size));
  std::memcpy(static_cast<void*>(&mine), given, known);
  return mine;
}

// Fills a struct of the host up to its struct_size; sets that to the number of bytes written.
template <typename T>
void write_struct(T* to, T from, const char* what) {
  if (to == nullptr) throw_invalid(what, " is NULL");
  if (to->struct_size < sizeof(uint64_t)) {
    throw_invalid(what, ": struct_size is ", to->struct_size);
  }
  from.struct_size = std::min<uint64_t>(sizeof(T), to->struct_size);
  std::memcpy(static_cast<void*>(to), &from, static_cast<size_t>(from.struct_size));
}

// Copies an array of host structs with a stride of `size` bytes; see read_struct. Throws
// TUTTI_ERROR_INVALID_ARGUMENT, naming `what`, if the stride is too small.
template <typename T>
void read_array(const T* given, uint32_t count, uint64_t size, const std::string& what,
                std::vector<T>& to) {
  if (count > 0 && size < sizeof(uint64_t)) throw_invalid(what, " is ", size);
  to.assign(count, T{});
  const size_t known = static_cast<size_t>(std::min<uint64_t>(sizeof(T), size));
  const char* at = reinterpret_cast<const char*>(given);
  for (T& mine : to) {
    std::memcpy(static_cast<void*>(&mine), at, known);
    at += size;
  }
}

// For drivers without a timed wait: calls `is_done`, which may throw, at intervals growing from 5
// us to 1 ms. Throws TUTTI_ERROR_TIMEOUT after `timeout_ns`.
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
  if (pointer == nullptr) throw_invalid(what, " is NULL");
  return *pointer;
}

}  // namespace tutti::sdk
