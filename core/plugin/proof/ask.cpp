// SPDX-License-Identifier: Apache-2.0
//
// Questions put to a device: buffers and a stream of their own, so that nothing else is in the way.
#include <algorithm>
#include <atomic>
#include <bit>
#include <chrono>
#include <cstring>
#include <memory>
#include <numeric>
#include <thread>
#include <utility>

#include "base/process.hpp"
#include "base/signals.hpp"
#include "plugin/proof/known_answer.hpp"
#include "plugin/raii.hpp"
#include "plugin/support.hpp"
#include "tutti/dtype.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

class conversation {
 public:
  // Where the host would answer, it is not the one that is asked.
  explicit conversation(const opened_device& d)
      : device_(d), stream_(create_stream(d, d.begins_on_host ? TUTTI_STREAM_COMPILED : 0)) {}

  conversation(const conversation&) = delete;
  conversation& operator=(const conversation&) = delete;
  /// Memory that work may still use, of a device that cannot be waited for, stays.
  ~conversation() {
    if (!ignore(device_.plugin->stream.synchronize(stream_.get()))) return;
    for (buffer_handle& buffer : buffers_) keep_for_ever(buffer.release());
    for (auto& bytes : being_sent_) keep_for_ever(bytes.release());
  }

  tutti_buffer* upload(const tensor& t) {
    tutti_buffer* const made = room(t.bytes.size());
    check(device_.plugin->transfer.write(stream_.get(), made, 0, t.bytes.data(), t.bytes.size(), 1,
                                         nullptr),
          device_, "write to the device");
    return made;
  }

  /// As `upload`, but does not wait.
  tutti_buffer* begin_upload(const tensor& t) {
    tutti_buffer* const made = room(t.bytes.size());
    const auto& sent = *being_sent_.emplace_back(std::make_unique<std::vector<char>>(t.bytes));
    check(device_.plugin->transfer.write(stream_.get(), made, 0, sent.data(), sent.size(), 0,
                                         nullptr),
          device_, "write to the device");
    return made;
  }

  tutti_buffer* room(std::uint64_t bytes) {
    return bytes > 0 ? buffers_.emplace_back(allocate(device_, bytes)).get() : nullptr;
  }

  tensor download(tutti_buffer* from, tensor like) {
    std::fill(like.bytes.begin(), like.bytes.end(), char{-1});
    check(device_.plugin->transfer.read(stream_.get(), from, 0, like.bytes.data(),
                                        like.bytes.size(), 1, nullptr),
          device_, "read from the device");
    return like;
  }

  /// As the core reads what has been waited for: in place where the plugin maps memory.
  tensor seen_at_once(tutti_buffer* from, tensor like) {
    const memory_functions& memory = device_.plugin->memory;
    void* host = nullptr;
    if (device_.limits.unified_memory == 0 ||
        ignore(memory.map(from, 0, like.bytes.size(), TUTTI_MAP_READ, &host)) || host == nullptr)
      return download(from, std::move(like));
    std::memcpy(like.bytes.data(), host, like.bytes.size());
    check(memory.unmap(from, host), device_, "unmap");
    return like;
  }

  tutti_stream* stream() const { return stream_.get(); }
  const opened_device& device() const { return device_; }

 private:
  const opened_device& device_;
  std::vector<buffer_handle> buffers_;
  std::vector<std::unique_ptr<std::vector<char>>> being_sent_;
  stream_handle stream_;  // goes first
};

/// Work of a stream that is late for sure: it waits for an event of the host's, or where the plugin
/// has none, for some other work.
class held_up {
 public:
  explicit held_up(conversation& with) : device_(with.device()) {
    const stream_functions& stream = device_.plugin->stream;
    tutti_event* made = nullptr;
    if (!ignore(stream.event_create(device_.handle, &made)) && made != nullptr)
      gate_ = own(*device_.plugin, made);
    if (gate_ == nullptr || ignore(stream.wait(with.stream(), made))) {
      gate_.reset();
      be_busy(with);
    }
  }
  held_up(const held_up&) = delete;
  held_up& operator=(const held_up&) = delete;
  ~held_up() { let_go(); }

  /// Waits for `event`, of work that is held up; true where that is back too early.
  bool is_back_early(tutti_event* event) {
    if (gate_ == nullptr) return wait(event), false;
    if (is_done(event)) return true;
    std::atomic<bool> is_over = false;
    std::thread other = start_thread([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      is_over = true;
      let_go();
    });
    tutti_status* const status = device_.plugin->stream.event_wait(event, TUTTI_FOREVER);
    const bool is_early = !is_over;
    other.join();
    check(status, device_, "wait for the copy");
    return is_early;
  }

 private:
  void be_busy(conversation& with) const {
    constexpr int copies = 32;
    const std::uint64_t bytes =
        std::min(std::uint64_t{1} << 20, device_.limits.max_allocation_bytes / 8);
    tutti_buffer *from = with.room(bytes), *to = with.room(bytes);
    for (int i = 0; i < copies && bytes > 0; ++i, std::swap(from, to))
      check(device_.plugin->transfer.copy(with.stream(), from, 0, to, 0, bytes, nullptr), device_,
            "copy");
  }

  void wait(tutti_event* event) const {
    check(device_.plugin->stream.event_wait(event, TUTTI_FOREVER), device_, "wait for the copy");
  }

  /// Asks by the function that is to be tried out.
  bool is_done(tutti_event* event) const {
    tutti_status* const status = device_.plugin->stream.event_wait(event, 0);
    if (status != nullptr && status->code == TUTTI_ERROR_TIMEOUT) return !ignore(status);
    check(status, device_, "wait for the copy");
    return true;
  }

  void let_go() {
    if (gate_ != nullptr && !std::exchange(has_let_go_, true))
      ignore(device_.plugin->stream.event_signal(gate_.get(), nullptr));
  }

  const opened_device& device_;
  event_handle gate_;
  bool has_let_go_ = false;
};

tutti_view_desc view_of(const tensor& t) {
  tutti_view_desc v{};
  v.dtype = t.type;
  v.rank = static_cast<std::uint32_t>(t.extents.size());
  std::int64_t stride = 1;
  for (std::uint32_t i = v.rank; i-- > 0;) {
    v.extent[i] = t.extents[i];
    v.stride[i] = stride;
    stride *= static_cast<std::int64_t>(t.extents[i]);
  }
  return v;
}

/// A bias of one value for each column, over all of the product.
void spread_bias(std::vector<tutti_view_desc>& views) {
  tutti_view_desc& bias = views.back();
  bias.rank = 3;
  std::copy_n(views.front().extent, 3, bias.extent);
  bias.stride[0] = bias.stride[1] = 0;
  bias.stride[2] = 1;
}

/// Where an operand of a program lies, and how it moves along the innermost loop.
struct placement {
  std::int64_t stride[2];
  tutti_access access;
};

placement place_of_input(const program_question& q) {
  if (q.reduction == TUTTI_REDUCE_NONE) return {{1, 0}, TUTTI_ACCESS_UNIT};
  const auto columns = static_cast<std::int64_t>(q.inputs.front().extents[1]);
  if (q.along_columns) return {{1, columns}, TUTTI_ACCESS_UNIT};
  return {{columns, 1}, TUTTI_ACCESS_UNIT};
}

placement place_of_output(const program_question& q) {
  const bool along_rows = q.reduction != TUTTI_REDUCE_NONE && !q.along_columns;
  return {{1, 0}, along_rows ? TUTTI_ACCESS_ZERO : TUTTI_ACCESS_UNIT};
}

tutti_operand operand(tutti_buffer* buffer, const placement& where) {
  tutti_operand o{};
  o.buffer = buffer;
  std::copy_n(where.stride, 2, o.stride);
  return o;
}

void set_extents(const program_question& q, tutti_program_launch& launch) {
  const std::vector<std::uint64_t>& shape = q.inputs.front().extents;
  if (q.reduction == TUTTI_REDUCE_NONE) {
    launch.extent[0] = shape[0];
    return;
  }
  launch.extent[0] = shape[q.along_columns ? 1 : 0];
  launch.extent[1] = shape[q.along_columns ? 0 : 1];
}

tutti_program_operand declared(std::int32_t type, const placement& where, std::uint32_t value) {
  return {static_cast<std::uint8_t>(type), static_cast<std::uint8_t>(where.access), 0, value};
}

program_handle compile(const opened_device& d, const program_question& q) {
  std::vector<tutti_program_operand> inputs;
  for (const tensor& t : q.inputs) inputs.push_back(declared(t.type, place_of_input(q), 0));
  const tutti_program_operand output = declared(q.known.right.type, place_of_output(q), q.result);
  tutti_program_desc desc{};
  desc.struct_size = sizeof desc;
  desc.ir_version = TUTTI_IR_VERSION;
  desc.operand_size = sizeof(tutti_program_operand);
  desc.instruction_size = sizeof(tutti_instruction);
  desc.kept_rank = 1;
  desc.reduced_rank = q.reduction != TUTTI_REDUCE_NONE ? 1 : 0;
  desc.reduction = static_cast<std::uint8_t>(q.reduction);
  desc.reduce_layout = q.along_columns ? TUTTI_REDUCE_OUTER : TUTTI_REDUCE_INNER;
  desc.accumulator = q.accumulator;
  desc.input_count = static_cast<std::uint32_t>(inputs.size());
  desc.scalar_count = static_cast<std::uint32_t>(q.scalars.size());
  desc.instruction_count = static_cast<std::uint32_t>(q.code.size());
  desc.output_count = 1;
  desc.inputs = inputs.data();
  desc.scalar_dtypes = q.scalar_types.data();
  desc.instructions = q.code.data();
  desc.outputs = &output;
  desc.label = q.label.c_str();
  return create_program(d, desc);
}

}  // namespace

std::uint32_t program_question::input(tensor t) {
  inputs.push_back(std::move(t));
  return static_cast<std::uint32_t>(inputs.size() - 1);
}

std::uint32_t program_question::scalar(std::uint8_t type, double value) {
  const tensor one = make_tensor(type, {1}, {value});
  tutti_scalar s{};
  std::memcpy(&s, one.bytes.data(), one.bytes.size());
  scalars.push_back(s);
  scalar_types.push_back(type);
  return static_cast<std::uint32_t>(inputs.size() + scalars.size() - 1);
}

std::uint32_t program_question::op(tutti_opcode opcode, std::uint8_t type,
                                   std::initializer_list<std::uint32_t> of) {
  tutti_instruction i{
      static_cast<std::uint16_t>(opcode), type, static_cast<std::uint8_t>(of.size()), {}};
  std::copy(of.begin(), of.end(), i.operand);
  code.push_back(i);
  return static_cast<std::uint32_t>(inputs.size() + scalars.size() + code.size() - 1);
}

tensor overwritten(tensor t) {
  std::fill(t.bytes.begin(), t.bytes.end(), char{85});
  return t;
}

std::optional<tensor> ask(const opened_device& d, const operator_question& q) {
  const bool finishes = q.kind == TUTTI_OPERATOR_MATMUL && !q.params.empty();
  std::vector<tutti_view_desc> views{view_of(q.before)};
  for (const tensor& t : q.inputs) views.push_back(view_of(t));
  if (finishes && views.size() > 3) spread_bias(views);
  const tutti_operator_desc desc = describe(static_cast<tutti_operator>(q.kind), views,
                                            q.params.empty() ? nullptr : q.params.data());
  std::int32_t support = TUTTI_SUPPORT_NO;
  check(d.plugin->op.supports(d.handle, &desc, &support, nullptr), d, "supports");
  if (support == TUTTI_SUPPORT_NO) return std::nullopt;
  conversation with(d);
  std::vector<tutti_range> operands{{with.upload(q.before), 0}};
  for (const tensor& t : q.inputs) operands.push_back({with.upload(t), 0});
  run_operator(d, desc, operands, with.stream(), "known answer");
  return with.download(operands.front().buffer, q.known.right);
}

std::optional<tensor> ask(const opened_device& d, const program_question& q) {
  const program_functions& api = d.plugin->program;
  const program_handle program = compile(d, q);
  conversation with(d);
  std::vector<tutti_operand> inputs;
  for (const tensor& t : q.inputs) inputs.push_back(operand(with.upload(t), place_of_input(q)));
  const tutti_operand output = operand(with.upload(overwritten(q.known.right)), place_of_output(q));
  tutti_program_launch launch{};
  launch.struct_size = sizeof launch;
  launch.operand_size = sizeof(tutti_operand);
  set_extents(q, launch);
  launch.inputs = inputs.data();
  launch.scalars = q.scalars.data();
  launch.outputs = &output;
  check(api.workspace(program.get(), &launch, &launch.workspace_bytes), d, "workspace", q.label);
  launch.workspace = with.room(launch.workspace_bytes);
  check(api.launch(with.stream(), program.get(), &launch, nullptr), d, "launch", q.label);
  return with.download(output.buffer, q.known.right);
}

std::string transfer_mistake(const opened_device& d) {
  constexpr std::size_t n = 1003, skipped = 5;
  const detail::plugin& plugin = *d.plugin;
  const tensor sent = make_tensor(TUTTI_I32, {n}, whole_numbers(n, 12, -1000, 1000));
  const tensor before = make_tensor(TUTTI_I32, {n}, whole_numbers(n, 13, 2000, 3000));
  tensor right = before;  // all but the first few of `sent`, at the front
  std::copy(sent.bytes.begin() + skipped * sizeof(std::int32_t), sent.bytes.end(),
            right.bytes.begin());
  conversation first(d), second(d);
  tutti_buffer* const target = second.upload(before);
  tutti_buffer* const source = first.begin_upload(sent);
  const event_handle written = record_event(d, first.stream());
  check(plugin.stream.flush(first.stream()), d, "flush");
  check(plugin.stream.wait(second.stream(), written.get()), d, "wait for an event");
  held_up late(second);
  check(plugin.transfer.copy(second.stream(), source, skipped * sizeof(std::int32_t), target, 0,
                             sent.bytes.size() - skipped * sizeof(std::int32_t), nullptr),
        d, "copy");
  const event_handle copied = record_event(d, second.stream());
  check(plugin.stream.flush(second.stream()), d, "flush");
  if (late.is_back_early(copied.get())) return "event_wait is back before the work is done";
  // Nothing but that wait orders what the host sees now.
  std::string wrong = mistake({right}, first.seen_at_once(target, right));
  if (!wrong.empty()) return "after event_wait " + wrong;
  wrong = mistake({right}, second.download(target, right));
  check(plugin.stream.synchronize(first.stream()), d, "synchronize");
  return wrong;
}

}  // namespace tutti::detail
