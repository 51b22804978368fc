// SPDX-License-Identifier: Apache-2.0
#include "runtime/execute/fallback.hpp"

#include <algorithm>
#include <mutex>
#include <set>
#include <vector>

#include "base/env.hpp"
#include "base/log.hpp"
#include "base/stats.hpp"

namespace tutti::runtime {
namespace {

using fusion::lowered;

// The bytes of a buffer that an operand lies in, and the operand's place in them.
struct span_of_bytes {
  std::uint64_t begin = 0, bytes = 0, offset = 0;
};

span_of_bytes span_of(const lowered& program, const tutti_operand& o, dtype type, bool is_input) {
  std::int64_t below = 0, above = 0;
  for (int i = 0; i < program.kept_rank + program.reduced_rank; ++i) {
    const auto extent = static_cast<std::int64_t>(program.extent[i]);
    if (extent == 0 && (is_input || i < program.kept_rank)) return {};
    const std::int64_t reach = std::max<std::int64_t>(extent - 1, 0) * o.stride[i];
    (reach < 0 ? below : above) += reach;
  }
  const auto size = static_cast<std::uint64_t>(size_of(type));
  const std::uint64_t before = static_cast<std::uint64_t>(-below) * size;
  return {o.offset - before, (static_cast<std::uint64_t>(above - below) + 1) * size, before};
}

// Blocks of the reference device, given back at the end.
class blocks {
 public:
  ~blocks() {
    for (buffer_block* b : list_) b->release();
  }
  buffer_block& add(buffer_block* b) {
    list_.push_back(b);
    return *b;
  }

 private:
  std::vector<buffer_block*> list_;
};

void copy(device_context& from, tutti_buffer* source, std::uint64_t source_offset,
          device_context& to, tutti_buffer* target, std::uint64_t target_offset,
          std::uint64_t bytes, const std::string& label) {
  if (bytes == 0) return;
  std::vector<char> host(bytes);
  detail::check(from.device.plugin->transfer.read(from.transfer.get(), source, source_offset,
                                                  host.data(), bytes, 1, nullptr),
                from.device, "read", label);
  detail::check(to.device.plugin->transfer.write(to.transfer.get(), target, target_offset,
                                                 host.data(), bytes, 1, nullptr),
                to.device, "write", label);
}

void launch_there(device_context& reference, const lowered& program,
                  std::span<const tutti_operand> operands, const std::string& label, blocks& held) {
  std::string key;
  program.key(key);
  cached_program& code = reference.program(key, [&] {
    auto made = std::make_unique<cached_program>();
    made->label = label;
    made->handle = detail::create_program(reference.device, program.desc(label.c_str()));
    return made;
  });
  tutti_program_launch arguments{};
  arguments.struct_size = sizeof arguments;
  std::copy(program.extent, program.extent + max_rank, arguments.extent);
  arguments.inputs = operands.data();
  arguments.scalars = program.scalars.data();
  arguments.outputs = operands.data() + program.inputs.size();
  const detail::plugin& plugin = *reference.device.plugin;
  detail::check(plugin.program.workspace(code.handle.get(), &arguments, &arguments.workspace_bytes),
                reference.device, "plan", label);
  if (arguments.workspace_bytes > 0)
    arguments.workspace = held.add(reference.allocate(arguments.workspace_bytes)).handle();
  tutti_event* event = nullptr;
  detail::check(
      plugin.program.launch(reference.compute.get(), code.handle.get(), &arguments, &event),
      reference.device, "launch", label);
  reference.enqueued(event, &code.label, 0, 0);
  reference.settle();
  reference.check_health(reference.last_sequence());
}

}  // namespace

void announce_fallback(const device_context& context, const std::string& label,
                       const std::string& why) {
  if (detail::env("TUTTI_FALLBACK") == "error")
    throw device_error(label + ": " + context.device.title + " does not support it (" + why +
                           ") and TUTTI_FALLBACK=error forbids the reference device",
                       TUTTI_ERROR_UNSUPPORTED, 0, false, context.device.name);
  detail::count().fallbacks.add();
  static std::mutex mutex;
  static std::set<std::string> said;
  const std::lock_guard lock(mutex);
  if (said.insert(context.device.name + label).second)
    logging::warn("{}: {} runs on the reference device: {}", context.device.name, label, why);
}

void drain(device_context& context) {
  context.settle();
  detail::check(context.device.plugin->stream.synchronize(context.compute.get()), context.device,
                "wait for", "the queue");
}

void run_on_reference(device_context& context, const lowered& program,
                      std::span<const tutti_operand> operands, const std::string& label) {
  device_context& reference = context.fallback();
  drain(context);
  blocks held;
  std::vector<tutti_operand> there(operands.begin(), operands.end());
  std::vector<span_of_bytes> spans;
  for (std::size_t i = 0; i < operands.size(); ++i) {
    const bool is_input = i < program.inputs.size();
    const dtype type =
        is_input ? program.inputs[i].type : program.outputs[i - program.inputs.size()].type;
    const span_of_bytes& s = spans.emplace_back(span_of(program, operands[i], type, is_input));
    there[i].buffer = held.add(reference.allocate(std::max<std::uint64_t>(s.bytes, 1))).handle();
    there[i].offset = s.offset;
    // An output as well: what lies between its elements stays.
    copy(context, operands[i].buffer, s.begin, reference, there[i].buffer, 0, s.bytes, label);
  }
  launch_there(reference, program, there, label, held);
  for (std::size_t i = program.inputs.size(); i < operands.size(); ++i)
    copy(reference, there[i].buffer, 0, context, operands[i].buffer, spans[i].begin, spans[i].bytes,
         label);
}

}  // namespace tutti::runtime
