// SPDX-License-Identifier: Apache-2.0
#include "runtime/execute/described_operator.hpp"

#include <algorithm>
#include <cmath>

#include "plugin/support.hpp"

namespace tutti::runtime {
namespace {

using graph::node;

tutti_view_desc view_of(dtype type, const shape& extents, const shape& strides) {
  tutti_view_desc v{};
  v.dtype = static_cast<std::int32_t>(type);
  v.rank = static_cast<std::uint32_t>(extents.rank());
  for (int i = 0; i < extents.rank(); ++i) {
    v.extent[i] = static_cast<std::uint64_t>(extents[i]);
    v.stride[i] = strides[i];
  }
  return v;
}

// n without memory.
tutti_view_desc view_of(const node& n) { return view_of(n.type, n.extents, layout_of(n).strides); }

// `block` is null if there is no memory yet.
void add_operand(described_operator& call, const node& n, const buffer_block* block,
                 std::int64_t storage_offset) {
  call.views.push_back(view_of(n));
  const auto first = static_cast<std::uint64_t>(layout_of(n).offset + storage_offset);
  call.operands.push_back({block != nullptr ? block->handle() : nullptr, first * size_of(n.type)});
}

void add_input(described_operator& call, const node& input) {
  const node& base = graph::base_of(input);
  add_operand(call, input, block_of(base), base.storage_offset);
  call.inputs.push_back(&base);
}

// Rows of complex numbers are moved and added as rows of twice as many real ones.
void show_parts(tutti_view_desc& v) {
  const auto type = static_cast<dtype>(v.dtype);
  if (!is_complex(type)) return;
  v.dtype = static_cast<std::int32_t>(real_dtype(type));
  v.extent[2] *= 2;
  v.stride[0] *= 2;
  v.stride[1] *= 2;
}

// Complex numbers are multiplied as such, but moved and added as their parts.
bool is_by_parts(const graph::operator_params& p) {
  if (p.number() == TUTTI_OPERATOR_SCATTER)
    return p.get<tutti_scatter_params>().scatter != TUTTI_SCATTER_MULTIPLY;
  return p.number() == TUTTI_OPERATOR_TAKE || p.number() == TUTTI_OPERATOR_SCATTER_ADD;
}

void add_outputs(const node& n, std::span<const result> outputs, described_operator& call) {
  if (n.kind != graph::kind::call)
    return outputs.empty() ? add_operand(call, n, nullptr, 0)
                           : add_operand(call, n, outputs[0].block, outputs[0].offset);
  const auto& types = n.call().results->all();
  call.output_count = static_cast<std::uint32_t>(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto& [type, extents] = types[i];
    call.views.push_back(view_of(type, extents, graph::contiguous_strides(extents)));
    call.operands.push_back({outputs.empty() ? nullptr : outputs[i].block->handle(), 0});
  }
}

// The result of a convolution, [N,P0,P1,P2,G,O] in memory, as [N,G,O,P0,P1,P2].
void put_channels_first(tutti_view_desc& v) {
  static constexpr int from[] = {0, 4, 5, 1, 2, 3};
  const tutti_view_desc stored = v;
  for (int i = 0; i < 6; ++i) {
    v.extent[i] = stored.extent[from[i]];
    v.stride[i] = stored.stride[from[i]];
  }
}

// A bias of a product has one value for each column; that of a convolution one for each channel of
// the groups.
tutti_view_desc bias_view(const tutti_view_desc& given, const described_operator& call) {
  const tutti_view_desc& out = call.views.front();
  tutti_view_desc bias{};
  bias.dtype = given.dtype;
  if (call.what.number() == TUTTI_OPERATOR_MATMUL) {
    bias.rank = 3;
    std::copy(out.extent, out.extent + 3, bias.extent);
    bias.stride[2] = 1;
    return bias;
  }
  std::int64_t step = 0;
  for (std::uint32_t i = 0; i < given.rank; ++i)
    if (given.extent[i] > 1) step = given.stride[i];
  bias.rank = 2;
  std::copy(out.extent + 1, out.extent + 3, bias.extent);
  bias.stride[0] = static_cast<std::int64_t>(out.extent[2]) * step;
  bias.stride[1] = step;
  return bias;
}

template <class P>
void set_epilogue(graph::operator_params& what, const fusion::epilogue& e) {
  P p = what.get<P>();
  p.activation = e.activation;
  p.has_bias = e.bias != nullptr ? 1 : 0;
  what.set(p);
}

void set_epilogue(described_operator& call, const fusion::epilogue& e) {
  static constexpr const char* labels[] = {"matmul+bias", "matmul+relu", "matmul+bias+relu"};
  if (call.what.number() == TUTTI_OPERATOR_CONVOLUTION)  // its label is the public call
    return set_epilogue<tutti_convolution_params>(call.what, e);
  set_epilogue<tutti_matmul_params>(call.what, e);
  const bool relu = e.activation == TUTTI_ACTIVATION_RELU;
  call.what.rename(labels[e.bias == nullptr ? 1 : relu ? 2 : 0]);
}

template <class T>
void append(std::string& key, const T* values, std::size_t count) {
  key.append(reinterpret_cast<const char*>(values), count * sizeof(T));
}

}  // namespace

described_operator describe(const node& n, const fusion::epilogue* epilogue,
                            std::span<const result> outputs) {
  described_operator call(n.kind == graph::kind::call ? n.call().what : n.operation());
  add_outputs(n, outputs, call);
  if (call.what.channels_last) put_channels_first(call.views[0]);
  for (std::size_t i = n.is_scatter() ? 1 : 0; i < n.inputs.size(); ++i)
    add_input(call, *n.inputs[i]);
  if (is_by_parts(call.what))
    for (tutti_view_desc& v : call.views) show_parts(v);
  if (epilogue == nullptr) return call;
  set_epilogue(call, *epilogue);
  if (epilogue->bias == nullptr) return call;
  add_input(call, *epilogue->bias);
  call.views.back() = bias_view(call.views.back(), call);
  return call;
}

std::uint64_t flops_of(const described_operator& call) {
  const host::operator_row& row = call.what.row();
  if (row.number == TUTTI_OPERATOR_FFT) {
    // The usual count: 5 n log2 n for n complex numbers, half of it if one side is real.
    const auto p = call.what.get<tutti_fft_params>();
    const auto points = static_cast<double>(p.length);
    const auto lines = static_cast<double>(call.views[0].extent[0] * call.views[0].extent[2]);
    const double each = (p.fft == TUTTI_FFT_COMPLEX ? 5 : 2.5) * points * std::log2(points);
    return static_cast<std::uint64_t>(lines * each);
  }
  if (row.flops.empty()) return 0;
  const auto inputs = static_cast<std::uint32_t>(call.views.size()) - call.output_count;
  const host::present_views present = host::views_present(row, call.output_count, inputs);
  host::bound_extents extents;
  for (std::uint32_t i = 0; i < present.count; ++i)
    extents.bind(*present.views[i], call.views[i].rank, call.views[i].extent);
  return extents.product(row.flops);
}

tutti_operator_desc description_of(const described_operator& call) {
  return plugins::describe(call.what.number(), {call.views.data(), call.views.size()},
                           call.what.params(), call.output_count);
}

void write_key(const described_operator& call, std::string& key) {
  key.clear();
  append(key, &call.what.row().number, 1);
  append(key, call.what.bytes().data(), call.what.bytes().size());
  for (const tutti_view_desc& v : call.views) {
    append(key, &v.dtype, 1);
    append(key, &v.rank, 1);
    append(key, v.extent, v.rank);
    append(key, v.stride, v.rank);
  }
}

}  // namespace tutti::runtime
