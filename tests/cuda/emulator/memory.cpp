// SPDX-License-Identifier: Apache-2.0
//
// Allocations between red zones.
#include "memory.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

namespace tutti_emulator {
namespace {

void* reserve(size_t bytes) {
  void* const at = mmap(nullptr, bytes, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (at != MAP_FAILED) return at;
  std::perror("CUDA emulator: no addresses for the memory of its devices");
  std::abort();
}

// New memory holds NaN and large numbers. Huge arrays stay as they come, to be there in time.
constexpr size_t most_filled = size_t{64} << 20;

}  // namespace

memory& the_memory() {
  static memory* const all = new memory;
  return *all;
}

memory::memory()
    : base_(reinterpret_cast<uintptr_t>(reserve(arena_bytes))),
      next_(base_ + red_zone),
      touched_(static_cast<touched*>(reserve(arena_bytes * sizeof(touched)))),
      live_(static_cast<uint8_t*>(reserve(arena_bytes / 8))) {}

// Fresh addresses as long as there are some, then those that have been free for longest.
uintptr_t memory::place(size_t bytes) {
  const size_t room = (bytes + 255) / 256 * 256 + red_zone;
  if (next_ + room <= base_ + arena_bytes) {
    const uintptr_t at = next_;
    next_ += room;
    return at;
  }
  for (const auto& [start, a] : allocations_)
    if (a.state == life::freed && a.bytes >= bytes) return start;
  return 0;
}

uintptr_t memory::allocate(size_t bytes, int device, owner kind, life state) {
  if (kind == owner::device && bytes > device_bytes - in_use(device)) return 0;
  const uintptr_t start = place(bytes);
  if (start == 0) return 0;
  if (bytes <= most_filled) std::memset(reinterpret_cast<void*>(start), 0xff, bytes);
  allocations_[start] = {bytes, device, kind, state};
  if (kind == owner::device) in_use_[device] += bytes;
  if (state == life::live) mark(start, bytes, true);
  return start;
}

void memory::mark(uintptr_t start, size_t bytes, bool live) {
  uint8_t* const first = live_ + (start - base_) / 8;
  std::memset(first, live ? 8 : 0, bytes / 8);
  if (bytes % 8 != 0) first[bytes / 8] = live ? static_cast<uint8_t>(bytes % 8) : 0;
}

void memory::set_state(uintptr_t start, life state) {
  allocation& a = allocations_.at(start);
  a.state = state;
  mark(start, a.bytes, state == life::live);
  if (state != life::freed) return;
  if (a.kind == owner::device) in_use_[a.device] -= a.bytes;
  const uintptr_t page = 4096, from = (start + page - 1) / page * page;
  const uintptr_t to = (start + a.bytes) / page * page;
  if (to > from) madvise(reinterpret_cast<void*>(from), to - from, MADV_DONTNEED);
}

const allocation* memory::starting_at(uintptr_t start) const {
  const auto found = allocations_.find(start);
  return found == allocations_.end() || found->second.state == life::freed ? nullptr
                                                                           : &found->second;
}

const allocation* memory::around(uintptr_t at, uintptr_t* start) const {
  auto next = allocations_.upper_bound(at);
  if (next == allocations_.begin()) return nullptr;
  --next;
  if (next->second.state == life::freed || at - next->first >= next->second.bytes) return nullptr;
  *start = next->first;
  return &next->second;
}

size_t memory::in_use(int device) const {
  const auto found = in_use_.find(device);
  return found == in_use_.end() ? 0 : found->second;
}

bool memory::is_live(uintptr_t at, size_t bytes) const {
  if (bytes == 0) return true;
  if (!holds(at) || !holds(at + bytes - 1)) return false;
  const uint8_t* const last = live_ + (at + bytes - 1 - base_) / 8;
  for (const uint8_t* n = live_ + (at - base_) / 8; n < last; ++n)
    if (*n != 8) return false;
  return *last > (at + bytes - 1) % 8;
}

std::string memory::describe(uintptr_t at, size_t bytes) const {
  const std::string what = std::to_string(bytes) + " bytes ";
  auto next = allocations_.upper_bound(at);
  if (!holds(at) || next == allocations_.begin()) return what + "outside of all allocations";
  const auto [start, a] = *--next;
  const std::string of = "an allocation of " + std::to_string(a.bytes) + " bytes";
  const size_t offset = at - start;
  if (offset + bytes > a.bytes) {
    return what + "out of bounds: at " + std::to_string(offset) + " of " + of;
  }
  return what + "at " + std::to_string(offset) + " of " + of +
         (a.state == life::promised ? " that is not made yet in the order of streams"
          : a.state == life::freed  ? " that was freed"
                                    : "");
}

void memory::forget_touches() { madvise(touched_, arena_bytes * sizeof(touched), MADV_DONTNEED); }

}  // namespace tutti_emulator
