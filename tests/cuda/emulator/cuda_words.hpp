// SPDX-License-Identifier: Apache-2.0
//
// The words of CUDA C++ for the host's compiler: kernels that the emulator compiles come after this
// file. What is missing here does not compile, and is added when a kernel uses it.
#pragma once

#include "kernel_abi.hpp"

extern "C" {
__attribute__((const)) tutti_emulator::index3 emulator_thread_index();
__attribute__((const)) tutti_emulator::index3 emulator_block_index();
__attribute__((const)) tutti_emulator::index3 emulator_block_size();
__attribute__((const)) tutti_emulator::index3 emulator_grid_size();
void emulator_touch(const void* at, unsigned long bytes, int access);
void emulator_barrier(int line);
unsigned long long emulator_meet(int how, unsigned mask, unsigned long long value, int operand,
                                 int width);
void* emulator_dynamic_shared();
}

#define __global__ __attribute__((noinline, visibility("hidden")))
#define __device__
#define __forceinline__ inline __attribute__((always_inline))
#define __launch_bounds__(...)
#define __shared__ static __attribute__((section("tutti_shared")))
#define threadIdx (emulator_thread_index())
#define blockIdx (emulator_block_index())
#define blockDim (emulator_block_size())
#define gridDim (emulator_grid_size())
#define __syncthreads() emulator_barrier(__LINE__)

#define TUTTI_WORD static inline __attribute__((unused))

typedef decltype(sizeof 0) size_t;

// ---- vectors

#define TUTTI_VECTOR(T)                \
  struct alignas(2 * sizeof(T)) T##2 { \
    T x, y;                            \
  };
TUTTI_VECTOR(float)
TUTTI_VECTOR(double)
struct alignas(16) uint4 {
  unsigned x, y, z, w;
};

// ---- bits

template <typename To, typename From>
TUTTI_WORD To emulator_bits(From x) {
  static_assert(sizeof(To) == sizeof(From), "the same bits");
  To y;
  __builtin_memcpy(&y, &x, sizeof y);
  return y;
}
TUTTI_WORD float __int_as_float(int x) { return emulator_bits<float>(x); }
TUTTI_WORD float __uint_as_float(unsigned x) { return emulator_bits<float>(x); }
TUTTI_WORD int __float_as_int(float x) { return emulator_bits<int>(x); }
TUTTI_WORD unsigned __float_as_uint(float x) { return emulator_bits<unsigned>(x); }
TUTTI_WORD long long __double_as_longlong(double x) { return emulator_bits<long long>(x); }
TUTTI_WORD unsigned __umulhi(unsigned a, unsigned b) {
  return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
TUTTI_WORD unsigned long long __umul64hi(unsigned long long a, unsigned long long b) {
  return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}

// The instructions that the sources spell out; the emulator puts these calls in their place.
TUTTI_WORD float emulator_asm_half_to_float(unsigned short bits) {
  const unsigned sign = (bits & 0x8000u) << 16, exponent = bits >> 10 & 31u, rest = bits & 0x3ffu;
  if (exponent == 31) return __uint_as_float(sign | 0x7f800000u | rest << 13);
  if (exponent != 0) return __uint_as_float(sign | (exponent + 112) << 23 | rest << 13);
  const float small = static_cast<float>(rest) * __uint_as_float(0x33800000u);  // 2^-24
  return sign != 0 ? -small : small;
}
TUTTI_WORD unsigned short emulator_asm_float_to_half(float x) {
  const unsigned bits = __float_as_uint(x), sign = bits >> 16 & 0x8000u;
  const unsigned size = bits & 0x7fffffffu;
  if (size > 0x7f800000u) return 0x7fff;  // the NaN of the hardware
  if (size >= 0x477ff000u) return static_cast<unsigned short>(sign | 0x7c00u);
  unsigned half = 0;
  if (size < 0x38800000u) {  // below the normal numbers: adding 1/2 rounds to steps of 2^-24
    half = __float_as_uint(__uint_as_float(size) + 0.5f) - 0x3f000000u;
  } else {
    half = (size - 0x38000000u + 0xfffu + (size >> 13 & 1u)) >> 13;
  }
  return static_cast<unsigned short>(sign | half);
}

// ---- warps

template <typename T>
TUTTI_WORD T emulator_exchange(int how, unsigned mask, T x, int operand, int width) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8, "the types that CUDA shuffles");
  unsigned long long bits = 0;
  __builtin_memcpy(&bits, &x, sizeof x);
  bits = emulator_meet(how, mask, bits, operand, width);
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}
#define TUTTI_SHUFFLE(T)                                                                   \
  TUTTI_WORD T __shfl_up_sync(unsigned mask, T x, unsigned distance, int width = 32) {     \
    return emulator_exchange(tutti_emulator::shuffle_up, mask, x, int(distance), width);   \
  }                                                                                        \
  TUTTI_WORD T __shfl_down_sync(unsigned mask, T x, unsigned distance, int width = 32) {   \
    return emulator_exchange(tutti_emulator::shuffle_down, mask, x, int(distance), width); \
  }
TUTTI_SHUFFLE(int)
TUTTI_SHUFFLE(unsigned)
TUTTI_SHUFFLE(long)
TUTTI_SHUFFLE(unsigned long)
TUTTI_SHUFFLE(long long)
TUTTI_SHUFFLE(unsigned long long)
TUTTI_SHUFFLE(float)
TUTTI_SHUFFLE(double)

// ---- atomic operations: no other thread runs meanwhile, and the access itself is told as such

#define TUTTI_ATOMIC(name, result)                                                             \
  template <typename T, typename U>                                                            \
  static __attribute__((noinline, unused, no_sanitize("thread"))) T name(T* at, U operand) {   \
    emulator_touch(at, sizeof(T),                                                              \
                   tutti_emulator::writes | tutti_emulator::atomic | tutti_emulator::aligned); \
    const T old = *at, value = T(operand);                                                     \
    (void)value;                                                                               \
    *at = T(result);                                                                           \
    return old;                                                                                \
  }
TUTTI_ATOMIC(atomicAdd, old + value)
TUTTI_ATOMIC(atomicExch, value)
TUTTI_ATOMIC(atomicMax, old < value ? value : old)

// ---- functions

template <typename A, typename B>
TUTTI_WORD auto min(A a, B b) -> decltype(true ? A() : B()) {
  return b < a ? b : a;
}
template <typename A, typename B>
TUTTI_WORD auto max(A a, B b) -> decltype(true ? A() : B()) {
  return a < b ? b : a;
}
#define TUTTI_FUNCTION_1(name)     \
  extern "C" double name(double);  \
  extern "C" float name##f(float); \
  TUTTI_WORD float name(float x) { return name##f(x); }
#define TUTTI_FUNCTION_2(name)            \
  extern "C" double name(double, double); \
  extern "C" float name##f(float, float); \
  TUTTI_WORD float name(float x, float y) { return name##f(x, y); }
TUTTI_FUNCTION_1(exp)
TUTTI_FUNCTION_1(exp2)
TUTTI_FUNCTION_1(expm1)
TUTTI_FUNCTION_1(log)
TUTTI_FUNCTION_1(log2)
TUTTI_FUNCTION_1(log10)
TUTTI_FUNCTION_1(log1p)
TUTTI_FUNCTION_1(sin)
TUTTI_FUNCTION_1(cos)
TUTTI_FUNCTION_1(tan)
TUTTI_FUNCTION_1(asin)
TUTTI_FUNCTION_1(acos)
TUTTI_FUNCTION_1(atan)
TUTTI_FUNCTION_1(sinh)
TUTTI_FUNCTION_1(cosh)
TUTTI_FUNCTION_1(tanh)
TUTTI_FUNCTION_1(asinh)
TUTTI_FUNCTION_1(acosh)
TUTTI_FUNCTION_1(atanh)
TUTTI_FUNCTION_1(erf)
TUTTI_FUNCTION_1(erfc)
TUTTI_FUNCTION_1(sqrt)
TUTTI_FUNCTION_1(cbrt)
TUTTI_FUNCTION_1(floor)
TUTTI_FUNCTION_1(ceil)
TUTTI_FUNCTION_1(trunc)
TUTTI_FUNCTION_1(rint)
TUTTI_FUNCTION_1(fabs)
TUTTI_FUNCTION_2(pow)
TUTTI_FUNCTION_2(fmod)
TUTTI_FUNCTION_2(atan2)
TUTTI_FUNCTION_2(hypot)
TUTTI_FUNCTION_2(copysign)
TUTTI_FUNCTION_2(nextafter)
extern "C" double fma(double, double, double);
extern "C" float fmaf(float, float, float);
TUTTI_WORD float fma(float x, float y, float z) { return fmaf(x, y, z); }
TUTTI_WORD double rsqrt(double x) { return 1.0 / sqrt(x); }
TUTTI_WORD float rsqrtf(float x) { return static_cast<float>(1.0 / sqrt(double(x))); }
TUTTI_WORD float rsqrt(float x) { return rsqrtf(x); }

// ---- how the emulator calls a kernel; it appends TUTTI_KERNEL(name, bound) for each

template <typename Kernel>
struct emulator_caller;
template <typename T>
struct emulator_plain {
  using type = T;
};
template <typename T>
struct emulator_plain<const T> {
  using type = T;
};
template <unsigned...>
struct emulator_places {};
template <unsigned N, unsigned... Rest>
struct emulator_count : emulator_count<N - 1, N - 1, Rest...> {};
template <unsigned... Rest>
struct emulator_count<0, Rest...> {
  using type = emulator_places<Rest...>;
};
template <typename... A>
struct emulator_caller<void (*)(A...)> {
  static constexpr unsigned count = sizeof...(A);
  static constexpr unsigned long sizes[sizeof...(A) + 1] = {sizeof(A)..., 0};
  template <unsigned... N>
  __attribute__((no_sanitize("thread"))) static void call(void (*kernel)(A...), void** arguments,
                                                          emulator_places<N...>) {
    (void)arguments;
    kernel(*static_cast<typename emulator_plain<A>::type*>(arguments[N])...);
  }
};
#define TUTTI_KERNEL(name, bound)                                                             \
  static __attribute__((no_sanitize("thread"))) void emulator_call_##name(void** arguments) { \
    using caller = emulator_caller<decltype(&name)>;                                          \
    caller::call(&name, arguments, typename emulator_count<caller::count>::type());           \
  }                                                                                           \
  extern "C" __attribute__((visibility("default")))                                           \
  const tutti_emulator::kernel emulator_kernel_##name = {                                     \
      emulator_call_##name, emulator_caller<decltype(&name)>::sizes,                          \
      emulator_caller<decltype(&name)>::count, unsigned(bound)};
