// SPDX-License-Identifier: Apache-2.0
//
// Known-answer checks at the level of the plugin ABI.
#include "abi_checks.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

#include "plugin/raii.hpp"
#include "plugin/support.hpp"
#include "tutti/error.hpp"

namespace tutti::tools {
namespace {

using detail::buffer_handle;
using detail::opened_device;
using detail::stream_handle;
using values = std::vector<float>;

constexpr size_t element_count = 1003;

/// Small integers, different from place to place.
values integers(size_t n, uint32_t seed) {
  values v(n);
  uint32_t state = seed;
  for (float& x : v) {
    state = state * 1664525u + 1013904223u;
    x = static_cast<float>(static_cast<int>(state >> 24) % 7 - 3);
  }
  return v;
}

/// A device, a stream and the few steps that all checks share.
class bench {
 public:
  explicit bench(const opened_device& d) : device_(d), stream_(detail::create_stream(d)) {}

  buffer_handle upload(const values& v) {
    buffer_handle b = room(v.size());
    detail::check(device_.plugin->transfer.write(stream_.get(), b.get(), 0, v.data(),
                                                 v.size() * sizeof(float), 1, nullptr),
                  device_, "write to the device");
    return b;
  }

  buffer_handle room(size_t n) { return detail::allocate(device_, n * sizeof(float)); }

  buffer_handle scratch(uint64_t bytes) {
    return bytes > 0 ? detail::allocate(device_, bytes) : buffer_handle();
  }

  values download(tutti_buffer* b, size_t n) {
    values v(n, std::nanf(""));
    detail::check(
        device_.plugin->transfer.read(stream_.get(), b, 0, v.data(), n * sizeof(float), 1, nullptr),
        device_, "read from the device");
    return v;
  }

  void run(const tutti_program_desc& desc, tutti_program_launch& launch) {
    const auto& api = device_.plugin->program;
    const auto program = detail::create_program(device_, desc);
    detail::check(api.workspace(program.get(), &launch, &launch.workspace_bytes), device_,
                  "workspace", desc.label);
    const buffer_handle work = scratch(launch.workspace_bytes);
    launch.workspace = work.get();
    detail::check(api.launch(stream_.get(), program.get(), &launch, nullptr), device_, "launch",
                  desc.label);
    finish();
  }

  void finish() {
    detail::check(device_.plugin->stream.synchronize(stream_.get()), device_, "synchronize");
  }

  const opened_device& device() const { return device_; }
  tutti_stream* stream() const { return stream_.get(); }

 private:
  const opened_device& device_;
  stream_handle stream_;
};

check_result timed(const char* what, const opened_device& d,
                   const std::function<std::string(bench&)>& body) {
  check_result result{what, false, {}};
  try {
    const auto start = std::chrono::steady_clock::now();
    bench b(d);
    const std::string wrong = body(b);
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - start;
    result.passed = wrong.empty();
    result.text =
        wrong.empty() ? fmt::format("right, {:.1f} ms with compilation", took.count()) : wrong;
  } catch (const std::exception& e) {
    result.text = e.what();
  }
  return result;
}

std::string compare(const values& got, const std::function<double(size_t)>& want,
                    double tolerance) {
  for (size_t i = 0; i < got.size(); ++i) {
    const double right = want(i);
    if (!(std::fabs(got[i] - right) <= tolerance * std::max(1.0, std::fabs(right))))
      return fmt::format("wrong result at {} of {}: {} instead of {}", i, got.size(), got[i],
                         right);
  }
  return {};
}

tutti_operand operand(tutti_buffer* buffer, int64_t stride) {
  tutti_operand o{};
  o.buffer = buffer;
  o.stride[0] = stride;
  return o;
}

tutti_view_desc view(uint64_t rows, uint64_t columns) {
  tutti_view_desc v{};
  v.dtype = TUTTI_F32;
  v.rank = 3;
  const uint64_t extent[3] = {1, rows, columns};
  const int64_t stride[3] = {static_cast<int64_t>(rows * columns), static_cast<int64_t>(columns),
                             1};
  std::memcpy(v.extent, extent, sizeof extent);
  std::memcpy(v.stride, stride, sizeof stride);
  return v;
}

constexpr tutti_program_operand f32_unit(uint32_t value = 0) {
  return {TUTTI_F32, TUTTI_ACCESS_UNIT, 0, value};
}

}  // namespace

check_result check_program(const opened_device& d) {
  return timed("fused program tanh(a) + a * b", d, [](bench& b) {
    const values x = integers(element_count, 1);
    const values y = integers(element_count, 2);
    const buffer_handle in0 = b.upload(x);
    const buffer_handle in1 = b.upload(y);
    const buffer_handle out = b.room(element_count);

    const tutti_program_operand inputs[] = {f32_unit(), f32_unit()};
    const tutti_instruction code[] = {{TUTTI_OP_tanh, TUTTI_F32, 1, {0, 0, 0}},
                                      {TUTTI_OP_multiply, TUTTI_F32, 2, {0, 1, 0}},
                                      {TUTTI_OP_add, TUTTI_F32, 2, {2, 3, 0}}};
    const tutti_program_operand outputs[] = {f32_unit(4)};
    tutti_program_desc desc{};
    desc.struct_size = sizeof desc;
    desc.ir_version = TUTTI_IR_VERSION;
    desc.kept_rank = 1;
    desc.input_count = 2;
    desc.instruction_count = 3;
    desc.output_count = 1;
    desc.inputs = inputs;
    desc.instructions = code;
    desc.outputs = outputs;
    desc.label = "tanh+multiply+add";

    const tutti_operand in[] = {operand(in0.get(), 1), operand(in1.get(), 1)};
    const tutti_operand result[] = {operand(out.get(), 1)};
    tutti_program_launch launch{};
    launch.struct_size = sizeof launch;
    launch.extent[0] = element_count;
    launch.inputs = in;
    launch.outputs = result;
    b.run(desc, launch);
    return compare(
        b.download(out.get(), element_count),
        [&](size_t i) { return std::tanh(double{x[i]}) + double{x[i]} * y[i]; }, 1e-6);
  });
}

check_result check_reduction(const opened_device& d) {
  return timed("reduction sum(a * a)", d, [](bench& b) {
    const values x = integers(element_count, 3);
    const buffer_handle in0 = b.upload(x);
    const buffer_handle out = b.room(1);

    const tutti_program_operand inputs[] = {f32_unit()};
    const tutti_instruction code[] = {{TUTTI_OP_multiply, TUTTI_F32, 2, {0, 0, 0}}};
    const tutti_program_operand outputs[] = {{TUTTI_F32, TUTTI_ACCESS_ZERO, 0, 1}};
    tutti_program_desc desc{};
    desc.struct_size = sizeof desc;
    desc.ir_version = TUTTI_IR_VERSION;
    desc.reduced_rank = 1;
    desc.reduction = TUTTI_REDUCE_SUM;
    desc.reduce_layout = TUTTI_REDUCE_INNER;
    desc.accumulator = TUTTI_F32;
    desc.input_count = 1;
    desc.instruction_count = 1;
    desc.output_count = 1;
    desc.inputs = inputs;
    desc.instructions = code;
    desc.outputs = outputs;
    desc.label = "multiply+sum";

    const tutti_operand in[] = {operand(in0.get(), 1)};
    const tutti_operand result[] = {operand(out.get(), 0)};
    tutti_program_launch launch{};
    launch.struct_size = sizeof launch;
    launch.extent[0] = element_count;
    launch.inputs = in;
    launch.outputs = result;
    b.run(desc, launch);
    double sum = 0;
    for (const float v : x) sum += double{v} * v;
    return compare(
        b.download(out.get(), 1), [&](size_t) { return sum; }, 0);
  });
}

check_result check_product(const opened_device& d) {
  return timed("matrix product", d, [](bench& b) -> std::string {
    constexpr uint64_t m = 37, k = 29, n = 43;
    const values x = integers(m * k, 4);
    const values y = integers(k * n, 5);
    const buffer_handle in0 = b.upload(x);
    const buffer_handle in1 = b.upload(y);
    const buffer_handle out = b.room(m * n);
    const tutti_view_desc views[] = {view(m, n), view(m, k), view(k, n)};
    const tutti_range operands[] = {{out.get(), 0}, {in0.get(), 0}, {in1.get(), 0}};
    const tutti_operator_desc desc = detail::describe(TUTTI_OPERATOR_MATMUL, views, nullptr);

    const opened_device& device = b.device();
    const auto& api = device.plugin->op;
    int32_t support = TUTTI_SUPPORT_NO;
    const char* reason = nullptr;
    detail::check(api.supports(device.handle, &desc, &support, &reason), device, "supports",
                  "matmul");
    if (support == TUTTI_SUPPORT_NO)
      return fmt::format("the device offers no product ({})",
                         reason != nullptr ? reason : "no reason given");
    detail::run_operator(device, desc, operands, b.stream(), "matmul");
    const auto want = [&](size_t at) {
      double sum = 0;
      for (uint64_t i = 0; i < k; ++i) sum += double{x[at / n * k + i]} * y[i * n + at % n];
      return sum;
    };
    return compare(b.download(out.get(), m * n), want, 0);
  });
}

}  // namespace tutti::tools
