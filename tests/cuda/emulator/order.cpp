// SPDX-License-Identifier: Apache-2.0
//
// Numbers of threads between barriers, and conflicts.
#include "order.hpp"

namespace tutti_emulator {

// Numbers start anew long before they would run out within a launch.
void order::begin_launch() {
  if (next_ > number_bits / 2) {
    the_memory().forget_touches();
    next_ = 1;
  }
  launch_ = next_;
}

void order::begin_block(unsigned threads) {
  block_ = stretch_ = next_;
  threads_ = threads;
  next_ = block_ + threads;
}

void order::begin_thread(unsigned thread) {
  thread_ = thread;
  me_ = stretch_ + thread;
}

void order::barrier() {
  stretch_ = next_;
  next_ += threads_;
}

// Numbers below `first` are of accesses that are over.
bool order::comes_before(uint32_t number, uint32_t first) {
  if (number < first || number == me_) return true;
  other_block_ = number < block_;
  if (other_block_) return false;
  other_ = (number - block_) % threads_;
  return other_ == thread_ || number < stretch_;
}

bool order::touch(touched* bytes, size_t count, bool writes, bool is_atomic, bool is_shared) {
  const uint32_t first = is_shared ? block_ : launch_;
  for (touched* b = bytes; b < bytes + count; ++b) {
    const uint32_t write = b->write, number = write & number_bits;
    if (number != me_ && !(is_atomic && (write & atomic_mark) != 0) && !comes_before(number, first))
      return true;
    if (writes) {
      // Of several readers since the barrier one is known; it is enough that there was another.
      const uint32_t reader = b->read & number_bits;
      const bool many = (b->read & many_mark) != 0;
      if (reader == me_ ? many : !comes_before(reader, first)) return true;
      b->write = me_ | (is_atomic ? atomic_mark : 0);
    } else {
      const uint32_t reader = b->read & number_bits;
      const bool joins = reader != me_ && !comes_before(reader, first);
      b->read = joins || (reader == me_ && (b->read & many_mark) != 0) ? (me_ | many_mark) : me_;
    }
  }
  return false;
}

}  // namespace tutti_emulator
