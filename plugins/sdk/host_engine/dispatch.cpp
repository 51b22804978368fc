// SPDX-License-Identifier: Apache-2.0
//
// Selects a set of routines and searches it.
#include "sdk/host_engine/dispatch.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <string>
#include <vector>

#include "sdk/op_info.hpp"
#include "sdk/status.hpp"

namespace tutti::sdk {
namespace {

using routines::block_row;
using routines::routine_table;

uint32_t key_of(uint16_t opcode, uint8_t of, uint8_t result) {
  return uint32_t{opcode} << 16 | uint32_t{of} << 8 | result;
}

struct keyed_routine {
  uint32_t key;
  routines::block_routine run;
};

// Sorted by key.
std::vector<keyed_routine> make_index(host_routines set) {
  std::vector<keyed_routine> rows;
  for (const routine_table* table : tables_of(set)) {
    for (const block_row* row = table->blocks; row != table->blocks + table->block_count; ++row)
      rows.push_back({key_of(row->opcode, row->of, row->result), row->run});
  }
  std::sort(rows.begin(), rows.end(),
            [](const keyed_routine& a, const keyed_routine& b) { return a.key < b.key; });
  return rows;
}

const std::vector<keyed_routine>& index_of(host_routines set) {
  static std::array<std::once_flag, 3> made;
  // Never destroyed: a thread may still look for a device while the process exits.
  static auto& indices = *new std::array<std::vector<keyed_routine>, 3>();
  const auto n = static_cast<size_t>(set);
  std::call_once(made[n], [&] { indices[n] = make_index(set); });
  return indices[n];
}

}  // namespace

bool has_host_routines(host_routines set) {
  switch (set) {
#ifdef TUTTI_HOST_AVX2
    case host_routines::avx2:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
#endif
#ifdef TUTTI_HOST_AVX512
    case host_routines::avx512:
      return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("fma");
#endif
#ifdef TUTTI_HOST_BASELINE
    case host_routines::baseline:
      return true;
#endif
    default:
      return false;
  }
}

host_routines best_host_routines() {
  static const host_routines best = has_host_routines(host_routines::avx512) ? host_routines::avx512
                                    : has_host_routines(host_routines::avx2)
                                        ? host_routines::avx2
                                        : host_routines::baseline;
  return best;
}

std::string_view name_of(host_routines set) {
  switch (set) {
    case host_routines::avx2:
      return "avx2";
    case host_routines::avx512:
      return "avx512";
    case host_routines::baseline:
      break;
  }
  return "baseline";
}

std::array<const routine_table*, 2> tables_of(host_routines set) {
  if (!has_host_routines(set)) {
    throw_unsupported("host engine: this processor or this build lacks the routines for " +
                      std::string(name_of(set)));
  }
#ifdef TUTTI_HOST_AVX2
  if (set == host_routines::avx2) return {&routines::avx2_real, &routines::avx2_complex};
#endif
#ifdef TUTTI_HOST_AVX512
  if (set == host_routines::avx512) return {&routines::avx512_real, &routines::avx512_complex};
#endif
#ifdef TUTTI_HOST_BASELINE
  return {&routines::baseline_real, &routines::baseline_complex};
#else
  return {};
#endif
}

routines::block_routine find_block(host_routines set, uint16_t opcode, uint8_t of, uint8_t result) {
  const std::vector<keyed_routine>& rows = index_of(set);
  const uint32_t key = key_of(opcode, of, result);
  const auto found =
      std::lower_bound(rows.begin(), rows.end(), key,
                       [](const keyed_routine& row, uint32_t k) { return row.key < k; });
  if (found != rows.end() && found->key == key) return found->run;
  const op_info* op = find_op(opcode);
  throw_unsupported(std::string("host engine: no routine for ") +
                    (op != nullptr ? op->name : "opcode " + std::to_string(opcode)) + " of " +
                    dtype_name(of) + " with result " + dtype_name(result));
}

const routines::reduction_row& find_reduction(host_routines set, uint8_t reduction,
                                              uint8_t accumulator) {
  const routine_table& table = *tables_of(set)[is_complex(accumulator)];
  for (unsigned long n = 0; n < table.reduction_count; ++n) {
    const routines::reduction_row& row = table.reductions[n];
    if (row.reduction == reduction && row.accumulator == accumulator) return row;
  }
  throw_unsupported("host engine: no routine for reduction " + std::to_string(reduction) + " in " +
                    dtype_name(accumulator));
}

}  // namespace tutti::sdk
