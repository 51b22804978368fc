// SPDX-License-Identifier: Apache-2.0
#include "runtime/execute/fallback.hpp"

#include <algorithm>
#include <mutex>
#include <set>
#include <vector>

#include "base/counters.hpp"
#include "base/env.hpp"
#include "base/log.hpp"
#include "runtime/memory/mapped_memory.hpp"

namespace tutti::runtime {
namespace {

using fusion::lowered;

// The bytes of a buffer that contain an operand, and the operand's offset in them.
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

void launch_there(device_context& host, const lowered& program,
                  std::span<const tutti_operand> operands, const char* label) {
  program.key(host.program_key);
  cached_program& code = host.cached(host.programs, host.program_key, [&] {
    auto made = std::make_unique<cached_program>();
    made->label = label;
    made->handle = plugins::create_program(host.device, program.desc(label));
    return made;
  });
  tutti_event* event = start_program(host, code, program, operands);
  const std::uint64_t sequence = host.enqueued(event, code.label.c_str(), 0, 0);
  host.settle();
  host.check_health(sequence);
}

}  // namespace

void announce_fallback(device_context& context, const char* label, const std::string& why) {
  if (base::fallback_is_error())
    throw device_error(std::string(label) + ": " + context.device.title + " does not support it (" +
                           why + ") and TUTTI_FALLBACK=error forbids the host",
                       TUTTI_ERROR_UNSUPPORTED, 0, false, context.device.name);
  base::count().fallbacks.add();
  static std::mutex mutex;
  static auto* const said = new std::set<std::string>;
  const std::lock_guard lock(mutex);
  if (said->insert(context.device.name + label).second)
    logging::warn("{}: {} runs on {}: {}", context.device.name, label,
                  context.fallback().device.name, why);
}

host_blocks::~host_blocks() {
  for (buffer_block* block : blocks_)
    if (block != nullptr) block->release();
}

buffer_block& host_blocks::add(std::uint64_t bytes) {
  blocks_.push_back(nullptr);
  blocks_.back() = host_.allocate(bytes);
  blocks_.back()->last_use = host_.next_sequence();
  return *blocks_.back();
}

void copy_bytes(const place& from, const place& to, std::uint64_t bytes, const char* label) {
  if (bytes == 0) return;
  // A transfer stream runs one call at a time, from any thread.
  const auto read = [&](void* host) {
    const std::lock_guard lock(from.context.transfer_mutex);
    plugins::check(
        from.context.device.plugin->transfer.read(from.context.transfer.get(), from.buffer,
                                                  from.offset, host, bytes, 1, nullptr),
        from.context.device, "read", label);
  };
  const auto write = [&](const void* host) {
    const std::lock_guard lock(to.context.transfer_mutex);
    plugins::check(to.context.device.plugin->transfer.write(to.context.transfer.get(), to.buffer,
                                                            to.offset, host, bytes, 1, nullptr),
                   to.context.device, "write", label);
  };
  if (const mapped_memory source(from.context.device, from.buffer, from.offset, bytes,
                                 TUTTI_MAP_READ);
      source)
    return write(source.get());
  if (mapped_memory target(to.context.device, to.buffer, to.offset, bytes, TUTTI_MAP_WRITE);
      target) {
    read(target.get());
    return target.finish();
  }
  std::vector<char> host(bytes);
  read(host.data());
  write(host.data());
}

void wait_for_inputs(device_context& context, std::span<const graph::node* const> inputs,
                     std::uint64_t base) {
  context.wait_for_copies();
  context.settle();
  context.check_health(base);
  for (const graph::node* input : inputs) context.check_health(input->sequence);
}

void run_on_host(device_context& context, const lowered& program,
                 std::span<const tutti_operand> operands, const char* label) {
  boost::container::small_vector<const graph::node*, 8> sources;
  for (const fusion::operand& x : program.inputs) sources.push_back(x.source);
  wait_for_inputs(context, {sources.data(), sources.size()}, 0);
  on_host(context, [&](device_context& host) {
    host_blocks blocks(host);
    std::vector<tutti_operand> there(operands.begin(), operands.end());
    std::vector<span_of_bytes> spans;
    for (std::size_t i = 0; i < operands.size(); ++i) {
      const bool is_input = i < program.inputs.size();
      const dtype type =
          is_input ? program.inputs[i].type : program.outputs[i - program.inputs.size()].type;
      const span_of_bytes& s = spans.emplace_back(span_of(program, operands[i], type, is_input));
      there[i].buffer = blocks.add(std::max<std::uint64_t>(s.bytes, 1)).handle();
      there[i].offset = s.offset;
      // Also for an output: bytes between its elements are kept.
      copy_bytes({context, operands[i].buffer, s.begin}, {host, there[i].buffer, 0}, s.bytes,
                 label);
    }
    launch_there(host, program, there, label);
    for (std::size_t i = program.inputs.size(); i < operands.size(); ++i)
      copy_bytes({host, there[i].buffer, 0}, {context, operands[i].buffer, spans[i].begin},
                 spans[i].bytes, label);
  });
}

}  // namespace tutti::runtime
