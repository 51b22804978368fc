// SPDX-License-Identifier: Apache-2.0
#include "abilities.hpp"

#include "operator_claims.hpp"
#include "sdk/kernel_launch.hpp"

namespace tutti::conformance {
namespace {

constexpr uint32_t every_dtype = 2 * TUTTI_DTYPE_BIT(TUTTI_C128) - TUTTI_DTYPE_BIT(TUTTI_BOOL);

uint32_t set_at(const std::vector<uint32_t>& sets, size_t number) {
  return number < sets.size() ? sets[number] : 0;
}

void add_operators(abilities& all, const session& s) {
  for (const host::operator_row& row : host::operator_rows) {
    ability a{row.name};
    for (uint8_t dtype = TUTTI_BOOL; dtype <= TUTTI_C128; ++dtype)
      if (claims(*s.api, s.device.get(), row.number, dtype)) a.has |= TUTTI_DTYPE_BIT(dtype);
    all.operators.push_back(a);
  }
}

void add_optional(abilities& all, const session& s) {
  const auto add = [&](const char* name, bool is_there) {
    (is_there ? all.optional : all.lacks).emplace_back(name);
  };
  const tutti_plugin_api& api = *s.api;
  add("times of events", api.profile != nullptr);
  add("collectives", api.collective != nullptr);
  add("native handles", api.native != nullptr);
  add("the application's own kernels", api.kernel != nullptr);
  add("memory in place", api.memory->map != nullptr);
  add("host events", api.stream->event_create != nullptr);
  add("listeners for events", api.stream->event_notify != nullptr);
  if (api.kernel == nullptr || api.kernel->languages == nullptr) return;
  uint32_t languages = 0;
  check(api.kernel->languages(s.device.get(), &languages), "languages");
  for (int32_t l = TUTTI_KERNEL_OPENCL_C; l <= TUTTI_KERNEL_HOST; ++l)
    if ((languages & TUTTI_KERNEL_LANGUAGE_BIT(l)) != 0)
      all.languages.push_back(sdk::language_name(l));
}

}  // namespace

abilities abilities_of(const session& s) {
  abilities all{s.properties.stored_dtypes, s.properties.computed_dtypes, {}, {}, {}, {}, {}, {}};
  const sdk::program_sets& whole = sdk::programs_in(every_dtype);
  for (const sdk::op_info& op : sdk::op_rows())
    all.operations.push_back(
        {op.name, set_at(s.offered.opcodes, op.opcode), set_at(whole.opcodes, op.opcode)});
  const char* const reductions[] = {"sum", "prod", "min", "max", "any", "all", "argmin", "argmax"};
  for (uint8_t r = TUTTI_REDUCE_SUM; r <= TUTTI_REDUCE_ARGMAX; ++r)
    all.reductions.push_back({reductions[r - TUTTI_REDUCE_SUM], set_at(s.offered.reductions, r),
                              set_at(whole.reductions, r)});
  add_operators(all, s);
  add_optional(all, s);
  return all;
}

}  // namespace tutti::conformance
