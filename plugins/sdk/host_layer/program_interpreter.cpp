// SPDX-License-Identifier: Apache-2.0
//
// The interpreter. Points of the iteration space are numbered row-major, kept dimensions first, and
// visited in that order. For each block, values are loaded, computed instruction by instruction,
// and then stored or reduced. All loads of a block precede its stores, so outputs may alias inputs.
// Threads share the kept points.
#include "sdk/host_layer/program_interpreter.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "sdk/host_layer/reducers.hpp"
#include "sdk/op_info.hpp"
#include "sdk/status.hpp"
#include "sdk/validate.hpp"

namespace tutti::sdk {
namespace {

// The minimum work per thread.
constexpr uint64_t least_blocks = 16;

// One value of every lane; 16 bytes hold any register dtype.
struct alignas(64) register_block {
  std::array<std::byte, block_lanes * 16> bytes;
};

// Element offsets of `count` points from `first` on of a row-major space.
void walk(const uint64_t* extent, uint32_t rank, const int64_t* stride, uint64_t first,
          size_t count, int64_t* offsets) {
  std::array<uint64_t, TUTTI_MAX_RANK> at{};
  int64_t offset = 0;
  for (uint32_t d = rank; d-- > 0; first /= extent[d]) {
    at[d] = first % extent[d];
    offset += static_cast<int64_t>(at[d]) * stride[d];
  }
  for (size_t i = 0; i < count; ++i) {
    offsets[i] = offset;
    for (uint32_t d = rank; d-- > 0;) {
      if (++at[d] < extent[d]) {
        offset += stride[d];
        break;
      }
      offset -= static_cast<int64_t>(extent[d] - 1) * stride[d];
      at[d] = 0;
    }
  }
}

uint64_t point_count(const uint64_t* extent, uint32_t begin, uint32_t end) {
  uint64_t points = 1;
  for (uint32_t d = begin; d < end; ++d) {
    if (extent[d] == 0) return 0;
    if (points > INT64_MAX / extent[d]) throw_invalid("the iteration space is too large");
    points *= extent[d];
  }
  return points;
}

}  // namespace

// A launch with the addresses of its operands.
struct program_interpreter::operands {
  operands(const tutti_program_desc& desc, const tutti_program_launch& given, find_memory memory)
      : launch(given) {
    const auto place = [memory](const tutti_operand& operand) {
      return memory(*operand.buffer).data + operand.offset;
    };
    for (uint32_t i = 0; i < desc.input_count; ++i) inputs.push_back(place(given.inputs[i]));
    for (uint32_t i = 0; i < desc.output_count; ++i) outputs.push_back(place(given.outputs[i]));
  }

  const tutti_program_launch& launch;
  std::vector<std::byte*> inputs, outputs;
};

// The state of one thread.
struct program_interpreter::run_state {
  run_state(const program_interpreter& program, const operands& operands_of_launch)
      : on(operands_of_launch),
        values(program.inputs_.size() + program.scalar_dtypes_.size() + program.steps_.size()) {
    for (size_t i = 0; i < program.scalar_dtypes_.size(); ++i) {
      broadcast_scalar(program.scalar_dtypes_[i], on.launch.scalars[i],
                       &values[program.inputs_.size() + i]);
    }
  }

  const operands& on;
  std::vector<register_block> values;
  register_block reduced;
  std::array<int64_t, block_lanes> offsets;
};

program_interpreter::program_interpreter(program_description&& description)
    : description_(std::move(description)),
      inputs_(desc_.inputs, desc_.input_count),
      outputs_(desc_.outputs, desc_.output_count),
      scalar_dtypes_(desc_.scalar_dtypes, desc_.scalar_count),
      instructions_(desc_.instructions, desc_.instruction_count) {
  std::vector<uint8_t> dtypes;  // of each value
  for (const tutti_program_operand& input : inputs_) {
    loads_.push_back(find_load(input.dtype));
    dtypes.push_back(register_dtype(input.dtype));
  }
  for (const uint8_t dtype : scalar_dtypes_) dtypes.push_back(dtype);
  for (const tutti_instruction& instruction : instructions_) {
    step next{};
    uint8_t operand_dtypes[3] = {};
    for (uint32_t i = 0; i < 3; ++i) {
      next.operand[i] = instruction.operand[i < instruction.operand_count ? i : 0];
      if (i < instruction.operand_count) operand_dtypes[i] = dtypes[next.operand[i]];
    }
    if (instruction.operand_count == 0) std::fill_n(next.operand, 3, 0);
    next.run = find_instruction(instruction, operand_dtypes);
    next.result = static_cast<uint32_t>(dtypes.size());
    steps_.push_back(next);
    dtypes.push_back(instruction.dtype);
  }
  for (const tutti_program_operand& output : outputs_) stores_.push_back(find_store(output.dtype));
  if (desc_.reduction != TUTTI_REDUCE_NONE) make_reducer(desc_.reduction, desc_.accumulator);
}

void program_interpreter::check_ranges(const tutti_program_launch& launch,
                                       find_memory memory) const {
  const auto check = [&](const char* kind, size_t index, const tutti_program_operand& declared,
                         const tutti_operand& operand, uint32_t rank) {
    const uint64_t bytes = memory(*operand.buffer).bytes;
    const uint32_t size = dtype_size(declared.dtype);
    if (is_in_range(operand.offset, size, rank, launch.extent, operand.stride, bytes)) return;
    const std::string problem =
        range_problem(operand.offset, size, rank, launch.extent, operand.stride, bytes);
    if (!problem.empty()) throw_invalid(program_name(desc_), ": ", kind, " ", index, ": ", problem);
  };
  for (size_t i = 0; i < inputs_.size(); ++i) {
    check("input", i, inputs_[i], launch.inputs[i], desc_.kept_rank + desc_.reduced_rank);
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    check("output", i, outputs_[i], launch.outputs[i], desc_.kept_rank);
  }
}

void program_interpreter::run(const tutti_program_launch& launch, find_memory memory,
                              thread_team& team) const {
  check_ranges(launch, memory);
  const operands on(desc_, launch, memory);
  const uint32_t rank = desc_.kept_rank + desc_.reduced_rank;
  const uint64_t kept = point_count(launch.extent, 0, desc_.kept_rank);
  if (desc_.reduction == TUTTI_REDUCE_NONE) {
    const uint64_t blocks = (kept + block_lanes - 1) / block_lanes;
    return team.split(blocks, least_blocks, [&](uint64_t begin, uint64_t end) {
      run_state state(*this, on);
      run_elementwise(state, begin * block_lanes, std::min(kept, end * block_lanes));
    });
  }
  const bool empty = point_count(launch.extent, 0, rank) == 0;
  const uint64_t reduced = empty ? 0 : point_count(launch.extent, desc_.kept_rank, rank);
  const uint64_t least = least_blocks * block_lanes / std::max<uint64_t>(reduced, 1);
  team.split(kept, least, [&](uint64_t begin, uint64_t end) {
    run_state state(*this, on);
    run_reduction(state, begin, end, reduced);
  });
}

void program_interpreter::load_inputs(run_state& state, uint64_t first, size_t count) const {
  const uint32_t rank = desc_.kept_rank + desc_.reduced_rank;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const tutti_operand& operand = state.on.launch.inputs[i];
    walk(state.on.launch.extent, rank, operand.stride, first, count, state.offsets.data());
    loads_[i](state.on.inputs[i], state.offsets.data(), count, &state.values[i]);
  }
}

void program_interpreter::run_steps(run_state& state, uint64_t first, size_t count) const {
  auto& values = state.values;
  for (const step& next : steps_) {
    next.run({&values[next.operand[0]], &values[next.operand[1]], &values[next.operand[2]],
              &values[next.result], count, static_cast<int64_t>(first)});
  }
}

void program_interpreter::store_outputs(run_state& state, uint64_t first, size_t count) const {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const tutti_operand& operand = state.on.launch.outputs[i];
    walk(state.on.launch.extent, desc_.kept_rank, operand.stride, first, count,
         state.offsets.data());
    stores_[i](state.on.outputs[i], state.offsets.data(), count, &state.values[outputs_[i].value]);
  }
}

void program_interpreter::run_elementwise(run_state& state, uint64_t begin, uint64_t end) const {
  for (uint64_t first = begin; first < end; first += block_lanes) {
    const size_t count = std::min<uint64_t>(block_lanes, end - first);
    load_inputs(state, first, count);
    run_steps(state, first, count);
    store_outputs(state, first, count);
  }
}

// Reduces the kept points from `begin` to `end`.
void program_interpreter::run_reduction(run_state& state, uint64_t begin, uint64_t end,
                                        uint64_t reduced) const {
  const std::unique_ptr<reducer> total = make_reducer(desc_.reduction, desc_.accumulator);
  const auto finish = [&](uint64_t kept_index) {
    const tutti_operand& operand = state.on.launch.outputs[0];
    total->finish(&state.reduced);
    walk(state.on.launch.extent, desc_.kept_rank, operand.stride, kept_index, 1,
         state.offsets.data());
    stores_[0](state.on.outputs[0], state.offsets.data(), 1, &state.reduced);
    total->reset();
  };
  if (reduced == 0) {
    for (uint64_t index = begin; index < end; ++index) finish(index);
    return;
  }
  const void* value = nullptr;
  for (uint64_t first = begin * reduced; first < end * reduced; first += block_lanes) {
    const size_t count = std::min<uint64_t>(block_lanes, end * reduced - first);
    load_inputs(state, first, count);
    run_steps(state, first, count);
    value = &state.values[outputs_[0].value];
    for (size_t lane = 0; lane < count;) {
      const uint64_t done = (first + lane) % reduced;
      const size_t until = std::min<uint64_t>(count, lane + (reduced - done));
      total->feed(value, lane, until);
      if (done + (until - lane) == reduced) finish((first + lane) / reduced);
      lane = until;
    }
  }
}

}  // namespace tutti::sdk
