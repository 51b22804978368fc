// SPDX-License-Identifier: Apache-2.0
//
// An opened device, host images, and launches of programs and operators.
#include "harness.hpp"

#include <algorithm>
#include <cstring>

#include "oracle.hpp"
#include "plugin_file.hpp"
#include "semantics/offered.hpp"

namespace tutti::conformance {
namespace {

handle<tutti_buffer> upload(session& s, const image& data) {
  handle<tutti_buffer> buffer = s.allocate(data.bytes.size());
  s.write(buffer.get(), 0, data.bytes.data(), data.bytes.size());
  return buffer;
}

template <typename Supports, typename Desc>
void require_support(const session& s, Supports supports, const Desc& desc) {
  int32_t support = TUTTI_SUPPORT_NO;
  const char* reason = nullptr;
  check(supports(s.device.get(), &desc, &support, &reason), "supports");
  if (support == TUTTI_SUPPORT_NO) throw skipped(reason != nullptr ? reason : "no reason given");
}

// All that two programs may differ in.
std::string key_of(const program_spec& spec) {
  std::string key;
  const auto append = [&key](const auto& list) {
    key.append(reinterpret_cast<const char*>(list.data()), list.size() * sizeof(list[0]));
    key += '|';
  };
  append(std::array<uint32_t, 5>{spec.kept_rank, spec.reduced_rank, spec.reduction, spec.layout,
                                 spec.accumulator});
  append(spec.inputs);
  append(spec.scalars);
  append(spec.instructions);
  append(spec.outputs);
  return key;
}

}  // namespace

outcome take(tutti_status* status) {
  if (status == nullptr) return {TUTTI_OK, ""};
  tutti_status known{};
  std::memcpy(static_cast<void*>(&known), status,
              std::min<uint64_t>(status->struct_size, sizeof known));
  outcome result{known.code, known.message != nullptr ? known.message : ""};
  if (known.release != nullptr) known.release(status);
  // Whatever number the plugin gave it, a status is a failure.
  if (result.code == TUTTI_OK) result = {TUTTI_ERROR_INTERNAL, "a status of code 0"};
  return result;
}

void check(tutti_status* status, const char* what) {
  const outcome result = take(status);
  if (result) {
    fail("{} failed with code {}: {}", what, result.code, result.message);
  }
}

session::session(const std::string& path, uint32_t device_number, uint64_t seed_value,
                 const step_listener& on_step)
    : plugin_(std::make_unique<plugin_file>(path, on_step)),
      api(plugin_->api()),
      plugin_path(path),
      properties{},
      device_index(device_number),
      seed(seed_value) {
  on_step("device.count");
  uint32_t count = 0;
  const outcome counted = take(api->device->count(&count));
  if (counted.code == TUTTI_ERROR_NO_DRIVER) throw no_driver(counted.message);
  require(!counted, "count: {}", counted.message);
  require(device_index < count, "device {} of {} does not exist", device_index, count);
  on_step("device.properties");
  properties.struct_size = sizeof(properties);
  check(api->device->properties(device_index, &properties), "properties");
  on_step("device.open");
  device = made(api->device->release, "open", api->device->open, device_index);
  on_step("program.capabilities");
  read_capabilities();
  on_step("stream.create");
  main_stream = stream();
}

session::session(session&&) noexcept = default;
session::~session() = default;

void session::read_capabilities() {
  tutti_program_capabilities c{};
  c.struct_size = sizeof c;
  check(api->program->capabilities(device.get(), &c), "capabilities");
  constexpr uint32_t most = 1u << 16;  // opcodes have 16 bits
  require(c.opcode_count <= most && c.reduction_count <= most,
          "capabilities: {} opcodes, {} reductions", c.opcode_count, c.reduction_count);
  offered.stored_dtypes = properties.stored_dtypes;
  if (c.opcodes != nullptr) offered.opcodes.assign(c.opcodes, c.opcodes + c.opcode_count);
  if (c.reductions != nullptr)
    offered.reductions.assign(c.reductions, c.reductions + c.reduction_count);
}

bool session::has(uint16_t opcode, std::span<const uint8_t> dtypes) const {
  return opcode < offered.opcodes.size() && host::is_offered(offered.opcodes[opcode], dtypes);
}

void session::note(const std::string& text) const {
  if (on_note) on_note(text);
}

handle<tutti_buffer> session::allocate(uint64_t bytes) const {
  const tutti_buffer_desc desc{sizeof desc, bytes, TUTTI_MEMORY_DEVICE, 0};
  return made(api->memory->release, "allocate", api->memory->allocate, device.get(), &desc);
}

handle<tutti_stream> session::stream(uint32_t flags) const {
  const tutti_stream_desc desc{sizeof desc, flags, 0};
  return made(api->stream->release, "stream create", api->stream->create, device.get(), &desc);
}

void session::write(tutti_buffer* to, uint64_t offset, const void* from, uint64_t bytes,
                    tutti_stream* on) const {
  tutti_stream* const stream = on != nullptr ? on : main_stream.get();
  check(api->transfer->write(stream, to, offset, from, bytes, 1, nullptr), "write");
}

void session::read(tutti_buffer* from, uint64_t offset, void* to, uint64_t bytes,
                   tutti_stream* on) const {
  tutti_stream* const stream = on != nullptr ? on : main_stream.get();
  check(api->transfer->read(stream, from, offset, to, bytes, 1, nullptr), "read");
}

handle<tutti_program> session::program(const tutti_program_desc& desc) const {
  require_support(*this, desc);
  return made(api->program->release, "program create", api->program->create, device.get(), &desc);
}

handle<tutti_plan> session::plan(const tutti_operator_desc& desc) const {
  require_support(*this, desc);
  return made(api->op->release, "operator create", api->op->create, device.get(), &desc);
}

tutti_program* session::recent_program(const program_spec& spec) {
  const std::string key = key_of(spec);
  for (auto& [known, program] : recent_) {
    if (known == key) return program.get();
  }
  if (recent_.size() == 16) recent_.pop_front();
  recent_.emplace_back(key, program(spec.desc()));
  return recent_.back().second.get();
}

image::image(uint8_t element_dtype, uint64_t elements)
    : dtype(element_dtype), bytes(elements * sdk::dtype_size(element_dtype)) {
  for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(0x5A + i % 7);
}

uint64_t image::get(uint64_t index) const {
  const uint32_t size = sdk::dtype_size(dtype);
  uint64_t raw = 0;
  std::memcpy(&raw, bytes.data() + index * size, size);
  return from_storage(dtype, raw);
}

void image::set(uint64_t index, uint64_t register_bits) {
  const uint64_t raw = to_storage(dtype, register_bits);
  const uint32_t size = sdk::dtype_size(dtype);
  std::memcpy(bytes.data() + index * size, &raw, size);
}

tutti_operand to_abi(const operand& o, tutti_buffer* buffer) {
  tutti_operand result{};
  result.buffer = buffer;
  result.offset = o.offset * sdk::dtype_size(o.data.dtype);
  std::copy(o.stride.begin(), o.stride.end(), result.stride);
  return result;
}

uint64_t points_of(const extents& extent) {
  uint64_t points = 1;
  for (const uint64_t e : extent) points *= e;
  return points;
}

strides row_major(const extents& extent) {
  strides result{};
  int64_t step = 1;
  for (size_t d = extent.size(); d-- > 0;) {
    result[d] = step;
    step *= static_cast<int64_t>(extent[d]);
  }
  return result;
}

uint64_t locate(const operand& o, const extents& extent, uint64_t index) {
  int64_t at = static_cast<int64_t>(o.offset);
  for (size_t d = extent.size(); d-- > 0; index /= extent[d]) {
    at += static_cast<int64_t>(index % extent[d]) * o.stride[d];
  }
  return static_cast<uint64_t>(at);
}

operand packed(uint8_t dtype, const extents& extent) {
  constexpr uint64_t guard = 3;
  return {image(dtype, points_of(extent) + 2 * guard), guard, row_major(extent), -1};
}

std::string list_text(const extents& numbers) {
  std::string text = "[";
  for (const uint64_t n : numbers) {
    if (text.size() > 1) text += ',';
    text += std::to_string(n);
  }
  return text += ']';
}

std::string point_text(const extents& extent, uint64_t index) {
  extents at = extent;
  for (size_t d = extent.size(); d-- > 0; index /= extent[d]) at[d] = index % extent[d];
  return list_text(at);
}

void launch(session& s, const program_spec& spec, const extents& extent,
            const std::vector<operand>& inputs, const std::vector<tutti_scalar>& scalars,
            std::vector<operand>& outputs) {
  launch(s, s.recent_program(spec), extent, inputs, scalars, outputs);
}

void launch(session& s, tutti_program* program, const extents& extent,
            const std::vector<operand>& inputs, const std::vector<tutti_scalar>& scalars,
            std::vector<operand>& outputs) {
  std::vector<handle<tutti_buffer>> buffers;
  std::vector<tutti_operand> in, out;
  for (const operand& o : inputs) {
    buffers.push_back(upload(s, o.data));
    in.push_back(to_abi(o, buffers.back().get()));
  }
  for (const operand& o : outputs) {
    if (o.alias < 0) buffers.push_back(upload(s, o.data));
    const size_t at = o.alias < 0 ? buffers.size() - 1 : static_cast<size_t>(o.alias);
    out.push_back(to_abi(o, buffers[at].get()));
  }
  tutti_program_launch l{};
  l.struct_size = sizeof(l);
  l.operand_size = sizeof(tutti_operand);
  std::copy(extent.begin(), extent.end(), l.extent);
  l.inputs = in.data();
  l.scalars = scalars.data();
  l.outputs = out.data();
  check(s.api->program->workspace(program, &l, &l.workspace_bytes), "program workspace");
  handle<tutti_buffer> workspace;
  if (l.workspace_bytes > 0) workspace = s.allocate(l.workspace_bytes);
  l.workspace = workspace.get();
  const auto done =
      event_of(s, "program launch", s.api->program->launch, s.main_stream.get(), program, &l);
  check(s.api->stream->flush(s.main_stream.get()), "flush");
  check(s.api->stream->event_wait(done.get(), TUTTI_FOREVER), "event wait");
  for (size_t i = 0; i < outputs.size(); ++i)
    s.read(out[i].buffer, 0, outputs[i].data.bytes.data(), outputs[i].data.bytes.size());
}

std::vector<tutti_view_desc> describe(const std::vector<view_spec>& specs) {
  std::vector<tutti_view_desc> views;
  for (const view_spec& spec : specs) {
    tutti_view_desc v{};
    v.dtype = spec.data.data.dtype;
    v.rank = static_cast<uint32_t>(spec.extent.size());
    std::copy(spec.extent.begin(), spec.extent.end(), v.extent);
    std::copy(spec.data.stride.begin(), spec.data.stride.end(), v.stride);
    views.push_back(v);
  }
  return views;
}

void require_support(const session& s, const tutti_program_desc& desc) {
  if (const std::string lacks = sdk::beyond(s.offered, desc); !lacks.empty())
    throw skipped(fmt::format("the device {}", lacks));
  require_support(s, s.api->program->supports, desc);
}

void require_support(const session& s, const tutti_operator_desc& desc) {
  require_support(s, s.api->op->supports, desc);
}

tutti_operator_launch launch_of(const std::vector<tutti_range>& operands) {
  tutti_operator_launch l{};
  l.struct_size = sizeof l;
  l.operand_size = sizeof operands[0];
  l.operand_count = static_cast<uint32_t>(operands.size());
  l.operands = operands.data();
  return l;
}

outcome try_operator(session& s, const tutti_operator_desc& desc, std::vector<view_spec>& specs) {
  const handle<tutti_plan> plan = s.plan(desc);
  std::vector<handle<tutti_buffer>> buffers;
  std::vector<tutti_range> operands;
  for (const view_spec& spec : specs) {
    buffers.push_back(upload(s, spec.data.data));
    operands.push_back(
        {buffers.back().get(), spec.data.offset * sdk::dtype_size(spec.data.data.dtype)});
  }
  tutti_operator_launch l = launch_of(operands);
  check(s.api->op->workspace(plan.get(), &l.workspace_bytes), "operator workspace");
  handle<tutti_buffer> workspace;
  if (l.workspace_bytes > 0) workspace = s.allocate(l.workspace_bytes);
  l.workspace.buffer = workspace.get();
  tutti_event* event = nullptr;
  check(s.api->op->launch(s.main_stream.get(), plan.get(), &l, &event), "operator launch");
  const handle<tutti_event> done(event, s.api->stream->event_release);
  outcome synchronized = take(s.api->stream->synchronize(s.main_stream.get()));
  if (event != nullptr) {
    const outcome waited = take(s.api->stream->event_wait(event, TUTTI_FOREVER));
    require(waited.code == synchronized.code,
            "an operator's event ends with code {}, its stream with {}", waited.code,
            synchronized.code);
  }
  for (size_t n = 0; n < specs.size(); ++n) {
    image& data = specs[n].data.data;
    s.read(operands[n].buffer, 0, data.bytes.data(), data.bytes.size());
  }
  return synchronized;
}

void launch_operator(session& s, int32_t kind, std::vector<view_spec>& specs, const void* params) {
  const std::vector<tutti_view_desc> views = describe(specs);
  const outcome result = try_operator(s, describe(kind, views, params), specs);
  if (result) fail("operator failed with code {}: {}", result.code, result.message);
}

}  // namespace tutti::conformance
