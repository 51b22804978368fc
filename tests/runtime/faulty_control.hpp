// SPDX-License-Identifier: Apache-2.0
//
// Arms the faults of the plugin from within a test: the library that the core has loaded is the one
// that is told.
#pragma once

#include <dlfcn.h>

#include <stdexcept>
#include <string>
#include <vector>

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

inline void compile_in_background_as(background_compiler how, int milliseconds = 0) {
  static auto* const call =
      faulty_function<void(background_compiler, int)>("tutti_faulty_compile_as");
  call(how, milliseconds);
}

inline int compilations_begun() {
  static auto* const call = faulty_function<int()>("tutti_faulty_compilations_begun");
  return call();
}

/// How often each had been launched that was compiled in the background, in that order.
inline std::vector<int> launches_of_compiled() {
  static auto* const call = faulty_function<int(int*, int)>("tutti_faulty_compiled");
  std::vector<int> all(10000);
  all.resize(static_cast<std::size_t>(call(all.data(), static_cast<int>(all.size()))));
  return all;
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
