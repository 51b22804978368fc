// SPDX-License-Identifier: Apache-2.0
//
// Linked into each compiled kernel. The compiler announces every access to memory by the calls that
// it makes for ThreadSanitizer; here they go to the emulator, and the sanitizer is never linked.
#include "kernel_abi.hpp"

using namespace tutti_emulator;

#define TUTTI_HIDDEN extern "C" __attribute__((visibility("hidden")))
#define TUTTI_EXPORTED extern "C" __attribute__((visibility("default")))

extern "C" {
extern char __start_tutti_shared[] __attribute__((weak, visibility("hidden")));
extern char __stop_tutti_shared[] __attribute__((weak, visibility("hidden")));
}

namespace {
image the_image = {};
}

TUTTI_EXPORTED image* emulator_image() {
  the_image.shared_begin = __start_tutti_shared;
  the_image.shared_end = __stop_tutti_shared;
  return &the_image;
}

// Constant for a thread, as the compiler is told.
TUTTI_HIDDEN index3 emulator_thread_index() { return the_image.thread; }
TUTTI_HIDDEN index3 emulator_block_index() { return the_image.block; }
TUTTI_HIDDEN index3 emulator_block_size() { return the_image.block_size; }
TUTTI_HIDDEN index3 emulator_grid_size() { return the_image.grid; }

TUTTI_HIDDEN void emulator_touch(const void* at, unsigned long bytes, int access) {
  the_image.functions->touch(at, bytes, access);
}
TUTTI_HIDDEN void emulator_barrier(int line) { the_image.functions->barrier(line); }
TUTTI_HIDDEN unsigned long long emulator_meet(int how, unsigned mask, unsigned long long value,
                                              int operand, int width) {
  return the_image.functions->meet(how, mask, value, operand, width);
}
TUTTI_HIDDEN void* emulator_dynamic_shared() { return the_image.functions->dynamic_shared(); }

#define TUTTI_SIZED(n)                                    \
  TUTTI_HIDDEN void __tsan_read##n(void* at) {            \
    the_image.functions->touch(at, n, reads | aligned);   \
  }                                                       \
  TUTTI_HIDDEN void __tsan_write##n(void* at) {           \
    the_image.functions->touch(at, n, writes | aligned);  \
  }                                                       \
  TUTTI_HIDDEN void __tsan_unaligned_read##n(void* at) {  \
    the_image.functions->touch(at, n, reads);             \
  }                                                       \
  TUTTI_HIDDEN void __tsan_unaligned_write##n(void* at) { \
    the_image.functions->touch(at, n, writes);            \
  }
TUTTI_SIZED(1)
TUTTI_SIZED(2)
TUTTI_SIZED(4)
TUTTI_SIZED(8)
TUTTI_SIZED(16)
TUTTI_HIDDEN void __tsan_read_range(void* at, unsigned long bytes) {
  the_image.functions->touch(at, bytes, reads);
}
TUTTI_HIDDEN void __tsan_write_range(void* at, unsigned long bytes) {
  the_image.functions->touch(at, bytes, writes);
}
TUTTI_HIDDEN void __tsan_init() {}
TUTTI_HIDDEN void __tsan_func_entry(void*) {}
TUTTI_HIDDEN void __tsan_func_exit() {}

// The compiler makes copies of structures into calls of these as well.
TUTTI_HIDDEN void* memcpy(void* to, const void* from, unsigned long bytes) {
  the_image.functions->touch(from, bytes, reads);
  the_image.functions->touch(to, bytes, writes);
  return __builtin_memmove(to, from, bytes);
}
TUTTI_HIDDEN void* memset(void* to, int value, unsigned long bytes) {
  the_image.functions->touch(to, bytes, writes);
  volatile char* const at = static_cast<char*>(to);
  for (unsigned long n = 0; n < bytes; ++n) at[n] = static_cast<char>(value);
  return to;
}
