// SPDX-License-Identifier: Apache-2.0
//
// Which accesses come before which. Each thread has a number for each stretch between barriers;
// numbers grow, so those of earlier launches are below the launch's first one.
#pragma once

#include <cstdint>

#include "memory.hpp"

namespace tutti_emulator {

class order {
 public:
  static constexpr uint32_t atomic_mark = 1u << 30, many_mark = 1u << 31, number_bits = ~0u >> 2;

  void begin_launch();
  void begin_block(unsigned threads);
  void begin_thread(unsigned thread);  // goes on after a pause, or starts
  void barrier();                      // all threads of the block have met

  // Notes an access of the running thread; true where another thread's access to the same bytes
  // has no order with it and one of both writes. Shared memory is the block's own.
  bool touch(touched* bytes, size_t count, bool writes, bool is_atomic, bool is_shared);
  // Whether the block has written the byte.
  bool is_written(const touched& byte) const { return (byte.write & number_bits) >= block_; }
  // Of the access that touch() complained about.
  unsigned other_thread() const { return other_; }
  bool other_block() const { return other_block_; }

 private:
  bool comes_before(uint32_t number, uint32_t first);

  uint32_t launch_ = 1, block_ = 1, stretch_ = 1, next_ = 1, me_ = 1;
  unsigned threads_ = 1, thread_ = 0, other_ = 0;
  bool other_block_ = false;
};

}  // namespace tutti_emulator
