// SPDX-License-Identifier: Apache-2.0
#include "sdk/capabilities.hpp"

#include <map>
#include <mutex>
#include <set>
#include <span>
#include <utility>

#include "sdk/program_description.hpp"
#include "sdk/status.hpp"
#include "semantics/offered.hpp"

namespace tutti::sdk {
namespace {

void add(std::vector<uint32_t>& sets, uint32_t number, uint32_t dtypes) {
  if (number >= sets.size()) sets.resize(number + 1);
  sets[number] |= dtypes;
}

// The dtypes of the operands and results of a row.
uint32_t dtypes_of(const op_info& row, uint32_t computed) {
  if (row.opcode == TUTTI_OP_cast || row.opcode == TUTTI_OP_where) return computed;
  if (row.opcode == TUTTI_OP_iota) return computed & TUTTI_DTYPE_BIT(TUTTI_I64);
  constexpr uint32_t counters =
      TUTTI_DTYPE_BIT(TUTTI_I64) | TUTTI_DTYPE_BIT(TUTTI_U64) | TUTTI_DTYPE_BIT(TUTTI_U32);
  if (row.opcode == TUTTI_OP_philox) return (computed & counters) == counters ? counters : 0;
  uint32_t set = 0;
  for (uint8_t d = TUTTI_BOOL; d <= TUTTI_C128; ++d) {
    if ((computed & TUTTI_DTYPE_BIT(d)) == 0 || !accepts(row.kind, d)) continue;
    const uint32_t result = TUTTI_DTYPE_BIT(result_dtype(row.result, d));
    // Comparisons produce bool in registers, whatever else is computed.
    if ((result & ~(computed | TUTTI_DTYPE_BIT(TUTTI_BOOL))) != 0) continue;
    set |= TUTTI_DTYPE_BIT(d) | result;
  }
  const bool of_bool = accepts(row.kind, TUTTI_BOOL);
  return of_bool ? set : set & ~TUTTI_DTYPE_BIT(TUTTI_BOOL);
}

uint32_t dtypes_of_reduction(uint32_t reduction, uint32_t computed) {
  constexpr uint32_t complex = TUTTI_DTYPE_BIT(TUTTI_C64) | TUTTI_DTYPE_BIT(TUTTI_C128);
  switch (reduction) {
    case TUTTI_REDUCE_SUM:
    case TUTTI_REDUCE_PROD:
      return computed;
    case TUTTI_REDUCE_ANY:
    case TUTTI_REDUCE_ALL:
      return computed & TUTTI_DTYPE_BIT(TUTTI_BOOL);
    default:
      return computed & ~complex;
  }
}

std::string dtype_list(std::span<const uint8_t> dtypes) {
  std::string text;
  for (const uint8_t d : dtypes) text += (text.empty() ? "" : ", ") + std::string(dtype_name(d));
  return text;
}

uint32_t set_at(const std::vector<uint32_t>& sets, uint32_t number) {
  return number < sets.size() ? sets[number] : 0;
}

}  // namespace

tutti_program_capabilities program_sets::capabilities() const {
  return {sizeof(tutti_program_capabilities),
          TUTTI_IR_VERSION_MIN,
          TUTTI_IR_VERSION,
          static_cast<uint32_t>(opcodes.size()),
          static_cast<uint32_t>(reductions.size()),
          opcodes.data(),
          reductions.data()};
}

const program_sets& programs_in(uint32_t computed_dtypes, uint32_t stored_dtypes) {
  static auto* const all = new std::map<std::pair<uint32_t, uint32_t>, program_sets>;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  const auto [entry, is_new] = all->try_emplace({computed_dtypes, stored_dtypes});
  program_sets& sets = entry->second;
  if (!is_new) return sets;
  sets.stored_dtypes = stored_dtypes;
  for (const op_info& row : op_rows())
    add(sets.opcodes, row.opcode, dtypes_of(row, computed_dtypes));
  for (uint32_t r = TUTTI_REDUCE_SUM; r <= TUTTI_REDUCE_ARGMAX; ++r)
    add(sets.reductions, r, dtypes_of_reduction(r, computed_dtypes));
  return sets;
}

std::string beyond(const program_sets& offered, const tutti_program_desc& desc) {
  for (const auto& operands :
       {std::span(desc.inputs, desc.input_count), std::span(desc.outputs, desc.output_count)})
    for (const tutti_program_operand& o : operands)
      if ((offered.stored_dtypes >> o.dtype & 1u) == 0)
        return std::string("stores no ") + dtype_name(o.dtype);
  std::vector<uint8_t> values;  // dtype of each
  for (uint32_t i = 0; i < desc.input_count; ++i)
    values.push_back(register_dtype(desc.inputs[i].dtype));
  for (uint32_t i = 0; i < desc.scalar_count; ++i) values.push_back(desc.scalar_dtypes[i]);
  for (uint32_t i = 0; i < desc.instruction_count; ++i) {
    const tutti_instruction& x = desc.instructions[i];
    uint8_t dtypes[4] = {x.dtype};
    for (uint8_t k = 0; k < x.operand_count; ++k) dtypes[k + 1] = values[x.operand[k]];
    const std::span<const uint8_t> used(dtypes, x.operand_count + 1u);
    if (!host::is_offered(set_at(offered.opcodes, x.opcode), used))
      return std::string("has no ") + find_op(x.opcode)->name + " of " + dtype_list(used);
    values.push_back(x.dtype);
  }
  const std::span<const uint8_t> accumulator(&desc.accumulator, 1);
  if (desc.reduction != TUTTI_REDUCE_NONE &&
      !host::is_offered(set_at(offered.reductions, desc.reduction), accumulator))
    return "has no reduction " + std::to_string(desc.reduction) + " in " + dtype_list(accumulator);
  return {};
}

const char* kept_text(const std::string& text) {
  static auto* const all = new std::set<std::string>;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return all->insert(text).first->c_str();
}

int32_t supports_program(const program_sets& offered, const program_limits& limits,
                         const tutti_program_desc* desc, const char** reason) {
  std::string why;
  try {
    why = beyond(offered, program_description(desc, limits).desc());
  } catch (const plugin_error& e) {
    if (e.code != TUTTI_ERROR_UNSUPPORTED) throw;
    why = e.what();
  }
  if (why.empty()) return TUTTI_SUPPORT_YES;
  if (reason != nullptr) *reason = kept_text(why);
  return TUTTI_SUPPORT_NO;
}

}  // namespace tutti::sdk
