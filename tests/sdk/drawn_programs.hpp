// SPDX-License-Identifier: Apache-2.0
//
// Programs and values drawn at random, for tests that compare two ways to run them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <limits>
#include <random>
#include <vector>

#include "sdk/host_engine/fused_loop.hpp"
#include "sdk/op_info.hpp"

namespace drawn_programs {

using namespace tutti;

constexpr uint32_t inputs = 6, scalars = 3, outputs = 4;
using bytes = std::vector<std::byte>;

struct drawn_program {
  std::vector<uint8_t> dtype;  // of inputs, scalars, results
  std::vector<tutti_instruction> steps;
  std::vector<uint32_t> stored;
};

inline uint8_t result_of(const sdk::op_info& op, uint8_t dtype) {
  return sdk::result_dtype(op.result, dtype);
}

// A program of arithmetic, comparisons and choices, with a sine where no loop goes on.
inline drawn_program draw(std::mt19937& random, uint8_t real, uint32_t length) {
  drawn_program p;
  p.dtype = {real, real, real, TUTTI_BOOL, real, TUTTI_BOOL, real, real, real};
  const auto pick = [&](uint8_t dtype) {
    uint32_t value = 0;
    do {
      value = static_cast<uint32_t>(random() % p.dtype.size());
    } while (p.dtype[value] != dtype);
    return value;
  };
  std::vector<const sdk::op_info*> rows;
  for (const sdk::op_info& row : sdk::op_rows()) {
    const bool number = sdk::accepts(row.kind, real), truth = sdk::accepts(row.kind, TUTTI_BOOL);
    // Which sign a NaN has where two meet is not defined.
    if (row.opcode == TUTTI_OP_signbit || row.opcode == TUTTI_OP_copysign) continue;
    const bool taken =
        (number && sdk::fused_loop::takes({row.opcode, real, result_of(row, real), {}, 0})) ||
        (truth && sdk::fused_loop::takes({row.opcode, TUTTI_BOOL, TUTTI_BOOL, {}, 0}));
    if (taken || row.opcode == TUTTI_OP_sin) rows.push_back(&row);
  }
  while (p.steps.size() < length) {
    tutti_instruction step{};
    const uint32_t kind = random() % 12;
    if (kind == 0) {
      step = {TUTTI_OP_where, real, 3, {pick(TUTTI_BOOL), pick(real), pick(real)}};
    } else if (kind == 1) {
      const bool up = random() % 2 == 0;
      step = {TUTTI_OP_cast,
              up ? real : uint8_t{TUTTI_BOOL},
              1,
              {pick(up ? uint8_t{TUTTI_BOOL} : real)}};
    } else {
      const sdk::op_info& row = *rows[random() % rows.size()];
      const bool number = sdk::accepts(row.kind, real);
      const uint8_t of = number && (random() % 3 != 0 || !sdk::accepts(row.kind, TUTTI_BOOL))
                             ? real
                             : uint8_t{TUTTI_BOOL};
      if (!sdk::accepts(row.kind, of)) continue;
      step.opcode = row.opcode;
      step.dtype = result_of(row, of);
      step.operand_count = row.arity;
      for (uint32_t k = 0; k < row.arity; ++k) step.operand[k] = pick(of);
    }
    p.steps.push_back(step);
    p.dtype.push_back(step.dtype);
  }
  for (uint32_t n = 0; n < outputs; ++n)
    p.stored.push_back(static_cast<uint32_t>(p.dtype.size() - 1 - random() % (length / 2 + 1)));
  return p;
}

template <typename T>
T special(std::mt19937& random) {
  using limits = std::numeric_limits<T>;
  const T all[] = {0,
                   T(-0.0),
                   1,
                   -1,
                   T(0.5),
                   T(2.5),
                   limits::infinity(),
                   -limits::infinity(),
                   limits::quiet_NaN(),
                   limits::denorm_min(),
                   limits::max(),
                   T(1e9)};
  if (random() % 4 == 0) return all[random() % std::size(all)];
  return T(random()) / T(1u << 29) - T(4);
}

inline bytes fill(std::mt19937& random, uint8_t dtype, size_t count) {
  bytes to(count * sdk::dtype_size(dtype));
  for (size_t i = 0; i < count; ++i) {
    if (dtype == TUTTI_F32) {
      const auto x = special<float>(random);
      std::memcpy(to.data() + 4 * i, &x, 4);
    } else if (dtype == TUTTI_F64) {
      const auto x = special<double>(random);
      std::memcpy(to.data() + 8 * i, &x, 8);
    } else if (dtype == TUTTI_I32 || dtype == TUTTI_U32) {
      const uint32_t small = random() % 40, edge = random() % 2 == 0 ? 0x80000000u : ~small;
      const uint32_t all[] = {small, edge, static_cast<uint32_t>(random())};
      std::memcpy(to.data() + 4 * i, &all[random() % std::size(all)], 4);
    } else {
      to[i] = std::byte(random() % 2);
    }
  }
  return to;
}

// What a description says of the program itself.
inline tutti_program_desc description_of(const drawn_program& p,
                                         const std::vector<tutti_program_operand>& from) {
  tutti_program_desc desc{};
  desc.struct_size = sizeof desc;
  desc.kept_rank = 1;
  desc.inputs = from.data();
  desc.input_count = inputs;
  desc.scalar_dtypes = p.dtype.data() + inputs;
  desc.scalar_count = scalars;
  desc.instructions = p.steps.data();
  desc.instruction_count = static_cast<uint32_t>(p.steps.size());
  return desc;
}

template <typename T>
bool same_number(const std::byte* a, const std::byte* b, size_t i) {
  T x, y;
  std::memcpy(&x, a + i * sizeof(T), sizeof(T));
  std::memcpy(&y, b + i * sizeof(T), sizeof(T));
  return (x != x && y != y) || std::memcmp(&x, &y, sizeof(T)) == 0;
}

inline bool same_half(const std::byte* a, const std::byte* b, size_t i, uint16_t infinity) {
  uint16_t x, y;
  std::memcpy(&x, a + 2 * i, 2);
  std::memcpy(&y, b + 2 * i, 2);
  return x == y || ((x & 0x7fff) > infinity && (y & 0x7fff) > infinity);
}

inline bool same(const bytes& a, const bytes& b, uint8_t dtype) {
  for (size_t i = 0; i < a.size() / sdk::dtype_size(dtype); ++i) {
    const bool equal = dtype == TUTTI_F32    ? same_number<float>(a.data(), b.data(), i)
                       : dtype == TUTTI_F64  ? same_number<double>(a.data(), b.data(), i)
                       : dtype == TUTTI_F16  ? same_half(a.data(), b.data(), i, 0x7c00)
                       : dtype == TUTTI_BF16 ? same_half(a.data(), b.data(), i, 0x7f80)
                                             : true;
    if (!equal) return false;
  }
  const bool real =
      dtype == TUTTI_F32 || dtype == TUTTI_F64 || dtype == TUTTI_F16 || dtype == TUTTI_BF16;
  return real || a == b;
}

}  // namespace drawn_programs
