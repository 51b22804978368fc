// SPDX-License-Identifier: Apache-2.0
//
// What a test may ask of a device that is the host.
#pragma once

#include "tutti/device.hpp"

namespace tutti_test {

/// Whether the default device is the host itself: its memory is the application's, it takes
/// functions as kernels, and it compiles nothing.
inline bool on_host() {
  const std::string& backend = tutti::default_device().backend();
  return backend == "cpu" || backend == "reference";
}

}  // namespace tutti_test
