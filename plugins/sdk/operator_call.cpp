// SPDX-License-Identifier: Apache-2.0
//
// Detects features of a description that this version does not know, for all operators.
#include "sdk/operator_call.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <tuple>

#include "sdk/status.hpp"
#include "sdk/validate_operator.hpp"
#include "semantics/operator_rows.hpp"

namespace tutti::sdk {
namespace {

bool all_zero(const void* from, uint64_t begin, uint64_t end) {
  const auto* bytes = static_cast<const unsigned char*>(from);
  return begin >= end ||
         std::all_of(bytes + begin, bytes + end, [](unsigned char b) { return b == 0; });
}

// Element `number` of an array with a stride of `size` bytes, at full size.
template <typename T>
T element(const T* array, uint64_t number, uint64_t size) {
  T mine{};
  std::memcpy(static_cast<void*>(&mine), reinterpret_cast<const std::byte*>(array) + number * size,
              std::min<uint64_t>(sizeof mine, size));
  return mine;
}

const std::byte* view_at(const tutti_operator_desc& d, uint32_t number) {
  return reinterpret_cast<const std::byte*>(d.views) + number * d.view_size;
}

const char* against_view(const tutti_view_desc& v, uint32_t number, const tutti_operator_desc& d) {
  if (!all_zero(view_at(d, number), sizeof v, d.view_size))
    return "a view has a field that this plugin does not know";
  return nullptr;
}

tutti_view view_of(const tutti_view_desc& v) {
  tutti_view result{};
  result.dtype = v.dtype;
  result.rank = v.rank;
  std::copy(v.extent, v.extent + TUTTI_MAX_RANK, result.extent);
  std::copy(v.stride, v.stride + TUTTI_MAX_RANK, result.stride);
  return result;
}

}  // namespace

static_assert(most_operands == std::tuple_size_v<decltype(host::operator_row::views)>);

owned_operator::owned_operator(const tutti_operator_desc* given, const char*& against) {
  const tutti_operator_desc d = read_struct(given, "operator description");
  kind_ = d.kind;
  const host::operator_row* const row = host::find_operator(d.kind);
  const char* const name = row == nullptr ? nullptr : row->name;
  against = row == nullptr ? "an operator that this plugin does not know" : nullptr;
  if (!all_zero(given, sizeof d, given->struct_size) || d.reserved != 0)
    against = "the description has a field that this plugin does not know";
  if (against != nullptr) return;
  const auto count = uint64_t{d.output_count} + d.input_count;
  if (d.output_count < 1 || d.output_count > row->outputs || count > most_operands ||
      d.views == nullptr) {
    throw_invalid(name, ": ", d.output_count, " outputs and ", d.input_count, " inputs",
                  d.views == nullptr ? ", views are NULL" : "");
  }
  if (d.view_size < sizeof(uint64_t)) throw_invalid(name, ": view_size is ", d.view_size);
  output_count_ = d.output_count;
  for (uint32_t n = 0; n < count; ++n) {
    const tutti_view_desc v = element(d.views, n, d.view_size);
    if ((against = against_view(v, n, d)) != nullptr) return;
    views_.push_back(view_of(v));
  }
  if (d.params == nullptr) return;
  uint64_t size = 0;  // the first member of every params struct
  std::memcpy(&size, d.params, sizeof size);
  if (size < sizeof size) throw_invalid(name, ": struct_size of the parameters is ", size);
  const uint64_t known = std::max<uint64_t>(row->known_params, sizeof size);
  if (!all_zero(d.params, known, size)) {
    against = "the parameters have a field that this plugin does not know";
    return;
  }
  // The rest is zero, which is the default.
  size = std::min(size, known);
  params_.resize((size + sizeof(std::max_align_t) - 1) / sizeof(std::max_align_t));
  std::memcpy(params_.data(), d.params, size);
  std::memcpy(params_.data(), &size, sizeof size);
}

operator_memory read_launch(const tutti_operator_launch* given, const operator_call& call) {
  const tutti_operator_launch l = read_struct(given, "operator launch");
  const std::string name = operator_name(call.kind);
  if (l.operand_count != call.view_count || l.operands == nullptr) {
    throw_invalid(name, ": ", l.operand_count, " operands",
                  l.operands == nullptr ? ", which are NULL" : "", ", the plan has ",
                  call.view_count);
  }
  if (l.operand_size < sizeof(uint64_t)) throw_invalid(name, ": operand_size is ", l.operand_size);
  operator_memory memory{{}, l.workspace, l.workspace_bytes};
  for (uint32_t n = 0; n < l.operand_count; ++n)
    memory.operands[n] = element(l.operands, n, l.operand_size);
  return memory;
}

}  // namespace tutti::sdk
