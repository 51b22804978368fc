// SPDX-License-Identifier: Apache-2.0
//
// Error bounds are computed by moving the operands by their own bounds. This covers roundings, the
// ulps of the table and contraction of a * b + c.
#include "chains.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>

#include "oracle.hpp"

namespace tutti::conformance {
namespace {

constexpr long double infinity = std::numeric_limits<long double>::infinity();

struct float_limits {
  long double epsilon, smallest, largest;
};

float_limits limits_of(uint8_t dtype) {
  if (dtype == TUTTI_F32) return {0x1p-23L, 0x1p-126L, std::numeric_limits<float>::max()};
  return {0x1p-52L, 0x1p-1022L, std::numeric_limits<double>::max()};
}

cell float_cell(uint8_t dtype, long double real, long double bound, double ulp) {
  const float_limits limit = limits_of(dtype);
  cell result{dtype, real, bound, 0, true};
  result.bound += (static_cast<long double>(ulp) + 1) * limit.epsilon * std::fabs(real);
  if (real != 0) result.bound += limit.smallest * 2 * limit.epsilon;
  const bool overflows = std::fabs(real) + result.bound > limit.largest * (1 - limit.epsilon);
  if (!std::isfinite(real) || !std::isfinite(result.bound) || overflows) result.sure = false;
  return result;
}

// All combinations of operands at the ends of their bounds.
template <typename F>
void for_each_corner(const cell* const* operands, int count, F&& visit) {
  for (int corner = 0; corner < (1 << count); ++corner) {
    long double moved[3] = {0, 0, 0};
    for (int k = 0; k < count; ++k) {
      const cell& c = *operands[k];
      const bool floating = sdk::is_floating(c.dtype);
      const long double shift = (corner >> k & 1) != 0 ? c.bound : -c.bound;
      moved[k] = floating ? c.real + shift : static_cast<long double>(c.bits);
    }
    visit(moved);
  }
}

cell run_float(const tutti_instruction& instruction, const sdk::op_info& op,
               const cell* const* operands) {
  long double at[3] = {0, 0, 0};
  bool sure = true;
  for (int k = 0; k < op.arity; ++k) {
    at[k] = operands[k]->real;
    sure = sure && operands[k]->sure;
  }
  const long double real = evaluate_wide(op.opcode, at[0], at[1], at[2]).real();
  long double spread = 0;
  for_each_corner(operands, op.arity, [&](const long double* moved) {
    const long double other = evaluate_wide(op.opcode, moved[0], moved[1], moved[2]).real();
    const long double distance = std::fabs(other - real);
    spread = distance <= spread ? spread : (std::isnan(distance) ? infinity : distance);
  });
  if (op.result == sdk::op_result::BOOL) {
    return {TUTTI_BOOL, 0, 0, real != 0 ? 1u : 0u, sure && spread == 0};
  }
  // The bound is propagated with the slope; a factor of two allows for curvature.
  long double bound = 2 * spread;
  // By op_table.def it is as exact as its larger operand, but a result near 0 is not.
  if (op.opcode == TUTTI_OP_logaddexp)
    bound += (op.ulp + 1) * limits_of(instruction.dtype).epsilon *
             std::max(std::fabs(at[0]), std::fabs(at[1]));
  cell result = float_cell(instruction.dtype, real, bound, op.ulp);
  result.sure = result.sure && sure;
  return result;
}

cell run_where(const cell& condition, const cell& yes, const cell& no) {
  cell result = condition.bits != 0 ? yes : no;
  result.sure = result.sure && condition.sure;
  return result;
}

cell run_cast(uint8_t to, const cell& from) {
  if (sdk::is_floating(to)) {
    if (sdk::is_floating(from.dtype)) {
      cell result = float_cell(to, from.real, from.bound, 0);
      result.sure = result.sure && from.sure;
      return result;
    }
    cell result = float_cell(to, real_of(from.dtype, from.bits), 0, 0);
    result.sure = result.sure && from.sure;
    return result;
  }
  if (!sdk::is_floating(from.dtype)) {
    return {to, 0, 0, convert(from.dtype, to, from.bits), from.sure};
  }
  const auto at = [&](long double shift) {
    return convert(TUTTI_F64, to, bits_of(TUTTI_F64, from.real + shift));
  };
  const bool sure = from.sure && at(-from.bound) == at(from.bound);
  return {to, 0, 0, at(0), sure};
}

}  // namespace

cell run(const tutti_instruction& instruction, const std::vector<cell>& values) {
  const sdk::op_info& op = *sdk::find_op(instruction.opcode);
  const cell* operands[3] = {};
  for (int k = 0; k < op.arity; ++k) operands[k] = &values[instruction.operand[k]];
  if (op.opcode == TUTTI_OP_where) return run_where(*operands[0], *operands[1], *operands[2]);
  if (op.opcode == TUTTI_OP_cast) return run_cast(instruction.dtype, *operands[0]);
  if (sdk::is_floating(operands[0]->dtype)) return run_float(instruction, op, operands);
  uint64_t bits[3] = {};
  bool sure = true;
  for (int k = 0; k < op.arity; ++k) {
    bits[k] = operands[k]->bits;
    sure = sure && operands[k]->sure;
  }
  const uint64_t result = evaluate(op.opcode, operands[0]->dtype, bits[0], bits[1], bits[2]);
  return {instruction.dtype, 0, 0, result, sure};
}

bool is_right(const cell& want, uint64_t got) {
  if (!sdk::is_floating(want.dtype)) return got == want.bits;
  return std::fabs(real_of(want.dtype, got) - want.real) <= want.bound;
}

// ---- random programs

namespace {

const std::vector<uint8_t>& chain_dtypes(const session& s) {
  static std::vector<uint8_t> list;
  list.clear();
  for (const uint8_t d :
       {TUTTI_F32, TUTTI_F64, TUTTI_I32, TUTTI_I64, TUTTI_U8, TUTTI_U32, TUTTI_BOOL}) {
    if (s.computes(d)) list.push_back(d);
  }
  return list;
}

// The operands of `op`, all of one dtype that exists among the values; false if there are none.
bool add_instruction(random_program& p, const sdk::op_info& op, generator& random) {
  const auto pick = [&](auto&& fits) -> int64_t {
    const size_t start = random() % p.dtypes.size();
    for (size_t i = 0; i < p.dtypes.size(); ++i) {
      const size_t at = (start + i) % p.dtypes.size();
      if (fits(p.dtypes[at])) return static_cast<int64_t>(at);
    }
    return -1;
  };
  const bool choice = op.opcode == TUTTI_OP_where;
  const int64_t first =
      pick([&](uint8_t d) { return choice ? d == TUTTI_BOOL : sdk::accepts(op.kind, d); });
  if (first < 0) return false;
  tutti_instruction next{op.opcode, 0, op.arity, {static_cast<uint32_t>(first), 0, 0}};
  const int64_t second = choice ? pick([](uint8_t) { return true; }) : first;
  const uint8_t dtype = p.dtypes[static_cast<size_t>(second)];
  if (choice) next.operand[1] = static_cast<uint32_t>(second);
  for (uint8_t k = choice ? 2 : 1; k < op.arity; ++k) {
    next.operand[k] = static_cast<uint32_t>(pick([&](uint8_t d) { return d == dtype; }));
  }
  next.dtype = op.result == sdk::op_result::BOOL ? static_cast<uint8_t>(TUTTI_BOOL) : dtype;
  p.spec.instructions.push_back(next);
  p.dtypes.push_back(next.dtype);
  return true;
}

void add_cast(random_program& p, uint8_t to, generator& random) {
  const auto from = static_cast<uint32_t>(random() % p.dtypes.size());
  p.spec.instructions.push_back({TUTTI_OP_cast, to, 1, {from, 0, 0}});
  p.dtypes.push_back(to);
}

// A device may lack instructions.
void drop_what_is_lacking(const session& s, random_program& p) {
  if (p.spec.instructions.empty()) return;
  const tutti_instruction& last = p.spec.instructions.back();
  uint8_t dtypes[4] = {last.dtype};
  for (uint8_t k = 0; k < last.operand_count; ++k) dtypes[k + 1] = p.dtypes[last.operand[k]];
  if (s.has(last.opcode, {dtypes, last.operand_count + size_t{1}})) return;
  p.spec.instructions.pop_back();
  p.dtypes.pop_back();
}

}  // namespace

random_program make_program(session& s, generator& random, size_t length) {
  random_program p;
  const std::vector<uint8_t>& dtypes = chain_dtypes(s);
  std::vector<uint8_t> stored;
  std::ranges::copy_if(dtypes, std::back_inserter(stored), [&](uint8_t d) { return s.stores(d); });
  p.spec.label = "random chain";
  for (size_t i = 0; i < 3; ++i) {
    const uint8_t dtype = stored[i == 0 ? 0 : random() % stored.size()];
    p.spec.input(dtype);
    p.dtypes.push_back(dtype);
  }
  for (size_t i = 0; i < 2; ++i) {
    const uint8_t dtype = dtypes[random() % dtypes.size()];
    p.spec.scalar(dtype);
    p.dtypes.push_back(dtype);
  }
  const auto rows = sdk::op_rows();
  for (int tries = 0; p.spec.instructions.size() < length; ++tries) {
    if (tries == 100000) throw skipped("the device has too few instructions for random programs");
    const sdk::op_info& op = rows[random() % rows.size()];
    if (op.opcode == TUTTI_OP_cast)
      add_cast(p, dtypes[random() % dtypes.size()], random);
    else if (op.result == sdk::op_result::COMPLEX_OF)
      continue;  // chains are real; complex_groups.cpp tests the others
    else if (op.kind != sdk::op_kind::IR || op.opcode == TUTTI_OP_where)
      add_instruction(p, op, random);
    drop_what_is_lacking(s, p);
  }
  // The last value that can be stored, and some before it; the first input always can be.
  auto last = static_cast<uint32_t>(p.dtypes.size() - 1);
  while (!s.stores(p.dtypes[last])) --last;
  p.spec.output(last, p.dtypes[last]);
  for (uint32_t k = 1; k < s.properties.max_outputs && k < 3 && 2 * k <= last; ++k) {
    const uint8_t dtype = p.dtypes[last - 2 * k];
    if (s.stores(dtype)) p.spec.output(last - 2 * k, dtype);
  }
  return p;
}

tutti_scalar to_scalar(uint8_t dtype, uint64_t bits) {
  tutti_scalar result{};
  if (sdk::dtype_size(dtype) == 8)
    result.u64 = bits;
  else if (sdk::dtype_size(dtype) == 4)
    result.u32 = static_cast<uint32_t>(bits);
  else if (sdk::dtype_size(dtype) == 2)
    result.u16 = static_cast<uint16_t>(bits);
  else
    result.u8 = static_cast<uint8_t>(bits);
  return result;
}

cell to_cell(uint8_t dtype, uint64_t bits) {
  if (!sdk::is_floating(dtype)) return {dtype, 0, 0, bits, true};
  return {dtype, real_of(dtype, bits), 0, 0, true};
}

}  // namespace tutti::conformance
