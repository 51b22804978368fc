// SPDX-License-Identifier: Apache-2.0
//
// Operators on the host, and their way to compiled kernels.
#include "opencl/plan.hpp"

#include <algorithm>
#include <array>

#include "opencl/settings.hpp"
#include "sdk/device_layer/matmul_call.hpp"
#include "sdk/host_engine/host_operators.hpp"
#include "sdk/host_engine/on_buffers.hpp"
#include "sdk/op_info.hpp"

using namespace tutti;

namespace tutti::opencl {
namespace {

// What the compiled kernels of an operator will take.
uint64_t compiled_workspace(const device_info& info, const sdk::operator_call& call) {
  if (call.kind != TUTTI_OPERATOR_MATMUL) return sdk::operator_workspace(info, call);
  const sdk::MatmulPlan plan = plan_matmul(sdk::matmul_problem(call), sdk::matmul_device(info));
  return static_cast<uint64_t>(plan.workspace_bytes);
}

// Asks what the kernels of an operator will take instead of making them.
struct kernel_times final : sdk::operator_launcher {
  explicit kernel_times(tutti_device& of) : device(of) {}
  void launch(const sdk::kernel_launch& k) override {
    ns += expected_kernel_ns(device, k.file, k.options, k.kernel);
  }
  void keep(std::span<const std::byte>) override {}
  tutti_device& device;
  uint64_t ns = 0;
};

// From the first byte that a view reaches to behind the last.
struct reach {
  uint64_t before = 0, bytes = 0;
};

reach reach_of(const tutti_view& view) {
  int64_t first = 0, last = 0;
  for (uint32_t d = 0; d < view.rank; ++d) {
    if (view.extent[d] == 0) return {};
    const int64_t way = static_cast<int64_t>(view.extent[d] - 1) * view.stride[d];
    (way < 0 ? first : last) += way;
  }
  const uint64_t element = sdk::dtype_size(static_cast<uint8_t>(view.dtype));
  return {static_cast<uint64_t>(-first) * element,
          static_cast<uint64_t>(last - first + 1) * element};
}

// A buffer of zeros.
class scratch_buffer {
 public:
  scratch_buffer(tutti_device& device, cl_command_queue queue, uint64_t bytes) {
    const size_t room = (std::max<uint64_t>(bytes, 1) + 15) / 16 * 16;
    cl_int code = CL_SUCCESS;
    memory_ = owned_memory(
        clCreateBuffer(device.context->get(), CL_MEM_READ_WRITE, room, nullptr, &code));
    check(code, "clCreateBuffer");
    const cl_uint zero = 0;
    check(
        clEnqueueFillBuffer(queue, memory_.get(), &zero, sizeof zero, 0, room, 0, nullptr, nullptr),
        "clEnqueueFillBuffer");
    buffer_.device = &device;
    buffer_.memory = memory_.get();
    buffer_.bytes = room;
  }
  tutti_buffer* get() { return &buffer_; }

 private:
  owned_memory memory_;
  tutti_buffer buffer_;
};

}  // namespace

// An operator as the host engine has it. Launches in queues outlive the plan that they are of.
struct host_operator {
  host_operator(const device_info& info, const sdk::operator_call& call)
      : plan(info, call), cost(sdk::guessed_ns(call)) {}

  const sdk::host_operator_plan plan;
  host_cost cost;  // the unit is a launch
};

}  // namespace tutti::opencl

bool tutti_plan::begins_without_code() {
  if (!device->runs_on_host) return false;
  const sdk::operator_call call = what.call();
  if (sdk::host_operator_plan::against(*device->info, call) != nullptr) return false;
  host_ = std::make_shared<opencl::host_operator>(*device->info, call);
  workspace_bytes =
      std::max(host_->plan.workspace_bytes(), opencl::compiled_workspace(*device->info, call));
  has_code_ = false;
  return true;
}

// Compiles where nothing else will do.
bool tutti_plan::runs_without_code(tutti_stream& stream, const sdk::operator_memory& memory) {
  if (host_ == nullptr) return false;
  bool can = !stream.is_compiled_only &&
             (workspace_bytes == 0 || memory.workspace.buffer->host != nullptr);
  for (uint32_t n = 0; n < what.call().view_count; ++n)
    can = can && memory.operands[n].buffer->host != nullptr;
  if (!can) {
    promote();
    return false;
  }
  if (opencl::settings().where == opencl::tier::host || is_on_host()) return true;
  return host_->cost.expected(1) < sdk::worth_a_launch_ns && stream.is_idle();
}

void tutti_plan::run_without_code(tutti_stream& stream, const sdk::operator_memory& memory,
                                  tutti_event** event) {
  using namespace tutti::opencl;
  const auto address = [](const tutti_range& range) {
    return static_cast<std::byte*>(range.buffer->host) + range.offset;
  };
  std::array<std::byte*, sdk::most_operands> views{};
  for (uint32_t n = 0; n < what.call().view_count; ++n) views[n] = address(memory.operands[n]);
  std::byte* const workspace = workspace_bytes > 0 ? address(memory.workspace) : nullptr;
  const auto run = [host = host_, views, workspace, on = device] {
    const sdk::host_parallel_for parallel =
        host->cost.expected(1) >= sdk::worth_sharing_ns ? shared_by(*on) : sdk::host_parallel_for();
    return timed(host->cost, 1, [&] { host->plan.run(views.data(), parallel, workspace); });
  };
  if (host_->cost.expected(1) >= sdk::too_long_to_wait_ns || !stream.is_idle())
    return run_in_queue(stream, run, event);
  const host_times when = run();
  if (event != nullptr) *event = done_on_host(stream, when);
}

uint64_t tutti_plan::cost() const {
  const bool may_compile = is_on_host() && opencl::settings().where == opencl::tier::automatic;
  return may_compile ? host_->cost.worth_compiling([this] { return compile_time(); }) : 0;
}

uint64_t tutti_plan::compile_time() const {
  const sdk::operator_call call = what.call();
  if (call.kind == TUTTI_OPERATOR_MATMUL) return opencl::expected_product_ns(*device, call);
  opencl::kernel_times all(*device);
  launch_operator(*device->info, call, all);
  return all.ns;
}

void tutti_plan::promote() {
  const std::lock_guard building(building_);
  if (has_code_) return;
  const uint64_t bytes = opencl::operator_functions::compile(*this);
  if (bytes > workspace_bytes)
    throw sdk::plugin_error(TUTTI_ERROR_INTERNAL,
                            "an operator's kernels want " + std::to_string(bytes) +
                                " bytes of workspace, " + std::to_string(workspace_bytes) +
                                " were asked for");
  warm_up();
  has_code_.store(true, std::memory_order_release);
}

// PoCL generates machine code at the first launch: here one on memory of zeros, on a queue of its
// own. What is too large for that is left to the work itself.
void tutti_plan::warm_up() {
  using namespace tutti::opencl;
  constexpr uint64_t most_bytes = uint64_t{64} << 20;
  const sdk::operator_call call = what.call();
  std::array<reach, sdk::most_operands> reaches{};
  uint64_t all = workspace_bytes;
  for (uint32_t n = 0; n < call.view_count; ++n) {
    reaches[n] = reach_of(call.views[n]);
    all += reaches[n].bytes;
  }
  if (all > most_bytes) return;
  cl_int code = CL_SUCCESS;
  const owned_queue queue(clCreateCommandQueue(device->context->get(), device->info->id, 0, &code));
  check(code, "clCreateCommandQueue");
  tutti_stream stream(*device, queue.get());
  std::vector<std::unique_ptr<scratch_buffer>> buffers;
  const auto add = [&](uint64_t bytes) {
    return buffers.emplace_back(std::make_unique<scratch_buffer>(*device, queue.get(), bytes))
        ->get();
  };
  sdk::operator_memory memory{};
  for (uint32_t n = 0; n < call.view_count; ++n)
    memory.operands[n] = {add(reaches[n].bytes), reaches[n].before};
  memory.workspace = {add(workspace_bytes), 0};
  memory.workspace_bytes = workspace_bytes;
  operator_functions::launch_compiled(stream, *this, memory, nullptr);
  check(clFinish(queue.get()), "clFinish");
}
