// SPDX-License-Identifier: Apache-2.0
#include "sdk/host_engine/on_buffers.hpp"

#include <algorithm>
#include <utility>
#include <vector>

#include "sdk/convolution.hpp"
#include "sdk/host_engine/lapack.hpp"
#include "sdk/host_engine/lapack_matrices.hpp"
#include "sdk/host_layer/plain_arithmetic.hpp"
#include "sdk/host_layer/work_queue.hpp"
#include "sdk/linear_algebra.hpp"
#include "sdk/spmm.hpp"
#include "sdk/status.hpp"

namespace tutti::sdk {
namespace {

host_parallel_for shared_by(thread_team& team) {
  return [&team](uint64_t count, const std::function<void(uint64_t)>& work) {
    team.split(count, 1, [&](uint64_t begin, uint64_t end) {
      const plain_arithmetic mode;
      for (uint64_t n = begin; n < end; ++n) work(n);
    });
  };
}

// A CPU with the vector width of the best routines.
device_description machine_of(uint32_t compute_units) {
  device_description device;
  device.kind = schedule::cpu;
  const host_routines best = best_host_routines();
  device.vector_bytes = best == host_routines::avx512 ? 64 : best == host_routines::avx2 ? 32 : 16;
  device.properties.compute_units = compute_units;
  device.properties.computed_dtypes = ~(TUTTI_DTYPE_BIT(TUTTI_F16) | TUTTI_DTYPE_BIT(TUTTI_BF16));
  return device;
}

// Nothing if the engine does not support it.
template <typename Make>
auto unless_unsupported(const Make& make) -> std::optional<decltype(make())> {
  try {
    return make();
  } catch (const plugin_error& error) {
    if (error.code != TUTTI_ERROR_UNSUPPORTED) throw;
    return std::nullopt;
  }
}

// The addresses of a launch's operands.
struct operand_addresses {
  static constexpr uint32_t most = 128;
  std::byte* at[most];
  host_operands operands;

  operand_addresses(const tutti_program_desc& d, const tutti_program_launch& launch,
                    find_memory memory) {
    if (d.input_count + d.output_count > most)
      throw plugin_error(TUTTI_ERROR_INTERNAL, "a program with too many operands");
    uint32_t count = 0;
    const auto add = [&](const tutti_operand* given, uint32_t many) {
      for (uint32_t n = 0; n < many; ++n)
        at[count++] = memory(*given[n].buffer).data + given[n].offset;
    };
    add(launch.inputs, d.input_count);
    add(launch.outputs, d.output_count);
    operands = {at, at + d.input_count};
  }
};

// Launches of fewer points are always short, and reading the clock would slow them down.
constexpr double worth_measuring = 2048;

// Runs `work` and records its duration in `cost`.
template <typename F>
void measured(host_cost& cost, double units, const F& work) {
  const plain_arithmetic mode;
  const uint64_t begin = now_ns();
  work();
  cost.add(units, now_ns() - begin);
}

}  // namespace

work_size size_of(const program_layout& layout, const tutti_program_launch& l) {
  // The cost of a line in points, of a reduction and otherwise, measured with f32.
  constexpr double points_of_reduced_line = 128, points_of_line = 16;
  const uint32_t rank = layout.given_kept + layout.given_reduced;
  double points = 1;
  for (uint32_t d = 0; d < rank; ++d) points *= static_cast<double>(l.extent[d]);
  if (rank == 0 || points == 0) return {points, points};
  const bool reduces_lines = layout.reduces() && layout.reduce_layout == TUTTI_REDUCE_INNER;
  const uint32_t loop = reduces_lines ? rank : layout.given_kept;
  const double lines = loop == 0 ? 1 : points / static_cast<double>(l.extent[loop - 1]);
  return {points, points + (reduces_lines ? points_of_reduced_line : points_of_line) * lines};
}

double guessed_ns_of_unit(const tutti_program_desc& desc) {
  constexpr double of_instruction = 0.5;
  return of_instruction * (2 + desc.instruction_count);
}

double guessed_ns(const operator_call& call) {
  constexpr double of_element = 2, of_product = 0.1;
  double all = 0;
  for (uint32_t n = 0; n < call.view_count; ++n)
    all += of_element * static_cast<double>(elements_of(call.views[n]));
  if (call.kind == TUTTI_OPERATOR_CONVOLUTION) return all + of_product * convolution_work(call);
  if (call.kind == TUTTI_OPERATOR_SPMM) return all + of_element * spmm_work(call);
  if (call.kind == TUTTI_OPERATOR_SDDMM) return all + of_product * sddmm_work(call);
  if (is_linear_algebra(call.kind)) {
    const matrix_extents m = extents_of(call);
    const auto least = static_cast<double>(std::min(m.rows, m.columns));
    return all * (1 + of_product * least);
  }
  if (call.kind != TUTTI_OPERATOR_MATMUL) return all;
  const auto depth = static_cast<double>(call.views[1].extent[2]);
  return all + of_product * depth * static_cast<double>(elements_of(call.views[0]));
}

engine_program::engine_program(program_description&& description, uint32_t compute_units)
    : loops_(std::move(description)),
      on_{compute_units},
      layout_(layout_of(loops_.desc(), {schedule::cpu})),
      cost_(guessed_ns_of_unit(loops_.desc())) {
  if (auto made = unless_unsupported([&] { return host_program(loops_.desc()); }))
    engine_.emplace(std::move(*made));
}

double engine_program::expected_ns(const tutti_program_launch& launch) const {
  return cost_.expected(size_of(layout_, launch).units);
}

void engine_program::run(const tutti_program_launch& launch, find_memory memory,
                         thread_team& team) const {
  loops_.check_ranges(launch, memory);
  const work_size size = size_of(layout_, launch);
  if (!engine_) return measured(cost_, size.units, [&] { loops_.run(launch, memory, team); });
  const operand_addresses addresses(desc(), launch, memory);
  const host_operands& operands = addresses.operands;
  const bool is_shared = team.size() > 1 && size.points >= points_to_share &&
                         cost_.expected(size.units) >= worth_sharing_ns;
  if (size.points < worth_measuring) {
    const plain_arithmetic mode;
    return engine_->run(launch, operands, on_);
  }
  measured(cost_, size.units, [&] {
    if (!is_shared) return engine_->run(launch, operands, on_);
    engine_->run(launch, operands, on_, shared_by(team));
  });
}

void engine_program::run_points(const tutti_program_launch& launch, find_memory memory,
                                uint64_t first, uint64_t last, bool streams) const {
  const operand_addresses addresses(desc(), launch, memory);
  engine_->run_points(launch, addresses.operands, on_, first, last, streams);
}

engine_operator::engine_operator(std::shared_ptr<const owned_operator> what, uint32_t compute_units)
    : what_(std::move(what)), cost_(guessed_ns(call())) {
  if (is_linear_algebra(call().kind)) {
    if (fits_lapack(call())) by_lapack_ = find_lapack();
    return;
  }
  const device_description device = machine_of(compute_units);
  if (host_operator_plan::against(device, call()) == nullptr) engine_.emplace(device, call());
}

void engine_operator::run(const host_operator& launch, thread_team& team, void* workspace) const {
  measured(cost_, 1, [&] { run_unmeasured(launch, team, workspace); });
}

void engine_operator::run_unmeasured(const host_operator& launch, thread_team& team,
                                     void* workspace) const {
  if (by_lapack_ != nullptr)
    return run_by_lapack(*by_lapack_, call(), launch.addresses().data(), team);
  if (!engine_) return launch.run(team);
  const bool is_shared = team.size() > 1 && expected_ns() >= worth_sharing_ns;
  engine_->run(launch.addresses().data(), is_shared ? shared_by(team) : host_parallel_for(),
               workspace);
}

}  // namespace tutti::sdk
