// SPDX-License-Identifier: Apache-2.0
//
// Operators that are not fused programs, and their fallback.
#include <algorithm>
#include <boost/container/small_vector.hpp>
#include <cmath>
#include <cstring>
#include <variant>
#include <vector>

#include "base/trace.hpp"
#include "plugin/proof/proof.hpp"
#include "plugin/support.hpp"
#include "runtime/execute/fallback.hpp"

namespace tutti::runtime {
namespace {

using graph::node;

union parameters {
  tutti_matmul_params matmul;
  tutti_scan_params scan;
  tutti_sort_params sort;
  tutti_search_params search;
  tutti_partition_params partition;
  tutti_scatter_params scatter;
  tutti_matrix_params matrix;
  tutti_fft_params fft;
};

struct operator_call {
  tutti_operator kind;
  const char* label;
  boost::container::small_vector<tutti_view_desc, 4> views;  // outputs first
  boost::container::small_vector<tutti_range, 4> operands;   // their memory
  boost::container::small_vector<const node*, 4> inputs;     // whose storage the last views show
  std::uint32_t output_count = 1;
  std::uint64_t flops = 0;
  parameters params{};
  bool has_params = false;
};

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

void add_operand(operator_call& call, const node& n, const buffer_block& block,
                 std::int64_t storage_offset) {
  call.views.push_back(view_of(n));
  const auto first = static_cast<std::uint64_t>(layout_of(n).offset + storage_offset);
  call.operands.push_back({block.handle(), first * size_of(n.type)});
}

// A bias of one value for each column, over all of the product.
tutti_view_desc over_rows(tutti_view_desc bias, const tutti_view_desc& product) {
  bias.rank = 3;
  std::copy(product.extent, product.extent + 3, bias.extent);
  bias.stride[0] = bias.stride[1] = 0;
  bias.stride[2] = 1;
  return bias;
}

tutti_matmul_params params_of(const fusion::epilogue& e) {
  return {sizeof(tutti_matmul_params), e.activation, e.bias != nullptr ? 1u : 0u};
}

void add_input(operator_call& call, const node& input) {
  const node& base = graph::base_of(input);
  add_operand(call, input, *block_of(base), base.storage_offset);
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
    return add_operand(call, n, *outputs[0].block, outputs[0].offset);
  const auto& types = n.call().results->all();
  call.output_count = static_cast<std::uint32_t>(types.size());
  for (std::size_t i = 0; i < types.size(); ++i) {
    const auto& [type, extents] = types[i];
    call.views.push_back(view_of(type, extents, graph::contiguous_strides(extents)));
    call.operands.push_back({outputs[i].block->handle(), 0});
  }
}

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
  const bool scatters = n.kind == graph::kind::scatter;  // into a copy of its first input
  for (std::size_t i = scatters ? 1 : 0; i < n.inputs.size(); ++i) add_input(call, *n.inputs[i]);
  const bool as_parts = scatters ? !multiplies(n) : n.kind == graph::kind::take;
  if (as_parts)
    for (tutti_view_desc& v : call.views) show_parts(v);
  return call;
}

void add_epilogue(operator_call& call, const fusion::epilogue& e) {
  static constexpr const char* labels[] = {"matmul+bias", "matmul+relu", "matmul+bias+relu"};
  const bool relu = e.activation == TUTTI_ACTIVATION_RELU;
  call.label = labels[e.bias == nullptr ? 1 : relu ? 2 : 0];
  call.params.matmul = params_of(e);
  call.has_params = true;
  if (e.bias == nullptr) return;
  add_input(call, *e.bias);
  call.views.back() = over_rows(call.views.back(), call.views.front());
}

tutti_operator_desc description_of(const operator_call& call) {
  return detail::describe(call.kind, {call.views.data(), call.views.size()},
                          call.has_params ? &call.params : nullptr, call.output_count);
}

template <class T>
void append(std::string& key, const T* values, std::size_t count) {
  key.append(reinterpret_cast<const char*>(values), count * sizeof(T));
}

// All that a plan depends on.
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

// True where the operator runs on the host for now: nobody need vouch for kernels then, until they
// are compiled.
bool begin_on_host(const device_context& context, const operator_call& call,
                   const tutti_operator_desc& desc, cached_plan& made) {
  const detail::opened_device& device = context.device;
  const detail::plugin& plugin = *device.plugin;
  made.handle = detail::create_plan(device, desc, call.label);
  if (plugin.tier.plan_is_on_host(made.handle.get()) == 0) {
    made.handle = nullptr;
    return false;
  }
  detail::check(plugin.op.workspace(made.handle.get(), &made.workspace_bytes), device, "plan",
                call.label);
  made.on_host = std::make_unique<promotion>();
  made.on_host->device = &device;
  if (const auto family = detail::family_of(desc)) made.on_host->families = {*family};
  made.on_host->label = call.label;
  made.on_host->plan = made.handle;
  return true;
}

std::unique_ptr<cached_plan> prepare(const device_context& context, const operator_call& call) {
  const detail::plugin& plugin = *context.device.plugin;
  const tutti_operator_desc desc = description_of(call);
  auto made = std::make_unique<cached_plan>();
  std::int32_t support = TUTTI_SUPPORT_NO;
  const char* reason = nullptr;
  detail::check(plugin.op.supports(context.device.handle, &desc, &support, &reason), context.device,
                "ask for", call.label);
  if (support == TUTTI_SUPPORT_NO) {
    made->refusal = reason != nullptr ? reason : "no reason given";
    return made;
  }
  if (context.device.begins_on_host && begin_on_host(context, call, desc, *made)) return made;
  if (const detail::family_fault* off = detail::switched_off(context.device, desc)) {
    made->refusal = off->family + ": " + off->why;
    made->is_switched_off = true;
    return made;
  }
  try {
    made->handle = detail::create_plan(context.device, desc, call.label);
  } catch (const device_error& e) {  // known only once it was to be compiled
    if (e.code() != TUTTI_ERROR_UNSUPPORTED) throw;
    made->refusal = e.what();
    return made;
  }
  detail::check(plugin.op.workspace(made->handle.get(), &made->workspace_bytes), context.device,
                "plan", call.label);
  return made;
}

cached_plan& plan_of(device_context& context, const operator_call& call) {
  write_key(call, context.plan_key);
  return context.plan([&] { return prepare(context, call); });
}

std::uint64_t bytes_moved(const operator_call& call) {
  std::uint64_t total = 0;
  for (const tutti_view_desc& v : call.views) {
    std::uint64_t n = size_of(static_cast<dtype>(v.dtype));
    for (std::uint32_t i = 0; i < v.rank; ++i)
      if (v.stride[i] != 0) n *= v.extent[i];
    total += n;
  }
  return total;
}

std::uint64_t enqueue(device_context& context, const operator_call& call, const cached_plan& plan) {
  const detail::plugin& plugin = *context.device.plugin;
  tutti_operator_launch arguments{};
  arguments.struct_size = sizeof arguments;
  arguments.operand_size = sizeof(tutti_range);
  arguments.operand_count = static_cast<std::uint32_t>(call.operands.size());
  arguments.operands = call.operands.data();
  buffer_block* workspace = nullptr;
  if (plan.workspace_bytes > 0) {
    workspace = context.allocate(plan.workspace_bytes);
    workspace->last_use = context.next_sequence();
    arguments.workspace.buffer = workspace->handle();
    arguments.workspace_bytes = plan.workspace_bytes;
  }
  tutti_event* event = nullptr;
  tutti_status* status =
      plugin.op.launch(context.compute.get(), plan.handle.get(), &arguments, &event);
  if (workspace != nullptr) workspace->release();
  detail::check(status, context.device, "launch", call.label);
  if (plan.on_host != nullptr) plan.on_host->consider();
  return context.enqueued(event, call.label, detail::trace_enabled() ? bytes_moved(call) : 0,
                          call.flops);
}

// Elements of a view span this many bytes from its offset (strides here are never negative).
std::uint64_t span_bytes(const tutti_view_desc& v) {
  std::uint64_t last = 0;
  for (std::uint32_t i = 0; i < v.rank; ++i)
    last += (v.extent[i] - 1) * static_cast<std::uint64_t>(v.stride[i]);
  return (last + 1) * size_of(static_cast<dtype>(v.dtype));
}

void run_on_reference(device_context& context, operator_call call, std::uint64_t base) {
  device_context& reference = context.fallback();
  wait_for_inputs(context, {call.inputs.data(), call.inputs.size()}, base);
  const auto here = call.operands;
  const bool updates =
      call.kind == TUTTI_OPERATOR_SCATTER_ADD || call.kind == TUTTI_OPERATOR_SCATTER;
  reference_blocks blocks(reference);
  for (std::size_t i = 0; i < here.size(); ++i) {
    const std::uint64_t bytes = span_bytes(call.views[i]);
    call.operands[i] = {blocks.add(bytes).handle(), 0};
    if (i < call.output_count && !updates) continue;
    copy_bytes({context, here[i].buffer, here[i].offset}, {reference, call.operands[i].buffer, 0},
               bytes, call.label);
  }
  const cached_plan& plan = plan_of(reference, call);
  if (plan.handle == nullptr)
    throw device_error(std::string(call.label) + ": " + reference.device.title +
                           " does not support it (" + plan.refusal + ")",
                       TUTTI_ERROR_UNSUPPORTED, 0, false, reference.device.name);
  const std::uint64_t sequence = enqueue(reference, call, plan);
  reference.settle();
  reference.check_health(sequence);
  for (std::size_t i = 0; i < call.output_count; ++i)
    copy_bytes({reference, call.operands[i].buffer, 0}, {context, here[i].buffer, here[i].offset},
               span_bytes(call.views[i]), call.label);
}

}  // namespace

bool supports_epilogue(const fusion::epilogue& e) {
  const node& product = *e.members.front();
  operator_call call;
  call.kind = TUTTI_OPERATOR_MATMUL;
  call.views = {view_of(product), view_of(*product.inputs[0]), view_of(*product.inputs[1])};
  if (e.bias != nullptr) call.views.push_back(over_rows(view_of(*e.bias), call.views[0]));
  call.params.matmul = params_of(e);
  call.has_params = true;
  return detail::supports(*product.device, description_of(call));
}

std::uint64_t launch_operator(device_context& context, const fusion::group& g,
                              std::span<const result> outputs, std::uint64_t base) {
  operator_call call = describe(*g.members.front(), outputs);
  if (g.epilogue != nullptr) add_epilogue(call, *g.epilogue);
  const std::uint64_t sequence = context.next_sequence();
  for (const node* input : call.inputs) {
    context.prepare_input(*input);
  }
  for (const result& out : outputs) out.block->last_use = sequence;
  const cached_plan& plan = plan_of(context, call);
  std::string why = plan.refusal;
  if (plan.handle != nullptr) {
    try {
      return enqueue(context, call, plan);
    } catch (const device_error& e) {  // a kernel that was compiled only now
      if (e.code() != TUTTI_ERROR_UNSUPPORTED) throw;
      why = e.what();
    }
  }
  announce_fallback(context, call.label, why, plan.is_switched_off);
  run_on_reference(context, std::move(call), base);
  return 0;  // it is there already, whatever became of other work on the stream
}

}  // namespace tutti::runtime
