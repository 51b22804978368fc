// SPDX-License-Identifier: Apache-2.0
#include "runtime/execute/operator_call.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <variant>

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

// `block` is null where there is no memory yet.
void add_operand(operator_call& call, const node& n, const buffer_block* block,
                 std::int64_t storage_offset) {
  call.views.push_back(view_of(n));
  const auto first = static_cast<std::uint64_t>(layout_of(n).offset + storage_offset);
  call.operands.push_back({block != nullptr ? block->handle() : nullptr, first * size_of(n.type)});
}

void add_input(operator_call& call, const node& input) {
  const node& base = graph::base_of(input);
  add_operand(call, input, block_of(base), base.storage_offset);
  call.inputs.push_back(&base);
}

// Rows of complex numbers move and add up as rows of twice as many real ones.
void show_parts(tutti_view_desc& v) {
  const auto type = static_cast<dtype>(v.dtype);
  if (!is_complex(type)) return;
  v.dtype = static_cast<std::int32_t>(real_dtype(type));
  v.extent[2] *= 2;
  v.stride[0] *= 2;
  v.stride[1] *= 2;
}

// Whose complex numbers must stay together.
bool multiplies(const node& n) {
  return n.scatter().number == TUTTI_OPERATOR_SCATTER && n.scatter().how == TUTTI_SCATTER_MULTIPLY;
}

// Fills in a call by the record of a node of kind operation.
class describer {
 public:
  describer(const node& n, operator_call& call) : node_(n), call_(call) {}

  void operator()(const graph::scan_params& p) const {
    set(TUTTI_OPERATOR_SCAN, "scan");
    call_.flops = static_cast<std::uint64_t>(node_.elements);
    call_.params.scan = {sizeof(tutti_scan_params), p.scan, p.exclusive, p.reverse, 0};
  }
  void operator()(const graph::sort_params& p) const {
    set(p.number, p.number == TUTTI_OPERATOR_SORT   ? "sort"
                  : p.number == TUTTI_OPERATOR_TOPK ? "topk"
                                                    : "argsort");
    call_.params.sort = {sizeof(tutti_sort_params), p.descending, 0};
  }
  void operator()(const graph::search_params& p) const {
    set(TUTTI_OPERATOR_SEARCH, "search");
    call_.params.search = {sizeof(tutti_search_params), p.right, 0};
  }
  void operator()(const graph::partition_params& p) const {
    set(TUTTI_OPERATOR_PARTITION, "partition");
    call_.params.partition = {sizeof(tutti_partition_params), static_cast<std::uint64_t>(p.kth)};
  }
  void operator()(const graph::count_params&) const {
    set(TUTTI_OPERATOR_COUNT, "count");
    call_.has_params = false;
  }
  void operator()(const graph::select_params&) const {
    set(TUTTI_OPERATOR_SELECT, "select");
    call_.has_params = false;
  }
  void operator()(const graph::matrix_params& p) const {
    set(p.number, p.label);
    call_.params.matrix = {sizeof(tutti_matrix_params), p.upper, p.transpose, p.unit_diagonal,
                           p.must_be_regular};
  }
  void operator()(const graph::convolution_params& p) const {
    set(TUTTI_OPERATOR_CONVOLUTION, p.label);
    tutti_convolution_params& c = call_.params.convolution;
    c = {};
    c.struct_size = sizeof c;
    std::copy(p.stride.begin(), p.stride.end(), c.stride);
    std::copy(p.dilation.begin(), p.dilation.end(), c.dilation);
    std::copy(p.input_dilation.begin(), p.input_dilation.end(), c.input_dilation);
    std::copy(p.padding.begin(), p.padding.end(), c.padding);
    c.flipped = p.flipped;
    const shape& w = node_.inputs[1]->extents;
    call_.flops = 2 * static_cast<std::uint64_t>(node_.elements) *
                  static_cast<std::uint64_t>(w.size() / (w[0] * w[1]));
  }
  void operator()(const graph::fft_params& p) const {
    set(TUTTI_OPERATOR_FFT, p.label);
    // As they are counted: 5 n log2 n for n complex numbers, half of it where one side is real.
    const auto points = static_cast<double>(p.length);
    const shape& out = node_.extents;
    const double lines = static_cast<double>(out[0]) * static_cast<double>(out[2]);
    const double each = (p.fft == TUTTI_FFT_COMPLEX ? 5 : 2.5) * points * std::log2(points);
    call_.flops = static_cast<std::uint64_t>(lines * each);
    call_.params.fft = {sizeof(tutti_fft_params), p.fft, p.inverse ? 1u : 0u,
                        static_cast<std::uint64_t>(p.length), p.scale};
  }
  void operator()(const graph::spmm_params& p) const {
    set(TUTTI_OPERATOR_SPMM, p.label);
    call_.has_params = false;
    const shape &values = node_.inputs[2]->extents, &out = node_.extents;
    call_.flops = 2 * static_cast<std::uint64_t>(values[0]) * static_cast<std::uint64_t>(out[1]);
  }
  void operator()(const graph::sddmm_params& p) const {
    set(TUTTI_OPERATOR_SDDMM, p.label);
    call_.has_params = false;
    const shape& a = node_.inputs[2]->extents;
    call_.flops = 2 * static_cast<std::uint64_t>(node_.elements) * static_cast<std::uint64_t>(a[1]);
  }

 private:
  void set(tutti_operator kind, const char* label) const {
    call_.kind = kind;
    call_.label = label;
    call_.has_params = true;
  }

  const node& node_;
  operator_call& call_;
};

void describe_scatter(const node& n, operator_call& call) {
  static constexpr const char* labels[] = {"scatter_set", "scatter_multiply", "scatter_min",
                                           "scatter_max"};
  const tutti_scatter how = n.scatter().how;
  call.kind = n.scatter().number;
  call.flops = static_cast<std::uint64_t>(n.inputs[1]->elements);
  call.label = "scatter_add";
  if (call.kind == TUTTI_OPERATOR_SCATTER_ADD) return;
  call.label = labels[how];
  call.params.scatter = {sizeof(tutti_scatter_params), how, 0};
  call.has_params = true;
}

void add_outputs(const node& n, std::span<const result> outputs, operator_call& call) {
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

bool has_channels_last(const node& n) {
  if (n.kind != graph::kind::operation) return false;
  const auto* convolution = std::get_if<graph::convolution_params>(&n.operation());
  return convolution != nullptr && convolution->channels_last;
}

// A bias of one value for each column, over all of a product; of a convolution one for each channel
// of the groups.
tutti_view_desc bias_view(const tutti_view_desc& given, const operator_call& call) {
  const tutti_view_desc& out = call.views.front();
  tutti_view_desc bias{};
  bias.dtype = given.dtype;
  if (call.kind == TUTTI_OPERATOR_MATMUL) {
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

void set_epilogue(operator_call& call, const fusion::epilogue& e) {
  static constexpr const char* labels[] = {"matmul+bias", "matmul+relu", "matmul+bias+relu"};
  const bool relu = e.activation == TUTTI_ACTIVATION_RELU;
  const std::uint32_t has_bias = e.bias != nullptr ? 1 : 0;
  if (call.kind == TUTTI_OPERATOR_CONVOLUTION) {  // whose label is the public call
    call.params.convolution.activation = e.activation;
    call.params.convolution.has_bias = has_bias;
    return;
  }
  call.label = labels[has_bias == 0 ? 1 : relu ? 2 : 0];
  call.params.matmul = {sizeof(tutti_matmul_params), e.activation, has_bias};
  call.has_params = true;
}

template <class T>
void append(std::string& key, const T* values, std::size_t count) {
  key.append(reinterpret_cast<const char*>(values), count * sizeof(T));
}

}  // namespace

operator_call describe(const node& n, std::span<const result> outputs) {
  operator_call call;
  switch (n.kind) {
    case graph::kind::matmul:
      call.kind = TUTTI_OPERATOR_MATMUL;
      call.label = "matmul";
      call.flops = 2 * static_cast<std::uint64_t>(n.elements) *
                   static_cast<std::uint64_t>(n.inputs[0]->extents[2]);
      break;
    case graph::kind::take:
      call.kind = TUTTI_OPERATOR_TAKE;
      call.label = "take";
      break;
    case graph::kind::operation:
      std::visit(describer(n, call), n.operation());
      break;
    case graph::kind::call:
      std::visit(describer(n, call), n.call().what);
      break;
    default:
      describe_scatter(n, call);
  }
  add_outputs(n, outputs, call);
  if (has_channels_last(n)) put_channels_first(call.views[0]);
  const bool scatters = n.kind == graph::kind::scatter;  // into a copy of its first input
  for (std::size_t i = scatters ? 1 : 0; i < n.inputs.size(); ++i) add_input(call, *n.inputs[i]);
  const bool as_parts = scatters ? !multiplies(n) : n.kind == graph::kind::take;
  if (as_parts)
    for (tutti_view_desc& v : call.views) show_parts(v);
  return call;
}

void add_epilogue(operator_call& call, const fusion::epilogue& e) {
  set_epilogue(call, e);
  if (e.bias == nullptr) return;
  add_input(call, *e.bias);
  call.views.back() = bias_view(call.views.back(), call);
}

operator_call product_with(const fusion::epilogue& e) {
  const node& product = *e.members.front();
  operator_call call;
  if (product.kind == graph::kind::matmul)
    call.kind = TUTTI_OPERATOR_MATMUL;
  else
    std::visit(describer(product, call), product.operation());
  call.views = {view_of(product), view_of(*product.inputs[0]), view_of(*product.inputs[1])};
  if (has_channels_last(product)) put_channels_first(call.views[0]);
  set_epilogue(call, e);
  if (e.bias != nullptr) call.views.push_back(bias_view(view_of(*e.bias), call));
  return call;
}

tutti_operator_desc description_of(const operator_call& call) {
  return detail::describe(call.kind, {call.views.data(), call.views.size()},
                          call.has_params ? &call.params : nullptr, call.output_count);
}

void write_key(const operator_call& call, std::string& key) {
  key.clear();
  append(key, &call.kind, 1);
  if (call.has_params) {
    std::uint64_t bytes = 0;  // the first member of every params struct
    std::memcpy(&bytes, &call.params, sizeof bytes);
    append(key, reinterpret_cast<const char*>(&call.params), bytes);
  }
  for (const tutti_view_desc& v : call.views) {
    append(key, &v.dtype, 1);
    append(key, &v.rank, 1);
    append(key, v.extent, v.rank);
    append(key, v.stride, v.rank);
  }
}

}  // namespace tutti::runtime
