// SPDX-License-Identifier: Apache-2.0
//
// A plugin's function as called by the core. Plugins must not throw exceptions; one that does is
// converted to a status, or to a log message if the function has none, instead of ending the
// application.
#pragma once

#include <cxxabi.h>

#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>

#include "tutti/export.hpp"
#include "tutti/plugin.h"

namespace tutti::plugins {

/// A status with a copy of `message`; one without it if there is no memory.
tutti_status* new_status(int32_t code, std::string_view message) noexcept;

/// To be called while an exception is handled: converts it to a status with plugin and function.
TUTTI_INTERNAL_API tutti_status* status_of_thrown(const char* plugin,
                                                  const char* function) noexcept;
/// The same as a log message.
TUTTI_INTERNAL_API void log_thrown(const char* plugin, const char* function) noexcept;

/// TUTTI_ERROR_UNSUPPORTED, without an owner.
TUTTI_INTERNAL_API tutti_status* unsupported_status() noexcept;

template <class Function>
class guarded;

template <class R, class... Args>
class guarded<R (*)(Args...)> {
 public:
  using function = R (*)(Args...);

  guarded() = default;
  /// Both texts stay valid for the rest of the process. NULL: not provided by the plugin.
  guarded(function call, const char* plugin, const char* name)
      : call_(call != nullptr ? call : absent), plugin_(plugin), name_(name) {}

  /// "device.count", for messages.
  const char* name() const { return name_; }

  R operator()(Args... args) const {
    try {
      return call_(args...);
    } catch (const abi::__forced_unwind&) {  // the thread ends, which may not be stopped
      throw;
    } catch (...) {
      if constexpr (std::is_same_v<R, tutti_status*>) {
        return status_of_thrown(plugin_, name_);
      } else {
        log_thrown(plugin_, name_);
        return R();
      }
    }
  }

 private:
  static R absent(Args...) {
    if constexpr (std::is_same_v<R, tutti_status*>)
      return unsupported_status();
    else
      return R();
  }

  function call_ = absent;
  const char* plugin_ = "";
  const char* name_ = "";
};

}  // namespace tutti::plugins
