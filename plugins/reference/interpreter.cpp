// SPDX-License-Identifier: Apache-2.0
//
// The interpreter. Points of the iteration space are numbered row-major, kept dimensions first, and
// visited in that order; the values of a block are loaded, computed instruction by instruction, and
// then stored or reduced. All loads of a block come before its stores, so outputs may alias inputs.
#include "reference/interpreter.hpp"

#include <algorithm>
#include <array>
#include <memory>

#include "reference/objects.hpp"
#include "reference/reducers.hpp"
#include "sdk/op_info.hpp"
#include "sdk/validate.hpp"

namespace tutti::reference {
namespace {

// One value of every lane; 16 bytes hold any register dtype.
struct alignas(64) register_block {
  std::array<std::byte, block_lanes * 16> bytes;
};

// Element offsets of the points first, first + 1, ... of a row-major space.
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
    if (points > INT64_MAX / extent[d]) sdk::throw_invalid("the iteration space is too large");
    points *= extent[d];
  }
  return points;
}

}  // namespace

struct interpreter::run_state {
  run_state(const tutti_program_launch& given, size_t value_count)
      : launch(given), values(value_count) {}

  const tutti_program_launch& launch;
  std::vector<register_block> values;
  register_block reduced;
  std::array<int64_t, block_lanes> offsets;
};

interpreter::interpreter(sdk::program_description&& description)
    : description_(std::move(description)),
      inputs_(desc_.inputs, desc_.input_count),
      outputs_(desc_.outputs, desc_.output_count),
      scalar_dtypes_(desc_.scalar_dtypes, desc_.scalar_count),
      instructions_(desc_.instructions, desc_.instruction_count) {
  std::vector<uint8_t> dtypes;  // of each value
  for (const tutti_program_operand& input : inputs_) {
    loads_.push_back(find_load(input.dtype));
    dtypes.push_back(sdk::register_dtype(input.dtype));
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

void interpreter::check_ranges(const tutti_program_launch& launch) const {
  const auto check = [&](const char* kind, size_t index, const tutti_program_operand& declared,
                         const tutti_operand& operand, uint32_t rank) {
    const std::string what = sdk::program_name(desc_) + ": " + kind + " " + std::to_string(index);
    sdk::validate_range(what, operand.offset, sdk::dtype_size(declared.dtype), rank, launch.extent,
                        operand.stride, operand.buffer->bytes);
  };
  for (size_t i = 0; i < inputs_.size(); ++i) {
    check("input", i, inputs_[i], launch.inputs[i], desc_.kept_rank + desc_.reduced_rank);
  }
  for (size_t i = 0; i < outputs_.size(); ++i) {
    check("output", i, outputs_[i], launch.outputs[i], desc_.kept_rank);
  }
}

void interpreter::run(const tutti_program_launch& launch) const {
  check_ranges(launch);
  run_state state(launch, inputs_.size() + scalar_dtypes_.size() + steps_.size());
  for (size_t i = 0; i < scalar_dtypes_.size(); ++i) {
    broadcast_scalar(scalar_dtypes_[i], launch.scalars[i], &state.values[inputs_.size() + i]);
  }
  const uint32_t rank = desc_.kept_rank + desc_.reduced_rank;
  const uint64_t kept = point_count(launch.extent, 0, desc_.kept_rank);
  if (desc_.reduction == TUTTI_REDUCE_NONE) {
    run_elementwise(state, kept);
  } else {
    if (point_count(launch.extent, 0, rank) == 0) return run_reduction(state, kept, 0);
    run_reduction(state, kept, point_count(launch.extent, desc_.kept_rank, rank));
  }
}

void interpreter::load_inputs(run_state& state, uint64_t first, size_t count) const {
  const uint32_t rank = desc_.kept_rank + desc_.reduced_rank;
  for (size_t i = 0; i < inputs_.size(); ++i) {
    const tutti_operand& operand = state.launch.inputs[i];
    walk(state.launch.extent, rank, operand.stride, first, count, state.offsets.data());
    loads_[i](operand.buffer->data + operand.offset, state.offsets.data(), count, &state.values[i]);
  }
}

void interpreter::run_steps(run_state& state, uint64_t first, size_t count) const {
  auto& values = state.values;
  for (const step& next : steps_) {
    next.run({&values[next.operand[0]], &values[next.operand[1]], &values[next.operand[2]],
              &values[next.result], count, static_cast<int64_t>(first)});
  }
}

void interpreter::store_outputs(run_state& state, uint64_t first, size_t count) const {
  for (size_t i = 0; i < outputs_.size(); ++i) {
    const tutti_operand& operand = state.launch.outputs[i];
    walk(state.launch.extent, desc_.kept_rank, operand.stride, first, count, state.offsets.data());
    stores_[i](operand.buffer->data + operand.offset, state.offsets.data(), count,
               &state.values[outputs_[i].value]);
  }
}

void interpreter::run_elementwise(run_state& state, uint64_t points) const {
  for (uint64_t first = 0; first < points; first += block_lanes) {
    const size_t count = std::min<uint64_t>(block_lanes, points - first);
    load_inputs(state, first, count);
    run_steps(state, first, count);
    store_outputs(state, first, count);
  }
}

void interpreter::run_reduction(run_state& state, uint64_t kept, uint64_t reduced) const {
  const std::unique_ptr<reducer> total = make_reducer(desc_.reduction, desc_.accumulator);
  const auto finish = [&](uint64_t kept_index) {
    const tutti_operand& operand = state.launch.outputs[0];
    total->finish(&state.reduced);
    walk(state.launch.extent, desc_.kept_rank, operand.stride, kept_index, 1, state.offsets.data());
    stores_[0](operand.buffer->data + operand.offset, state.offsets.data(), 1, &state.reduced);
    total->reset();
  };
  if (reduced == 0) {
    for (uint64_t index = 0; index < kept; ++index) finish(index);
    return;
  }
  const void* value = nullptr;
  for (uint64_t first = 0; first < kept * reduced; first += block_lanes) {
    const size_t count = std::min<uint64_t>(block_lanes, kept * reduced - first);
    load_inputs(state, first, count);
    run_steps(state, first, count);
    value = &state.values[outputs_[0].value];
    for (size_t lane = 0; lane < count;) {
      const uint64_t done = (first + lane) % reduced;
      const size_t end = std::min<uint64_t>(count, lane + (reduced - done));
      total->feed(value, lane, end);
      if (done + (end - lane) == reduced) finish((first + lane) / reduced);
      lane = end;
    }
  }
}

}  // namespace tutti::reference
