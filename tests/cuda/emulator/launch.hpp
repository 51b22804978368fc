// SPDX-License-Identifier: Apache-2.0
//
// A launch of a kernel, and its execution on fibers.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "faults.hpp"
#include "kernel_abi.hpp"

namespace tutti_emulator {

// A loaded object; closed with the last launch of it.
struct module {
  module(const void* elf, size_t bytes);  // throws std::runtime_error
  ~module();
  module(const module&) = delete;
  module& operator=(const module&) = delete;
  const kernel* find(const std::string& name) const;
  size_t shared_bytes() const { return static_cast<size_t>(code->shared_end - code->shared_begin); }

  void* handle = nullptr;
  image* code = nullptr;
  uintptr_t first = 0, last = 0;  // where it is loaded
};

struct launch {
  std::shared_ptr<module> from;
  const kernel* what = nullptr;
  std::string name;
  index3 grid = {}, block = {};
  size_t dynamic_bytes = 0;
  std::vector<std::vector<char>> arguments;
};

// Blocks one after the other in a random order, the threads of each in random orders between its
// barriers. One at a time: the caller holds the emulator's lock.
fault execute(const launch& l);

}  // namespace tutti_emulator
