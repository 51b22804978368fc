// SPDX-License-Identifier: Apache-2.0
#include "program_meaning.hpp"

#include <algorithm>

#include "chains.hpp"
#include "oracle.hpp"

namespace tutti::conformance {
namespace {

bool is_stored(uint8_t dtype) { return sdk::is_register(dtype) || sdk::is_storage_only(dtype); }

// The rules of an instruction beside the number of its operands.
bool is_sound(const tutti_instruction& x, const sdk::op_info& op, const uint8_t* operand,
              bool reduces) {
  const bool alike =
      (op.arity < 2 || operand[1] == operand[0]) && (op.arity < 3 || operand[2] == operand[0]);
  switch (x.opcode) {
    case TUTTI_OP_cast:
      return !sdk::is_complex(operand[0]) || sdk::is_complex(x.dtype) || x.dtype == TUTTI_BOOL;
    case TUTTI_OP_where:
      return operand[0] == TUTTI_BOOL && operand[1] == x.dtype && operand[2] == x.dtype;
    case TUTTI_OP_iota:
      return x.dtype == TUTTI_I64 && !reduces;
    case TUTTI_OP_philox:
      return operand[0] == TUTTI_I64 && operand[1] == TUTTI_U64 && x.dtype == TUTTI_U32;
    default:
      return sdk::accepts(op.kind, operand[0]) && alike &&
             x.dtype == sdk::result_dtype(op.result, operand[0]);
  }
}

}  // namespace

bool means_something(const program_spec& p, std::vector<uint8_t>& values) {
  const bool reduces = p.reduction != TUTTI_REDUCE_NONE;
  if (p.kept_rank > TUTTI_MAX_RANK || p.reduced_rank > TUTTI_MAX_RANK - p.kept_rank) return false;
  if (p.reduction > TUTTI_REDUCE_ARGMAX || p.layout > TUTTI_REDUCE_OUTER) return false;
  if (reduces != (p.reduced_rank > 0) || p.outputs.empty()) return false;
  if (reduces && p.outputs.size() != 1) return false;
  for (const tutti_program_operand& in : p.inputs) {
    if (!is_stored(in.dtype) || in.access > TUTTI_ACCESS_STRIDED) return false;
    values.push_back(sdk::register_dtype(in.dtype));
  }
  for (const uint8_t dtype : p.scalars) {
    if (!sdk::is_register(dtype) || sdk::is_complex(dtype)) return false;
    values.push_back(dtype);
  }
  for (const tutti_instruction& x : p.instructions) {
    const sdk::op_info* const op = sdk::find_op(x.opcode);
    if (op == nullptr || x.operand_count != op->arity || !sdk::is_register(x.dtype)) return false;
    uint8_t operand[3] = {};
    for (uint8_t k = 0; k < op->arity; ++k) {
      if (x.operand[k] >= values.size()) return false;
      operand[k] = values[x.operand[k]];
    }
    if (!is_sound(x, *op, operand, reduces)) return false;
    values.push_back(x.dtype);
  }
  return std::ranges::all_of(p.outputs, [&](const tutti_program_operand& out) {
    const bool fits =
        is_stored(out.dtype) && out.access <= TUTTI_ACCESS_STRIDED && out.value < values.size();
    if (!fits || reduces) return fits;
    return sdk::register_dtype(out.dtype) == values[out.value];
  });
}

bool can_be_judged(const program_spec& p, const std::vector<uint8_t>& values) {
  const auto is_real = [](uint8_t dtype) { return !sdk::is_complex(dtype); };
  if (p.reduction != TUTTI_REDUCE_NONE || !std::ranges::all_of(values, is_real)) return false;
  for (const tutti_instruction& x : p.instructions)
    if (x.opcode == TUTTI_OP_iota || x.opcode == TUTTI_OP_philox) return false;
  return std::ranges::all_of(p.outputs, [](const tutti_program_operand& out) {
    return out.access == TUTTI_ACCESS_UNIT && is_stored(out.dtype) && sdk::is_register(out.dtype);
  });
}

extents small_extents(const program_spec& p, generator& random) {
  const uint32_t rank = p.kept_rank + p.reduced_rank;
  extents extent(rank);
  for (uint64_t& e : extent) e = 1 + random() % (rank < 3 ? 40 : rank < 5 ? 5 : 3);
  return extent;
}

surroundings make_surroundings(const program_spec& p, const extents& extent, generator& random) {
  surroundings w{extent, {}, {}, {}, {}};
  const auto rank = static_cast<uint32_t>(extent.size());
  const bool of_reduced = p.reduction != TUTTI_REDUCE_NONE && p.layout == TUTTI_REDUCE_INNER;
  const int64_t inner = of_reduced ? int64_t{rank} - 1 : int64_t{p.kept_rank} - 1;
  const auto place = [&](const tutti_program_operand& declared, bool is_output) {
    operand o = packed(declared.dtype, w.extent);
    for (uint32_t d = p.kept_rank; is_output && d < rank; ++d) o.stride[d] = 0;
    const bool is_still = declared.access == TUTTI_ACCESS_ZERO;
    const bool is_reduced = is_output && of_reduced;
    if (inner >= 0 && !is_reduced && declared.access != TUTTI_ACCESS_STRIDED)
      o.stride[static_cast<size_t>(inner)] = is_still ? 0 : 1;
    return o;
  };
  for (const tutti_program_operand& declared : p.inputs) {
    w.inputs.push_back(place(declared, false));
    const uint8_t dtype = sdk::register_dtype(declared.dtype);
    for (uint64_t i = 0; !sdk::is_complex(dtype) && i < w.inputs.back().data.size(); ++i)
      w.inputs.back().data.set(i, random_value(dtype, -3, 3, random));
  }
  for (const uint8_t dtype : p.scalars) {
    w.scalar_bits.push_back(random_value(dtype, 0.5, 4, random));
    w.scalars.push_back(to_scalar(dtype, w.scalar_bits.back()));
  }
  for (const tutti_program_operand& declared : p.outputs)
    w.outputs.push_back(place(declared, true));
  return w;
}

uint64_t judge(const program_spec& p, const surroundings& w) {
  uint64_t judged = 0;
  for (uint64_t i = 0; i < points_of(w.extent); ++i) {
    std::vector<cell> values;
    for (const operand& o : w.inputs)
      values.push_back(
          to_cell(sdk::register_dtype(o.data.dtype), o.data.get(locate(o, w.extent, i))));
    for (size_t k = 0; k < w.scalars.size(); ++k)
      values.push_back(to_cell(p.scalars[k], w.scalar_bits[k]));
    for (const tutti_instruction& next : p.instructions) values.push_back(run(next, values));
    for (size_t k = 0; k < w.outputs.size(); ++k) {
      const cell& want = values[p.outputs[k].value];
      if (!want.sure) continue;
      ++judged;
      const uint64_t got = w.outputs[k].data.get(locate(w.outputs[k], w.extent, i));
      if (is_right(want, got)) continue;
      const bool floating = sdk::is_floating(want.dtype);
      fail("{}: output {} at {} is {}, expected {}{}", text_of(p), k, point_text(w.extent, i),
           value_text(want.dtype, got),
           value_text(want.dtype, floating ? bits_of(want.dtype, want.real) : want.bits),
           floating ? fmt::format(" within {}", static_cast<double>(want.bound)) : "");
    }
  }
  return judged;
}

std::string text_of(const program_spec& p) {
  std::string text = "program of " + std::to_string(p.inputs.size()) + " inputs:";
  for (const tutti_instruction& x : p.instructions)
    text += std::string(" ") + sdk::find_op(x.opcode)->name + "." + sdk::dtype_name(x.dtype);
  return text;
}

}  // namespace tutti::conformance
