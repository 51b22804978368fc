// SPDX-License-Identifier: Apache-2.0
//
// Fused programs, kept and launched by the SDK's device layer; where the device computes in the
// host's memory, by the host engine until their kernels are compiled, and where they are small.
#include "opencl/program.hpp"

#include <algorithm>

#include "opencl/settings.hpp"
#include "sdk/host_engine/on_buffers.hpp"
#include "sdk/owned_launch.hpp"

namespace tutti::opencl {

// A program as the host engine has it. Launches in queues outlive the program that they are of.
struct host_code {
  explicit host_code(const tutti_program_desc& desc);
  host_times run(const tutti_program_launch& launch, const sdk::work_size& size,
                 tutti_device& device);

  const sdk::host_program program;
  const uint32_t input_count, output_count;
  host_cost cost;
};

}  // namespace tutti::opencl

namespace tutti::opencl {

namespace {

const std::byte* address(const tutti_operand& operand) {
  return static_cast<const std::byte*>(operand.buffer->host) + operand.offset;
}

}  // namespace

host_code::host_code(const tutti_program_desc& desc)
    : program(desc),
      input_count(desc.input_count),
      output_count(desc.output_count),
      cost(sdk::guessed_ns_of_unit(desc)) {}

host_times host_code::run(const tutti_program_launch& launch, const sdk::work_size& size,
                          tutti_device& device) {
  constexpr uint32_t most = 64;
  const std::byte* inputs[most];
  std::byte* outputs[most];
  for (uint32_t n = 0; n < input_count; ++n) inputs[n] = address(launch.inputs[n]);
  for (uint32_t n = 0; n < output_count; ++n)
    outputs[n] = const_cast<std::byte*>(address(launch.outputs[n]));
  const sdk::machine like_kernel{device.info->compute_units()};
  const bool is_shared =
      size.points >= sdk::points_to_share && cost.expected(size.units) >= sdk::worth_sharing_ns;
  return timed(cost, size.units, [&] {
    if (!is_shared) return program.run(launch, {inputs, outputs}, like_kernel);
    program.run(launch, {inputs, outputs}, like_kernel, shared_by(device));
  });
}

uint32_t backend::argument_bytes(const sdk::program_layout& layout) {
  uint32_t bytes = layout.geometry_bytes() + 8 * (layout.inputs + layout.outputs);
  for (uint8_t scalar : layout.scalar_bytes) bytes += std::max<uint32_t>(scalar, 4);
  return bytes + (layout.reduces() ? 24 : 0);
}

built_program backend::build(tutti_device& device, const std::string& source,
                             const std::string& label) {
  return build_program(device, source, "", calls::scalars, label);
}

built_kernel backend::make_kernel(built_program& program, const char* name) {
  return opencl::make_kernel(program, name);
}

const tutti_program_api program_api = program_functions::api;

}  // namespace tutti::opencl

using namespace tutti;

bool tutti_program::begins_without_code() {
  if (!device->runs_on_host) return false;
  try {
    host_ = std::make_shared<opencl::host_code>(desc());
  } catch (const sdk::plugin_error& error) {
    if (error.code != TUTTI_ERROR_UNSUPPORTED) throw;
    return false;  // an instruction that only kernels have
  }
  has_code_ = false;
  return true;
}

// Compiles where nothing else will do.
bool tutti_program::runs_without_code(tutti_stream& stream, const tutti_program_launch& l) {
  if (host_ == nullptr) return false;
  const auto is_in_sight = [](const tutti_operand& o) {
    return o.buffer != nullptr && o.buffer->host != nullptr;
  };
  const bool can = !stream.is_compiled_only &&
                   std::all_of(l.inputs, l.inputs + layout.inputs, is_in_sight) &&
                   std::all_of(l.outputs, l.outputs + layout.outputs, is_in_sight);
  if (!can) {
    promote();
    return false;
  }
  if (opencl::settings().where == opencl::tier::host || is_on_host()) return true;
  return host_->cost.expected(sdk::size_of(layout, l).units) < sdk::worth_a_launch_ns &&
         stream.is_idle();
}

void tutti_program::run_without_code(tutti_stream& stream, const tutti_program_launch& l,
                                     tutti_event** event) {
  using namespace tutti::opencl;
  const sdk::work_size size = sdk::size_of(layout, l);
  if (host_->cost.expected(size.units) < sdk::too_long_to_wait_ns && stream.is_idle()) {
    const host_times when = host_->run(l, size, *device);
    if (event != nullptr) *event = done_on_host(stream, when);
    return;
  }
  run_in_queue(
      stream,
      [host = host_, launch = sdk::owned_program_launch(desc(), l), size, on = device] {
        return host->run(launch.get(), size, *on);
      },
      event);
}

uint64_t tutti_program::cost() const {
  using namespace tutti::opencl;
  const bool may_compile = is_on_host() && settings().where == tier::automatic;
  if (!may_compile) return 0;
  return host_->cost.worth_compiling([this] { return compile_time(); });
}

uint64_t tutti_program::compile_time() const {
  return opencl::expected_build_ns(*device, source, "");
}

void tutti_program::promote() {
  const std::lock_guard building(building_);
  if (has_code_) return;
  opencl::program_functions::compile(*this);
  warm_up(main, false);
  if (layout.reduces()) warm_up(finish, true);
  has_code_.store(true, std::memory_order_release);
}

// PoCL generates machine code at the first launch: here one of no work, on a queue of its own.
void tutti_program::warm_up(const opencl::built_kernel& kernel, bool finishes) {
  using namespace tutti::opencl;
  cl_int made = CL_SUCCESS;
  const owned_queue queue(clCreateCommandQueue(device->context->get(), device->info->id, 0, &made));
  check(made, "clCreateCommandQueue");
  constexpr size_t some_bytes = 4096;
  const owned_memory scratch(
      clCreateBuffer(device->context->get(), CL_MEM_READ_WRITE, some_bytes, nullptr, &made));
  check(made, "clCreateBuffer");
  const std::lock_guard lock(mutex);
  std::fill(memory.begin(), memory.end(), scratch.get());
  workspace = scratch.get();
  partial_offset = index_offset = 0;
  const sdk::program_limits limits = sdk::program_limits_of(*device->info);
  const std::vector<tutti_operand> operands(limits.inputs + limits.outputs);
  const uint64_t extent[TUTTI_MAX_RANK] = {1, 1, 1, 1, 1, 1, 1, 1};
  sdk::launch_plan none = sdk::plan_launch(layout, extent, sdk::machine{1});
  for (const sdk::plan_word word : {sdk::kept_word, sdk::units_word, sdk::steps_word})
    none.words[word] = 0;
  sdk::pack_geometry(layout, extent, operands.data(), operands.data(), none, geometry.data());
  const tutti_scalar zero{};
  for (size_t n = 0; n < layout.scalar_bytes.size(); ++n) values[memory.size() + n] = &zero;
  const sdk::kernel_arguments all = finishes ? finish_arguments() : main_arguments();
  for (uint32_t n = 0; n < all.count; ++n)
    check(clSetKernelArg(kernel.handle.get(), n, all.bytes[n], all.values[n]), "clSetKernelArg");
  enqueue(queue.get(), kernel, 1, layout.work_group, nullptr, label.c_str());
  check(clFinish(queue.get()), "clFinish");
}
