// SPDX-License-Identifier: Apache-2.0
//
// Arms the faults of the plugin from within a test: the library that the core has loaded is the one
// that is told.
#pragma once

#include <dlfcn.h>

#include <stdexcept>
#include <string>

#include "faulty_plugin.hpp"
#include "tutti/device.hpp"
#include "tutti_test/paths.hpp"

namespace tutti_test {

template <class Function>
Function* faulty_function(const char* name) {
  tutti::device("faulty:0");  // loads the plugin
  void* library = dlopen(paths::faulty_plugin, RTLD_NOW | RTLD_NOLOAD);
  void* symbol = library != nullptr ? dlsym(library, name) : nullptr;
  if (symbol == nullptr)
    throw std::runtime_error(std::string("no control over ") + paths::faulty_plugin);
  return reinterpret_cast<Function*>(symbol);
}

/// 0 disarms; see faulty_plugin.hpp.
inline void arm(fault kind, int after, int device = 0) {
  static auto* const call = faulty_function<void(int, int, int)>("tutti_faulty_arm_device");
  call(kind, after, device);
}

inline faulty_plans plans() {
  static auto* const call = faulty_function<faulty_plans()>("tutti_faulty_plans");
  return call();
}

/// Answers with the most that were under way at a time so far.
inline int compile_together(int count) {
  static auto* const call = faulty_function<int(int)>("tutti_faulty_compile_together");
  return call(count);
}

/// Disarms everything on all devices.
inline void disarm_all() {
  for (int device = 0; device < faulty_devices_at_most; ++device)
    for (int kind = 0; kind < fault_kinds; ++kind) arm(static_cast<fault>(kind), 0, device);
}

}  // namespace tutti_test
