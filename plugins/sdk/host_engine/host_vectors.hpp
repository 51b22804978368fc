// SPDX-License-Identifier: Apache-2.0
//
// OpenCL C vectors in C++, as far as operator kernels use them. A vector that fits a register is
// one register; a longer one is two halves, recursively. Included after host_language.hpp in the
// same unnamed namespace, and static for the same reason. C++ has no named lanes or vector
// literals: the kernel files use macros for them, defined at the end.
#pragma once

#define TUTTI_ALWAYS inline __attribute__((always_inline))

#if defined __AVX512F__
#define TUTTI_VECTOR_BYTES 64
#elif defined __AVX2__
#define TUTTI_VECTOR_BYTES 32
#else
#define TUTTI_VECTOR_BYTES 16
#endif

// Whether compilers for this processor generate a fused multiply-add.
#if defined __FMA__ || defined __ARM_FEATURE_FMA
#define TUTTI_FUSED 1
#else
#define TUTTI_FUSED 0
#endif

template <int... I>
using places = std::integer_sequence<int, I...>;
template <int N>
using first_places = std::make_integer_sequence<int, N>;

template <typename T, int N, bool one_register>
struct lanes_of;
template <typename T, int N>
using lanes = lanes_of<T, N, (N * sizeof(T) <= TUTTI_VECTOR_BYTES)>;

template <typename T, int N>
struct register_of {
  typedef T type __attribute__((vector_size(N * sizeof(T))));
};

template <typename T, int N>
struct lanes_of<T, N, true> {
  typedef typename register_of<T, N>::type native;
  typedef lanes<T, N / 2> half;

  lanes_of() = default;
  TUTTI_ALWAYS lanes_of(T x) : v(x - native{}) {}  // also of -0
  explicit TUTTI_ALWAYS lanes_of(native x) : v(x) {}

  native v;
};

template <typename T, int N>
struct lanes_of<T, N, false> {
  typedef lanes<T, N / 2> half;

  lanes_of() = default;
  TUTTI_ALWAYS lanes_of(T x) : lower(x), upper(x) {}
  TUTTI_ALWAYS lanes_of(half low, half high) : lower(low), upper(high) {}

  half lower, upper;
};

// The result of a comparison.
template <typename M>
struct mask {
  M bits;
};
template <typename M>
struct masks {
  M lower, upper;
};
template <typename M>
TUTTI_HOST mask<M> operator|(mask<M> a, mask<M> b) {
  return {a.bits | b.bits};
}
template <typename M>
TUTTI_HOST masks<M> operator|(masks<M> a, masks<M> b) {
  return {a.lower | b.lower, a.upper | b.upper};
}

#define TUTTI_LANES_OPERATOR(op)                                                                   \
  template <typename T, int N>                                                                     \
  TUTTI_HOST lanes_of<T, N, true> operator op(lanes_of<T, N, true> a, lanes_of<T, N, true> b) {    \
    return lanes_of<T, N, true>(a.v op b.v);                                                       \
  }                                                                                                \
  template <typename T, int N>                                                                     \
  TUTTI_HOST lanes_of<T, N, false> operator op(lanes_of<T, N, false> a, lanes_of<T, N, false> b) { \
    return {a.lower op b.lower, a.upper op b.upper};                                               \
  }                                                                                                \
  template <typename T, int N, bool R>                                                             \
  TUTTI_HOST lanes_of<T, N, R>& operator op##=(lanes_of<T, N, R>& a, lanes_of<T, N, R> b) {        \
    return a = a op b;                                                                             \
  }
TUTTI_LANES_OPERATOR(+)
TUTTI_LANES_OPERATOR(-)
TUTTI_LANES_OPERATOR(*)

#define TUTTI_LANES_COMPARISON(op)                                                      \
  template <typename T, int N>                                                          \
  TUTTI_HOST auto operator op(lanes_of<T, N, true> a, lanes_of<T, N, true> b) {         \
    return mask<decltype(a.v op b.v)>{a.v op b.v};                                      \
  }                                                                                     \
  template <typename T, int N>                                                          \
  TUTTI_HOST auto operator op(lanes_of<T, N, false> a, lanes_of<T, N, false> b) {       \
    return masks<decltype(a.lower op b.lower)>{a.lower op b.lower, a.upper op b.upper}; \
  }
TUTTI_LANES_COMPARISON(<)
TUTTI_LANES_COMPARISON(>)
TUTTI_LANES_COMPARISON(==)
TUTTI_LANES_COMPARISON(!=)

template <typename T, int N>
TUTTI_HOST lanes_of<T, N, true> operator-(lanes_of<T, N, true> a) {
  return lanes_of<T, N, true>(-a.v);
}
template <typename T, int N>
TUTTI_HOST lanes_of<T, N, false> operator-(lanes_of<T, N, false> a) {
  return {-a.lower, -a.upper};
}

// condition ? a : b
template <typename T>
TUTTI_HOST T pick(bool condition, T a, T b) {
  return condition ? a : b;
}
template <typename M, typename T, int N>
TUTTI_HOST lanes_of<T, N, true> pick(mask<M> condition, lanes_of<T, N, true> a,
                                     lanes_of<T, N, true> b) {
  return lanes_of<T, N, true>(condition.bits ? a.v : b.v);
}
template <typename M, typename T, int N>
TUTTI_HOST lanes_of<T, N, false> pick(masks<M> condition, lanes_of<T, N, false> a,
                                      lanes_of<T, N, false> b) {
  return {pick(condition.lower, a.lower, b.lower), pick(condition.upper, a.upper, b.upper)};
}
template <typename V, typename M>
TUTTI_HOST V select(V otherwise, V chosen, M condition) {
  return pick(condition, chosen, otherwise);
}

// ---- lane permutations

template <int... I, typename T, int N>
TUTTI_HOST auto shuffled(lanes_of<T, N, true> a, lanes_of<T, N, true> b, places<I...>) {
  return lanes<T, sizeof...(I)>(__builtin_shufflevector(a.v, b.v, I...));
}
template <int From, int... I, typename T, int N>
TUTTI_HOST auto part_from(lanes_of<T, N, true> v, places<I...>) {
  return shuffled(v, v, places<From + I...>());
}
template <typename T, int N>
TUTTI_HOST lanes<T, N / 2> lower_of(lanes_of<T, N, true> v) {
  return part_from<0>(v, first_places<N / 2>());
}
template <typename T, int N>
TUTTI_HOST lanes<T, N / 2> upper_of(lanes_of<T, N, true> v) {
  return part_from<N / 2>(v, first_places<N / 2>());
}
template <typename T, int N>
TUTTI_HOST lanes<T, N / 2> lower_of(lanes_of<T, N, false> v) {
  return v.lower;
}
template <typename T, int N>
TUTTI_HOST lanes<T, N / 2> upper_of(lanes_of<T, N, false> v) {
  return v.upper;
}

template <typename T, int N, bool R>
TUTTI_HOST lanes<T, 2 * N> joined(lanes_of<T, N, R> low, lanes_of<T, N, R> high) {
  if constexpr (2 * N * sizeof(T) <= TUTTI_VECTOR_BYTES)
    return shuffled(low, high, first_places<2 * N>());
  else
    return {low, high};
}

template <int From, int... I, typename T, int N>
TUTTI_HOST lanes_of<T, N, true> between(lanes_of<T, N, true> a, lanes_of<T, N, true> b,
                                        places<I...>) {
  return shuffled(a, b, places<From + I...>());
}
// Concatenates `below` and `v`, moves the lanes up by K, and returns the upper half.
template <int K, typename T, int N>
TUTTI_HOST lanes_of<T, N, true> slide(lanes_of<T, N, true> below, lanes_of<T, N, true> v) {
  if constexpr (K >= N)
    return below;
  else
    return between<N - K>(below, v, first_places<N>());
}
template <int K, typename T, int N>
TUTTI_HOST lanes_of<T, N, false> slide(lanes_of<T, N, false> below, lanes_of<T, N, false> v) {
  if constexpr (K >= N)
    return below;
  else
    return {slide<K>(below.upper, v.lower), slide<K>(v.lower, v.upper)};
}
template <int K, typename T, int N, bool R, typename E>
TUTTI_HOST lanes_of<T, N, R> moved_up(lanes_of<T, N, R> v, E below) {
  return slide<K>(lanes_of<T, N, R>(static_cast<T>(below)), v);
}

template <int... I, typename T, int N>
TUTTI_HOST lanes_of<T, N, true> backwards_by(lanes_of<T, N, true> v, places<I...>) {
  return shuffled(v, v, places<N - 1 - I...>());
}
template <typename T, int N>
TUTTI_HOST lanes_of<T, N, true> backwards(lanes_of<T, N, true> v) {
  return backwards_by(v, first_places<N>());
}
template <typename T, int N>
TUTTI_HOST lanes_of<T, N, false> backwards(lanes_of<T, N, false> v) {
  return {backwards(v.upper), backwards(v.lower)};
}

// Interleaves the lower halves of a and b, or their upper halves; and the inverse.
template <int From, int... I, typename T, int N>
TUTTI_HOST lanes_of<T, N, true> in_turn(lanes_of<T, N, true> a, lanes_of<T, N, true> b,
                                        places<I...>) {
  return shuffled(a, b, places<From + I / 2 + I % 2 * N...>());
}
template <int Odd, int... I, typename T, int N>
TUTTI_HOST lanes_of<T, N, true> every_other(lanes_of<T, N, true> a, lanes_of<T, N, true> b,
                                            places<I...>) {
  return shuffled(a, b, places<2 * I + Odd...>());
}
template <typename T, int N>
TUTTI_HOST lanes_of<T, N, true> low_pairs(lanes_of<T, N, true> a, lanes_of<T, N, true> b) {
  return in_turn<0>(a, b, first_places<N>());
}
template <typename T, int N>
TUTTI_HOST lanes_of<T, N, true> high_pairs(lanes_of<T, N, true> a, lanes_of<T, N, true> b) {
  return in_turn<N / 2>(a, b, first_places<N>());
}
template <int Odd, typename T, int N>
TUTTI_HOST lanes_of<T, N, true> others_of(lanes_of<T, N, true> a, lanes_of<T, N, true> b) {
  return every_other<Odd>(a, b, first_places<N>());
}
template <typename T, int N>
TUTTI_HOST lanes_of<T, N, false> low_pairs(lanes_of<T, N, false> a, lanes_of<T, N, false> b) {
  return {low_pairs(a.lower, b.lower), high_pairs(a.lower, b.lower)};
}
template <typename T, int N>
TUTTI_HOST lanes_of<T, N, false> high_pairs(lanes_of<T, N, false> a, lanes_of<T, N, false> b) {
  return {low_pairs(a.upper, b.upper), high_pairs(a.upper, b.upper)};
}
template <int Odd, typename T, int N>
TUTTI_HOST lanes_of<T, N, false> others_of(lanes_of<T, N, false> a, lanes_of<T, N, false> b) {
  return {others_of<Odd>(a.lower, a.upper), others_of<Odd>(b.lower, b.upper)};
}

template <typename T, int N>
TUTTI_HOST T last_of(lanes_of<T, N, true> v) {
  return v.v[N - 1];
}
template <typename T, int N>
TUTTI_HOST T last_of(lanes_of<T, N, false> v) {
  return last_of(v.upper);
}

// ---- fused multiply-adds

template <typename T, int N>
TUTTI_HOST lanes_of<T, N, true> fma(lanes_of<T, N, true> a, lanes_of<T, N, true> b,
                                    lanes_of<T, N, true> c) {
  using V = lanes_of<T, N, true>;
  using native = typename V::native;
#if defined __FMA__
  constexpr bool is_float = sizeof(T) == 4;
  if constexpr (sizeof(native) == 16 && is_float)
    return V((native)_mm_fmadd_ps((__m128)a.v, (__m128)b.v, (__m128)c.v));
  else if constexpr (sizeof(native) == 16)
    return V((native)_mm_fmadd_pd((__m128d)a.v, (__m128d)b.v, (__m128d)c.v));
  else if constexpr (sizeof(native) == 32 && is_float)
    return V((native)_mm256_fmadd_ps((__m256)a.v, (__m256)b.v, (__m256)c.v));
  else if constexpr (sizeof(native) == 32)
    return V((native)_mm256_fmadd_pd((__m256d)a.v, (__m256d)b.v, (__m256d)c.v));
#if defined __AVX512F__
  else if constexpr (is_float)
    return V((native)_mm512_fmadd_ps((__m512)a.v, (__m512)b.v, (__m512)c.v));
  else
    return V((native)_mm512_fmadd_pd((__m512d)a.v, (__m512d)b.v, (__m512d)c.v));
#endif
#else
  for (int n = 0; n < N; ++n) c.v[n] = fma(a.v[n], b.v[n], c.v[n]);
  return c;
#endif
}
template <typename T, int N>
TUTTI_HOST lanes_of<T, N, false> fma(lanes_of<T, N, false> a, lanes_of<T, N, false> b,
                                     lanes_of<T, N, false> c) {
  return {fma(a.lower, b.lower, c.lower), fma(a.upper, b.upper, c.upper)};
}

// `a * b + c` where the device compiler may contract it.
template <typename T>
TUTTI_HOST T multiply_add(T a, T b, T c) {
  constexpr bool is_real = T(0.5) != T(0);
  if constexpr (is_real && TUTTI_FUSED)
    return fma(a, b, c);
  else
    return (T)(a * b + c);
}
template <typename T, int N, bool R>
TUTTI_HOST lanes_of<T, N, R> multiply_add(lanes_of<T, N, R> a, lanes_of<T, N, R> b,
                                          lanes_of<T, N, R> c) {
  constexpr bool is_real = T(0.5) != T(0);
  if constexpr (is_real && TUTTI_FUSED)
    return fma(a, b, c);
  else
    return a * b + c;
}

// ---- memory, conversions

template <typename V>
struct __attribute__((packed)) unaligned {
  V v;
};
template <int N, typename T>
TUTTI_HOST lanes<T, N> load_of(const T* p) {
  using V = lanes<T, N>;
  if constexpr (N * sizeof(T) <= TUTTI_VECTOR_BYTES)
    return V(((const unaligned<typename V::native>*)p)->v);
  else
    return {load_of<N / 2>(p), load_of<N / 2>(p + N / 2)};
}
template <typename T, int N>
TUTTI_HOST void store_of(lanes_of<T, N, true> v, T* p) {
  ((unaligned<typename lanes_of<T, N, true>::native>*)p)->v = v.v;
}
template <typename T, int N>
TUTTI_HOST void store_of(lanes_of<T, N, false> v, T* p) {
  store_of(v.lower, p);
  store_of(v.upper, p + N / 2);
}
#define TUTTI_VECTOR_MEMORY(N)                                   \
  template <typename T>                                          \
  TUTTI_HOST lanes<T, N> vload##N(long n, const T* p) {          \
    return load_of<N>(p + n * N);                                \
  }                                                              \
  template <typename T, bool R>                                  \
  TUTTI_HOST void vstore##N(lanes_of<T, N, R> v, long n, T* p) { \
    store_of(v, p + n * N);                                      \
  }
TUTTI_VECTOR_MEMORY(2)
TUTTI_VECTOR_MEMORY(4)
TUTTI_VECTOR_MEMORY(8)
TUTTI_VECTOR_MEMORY(16)

template <typename To, typename T, int N, bool R>
TUTTI_HOST lanes<To, N> converted(lanes_of<T, N, R> v) {
  if constexpr (R && N * sizeof(To) <= TUTTI_VECTOR_BYTES)
    return lanes<To, N>(__builtin_convertvector(v.v, typename lanes<To, N>::native));
  else
    return joined(converted<To>(lower_of(v)), converted<To>(upper_of(v)));
}
#define TUTTI_VECTOR_TYPE(T)                                  \
  typedef lanes<T, 4> T##4;                                   \
  typedef lanes<T, 8> T##8;                                   \
  typedef lanes<T, 16> T##16;                                 \
  template <typename From, bool R>                            \
  TUTTI_HOST T##16 convert_##T##16(lanes_of<From, 16, R> v) { \
    return converted<T>(v);                                   \
  }                                                           \
  template <typename From, bool R>                            \
  TUTTI_HOST T##16 as_##T##16(lanes_of<From, 16, R> v) {      \
    return __builtin_bit_cast(T##16, v);                      \
  }
TUTTI_VECTOR_TYPE(char)
TUTTI_VECTOR_TYPE(uchar)
TUTTI_VECTOR_TYPE(short)
TUTTI_VECTOR_TYPE(ushort)
TUTTI_VECTOR_TYPE(int)
TUTTI_VECTOR_TYPE(uint)
TUTTI_VECTOR_TYPE(long)
TUTTI_VECTOR_TYPE(ulong)
TUTTI_VECTOR_TYPE(float)
TUTTI_VECTOR_TYPE(double)

template <int I, typename T, int N>
TUTTI_HOST T lane_of(lanes_of<T, N, true> v) {
  return v.v[I];
}
template <int I, typename T, int N>
TUTTI_HOST T lane_of(lanes_of<T, N, false> v) {
  if constexpr (I < N / 2)
    return lane_of<I>(v.lower);
  else
    return lane_of<I - N / 2>(v.upper);
}

// Four numbers that are used separately.
template <typename T>
struct four {
  four() = default;
  explicit TUTTI_ALWAYS four(T x) : lane{x, x, x, x} {}
  TUTTI_ALWAYS four(T a, T b, T c, T d) : lane{a, b, c, d} {}
  TUTTI_ALWAYS four(lanes<T, 4> v)
      : lane{lane_of<0>(v), lane_of<1>(v), lane_of<2>(v), lane_of<3>(v)} {}
  T lane[4];
};
template <typename T>
TUTTI_HOST four<T> operator+(four<T> a, four<T> b) {
  return {(T)(a.lane[0] + b.lane[0]), (T)(a.lane[1] + b.lane[1]), (T)(a.lane[2] + b.lane[2]),
          (T)(a.lane[3] + b.lane[3])};
}
template <typename T>
TUTTI_HOST four<T> multiply_add(four<T> a, four<T> b, four<T> c) {
  return {
      multiply_add(a.lane[0], b.lane[0], c.lane[0]), multiply_add(a.lane[1], b.lane[1], c.lane[1]),
      multiply_add(a.lane[2], b.lane[2], c.lane[2]), multiply_add(a.lane[3], b.lane[3], c.lane[3])};
}
template <typename T>
TUTTI_HOST void vstore4(four<T> v, long n, T* p) {
  for (int k = 0; k < 4; ++k) p[4 * n + k] = v.lane[k];
}
template <int I, typename T>
TUTTI_HOST T lane_of(four<T> v) {
  return v.lane[I];
}
// ---- replacements for OpenCL C in kernel files

#define PICK(condition, a, b) pick(condition, a, b)
#define MULTIPLY_ADD(a, b, c) multiply_add(a, b, c)
#define WILL_WRITE(p) __builtin_prefetch(p, 1)
#define T4 four<T>
#define FOUR(a, b, c, d) (T4(a, b, c, d))
#define LANE(v, n) lane_of<n>(v)
#define LOWER(v) lower_of(v)
#define UPPER(v) upper_of(v)
#define UP1(v, e) moved_up<1>(v, e)
#define UP2(v, e) moved_up<2>(v, e)
#define UP4(v, e) moved_up<4>(v, e)
#define UP8(v, e) moved_up<8>(v, e)
#define BACKWARDS(v) backwards(v)
#define LAST(v) last_of(v)
#define LOW_PAIRS(a, b) low_pairs(a, b)
#define HIGH_PAIRS(a, b) high_pairs(a, b)
#define EVENS(a, b) others_of<0>(a, b)
#define ODDS(a, b) others_of<1>(a, b)
