// SPDX-License-Identifier: Apache-2.0
//
// The operator group of the ABI for a backend: creating a plan checks, divides and compiles the
// description; a launch adds the memory.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "sdk/device_layer/backend.hpp"
#include "sdk/linear_algebra.hpp"
#include "sdk/ordering.hpp"
#include "sdk/validate_operator.hpp"

namespace tutti::sdk {

/// An operator with its kernels; tutti_plan derives from it.
template <typename B>
struct device_plan {
  using prepared_kernel =
      decltype(B::kernel_of(std::declval<typename B::device&>(), "scan", std::string(), ""));
  struct step : prepared_launch {
    step(const kernel_launch& from, prepared_kernel k) : prepared_launch(from), kernel(k) {}
    prepared_kernel kernel;
  };

  device_plan(typename B::device& of, const owned_operator& described)
      : device(&of), what(described) {}

  typename B::device* device;
  owned_operator what;
  uint64_t workspace_bytes = 0;
  std::vector<step> steps;
  std::optional<typename B::constants> constants;  // read by the steps
  std::optional<typename B::product> product;      // of TUTTI_OPERATOR_MATMUL, instead of steps
};

/// A backend with linear algebra by host functions or a library; the memory has been checked.
template <typename B>
concept matrix_backend = requires(typename B::device& device, typename B::stream& stream,
                                  const operator_call& call, const owned_operator& what,
                                  const operator_memory& places, tutti_event** event,
                                  const char** reason) {
  { B::matrices_supported(device, call, reason) } -> std::same_as<bool>;
  B::matrices(stream, what, places, event);
};

/// Records the launches of an operator as the steps of a plan.
template <device_backend B>
class plan_maker final : public operator_launcher {
 public:
  explicit plan_maker(device_plan<B>& plan) : plan_(plan) {}
  void launch(const kernel_launch& k) override {
    plan_.steps.emplace_back(k, B::kernel_of(*plan_.device, k.file, k.options, k.kernel));
  }
  void keep(std::span<const std::byte> constants) override {
    plan_.constants.emplace(*plan_.device, constants);
  }

 private:
  device_plan<B>& plan_;
};

/// Plan is tutti_plan, which the plugin derives from device_plan<B>.
template <device_backend B, typename Plan>
struct operator_functions {
  static tutti_status* supports(tutti_device* device, const tutti_operator_desc* desc,
                                int32_t* support, const char** reason) {
    return guarded([&] {
      deref(support, "support") = TUTTI_SUPPORT_NO;
      const char* why = "";
      typename B::device& d = deref(device, "device");
      [[maybe_unused]] const typename B::scope scope(d);
      const owned_operator what(desc, why);
      if (why == nullptr) why = against(d, what);
      if (why == nullptr) *support = TUTTI_SUPPORT_YES;
      if (reason != nullptr) *reason = why != nullptr ? why : "";
    });
  }

  static tutti_status* create(tutti_device* device, const tutti_operator_desc* desc,
                              tutti_plan** result) {
    return guarded([&] {
      deref(result, "plan") = nullptr;
      const char* why = nullptr;
      typename B::device& d = deref(device, "device");
      [[maybe_unused]] const typename B::scope scope(d);
      const owned_operator what(desc, why);
      if (why == nullptr) why = against(d, what);
      if (why != nullptr) throw_unsupported(why);
      auto plan = std::make_unique<Plan>(d, what);
      if (!is_linear_algebra(plan->what.call().kind)) plan->workspace_bytes = compile(*plan);
      *result = plan.release();
    });
  }

  static void release(tutti_plan* plan) { delete static_cast<Plan*>(plan); }

  static tutti_status* workspace(tutti_plan* plan, uint64_t* bytes) {
    return guarded([&] {
      deref(bytes, "bytes") = 0;
      const Plan& p = deref(plan, "plan");
      *bytes = p.workspace_bytes;
    });
  }

  static tutti_status* launch(tutti_stream* stream, tutti_plan* plan,
                              const tutti_operator_launch* given, tutti_event** event) {
    return guarded([&] {
      if (event != nullptr) *event = nullptr;
      typename B::stream& s = deref(stream, "stream");
      Plan& p = deref(plan, "plan");
      const operator_call call = p.what.call();
      const char* name = operator_name(call.kind);
      require_same_device<B>(*p.device, *s.device, name, "the plan");
      const operator_memory memory = read_launch(given, call);
      check_memory(p, call, name, memory);
      if constexpr (matrix_backend<B>)
        if (is_linear_algebra(call.kind)) return B::matrices(s, p.what, memory, event);
      [[maybe_unused]] const typename B::scope scope(*p.device);
      if (p.product) return B::matmul(s, call, *p.product, memory, event);
      typename B::recording recording(s, event);
      for (const auto& step : p.steps) run(step, p, memory, recording);
      recording.finish();
    });
  }

  static constexpr tutti_operator_api api = {
      sizeof(tutti_operator_api), supports, create, release, workspace, launch};

 private:
  // Creates the kernels and returns their workspace size in bytes.
  static uint64_t compile(Plan& plan) {
    const operator_call call = plan.what.call();
    if (call.kind == TUTTI_OPERATOR_MATMUL) {
      plan.product.emplace(B::prepare_matmul(*plan.device, call));
      return B::matmul_workspace(*plan.product);
    }
    plan_maker<B> maker(plan);
    return launch_operator(*plan.device->info, call, maker);
  }

  // The reason against a well-formed description; throws if it is malformed.
  static const char* against(typename B::device& device, const owned_operator& what) {
    const operator_call call = what.call();
    check_operator(call);
    if (is_linear_algebra(call.kind)) return against_matrices(device, call);
    if (call.kind != TUTTI_OPERATOR_MATMUL) return against_operator(*device.info, call);
    const char* why = "";
    return B::matmul_supported(device, call, &why) ? nullptr : why;
  }

  static const char* against_matrices(typename B::device& device, const operator_call& call) {
    const char* why = "";
    if constexpr (matrix_backend<B>)
      return B::matrices_supported(device, call, &why) ? nullptr : why;
    return "linear algebra: this backend has none";
  }

  static void check_memory(const Plan& plan, const operator_call& call, const char* name,
                           const operator_memory& memory) {
    for (uint32_t n = 0; n < call.view_count; ++n) {
      const tutti_range& range = memory.operands[n];
      memory_on<B>(*plan.device, range.buffer, name);
      const typename B::buffer& buffer = *range.buffer;
      check_operand(call, n, range.offset, buffer.bytes);
    }
    if (plan.workspace_bytes == 0) return;
    memory_on<B>(*plan.device, memory.workspace.buffer, name);
    const typename B::buffer& buffer = *memory.workspace.buffer;
    validate_workspace(memory, plan.workspace_bytes, buffer.bytes,
                       plan.device->info->properties.alignment, name);
  }

  static typename B::memory place_of(operand o, const Plan& plan, const operator_memory& memory) {
    if (o == operand::constants) return plan.constants->memory();
    const typename B::buffer* buffer = o == operand::workspace
                                           ? memory.workspace.buffer
                                           : memory.operands[static_cast<size_t>(o)].buffer;
    return buffer->memory;
  }

  static void run(const typename Plan::step& step, const Plan& plan, const operator_memory& memory,
                  typename B::recording& recording) {
    constexpr uint32_t most = 8;
    typename B::memory places[most];
    const void* values[most];
    size_t bytes[most];
    uint32_t n = 0;
    for (const operand o : step.memory) {
      places[n] = place_of(o, plan, memory);
      values[n] = &places[n];
      bytes[n++] = sizeof places[0];
    }
    filled_shape shape;
    step.shape_at(memory, shape);
    values[n] = shape.bytes;
    bytes[n++] = step.shape.size();
    auto&& kernel = B::for_launch(step.kernel);
    recording.launch(kernel, {values, bytes, n}, step.groups, plan.device->info->group_size(),
                     step.last, step.label);
  }
};

}  // namespace tutti::sdk
