// SPDX-License-Identifier: Apache-2.0
//
// Fused groups, copies and their memory.
#include "runtime/execute/launch.hpp"

#include <algorithm>

#include "base/compile_progress.hpp"
#include "base/counters.hpp"
#include "base/trace.hpp"
#include "graph/build.hpp"
#include "runtime/execute/compile_ahead.hpp"
#include "runtime/execute/fallback.hpp"
#include "runtime/transfer/collectives.hpp"
#include "runtime/transfer/copy_engine.hpp"

namespace tutti::runtime {
namespace {

using fusion::group;
using fusion::lowered;
using fusion::plan;
using graph::node;

// References to inputs that end when the group has run: those of stored members, which drop their
// inputs, and of inner members without references from outside of the group.
class dying_edges {
 public:
  explicit dying_edges(const group& g) : group_(g), vanishes_(g.members.size(), 0) {
    // From those members to a member, found by the order in which members stand.
    boost::container::small_vector<std::uint32_t, 16> edges(g.members.size(), 0);
    for (std::size_t i = g.members.size(); i-- > 0;) {
      const node* m = g.members[i];
      const bool is_output = std::find(g.outputs.begin(), g.outputs.end(), m) != g.outputs.end();
      vanishes_[i] = !m->is_traced() && (is_output || m->references.load() == edges[i]);
      if (!vanishes_[i]) continue;
      for (const auto& in : m->inputs) {
        const auto before = g.members.begin() + static_cast<std::ptrdiff_t>(i);
        const auto found = std::lower_bound(
            g.members.begin(), before, in.get(),
            [](const node* member, const node* input) { return member->mark < input->mark; });
        if (found != before && *found == in.get())
          ++edges[static_cast<std::size_t>(found - g.members.begin())];
      }
    }
  }

  std::uint32_t count(const node* input) const {
    std::uint32_t edges = 0;
    for (std::size_t i = 0; i < group_.members.size(); ++i) {
      if (!vanishes_[i]) continue;
      for (const auto& in : group_.members[i]->inputs) edges += in.get() == input ? 1 : 0;
    }
    return edges;
  }

 private:
  const group& group_;
  boost::container::small_vector<char, 16> vanishes_;
};

std::uint32_t edges_to(const node& input, const group& g) {
  std::uint32_t edges = 0;
  for (const node* m : g.members)
    for (const auto& in : m->inputs) edges += in.get() == &input ? 1 : 0;
  return edges;
}

// The storage of an input whose last reader is this kernel and that has exactly the size of the
// output.
const node* reusable_input(const lowered& program, const group& g, const node& output) {
  for (const fusion::operand& x : program.inputs) {
    const node& in = *x.source;
    if (in.is_traced() || in.type == dtype::boolean || size_of(in.type) != size_of(output.type) ||
        !(in.extents == output.extents) || in.storage == nullptr || block_of(in)->is_shared() ||
        in.references.load() > edges_to(in, g) || in.references.load() != dying_edges(g).count(&in))
      continue;
    const auto same_block = [&](const fusion::operand& other) {
      return other.source->storage == in.storage;
    };
    if (std::count_if(program.inputs.begin(), program.inputs.end(), same_block) == 1) return &in;
  }
  return nullptr;
}

void launch_lowered(device_context& context, const planned_group& where, const lowered& program) {
  const group& g = where.group;
  pending_results results;
  const node* taken = nullptr;
  for (const fusion::operand& x : program.outputs) {
    node* target = const_cast<node*>(x.source);
    const node* reuse = nullptr;
    if (g.reduction == nullptr && taken == nullptr)
      reuse = taken = reusable_input(program, g, *target);
    if (reuse != nullptr) {
      reuse->storage->retain();
      results.add(target, block_of(*reuse), reuse->storage_offset);
    } else {
      results.add(target, context.allocate(bytes_of(*target)));
    }
  }
  const std::uint64_t sequence = launch_program(context, program, results.all(), &where);
  results.publish_all(sequence, context.take_awaited());
}

void launch_fused(device_context& context, const plan& p, const group& g) {
  if (g.kept != nullptr)
    if (const lowered* const known = g.kept->of(p, g))
      return launch_lowered(context, {p, g, g.kept}, *known);
  launch_lowered(context, {p, g}, fusion::lower(p, g, g.kept));
}

// n's result, initialised with its first input: that input's own memory if n is its last reader,
// otherwise a copy. Returns the sequence number after which it is available.
std::uint64_t start_from_base(device_context& context, node& n, pending_results& results) {
  const node& base = *n.inputs[0];
  const bool take_over = !base.is_constant() && !base.is_view() && !n.is_traced() &&
                         !base.is_traced() && base.references.load() == 1 &&
                         !block_of(base)->is_shared();
  if (take_over) {
    context.prepare_input(base);  // it may still be in transfer
    base.storage->retain();
    results.add(&n, block_of(base), base.storage_offset);
    return base.sequence;
  }
  results.add(&n, context.allocate(bytes_of(n)));
  const graph::layout where{0, graph::contiguous_strides(n.extents)};
  const lowered program = fusion::lower_copy(base, base.extents, n.type, where);
  return program.points() > 0 ? launch_program(context, program, results.all()) : 0;
}

constexpr std::int64_t small_part = 16384;  // elements

// The number of n's inputs from `first` on that are small and similar, so that one launch copies
// them.
std::size_t alike_parts(const device_context& context, const node& n, std::size_t first) {
  constexpr std::size_t together = 4;  // only this number: each number needs a separate program
  const tutti_device_properties& limits = context.device.limits;
  const node& part = *n.inputs[first];
  constexpr int most_dimensions = 4;  // more would exceed the arguments of some devices
  if (n.inputs.size() - first < together || part.elements > small_part ||
      n.extents.rank() > most_dimensions ||
      std::min(limits.max_inputs, limits.max_outputs) < together)
    return 1;
  for (std::size_t i = 0; i < together; ++i) {
    const node& other = *n.inputs[first + i];
    if (other.is_constant() || !(other.extents == part.extents)) return 1;
  }
  return together;
}

// Whether to copy a part to `where` as bytes: a CPU needs less time for it than for a program.
bool is_short_run(const device_context& context, const node& part, const graph::layout& where,
                  int axis) {
  return context.device.limits.type == TUTTI_DEVICE_CPU && !part.is_constant() &&
         part.elements <= small_part && part.elements == part.extents[axis] * where.strides[axis] &&
         graph::is_contiguous(part.extents, layout_of(part).strides);
}

// `from` and `to`: offsets in bytes.
tutti_event* copy_in_stream(device_context& context, const buffer_block& source, std::uint64_t from,
                            const buffer_block& target, std::uint64_t to, std::uint64_t bytes,
                            bool with_event) {
  tutti_event* event = nullptr;
  plugins::check(context.device.plugin->transfer.copy(context.compute.get(), source.handle(), from,
                                                      target.handle(), to, bytes,
                                                      with_event ? &event : nullptr),
                 context.device, "copy", "concatenate");
  return event;
}

void copy_run(device_context& context, const node& part, const result& to, std::int64_t offset) {
  const node& base = graph::base_of(part);
  const std::uint64_t size = size_of(part.type);
  context.prepare_input(base);
  to.block->last_use = context.next_sequence();
  copy_in_stream(context, *block_of(base),
                 static_cast<std::uint64_t>(base.storage_offset + layout_of(part).offset) * size,
                 *to.block, static_cast<std::uint64_t>(to.offset + offset) * size,
                 static_cast<std::uint64_t>(part.elements) * size, false);
}

// Launches the copies of n's parts to `to`. `is_open`: whether copies follow the last event.
std::uint64_t start_parts(device_context& context, const node& n, const result& to, bool& is_open) {
  const int axis = n.concatenation().axis;
  std::uint64_t sequence = 0;
  graph::layout where{0, graph::contiguous_strides(n.extents)};
  for (std::size_t first = 0; first < n.inputs.size();) {
    const node& like = *n.inputs[first];
    if (is_short_run(context, like, where, axis)) {
      copy_run(context, like, to, where.offset);
      is_open = true;
      where.offset += like.elements;
      ++first;
      continue;
    }
    const std::size_t count = alike_parts(context, n, first);
    boost::container::small_vector<const node*, 4> parts;
    boost::container::small_vector<graph::layout, 4> places;
    for (std::size_t i = first; i < first + count; ++i) {
      parts.push_back(n.inputs[i].get());
      places.push_back(where);
      where.offset += parts.back()->extents[axis] * where.strides[axis];
    }
    first += count;
    if (like.elements == 0) continue;
    const lowered program =
        fusion::lower_copies({parts.data(), count}, like.extents, n.type, {places.data(), count});
    const boost::container::small_vector<result, 4> targets(count, to);
    sequence = launch_program(context, program, {targets.data(), count});
    if (sequence != 0) is_open = false;
  }
  return sequence;
}

std::uint64_t join_parts(device_context& context, node& n, pending_results& results) {
  results.add(&n, context.allocate(bytes_of(n)));
  const result to = results.all()[0];
  bool is_open = false;
  // The event of an empty copy, as a recorded one would also tell of failures of earlier work.
  const auto close = [&] {
    tutti_event* const event = copy_in_stream(context, *to.block, 0, *to.block, 0, 0, true);
    return context.enqueued(event, "concatenate", 0, 0);
  };
  try {
    const std::uint64_t sequence = start_parts(context, n, to, is_open);
    return is_open ? close() : sequence;
  } catch (...) {
    if (is_open) close();  // the memory of what is copied is in use until then
    throw;
  }
}

void launch_copies(device_context& context, node& n) {
  pending_results results;
  std::uint64_t sequence = 0;
  if (n.kind == graph::kind::concatenate) {
    sequence = join_parts(context, n, results);
  } else {
    sequence = start_from_base(context, n, results);
    const node& update = *n.inputs[1];
    if (update.elements > 0) {
      const lowered program = fusion::lower_copy(update, update.extents, n.type, n.update().region);
      if (program.points() > 0) sequence = launch_program(context, program, results.all());
    }
  }
  results.publish_all(sequence, context.take_awaited());
}

void launch_transfer(device_context& context, node& n) {
  const node& input = *n.inputs[0];
  const node& base = graph::base_of(input);
  device_context& from = context_of(*base.device);
  from.check_health(base.sequence);
  pending_results results;
  results.add(&n, context.allocate_idle(bytes_of(n)));
  copy_request request;
  request.from = &from;
  request.to = &context;
  request.source = block_of(base);
  request.target = results.all()[0].block;
  request.source_offset =
      static_cast<std::uint64_t>(base.storage_offset + layout_of(input).offset) * size_of(n.type);
  request.bytes = bytes_of(n);
  request.ready = from.event_of(base.sequence);
  request.producer = from.label_of(base.sequence);
  merge(request.upstream, base.arriving);
  request.time_limit = n.transfer().time_limit;
  request.label = n.transfer().label;
  from.flush();  // so that waiting for the copy does not require the end of this evaluation
  results.publish_all(0, {start_copy(std::move(request))});
}

// The call first: from then on it counts as done.
void launch_call(device_context& context, const planned_group& where) {
  const group& g = where.group;
  node& call = *g.members.front();
  pending_results results;
  std::size_t index = 0;
  for (const auto& [type, extents] : call.call().results->all()) {
    const auto mine = std::find_if(g.outputs.begin(), g.outputs.end(),
                                   [&](const node* n) { return n->result().index == index; });
    const auto bytes = static_cast<std::uint64_t>(extents.size()) * size_of(type);
    results.add(mine != g.outputs.end() ? *mine : nullptr, context.allocate(bytes));
    ++index;
  }
  const std::uint64_t sequence = launch_operator(context, where, results.all(), 0);
  results.publish_all(sequence, context.take_awaited());
  call.ready.store(true, std::memory_order_release);
}

tutti_operand bound(const fusion::operand& x, const buffer_block& block, std::int64_t offset) {
  tutti_operand o;
  o.buffer = block.handle();
  o.offset = static_cast<std::uint64_t>(offset + x.offset) * size_of(x.type);
  std::copy(x.stride, x.stride + max_rank, o.stride);
  return o;
}

std::uint64_t bytes_moved(const lowered& program) {
  const auto bytes = [&](const fusion::operand& x) {
    std::uint64_t n = size_of(x.type);
    for (int i = 0; i < program.kept_rank + program.reduced_rank; ++i)
      if (x.stride[i] != 0) n *= program.extent[i];
    return n;
  };
  std::uint64_t total = 0;
  for (const fusion::operand& x : program.inputs) total += bytes(x);
  for (const fusion::operand& x : program.outputs) total += bytes(x);
  return total;
}

}  // namespace

std::unique_ptr<cached_program> compile(const device_context& context, const lowered& program) {
  auto made = std::make_unique<cached_program>();
  made->label = program.label();
  made->flops = static_cast<std::uint32_t>(program.instructions.size()) +
                (program.reduction != TUTTI_REDUCE_NONE ? 1 : 0);
  const tutti_program_desc desc = program.desc(made->label.c_str());
  const base::compiler_wait waiting;
  try {
    made->refusal = plugins::why_unsupported(context.device, desc);
    if (made->refusal.empty()) made->handle = plugins::create_program(context.device, desc);
  } catch (const device_error& e) {
    if (e.code() != TUTTI_ERROR_UNSUPPORTED) throw;
    made->refusal = e.what();
  }
  return made;
}

void publish(const result& r, std::uint64_t sequence, const arrivals& arriving) {
  r.target->arriving = arriving;
  r.target->storage = r.block;
  r.target->storage_offset = r.offset;
  r.target->sequence = sequence;
  r.target->ready.store(true, std::memory_order_release);
}

tutti_event* start_program(device_context& context, const cached_program& code,
                           const lowered& program, std::span<const tutti_operand> operands) {
  tutti_program_launch arguments{};
  arguments.struct_size = sizeof arguments;
  arguments.operand_size = sizeof(tutti_operand);
  std::copy(program.extent, program.extent + max_rank, arguments.extent);
  arguments.inputs = operands.data();
  arguments.scalars = program.scalars.data();
  arguments.outputs = operands.data() + program.inputs.size();

  const plugins::plugin& plugin = *context.device.plugin;
  std::uint64_t workspace_bytes = 0;
  plugins::check(plugin.program.workspace(code.handle.get(), &arguments, &workspace_bytes),
                 context.device, "plan", code.label);
  buffer_block* workspace = nullptr;
  if (workspace_bytes > 0) {
    workspace = context.allocate(workspace_bytes);
    workspace->last_use = context.next_sequence();
    arguments.workspace = workspace->handle();
    arguments.workspace_bytes = workspace_bytes;
  }
  tutti_event* event = nullptr;
  tutti_status* status =
      plugin.program.launch(context.compute.get(), code.handle.get(), &arguments, &event);
  if (workspace != nullptr) workspace->release();
  plugins::check(status, context.device, "launch", code.label);
  return plugins::require_event(plugin.program.launch, event, context.device,
                                context.compute.get());
}

namespace {

cached_program& code_of(device_context& context, const lowered& program,
                        const planned_group* where) {
  fusion::kept_program* const kept = where != nullptr ? where->kept : nullptr;
  if (kept != nullptr && kept->code != nullptr &&
      kept->code_generation == context.generation_of_programs) {
    auto& code = *static_cast<cached_program*>(kept->code);
    base::count().memory_cache_hits.add();
    code.last_use = context.next_sequence();
    return code;
  }
  program.key(context.program_key);
  cached_program& code = context.cached(context.programs, context.program_key, [&] {
    std::unique_ptr<cached_program> ahead;
    if (where != nullptr && kept == nullptr) ahead = compile_ahead(context, *where);
    return ahead != nullptr ? std::move(ahead) : compile(context, program);
  });
  if (kept != nullptr) {
    kept->code = &code;
    kept->code_generation = context.generation_of_programs;
  }
  return code;
}

}  // namespace

std::uint64_t launch_program(device_context& context, const lowered& program,
                             std::span<const result> outputs, const planned_group* where) {
  cached_program& code = code_of(context, program, where);

  const std::uint64_t sequence = context.next_sequence();
  boost::container::small_vector<tutti_operand, 12> operands;
  for (const fusion::operand& x : program.inputs) {
    context.prepare_input(*x.source);
    operands.push_back(bound(x, *block_of(*x.source), x.source->storage_offset));
  }
  for (std::size_t i = 0; i < program.outputs.size(); ++i) {
    operands.push_back(bound(program.outputs[i], *outputs[i].block, outputs[i].offset));
    outputs[i].block->last_use = sequence;
  }
  if (code.handle == nullptr) {
    announce_fallback(context, code.label.c_str(), code.refusal);
    run_on_host(context, program, {operands.data(), operands.size()}, code.label.c_str());
    return 0;  // it is available, independently of other work on the stream
  }
  tutti_event* event = start_program(context, code, program, {operands.data(), operands.size()});
  const bool traced = base::trace_enabled();
  return context.enqueued(event, code.label.c_str(), traced ? bytes_moved(program) : 0,
                          traced ? program.points() * code.flops : 0);
}

void launch(const plan& p, const group& g) {
  node& first = *g.members.front();
  device_context& context = context_of(*first.device);
  context.take_awaited();  // those of a launch that failed
  if (g.fused) return launch_fused(context, p, g);
  if (first.kind == graph::kind::transfer) return launch_transfer(context, first);
  if (first.kind == graph::kind::collective) return launch_collective(first);
  if (first.kind == graph::kind::concatenate || first.kind == graph::kind::slice_update)
    return launch_copies(context, first);
  if (first.kind == graph::kind::call) return launch_call(context, {p, g});
  pending_results results;
  std::uint64_t base = 0;
  if (first.is_scatter())
    base = start_from_base(context, first, results);
  else
    results.add(g.outputs.front(), context.allocate(bytes_of(first)));
  const std::uint64_t sequence = launch_operator(context, {p, g}, results.all(), base);
  results.publish_all(sequence, context.take_awaited());
}

}  // namespace tutti::runtime
