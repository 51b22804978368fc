// SPDX-License-Identifier: Apache-2.0
//
// The memory of the emulated devices: one range of addresses, in which each allocation lies between
// red zones and no address is used twice while others are left. Beside it lies for each byte who
// touched it last, so that accesses without an order between them are found.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

namespace tutti_emulator {

// The numbers of the latest write and the latest read of a byte; see order.hpp.
struct touched {
  uint32_t write = 0, read = 0;
};

enum class owner { device, host };
enum class life { promised, live, freed };

struct allocation {
  size_t bytes = 0;
  int device = 0;
  owner kind = owner::device;
  life state = life::live;
};

class memory {
 public:
  memory();
  // 0 where the device's memory is used up.
  uintptr_t allocate(size_t bytes, int device, owner kind, life state);
  void set_state(uintptr_t start, life state);
  // NULL where `start` begins no allocation that is promised or live.
  const allocation* starting_at(uintptr_t start) const;
  // The live allocation around `at`, and where it starts; NULL where there is none.
  const allocation* around(uintptr_t at, uintptr_t* start) const;
  size_t in_use(int device) const;  // bytes of device memory

  bool holds(uintptr_t at) const { return at - base_ < arena_bytes; }
  // Whether all of [at, at + bytes) is live.
  bool is_live(uintptr_t at, size_t bytes) const;
  // An access in words, and what is wrong with it where is_live() denies it.
  std::string describe(uintptr_t at, size_t bytes) const;
  touched* touches(uintptr_t at) { return touched_ + (at - base_); }
  void forget_touches();

  static constexpr size_t device_bytes = size_t{8} << 30;

 private:
  static constexpr size_t arena_bytes = size_t{64} << 30, red_zone = 256;
  void mark(uintptr_t start, size_t bytes, bool live);
  uintptr_t place(size_t bytes);

  uintptr_t base_ = 0, next_ = 0;
  touched* touched_ = nullptr;
  uint8_t* live_ = nullptr;  // for each 8 bytes how many of them, from the first on
  std::map<uintptr_t, allocation> allocations_;  // freed ones too
  std::map<int, size_t> in_use_;
};

memory& the_memory();

}  // namespace tutti_emulator
