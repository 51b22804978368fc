// SPDX-License-Identifier: Apache-2.0
//
// One block at a time: its threads as fibers, barriers, shuffles, and the checks of each access.
#pragma once

#include <boost/context/fiber.hpp>
#include <random>

#include "launch.hpp"
#include "order.hpp"

namespace tutti_emulator {

// Stacks of fibers, used again and again; below each lies a page that nothing may touch.
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

class block {
 public:
  block(const launch& l, std::mt19937& random);
  ~block();
  // False where a fault ended it.
  bool run(index3 where);
  const fault& found() const { return fault_; }

  // Called by the kernel's threads.
  void touch(const void* at, size_t bytes, int access);
  void wait_at_barrier(int line);
  unsigned long long meet(int how, unsigned mask, unsigned long long value, int operand, int width);
  void* dynamic_shared() { return dynamic_.data(); }

 private:
  enum class state { unborn, ready, barrier, meeting, done };
  struct thread {
    boost::context::fiber fiber;
    uintptr_t stack = 0;
    state now = state::unborn;
    int line = 0;  // of the barrier
    int how = 0, operand = 0, width = 32;
    unsigned mask = 0;
    unsigned long long value = 0, result = 0;
  };

  void start_fiber();
  void run_threads();
  void resume(unsigned n);
  void enter(unsigned n);
  void pause(state why);
  bool let_meetings_end();
  bool ends_meeting(unsigned first, unsigned mask);
  unsigned long long value_for(unsigned lane, unsigned first) const;
  [[noreturn]] void fail(CUresult code, const std::string& text);
  void set_fault(CUresult code, const std::string& text);
  void touch_shared(touched* bytes, size_t count, int access, const char* what);
  void touch_global(uintptr_t at, size_t bytes, int access);
  std::string conflict() const;

  const launch& launch_;
  std::mt19937& random_;
  std::vector<thread> threads_;
  std::vector<unsigned> sequence_;
  size_t next_ = 0;  // of sequence_, to be born
  unsigned now_ = 0;
  uintptr_t stack_ = 0;
  boost::context::fiber scheduler_;
  std::vector<void*> arguments_;
  std::vector<touched> shared_, dynamic_touched_;
  std::vector<char> dynamic_;
  index3 where_ = {};
  fault fault_;
  static order numbers;  // go on from launch to launch
};

}  // namespace tutti_emulator
