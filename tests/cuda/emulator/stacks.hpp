// SPDX-License-Identifier: Apache-2.0
//
// Stacks of fibers, used again and again; below each lies a page that nothing may touch.
#pragma once

#include <boost/context/stack_context.hpp>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti_emulator {

class stack_pool {
 public:
  static constexpr size_t stack_bytes = size_t{64} << 10;
  stack_pool();
  uintptr_t take();  // where it begins; one for each thread of the largest block
  void give(uintptr_t stack) { free_.push_back(stack); }

 private:
  std::vector<uintptr_t> free_;
};

// What Boost.Context asks for.
struct pooled_stack {
  stack_pool* pool;
  uintptr_t stack;
  boost::context::stack_context allocate() const {
    boost::context::stack_context all;
    all.size = stack_pool::stack_bytes;
    all.sp = reinterpret_cast<void*>(stack + stack_pool::stack_bytes);
    return all;
  }
  void deallocate(boost::context::stack_context&) const { pool->give(stack); }
};

}  // namespace tutti_emulator
