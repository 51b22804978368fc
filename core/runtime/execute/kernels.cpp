// SPDX-License-Identifier: Apache-2.0
//
// Kernels of applications on a device's compute stream, and their functions on the host.
#include "runtime/execute/kernels.hpp"

#include <algorithm>
#include <utility>

#include "base/fail.hpp"
#include "base/process.hpp"
#include "base/trace.hpp"
#include "plugin/guarded.hpp"
#include "runtime/execute/device_locks.hpp"
#include "runtime/execute/fallback.hpp"
#include "tutti/error.hpp"

namespace tutti::runtime {
namespace {

using graph::node;

// ---- the host function, behind the C table

// One launch of a host function: the data passed to it.
struct host_launch {
  std::shared_ptr<const kernel_source> source;
  std::vector<kernel_host_call::field> inputs, outputs, scalars;
  shape global, local;
};

tutti_status* run_host(void* context, const tutti_host_kernel_call* call) {
  host_launch& launch = *static_cast<host_launch*>(context);
  try {
    std::size_t n = 0;
    for (auto* list : {&launch.inputs, &launch.outputs, &launch.scalars})
      for (kernel_host_call::field& f : *list) f.memory = call->arguments[n++];
    const kernel_host_call seen(launch.source->name, launch.inputs, launch.outputs, launch.scalars,
                                launch.global, launch.local);
    launch.source->host(seen);
    return nullptr;
  } catch (const std::bad_alloc&) {
    return plugins::new_status(TUTTI_ERROR_OUT_OF_MEMORY, "out of host memory");
  } catch (const std::exception& e) {
    return plugins::new_status(TUTTI_ERROR_INVALID_ARGUMENT, e.what());
  } catch (...) {
    return plugins::new_status(TUTTI_ERROR_INVALID_ARGUMENT,
                               "the host function threw what is no std::exception");
  }
}

plugins::kernel_handle make_host(const detail::opened_device& reference, const kernel_call& call) {
  auto launch = std::make_unique<host_launch>();
  launch->source = call.source;
  launch->global = call.global;
  launch->local = call.local;
  const auto add = [](auto& list, const node& n) {
    list.push_back({nullptr, static_cast<std::size_t>(n.elements), n.type});
  };
  for (const node* n : call.inputs) add(launch->inputs, *n);
  for (const node* n : call.outputs) add(launch->outputs, *n);
  for (const kernel_scalar& s : call.scalars) launch->scalars.push_back({nullptr, 1, s.dtype()});
  tutti_kernel_desc desc{};
  desc.struct_size = sizeof desc;
  desc.language = TUTTI_KERNEL_HOST;
  desc.label = call.source->name.c_str();
  desc.host = run_host;
  desc.host_context = launch.get();
  desc.host_release = [](void* context) { delete static_cast<host_launch*>(context); };
  plugins::kernel_handle made = plugins::create_kernel(reference, desc);
  static_cast<void>(launch.release());
  return made;
}

// ---- languages of a device

struct chosen_source {
  tutti_kernel_language language;
  std::string_view text;  // or the bytes of a module
  const char* options;
};

std::uint32_t languages_of(const detail::opened_device& device) {
  std::uint32_t taken = 0;
  if (device.plugin->has_kernel)
    plugins::check(device.plugin->kernel.languages(device.handle, &taken), device,
                   "ask for languages of kernels");
  return taken;
}

bool takes(std::uint32_t languages, tutti_kernel_language one) {
  return (languages & TUTTI_KERNEL_LANGUAGE_BIT(one)) != 0;
}

// The available sources, in the order of preference.
std::vector<chosen_source> sources_of(const kernel_source& s) {
  const std::string_view module(reinterpret_cast<const char*>(s.spirv.data()),
                                s.spirv.size() * sizeof(std::uint32_t));
  std::vector<chosen_source> all = {{TUTTI_KERNEL_OPENCL_C, s.opencl, s.opencl_options.c_str()},
                                    {TUTTI_KERNEL_CUDA_CXX, s.cuda, s.cuda_options.c_str()},
                                    {TUTTI_KERNEL_PTX, s.ptx, ""},
                                    {TUTTI_KERNEL_SPIRV, module, s.spirv_options.c_str()}};
  std::erase_if(all, [](const chosen_source& one) { return one.text.empty(); });
  return all;
}

std::optional<chosen_source> choose(const kernel_source& s, std::uint32_t languages) {
  for (const chosen_source& one : sources_of(s))
    if (takes(languages, one.language)) return one;
  return std::nullopt;
}

constexpr std::pair<tutti_kernel_language, const char*> language_names[] = {
    {TUTTI_KERNEL_OPENCL_C, "OpenCL C"},
    {TUTTI_KERNEL_CUDA_CXX, "CUDA C++"},
    {TUTTI_KERNEL_PTX, "PTX"},
    {TUTTI_KERNEL_SPIRV, "SPIR-V"},
    {TUTTI_KERNEL_HOST, "a function on the host"}};

std::string names_of(std::uint32_t languages) {
  std::string names;
  for (const auto& [language, name] : language_names)
    if (takes(languages, language)) names += (names.empty() ? "" : ", ") + std::string(name);
  return names.empty() ? "none" : names;
}

std::string no_source(const kernel_source& s, std::uint32_t languages) {
  std::uint32_t given = 0;
  for (const chosen_source& one : sources_of(s)) given |= TUTTI_KERNEL_LANGUAGE_BIT(one.language);
  if (s.host) given |= TUTTI_KERNEL_LANGUAGE_BIT(TUTTI_KERNEL_HOST);
  return "takes kernels in: " + names_of(languages) + "; this one has: " + names_of(given);
}

compiled_kernel& compiled(device_context& context, const kernel_source& source,
                          const chosen_source& what) {
  std::string key;
  for (const std::string_view part :
       {std::string_view(source.name), std::string_view(what.options), what.text})
    key.append(std::to_string(part.size())).append(" ").append(part);
  key += std::to_string(what.language);
  return context.cached(context.kernels, key, [&] {
    tutti_kernel_desc desc{};
    desc.struct_size = sizeof desc;
    desc.language = what.language;
    desc.source = what.text.data();
    desc.source_bytes = what.text.size();
    desc.entry = source.name.c_str();
    desc.options = what.options;
    desc.label = source.name.c_str();
    auto made = std::make_unique<compiled_kernel>();
    made->handle = plugins::create_kernel(context.device, desc);
    made->info.struct_size = sizeof made->info;
    plugins::check(context.device.plugin->kernel.info(made->handle.get(), &made->info),
                   context.device, "ask for limits of", source.name);
    return made;
  });
}

// ---- launches

void check_limits(const device_context& context, const kernel_call& call,
                  const tutti_kernel_info& info) {
  const auto refuse = [&](const std::string& why) {
    base::fail<value_error>("kernel {}: {}", call.source->name, why);
  };
  const std::string& device = context.device.title;
  std::uint64_t group = 1;  // its factors divide those of `global`, whose product fits
  for (const std::int64_t n : call.local) group *= static_cast<std::uint64_t>(n);
  if (group > info.max_work_group_size)
    refuse("work-groups of " + call.local.str() + " work-items, " + device + " takes " +
           std::to_string(info.max_work_group_size) + " of this kernel");
  if (call.shared_bytes > info.max_shared_bytes)
    refuse("shared_bytes is " + std::to_string(call.shared_bytes) + ", " + device + " has " +
           std::to_string(info.max_shared_bytes) + " for this kernel");
}

// Arguments in the order of the kernel's parameters: `buffers` of inputs and outputs, then scalars.
std::vector<tutti_kernel_argument> arguments_of(const kernel_call& call,
                                                std::span<const place> buffers) {
  std::vector<tutti_kernel_argument> out;
  for (const place& p : buffers)
    out.push_back({TUTTI_KERNEL_BUFFER, 0, p.buffer, p.offset, nullptr});
  for (const kernel_scalar& s : call.scalars)
    out.push_back({TUTTI_KERNEL_SCALAR, static_cast<std::uint32_t>(size_of(s.dtype())), nullptr, 0,
                   s.data()});
  return out;
}

std::uint64_t enqueue(device_context& context, tutti_kernel* kernel, const kernel_call& call,
                      std::span<const place> buffers, const char* label) {
  const std::vector<tutti_kernel_argument> arguments = arguments_of(call, buffers);
  tutti_kernel_launch l{};
  l.struct_size = sizeof l;
  l.arguments = arguments.data();
  l.argument_count = static_cast<std::uint32_t>(arguments.size());
  l.argument_size = sizeof(tutti_kernel_argument);
  for (int i = 0; i < 3; ++i) {
    l.global[i] = i < call.global.rank() ? static_cast<std::uint64_t>(call.global[i]) : 1;
    if (!call.local.empty())
      l.local[i] = i < call.local.rank() ? static_cast<std::uint64_t>(call.local[i]) : 1;
  }
  l.shared_bytes = call.shared_bytes;
  tutti_event* event = nullptr;
  plugins::check(context.device.plugin->kernel.launch(context.compute.get(), kernel, &l, &event),
                 context.device, "launch", label);
  plugins::require_event(context.device.plugin->kernel.launch, event, context.device,
                         context.compute.get());
  std::uint64_t bytes = 0;
  for (const node* n : call.inputs) bytes += bytes_of(*n);
  for (const node* n : call.outputs) bytes += bytes_of(*n);
  return context.enqueued(event, label, bytes, 0);
}

// The device has no source of its own, so the host function works on copies.
void run_on_host(device_context& context, const kernel_call& call, std::span<const place> buffers,
                 const char* label) {
  boost::container::small_vector<const node*, 8> bases;
  for (const node* n : call.inputs) bases.push_back(&graph::base_of(*n));
  for (const node* n : call.starts)
    if (n != nullptr) bases.push_back(n);
  wait_for_inputs(context, {bases.data(), bases.size()}, 0);
  on_host(context, [&](device_context& host) {
    host_blocks blocks(host);
    std::vector<place> there;
    const auto node_at = [&](std::size_t i) {
      return i < call.inputs.size() ? call.inputs[i] : call.outputs[i - call.inputs.size()];
    };
    for (std::size_t i = 0; i < buffers.size(); ++i) {
      const std::uint64_t bytes = bytes_of(*node_at(i));
      there.push_back({host, blocks.add(std::max<std::uint64_t>(bytes, 1)).handle(), 0});
      // Also for an output: it may have an initial value.
      copy_bytes(buffers[i], there[i], bytes, label);
    }
    const plugins::kernel_handle kernel = make_host(host.device, call);
    const std::uint64_t sequence = enqueue(host, kernel.get(), call, there, label);
    host.settle();
    host.check_health(sequence);
    for (std::size_t i = call.inputs.size(); i < buffers.size(); ++i)
      copy_bytes(there[i], buffers[i], bytes_of(*node_at(i)), label);
  });
}

// Enqueues the kernel, or runs it on the host; returns the position of the results.
std::uint64_t run(device_context& context, const kernel_call& call,
                  std::span<const place> buffers) {
  // Traces and messages of work in flight outlive kernels; there are as many as kernel names.
  const char* label = base::lasting("kernel " + call.source->name);
  const detail::opened_device& device = context.device;
  const std::uint32_t languages = languages_of(device);
  std::string why;
  if (const auto source = choose(*call.source, languages)) {
    try {
      compiled_kernel& kernel = compiled(context, *call.source, *source);
      check_limits(context, call, kernel.info);
      return enqueue(context, kernel.handle.get(), call, buffers, label);
    } catch (const device_error& e) {  // for example a compiler that crashed before
      if (e.code() != TUTTI_ERROR_UNSUPPORTED || !call.source->host) throw;
      why = e.what();
    }
  } else if (call.source->host && takes(languages, TUTTI_KERNEL_HOST)) {
    const plugins::kernel_handle kernel = make_host(device, call);
    return enqueue(context, kernel.get(), call, buffers, label);
  } else {
    why = no_source(*call.source, languages);
  }
  if (!call.source->host)
    throw device_error(std::string(label) + ": " + device.title + " " + why,
                       TUTTI_ERROR_UNSUPPORTED, 0, false, device.name);
  announce_fallback(context, label, why);
  run_on_host(context, call, buffers, label);
  return 0;  // it is available, independently of other work on the stream
}

}  // namespace

std::uint64_t kernel_offset(const node& n) {
  return static_cast<std::uint64_t>(graph::base_of(n).storage_offset + layout_of(n).offset) *
         size_of(n.type);
}

void launch_kernel(const detail::opened_device& device, const kernel_call& call) {
  base::require_computing("kernel");
  device_context& context = context_of(device);
  const device_locks lock(context);
  context.take_awaited();  // those of a launch that failed
  const std::uint64_t sequence = context.next_sequence();
  pending_results results;
  std::vector<place> buffers;
  for (const node* n : call.inputs) {
    const node& base = graph::base_of(*n);
    buffer_block* block = block_of(base);
    if (block == nullptr) {  // without elements: a kernel still takes a pointer
      block = context.allocate(1);
      results.add(nullptr, block);
      block->last_use = sequence;
      buffers.push_back({context, block->handle(), 0});
      continue;
    }
    context.prepare_input(base);
    buffers.push_back({context, block->handle(), kernel_offset(*n)});
  }
  for (std::size_t i = 0; i < call.outputs.size(); ++i) {
    buffer_block* block = nullptr;
    if (const node* start = call.starts[i]; start != nullptr) {
      context.prepare_input(*start);
      block = block_of(*start);
      block->retain();
    } else {
      block = context.allocate(std::max<std::uint64_t>(bytes_of(*call.outputs[i]), 1));
    }
    results.add(call.outputs[i], block);
    block->last_use = sequence;
    buffers.push_back({context, block->handle(), 0});
  }
  const std::uint64_t done = run(context, call, buffers);
  context.flush();
  results.publish_all(done, context.take_awaited());
}

}  // namespace tutti::runtime
