// SPDX-License-Identifier: Apache-2.0
#include "plugin/guarded.hpp"

#include <fmt/format.h>

#include <exception>
#include <memory>
#include <new>
#include <string>

#include "base/log.hpp"
#include "base/one_line.hpp"

namespace tutti::plugins {
namespace {

/// One that nobody owns.
tutti_status fixed_status(int32_t code, const char* message) {
  tutti_status s{};
  s.struct_size = sizeof s;
  s.code = code;
  s.message = message;
  s.release = [](tutti_status*) {};
  return s;
}

struct owned_status {
  tutti_status status{};
  std::string text;
};

struct thrown {
  std::string text;
  int32_t code = TUTTI_ERROR_INTERNAL;
};

/// The message of the exception that is being handled. Call it only once: an exception of another
/// language does not exist after that.
thrown current() {
  try {
    throw;
  } catch (const std::bad_alloc& e) {
    return {base::one_line(e.what(), 1000), TUTTI_ERROR_OUT_OF_MEMORY};
  } catch (const std::exception& e) {
    return {base::one_line(e.what(), 1000)};
  } catch (...) {
    return {"an exception of a type that only the plugin knows"};
  }
}

std::string text_of(const thrown& what, const char* plugin, const char* function) {
  return fmt::format("plugin {}: its function {} threw an exception: {}", plugin, function,
                     what.text);
}

}  // namespace

tutti_status* new_status(int32_t code, std::string_view message) noexcept {
  static tutti_status last_resort =
      fixed_status(TUTTI_ERROR_OUT_OF_MEMORY, "a failure, and there is no memory to say more");
  try {
    auto made = std::make_unique<owned_status>();
    made->text = message;
    made->status.struct_size = sizeof made->status;
    made->status.code = code;
    made->status.message = made->text.c_str();
    made->status.release = [](tutti_status* self) {
      delete reinterpret_cast<owned_status*>(self);  // its first member
    };
    return &made.release()->status;
  } catch (...) {
    return &last_resort;
  }
}

tutti_status* status_of_thrown(const char* plugin, const char* function) noexcept {
  try {
    const thrown what = current();
    return new_status(what.code, text_of(what, plugin, function));
  } catch (...) {
    return new_status(TUTTI_ERROR_INTERNAL, "the plugin threw an exception");
  }
}

void log_thrown(const char* plugin, const char* function) noexcept {
  try {
    logging::error("{}", text_of(current(), plugin, function));
  } catch (...) {
  }
}

tutti_status* unsupported_status() noexcept {
  static tutti_status status =
      fixed_status(TUTTI_ERROR_UNSUPPORTED, "the plugin does not offer this function");
  return &status;
}

}  // namespace tutti::plugins
