// SPDX-License-Identifier: Apache-2.0
//
// The math source over operations that are recorded instead of executed. A function of
// kernels_cl/math_*.cl compiled with these types appends its operations to a lane_program;
// write_traced_rows replaces `x ? y : z` by pick(x, y, z).
#pragma once

#include <cmath>
#include <cstring>
#include <type_traits>

#include "sdk/host_engine/lane_program.hpp"

#define TUTTI_NARROW_WORDS

namespace tutti::sdk::traced {

using op = lane_program::op;

// The destination of operations in this thread.
inline thread_local lane_program* tracing = nullptr;

inline uint64_t bits_of(double x) {
  uint64_t bits = 0;
  const auto narrow = static_cast<float>(x);
  tracing->wide ? std::memcpy(&bits, &x, 8) : std::memcpy(&bits, &narrow, 4);
  return bits;
}

struct operation {
  uint32_t id = 0;
};
template <typename R, typename... T>
R traced(op what, uint32_t detail, T... operand) {
  R result;
  result.id = tracing->add(what, detail, operand.id...);
  return result;
}

struct integer;
struct natural;

// A condition; a constant condition is known while tracing.
struct truth : operation {
  truth() = default;
  truth(integer flag);  // as in C
  bool is_known = false, known = false;
};

struct real : operation {
  real() = default;
  template <typename T, typename = std::enable_if_t<std::is_arithmetic_v<T>>>
  real(T x) : operation{tracing->constant(bits_of(static_cast<double>(x)))} {}
  explicit real(integer x);
  explicit real(natural x);
};

struct word : operation {
  word() = default;
  template <typename T, typename = std::enable_if_t<std::is_integral_v<T>>>
  word(T x)
      : operation{tracing->constant(static_cast<uint64_t>(x) &
                                    (tracing->wide ? ~uint64_t{0} : ~uint32_t{0}))} {}
};
struct integer : word {
  using word::word;
  integer() = default;
  integer(truth x);
  explicit integer(natural x);
  bool is_flag = false;  // a condition converted to a number
  truth flag;
};
struct natural : word {
  using word::word;
  natural() = default;
  explicit natural(integer x) { id = x.id; }
};

inline integer::integer(natural x) { id = x.id; }

inline truth operator==(integer a, integer b) { return traced<truth>(op::integer_equal, 0, a, b); }
inline truth operator!(truth a) {
  if (a.is_known) {
    a.known = !a.known;
    return a;
  }
  return traced<truth>(op::bit_not, 0, a);
}
inline truth operator!=(integer a, integer b) { return !(a == b); }
inline truth operator>(integer a, integer b) { return traced<truth>(op::integer_greater, 0, a, b); }
inline truth operator<(integer a, integer b) { return b > a; }
inline truth operator<=(integer a, integer b) { return !(a > b); }
inline truth operator>=(integer a, integer b) { return b <= a; }

inline truth::truth(integer number) {
  if (number.is_flag) {
    *this = number.flag;
  } else if (tracing->is_constant(number.id)) {
    is_known = true;
    known = tracing->nodes[number.id].bits != 0;
  } else {
    *this = number != integer(0);
  }
}
inline integer::integer(truth x) : word(0), is_flag(true), flag(x) {
  if (x.is_known) {
    *this = integer(x.known ? 1 : 0);
  } else {
    id = traced<word>(op::flag, 0, x).id;
  }
}
inline real::real(integer x) : operation{traced<operation>(op::integer_to_real, 0, x).id} {
  if (tracing->wide) throw lane_program::impossible("a cast of an i64");
}

// ---- conditions

inline truth operator&(truth a, truth b) { return traced<truth>(op::bit_and, 0, a, b); }
inline truth operator&(integer flag, truth b) { return truth(flag) & b; }
inline truth operator|(truth a, truth b) { return traced<truth>(op::bit_or, 0, a, b); }
inline truth operator^(truth a, truth b) { return traced<truth>(op::bit_xor, 0, a, b); }
inline truth operator!=(truth a, truth b) { return a ^ b; }
inline truth operator==(truth a, truth b) { return !(a ^ b); }

template <typename R>
R choice(truth condition, R a, R b) {
  if (condition.is_known) return condition.known ? a : b;
  return traced<R>(op::pick, 0, condition, a, b);
}
inline real pick(truth condition, real a, real b) { return choice(condition, a, b); }
inline integer pick(truth condition, integer a, integer b) { return choice(condition, a, b); }
inline natural pick(truth condition, natural a, natural b) { return choice(condition, a, b); }
template <typename A, typename B,
          typename = std::enable_if_t<std::is_arithmetic_v<A> && std::is_arithmetic_v<B>>>
auto pick(truth condition, A a, B b) {
  using both = std::common_type_t<A, B>;
  using whole = std::conditional_t<std::is_unsigned_v<both>, natural, integer>;
  using R = std::conditional_t<std::is_integral_v<both>, whole, real>;
  return choice<R>(condition, a, b);
}

// ---- real numbers

inline real operator+(real a, real b) { return traced<real>(op::add, 0, a, b); }
inline real operator-(real a, real b) { return traced<real>(op::subtract, 0, a, b); }
inline real operator*(real a, real b) { return traced<real>(op::multiply, 0, a, b); }
inline real operator/(real a, real b) { return traced<real>(op::divide, 0, a, b); }
inline real operator-(real a) { return traced<real>(op::negative, 0, a); }
inline truth operator==(real a, real b) { return traced<truth>(op::compare, 0x00, a, b); }
inline truth operator!=(real a, real b) { return traced<truth>(op::compare, 0x04, a, b); }
inline truth operator<(real a, real b) { return traced<truth>(op::compare, 0x11, a, b); }
inline truth operator<=(real a, real b) { return traced<truth>(op::compare, 0x12, a, b); }
inline truth operator>(real a, real b) { return traced<truth>(op::compare, 0x1e, a, b); }
inline truth operator>=(real a, real b) { return traced<truth>(op::compare, 0x1d, a, b); }
inline real fma(real a, real b, real c) {
  const lane_program::node& first = tracing->nodes[a.id];
  if (first.what != op::negative) return traced<real>(op::fma, 0, a, b, c);
  return traced<real>(op::fnma, 0, operation{first.operand[0]}, b, c);
}
inline real scaled(real p, integer n) { return traced<real>(op::scale, 0, p, real(n)); }
inline real sqrt(real a) { return traced<real>(op::sqrt, 0, a); }
inline real rint(real a) { return traced<real>(op::round, 8, a); }
inline real floor(real a) { return traced<real>(op::round, 9, a); }
inline real ceil(real a) { return traced<real>(op::round, 10, a); }
inline real trunc(real a) { return traced<real>(op::round, 11, a); }
inline operation sign_bit() {
  return {tracing->constant(uint64_t{1} << (tracing->wide ? 63 : 31))};
}
inline operation other_bits() {
  return {tracing->constant((uint64_t{1} << (tracing->wide ? 63 : 31)) - 1)};
}
inline real fabs(real a) { return traced<real>(op::bit_and, 0, a, other_bits()); }
inline real copysign(real a, real b) {
  return traced<real>(op::bit_or, 0, fabs(a), traced<real>(op::bit_and, 0, b, sign_bit()));
}

// ---- bits

#define TUTTI_WHOLE(T)                                                              \
  inline T operator+(T a, T b) { return traced<T>(op::integer_add, 0, a, b); }      \
  inline T operator-(T a, T b) { return traced<T>(op::integer_subtract, 0, a, b); } \
  inline T operator*(T a, T b) { return traced<T>(op::integer_multiply, 0, a, b); } \
  inline T operator&(T a, T b) { return traced<T>(op::bit_and, 0, a, b); }          \
  inline T operator|(T a, T b) { return traced<T>(op::bit_or, 0, a, b); }           \
  inline T operator^(T a, T b) { return traced<T>(op::bit_xor, 0, a, b); }          \
  inline T operator<<(T a, int by) {                                                \
    return traced<T>(op::shift_left, static_cast<uint32_t>(by), a);                 \
  }
TUTTI_WHOLE(integer)
TUTTI_WHOLE(natural)
#undef TUTTI_WHOLE
inline integer operator>>(integer a, int by) {
  return traced<integer>(op::shift_right_signed, static_cast<uint32_t>(by), a);
}
inline natural operator>>(natural a, int by) {
  return traced<natural>(op::shift_right, static_cast<uint32_t>(by), a);
}
inline natural operator<<(natural a, natural by) {
  return traced<natural>(op::shift_left_by, 0, a, by);
}
inline natural operator>>(natural a, natural by) {
  return traced<natural>(op::shift_right_by, 0, a, by);
}
inline integer operator<<(integer a, integer by) {
  return traced<integer>(op::shift_left_by, 0, a, by);
}
inline integer operator>>(integer a, integer by) {
  return traced<integer>(op::shift_right_signed_by, 0, a, by);
}
inline natural mul_hi(natural a, natural b) { return traced<natural>(op::multiply_high, 0, a, b); }
// As tutti_turn_f32, for the even and the odd lanes.
inline real turn(natural m, natural a0, natural a1, natural a2, natural* high) {
  const auto right = [](natural a) { return traced<natural>(op::wide_shift_right, 32, a); };
  const auto product = [](natural a, natural b) {
    return traced<natural>(op::wide_product, 0, a, b);
  };
  const auto sum = [](natural a, natural b) { return traced<natural>(op::wide_sum, 0, a, b); };
  const auto left = [](natural a, uint32_t by) {
    return traced<natural>(op::wide_shift_left, by, a);
  };
  const auto number = [&](natural n, natural b0, natural b1, natural b2) {
    return sum(sum(left(product(n, b0), 32), product(n, b1)), right(product(n, b2)));
  };
  const natural even = number(m, a0, a1, a2);
  const natural odd = number(right(m), right(a0), right(a1), right(a2));
  *high = traced<natural>(op::wide_upper, 0, even, odd);
  return traced<real>(op::wide_to_real, 0, left(even, 2), left(odd, 2));
}
// As tutti_two_over_pi_f32, by lookups.
inline void two_over_pi(integer j, natural* w0, natural* w1, natural* w2) {
  const natural first(j >> 5), by(j & integer(31));
  natural word[4];
  for (uint32_t k = 0; k < 4; ++k) word[k] = traced<natural>(op::two_over_pi, k, first);
  const auto from = [&](natural a, natural b) {
    if (tracing->funnels) return traced<natural>(op::shift_left_from, 0, a, b, by);
    return (a << by) | ((b >> 1) >> (natural(31) - by));
  };
  *w0 = from(word[0], word[1]);
  *w1 = from(word[1], word[2]);
  *w2 = from(word[2], word[3]);
}
// Without an unsigned comparison, flips the sign bits and compares as signed.
inline truth operator<(natural a, natural b) {
  if (tracing->masks) return traced<truth>(op::natural_less, 0, a, b);
  return traced<truth>(op::integer_greater, 0, traced<word>(op::bit_xor, 0, b, sign_bit()),
                       traced<word>(op::bit_xor, 0, a, sign_bit()));
}

inline truth operator>(natural a, natural b) { return b < a; }
inline truth operator<=(natural a, natural b) { return !(b < a); }
inline truth operator>=(natural a, natural b) { return b <= a; }
inline truth operator==(natural a, natural b) { return integer(a) == integer(b); }
inline truth operator!=(natural a, natural b) { return !(a == b); }
inline real::real(natural x) {
  if (tracing->masks && !tracing->wide)
    id = traced<operation>(op::natural_to_real, 0, x).id;
  else
    id = (real(integer(x >> 16)) * 65536 + real(integer(x & 0xffff))).id;
}

template <typename To, typename From>
To same_bits(From x) {
  To to;
  to.id = x.id;
  return to;
}
#define TUTTI_BITS(real_word, integer_word, natural_word)               \
  inline integer integer_word(real x) { return same_bits<integer>(x); } \
  inline natural natural_word(real x) { return same_bits<natural>(x); } \
  inline real real_word(integer x) { return same_bits<real>(x); }       \
  inline real real_word(natural x) { return same_bits<real>(x); }
TUTTI_BITS(as_float, as_int, as_uint)
TUTTI_BITS(as_double, as_long, as_ulong)
#undef TUTTI_BITS

// ---- rows

template <typename T>
T operand_of(uint32_t id) {
  T value;
  value.id = id;
  return value;
}
inline uint32_t id_of(truth x) {
  return x.is_known ? tracing->add(op::known, x.known ? 1 : 0) : x.id;
}
inline uint32_t id_of(operation x) { return x.id; }

}  // namespace tutti::sdk::traced
