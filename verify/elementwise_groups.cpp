// SPDX-License-Identifier: Apache-2.0
//
// Every instruction of the table for every dtype in which the device computes, with odd sizes and
// special values; casts between every pair of dtypes; iota and Philox.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "denormals.hpp"
#include "harness.hpp"
#include "oracle.hpp"
#include "semantics/host_math.hpp"

namespace tutti::conformance {
namespace {

// Of operand `k` of `op` in `dtype`; `where` chooses by a bool.
uint8_t operand_dtype(const sdk::op_info& op, uint8_t dtype, int k) {
  return op.opcode == TUTTI_OP_where && k == 0 ? static_cast<uint8_t>(TUTTI_BOOL) : dtype;
}

constexpr uint64_t sizes[] = {1, 7, 15, 16, 17, 63, 64, 65, 255, 1000, 4097, 100003};

// a - b * floor(a / b) is ill-conditioned if the quotient is nearly an integer: a quotient that
// differs by the division's 3 ulp may be on either side.
bool near_whole_quotient(uint8_t dtype, uint64_t a, uint64_t b) {
  const long double quotient = real_of(dtype, a) / real_of(dtype, b);
  const bool single = dtype == TUTTI_F32;  // the quotient may underflow, too
  const long double slack = std::fabs(quotient) * (single ? 4 * 0x1p-23L : 4 * 0x1p-52L) +
                            (single ? 0x1p-126L : 0x1p-1022L);
  return std::floor(quotient - slack) != std::floor(quotient + slack);
}

bool acceptable(const sdk::op_info& op, uint8_t dtype, uint8_t result, const uint64_t* operands,
                uint64_t got, uint64_t want) {
  if (got == want) return true;
  if (!sdk::is_floating(result)) return false;
  const long double x = real_of(result, got), y = real_of(result, want);
  if (x == 0 && y == 0) return false;  // of the wrong sign
  if (ulp_distance(result, got, want) <= static_cast<uint64_t>(op.ulp)) return true;
  if (op.opcode == TUTTI_OP_remainder && near_whole_quotient(dtype, operands[0], operands[1])) {
    return std::fabs(x) <= std::fabs(real_of(dtype, operands[1]));
  }
  return false;
}

// Other permitted results of a device that treats denormal numbers as zero: zero for a denormal
// result; the result for operands treated this way; an operand itself if it counts as zero; and,
// for results computed in steps, one without the terms that were too small.
bool acceptable_flushed(const sdk::op_info& op, uint8_t dtype, uint8_t result,
                        const uint64_t* operands, uint64_t got, uint64_t want) {
  uint64_t zeroed[3];
  bool is_operand = false;
  for (int k = 0; k < 3; ++k) {
    const bool number = k < op.arity && operand_dtype(op, dtype, k) == dtype;
    zeroed[k] = number ? flushed(dtype, operands[k]) : operands[k];
    is_operand = is_operand || (number && operands[k] == got);
  }
  const uint64_t other = evaluate(op.opcode, dtype, zeroed[0], zeroed[1], zeroed[2]);
  if (got == other || acceptable(op, dtype, result, zeroed, got, other)) return true;
  if (!sdk::is_floating(result)) return false;
  const long double x = real_of(result, got), y = real_of(result, want);
  const long double z = real_of(result, flushed(result, other));
  if (x == 0) return z == 0 || is_denormal(result, want);
  if (is_denormal(result, got)) return z == 0 && is_operand;
  return op.ulp > 0 && std::fabs(x - y) < least_normal(result);
}

// Whether treating denormal numbers as zero may explain a result.
bool has_denormals(const sdk::op_info& op, uint8_t dtype, uint8_t result, const uint64_t* operands,
                   uint64_t got, uint64_t want) {
  if (!sdk::is_floating(dtype)) return false;
  for (uint8_t k = 0; k < op.arity; ++k)
    if (operand_dtype(op, dtype, k) == dtype && is_denormal(dtype, operands[k])) return true;
  if (!sdk::is_floating(result)) return false;
  const long double distance = std::fabs(real_of(result, got) - real_of(result, want));
  return is_denormal(result, want) || distance < least_normal(result);
}

// For the table of errors: what the operation's bound refers to, and what violates it.
void note_error(session& s, const sdk::op_info& op, uint8_t dtype, uint64_t ulps) {
  worst_error& worst = s.worst[{op.name, dtype}];
  worst.allowed = static_cast<uint64_t>(op.ulp);
  worst.ulps = std::max(worst.ulps, ulps);
}

using columns = std::vector<std::vector<uint64_t>>;  // per operand, its values

// Runs op on all rows of `values` at once and compares each result and the guards around them.
void run_rows(session& s, const sdk::op_info& op, uint8_t dtype, const columns& values) {
  const uint8_t result =
      op.result == sdk::op_result::BOOL ? static_cast<uint8_t>(TUTTI_BOOL) : dtype;
  const extents extent = {values[0].size()};
  program_spec spec;
  spec.label = op.name;
  std::vector<operand> inputs;
  for (uint8_t k = 0; k < op.arity; ++k) {
    spec.input(operand_dtype(op, dtype, k));
    inputs.push_back(packed(operand_dtype(op, dtype, k), extent));
    for (uint64_t i = 0; i < extent[0]; ++i) {
      inputs[k].data.set(inputs[k].offset + i, values[k][i]);
    }
  }
  const uint32_t places[] = {0, 1, 2};
  spec.output(spec.op(op.opcode, result, {places, places + op.arity}), result);
  std::vector<operand> outputs = {packed(result, extent)};
  const image before = outputs[0].data;
  launch(s, spec, extent, inputs, {}, outputs);

  uint64_t worst = 0;
  for (uint64_t i = 0; i < before.size(); ++i) {
    const uint64_t got = outputs[0].data.get(i);
    const uint64_t first = outputs[0].offset;
    if (i < first || i >= first + extent[0]) {
      require(got == before.get(i), "wrote outside its output, at element {}", i);
      continue;
    }
    uint64_t row[3] = {};
    for (uint8_t k = 0; k < op.arity; ++k) row[k] = values[k][i - first];
    const uint64_t want = evaluate(op.opcode, dtype, row[0], row[1], row[2]);
    const uint64_t ulps = sdk::is_floating(result) ? ulp_distance(result, got, want) : 0;
    if (acceptable(op, dtype, result, row, got, want)) {
      if (ulps > worst && ulps <= static_cast<uint64_t>(op.ulp)) worst = ulps;
      continue;
    }
    if (has_denormals(op, dtype, result, row, got, want) && flushes(s, dtype) &&
        acceptable_flushed(op, dtype, result, row, got, want))
      continue;
    std::string text = "of " + std::to_string(extent[0]) + ", element " +
                       std::to_string(i - first) + ": " + op.name + "(";
    for (uint8_t k = 0; k < op.arity; ++k) {
      if (k > 0) text += ", ";
      text += value_text(operand_dtype(op, dtype, k), row[k]);
    }
    text += ") is " + value_text(result, got) + ", expected " + value_text(result, want);
    if (sdk::is_floating(result)) {
      note_error(s, op, dtype, ulps);
      text += ", off by " + std::to_string(ulps) + " ulp, allowed " +
              std::to_string(static_cast<int>(op.ulp));
    }
    throw failure(text);
  }
  if (sdk::is_floating(result)) note_error(s, op, dtype, worst);
}

// Rows of numbers by `draw`.
template <typename Draw>
void run_drawn(session& s, const sdk::op_info& op, uint8_t dtype, uint64_t size, generator& random,
               Draw draw) {
  columns values(op.arity, std::vector<uint64_t>(size));
  for (uint8_t k = 0; k < op.arity; ++k)
    for (uint64_t& v : values[k]) v = operand_dtype(op, dtype, k) == dtype ? draw() : random() & 1u;
  run_rows(s, op, dtype, values);
}

void check_range(session& s, const sdk::op_info& op, uint8_t dtype) {
  generator random(s.seed + op.opcode * 16u + dtype);
  for (const uint64_t size : sizes)
    run_drawn(s, op, dtype, size, random,
              [&] { return random_value(dtype, op.low, op.high, random); });
}

// All pairs of special values, one kind of value per launch, so that a failure shows what it needs.
void check_specials(session& s, const sdk::op_info& op, uint8_t dtype) {
  const std::vector<uint64_t>& special = special_values(dtype);
  columns values(op.arity);
  for (const uint64_t a : special) {
    for (const uint64_t b : special) {
      if (op.arity == 3) {
        values[0].push_back((values[0].size() % 3) == 0 ? 1 : 0);
        values[1].push_back(a);
        values[2].push_back(b);
        continue;
      }
      values[0].push_back(a);
      if (op.arity == 2) values[1].push_back(b);
      if (op.arity == 1) break;
    }
  }
  run_rows(s, op, dtype, values);
}

void check_bits(session& s, const sdk::op_info& op, uint8_t dtype) {
  generator random(s.seed + 77u + op.opcode * 16u + dtype);
  run_drawn(s, op, dtype, 3001, random, [&] { return random_bits(dtype, random); });
}

bool defined(const sdk::op_info& op, uint8_t dtype) {
  if (op.opcode == TUTTI_OP_where) return true;
  if (op.result == sdk::op_result::COMPLEX_OF) return false;  // complex_groups.cpp
  const bool shift = op.opcode == TUTTI_OP_left_shift || op.opcode == TUTTI_OP_right_shift;
  return sdk::accepts(op.kind, dtype) && !(shift && dtype == TUTTI_BOOL);
}

// ---- casts

// Whether a device that treats denormal numbers as zero has done so, with the operand or the
// result.
bool flushed_in_cast(session& s, uint8_t from, uint8_t to, uint64_t value, uint64_t got,
                     uint64_t want) {
  if (sdk::is_floating(from) && is_denormal(from, value) && flushes(s, from))
    return sdk::is_floating(to) ? real_of(to, got) == 0 : got == convert(from, to, 0);
  return sdk::is_floating(to) && is_denormal(to, want) && flushes(s, to) && real_of(to, got) == 0;
}

void check_cast(session& s, uint8_t from, uint8_t to) {
  const uint8_t from_register = sdk::register_dtype(from), to_register = sdk::register_dtype(to);
  generator random(s.seed + from * 32u + to);
  std::vector<uint64_t> values = special_values(from_register);
  for (int i = 0; i < 1000; ++i) values.push_back(random_bits(from, random));
  for (int i = 0; i < 1000; ++i) values.push_back(random_value(from_register, -300, 300, random));
  const extents extent = {values.size()};
  std::vector<operand> inputs = {packed(from, extent)};
  for (uint64_t i = 0; i < values.size(); ++i) inputs[0].data.set(inputs[0].offset + i, values[i]);

  program_spec spec;
  spec.label = "cast";
  spec.input(from);
  spec.output(from_register == to_register ? 0 : spec.op(TUTTI_OP_cast, to_register, {0}), to);
  std::vector<operand> outputs = {packed(to, extent)};
  launch(s, spec, extent, inputs, {}, outputs);
  image expected(to, 1);
  for (uint64_t i = 0; i < values.size(); ++i) {
    const uint64_t value = inputs[0].data.get(inputs[0].offset + i);
    expected.set(0, convert(from_register, to_register, value));
    const uint64_t got = outputs[0].data.get(outputs[0].offset + i), want = expected.get(0);
    if (got == want || flushed_in_cast(s, from_register, to_register, value, got, want)) continue;
    if (sdk::is_floating(to_register) && std::isnan(real_of(to_register, got)) &&
        std::isnan(real_of(to_register, want))) {
      continue;
    }
    fail("{} became {}, expected {}", value_text(from_register, value),
         value_text(to_register, got), value_text(to_register, want));
  }
}

// ---- iota and Philox

void check_iota(session& s) {
  for (const extents& extent : {extents{1}, extents{100003}, extents{3, 5, 7}, extents{257, 129}}) {
    program_spec spec;
    spec.kept_rank = static_cast<uint32_t>(extent.size());
    spec.output(spec.op(TUTTI_OP_iota, TUTTI_I64, {}), TUTTI_I64);
    std::vector<operand> outputs = {packed(TUTTI_I64, extent)};
    launch(s, spec, extent, {}, {}, outputs);
    for (uint64_t i = 0; i < points_of(extent); ++i) {
      const uint64_t got = outputs[0].data.get(outputs[0].offset + i);
      require(got == i, "point {} is {}", i, got);
    }
  }
}

void check_philox(session& s) {
  const extents extent = {2053};
  for (const uint64_t key : {uint64_t{0}, ~uint64_t{0}, uint64_t{0x299f31d0a4093822}}) {
    for (const uint64_t first : {uint64_t{0}, uint64_t{0x3fffffff0}, uint64_t{1} << 61}) {
      program_spec spec;
      const uint32_t key_value = spec.scalar(TUTTI_U64), base = spec.scalar(TUTTI_I64);
      const uint32_t index = spec.op(TUTTI_OP_iota, TUTTI_I64, {});
      const uint32_t element = spec.op(TUTTI_OP_add, TUTTI_I64, {index, base});
      spec.output(spec.op(TUTTI_OP_philox, TUTTI_U32, {element, key_value}), TUTTI_U32);
      tutti_scalar scalars[2];
      scalars[0].u64 = key;
      scalars[1].u64 = first;
      std::vector<operand> outputs = {packed(TUTTI_U32, extent)};
      launch(s, spec, extent, {}, {scalars[0], scalars[1]}, outputs);
      for (uint64_t i = 0; i < extent[0]; ++i) {
        const uint64_t got = outputs[0].data.get(outputs[0].offset + i);
        const uint32_t want = host::philox(static_cast<int64_t>(first + i), key);
        require(got == want, "element {} under key {} is {}, expected {}", first + i, key, got,
                want);
      }
    }
  }
}

}  // namespace

void add_elementwise_groups(groups& all, const session& s) {
  for (const sdk::op_info& op : sdk::op_rows()) {
    if (op.kind == sdk::op_kind::IR && op.opcode != TUTTI_OP_where) continue;
    for (uint8_t dtype = TUTTI_BOOL; dtype <= TUTTI_F64; ++dtype) {
      if (!sdk::is_register(dtype) || !s.computes(dtype) || !defined(op, dtype)) continue;
      const std::string name = std::string("op/") + op.name + "/" + sdk::dtype_name(dtype);
      all.push_back({name + "/range", [&op, dtype](session& t) { check_range(t, op, dtype); }});
      all.push_back(
          {name + "/special", [&op, dtype](session& t) { check_specials(t, op, dtype); }});
      all.push_back({name + "/bits", [&op, dtype](session& t) { check_bits(t, op, dtype); }});
    }
  }
  for (uint8_t from = TUTTI_BOOL; from <= TUTTI_F64; ++from) {
    for (uint8_t to = TUTTI_BOOL; to <= TUTTI_F64; ++to) {
      const bool computed =
          s.computes(sdk::register_dtype(from)) && s.computes(sdk::register_dtype(to));
      if (!s.stores(from) || !s.stores(to) || !computed) continue;
      all.push_back({std::string("cast/") + sdk::dtype_name(from) + "/" + sdk::dtype_name(to),
                     [from, to](session& t) { check_cast(t, from, to); }});
    }
  }
  all.push_back({"iota", check_iota});
  all.push_back({"philox", check_philox});
}

}  // namespace tutti::conformance
