// SPDX-License-Identifier: Apache-2.0
//
// The device group of the ABI for the devices that a backend has found.
#pragma once

#include <memory>
#include <vector>

#include "sdk/device_layer/backend.hpp"

namespace tutti::sdk {

/// Requires, besides device_backend: `info`, derived from device_description, and find_devices(),
/// which returns a vector of unique_ptr<info> or throws TUTTI_ERROR_NO_DRIVER.
template <device_backend B>
struct device_functions {
  using list = std::vector<std::unique_ptr<typename B::info>>;

  /// All devices of the machine, found by the first successful call.
  static const list& all() {
    // Leaked on purpose: the strings stay valid and no driver is called at exit.
    static const auto* found = new list(B::find_devices());
    return *found;
  }

  static const typename B::info& at(uint32_t index) {
    if (index >= all().size()) {
      throw_invalid("device index ", index, " of ", all().size());
    }
    return *all()[index];
  }

  static tutti_status* count(uint32_t* result) {
    return guarded([&] { deref(result, "count") = static_cast<uint32_t>(all().size()); });
  }

  static tutti_status* properties(uint32_t index, tutti_device_properties* result) {
    return guarded([&] { write_struct(result, at(index).properties, "properties"); });
  }
};

}  // namespace tutti::sdk
