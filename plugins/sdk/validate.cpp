// SPDX-License-Identifier: Apache-2.0
//
// Checks of programs, launches and views against the rules of plugin.h.
#include "sdk/validate.hpp"

#include <vector>

#include "sdk/status.hpp"

// Evaluates the message only if the check fails.
#define REQUIRE(good, where, ...)                               \
  do {                                                          \
    if (!(good)) throw_invalid(text(where), ": ", __VA_ARGS__); \
  } while (false)

namespace tutti::sdk {
namespace {

std::string dtype_text(int32_t dtype) {
  return dtype_size(dtype) != 0 ? dtype_name(dtype) : "dtype " + std::to_string(dtype);
}

// The location of a check, converted to text only on failure, because launches are checked often.
struct place {
  const tutti_program_desc& desc;
  const char* kind;
  uint32_t index;
};

std::string text(const std::string& where) { return where; }
std::string text(const place& where) {
  return program_name(where.desc) + ": " + where.kind + " " + std::to_string(where.index);
}

void check_stored(const std::string& where, const tutti_program_operand& operand) {
  REQUIRE(is_register(operand.dtype) || is_storage_only(operand.dtype), where, "cannot be of ",
          dtype_text(operand.dtype));
  REQUIRE(operand.access <= TUTTI_ACCESS_STRIDED, where, "access ", operand.access, " is unknown");
}

void check_header(const tutti_program_desc& desc, const std::string& name) {
  REQUIRE(desc.kept_rank <= TUTTI_MAX_RANK && desc.reduced_rank <= TUTTI_MAX_RANK &&
              desc.kept_rank + desc.reduced_rank <= TUTTI_MAX_RANK,
          name, "kept_rank + reduced_rank is ", desc.kept_rank, " + ", desc.reduced_rank,
          ", the limit is ", TUTTI_MAX_RANK);
  if (desc.reduction > TUTTI_REDUCE_ARGMAX)
    throw_unsupported(name, ": reduction ", desc.reduction, " is unknown");
  REQUIRE(desc.reduce_layout <= TUTTI_REDUCE_OUTER, name, "reduce_layout ", desc.reduce_layout,
          " is unknown");
  REQUIRE(desc.reduction != TUTTI_REDUCE_NONE || desc.reduced_rank == 0, name, "reduced_rank is ",
          desc.reduced_rank, " without a reduction");
  REQUIRE(desc.reduction == TUTTI_REDUCE_NONE || desc.reduced_rank > 0, name,
          "reduced_rank is 0 with reduction ", desc.reduction);
  REQUIRE(desc.output_count > 0, name, "there is no output");
  REQUIRE(desc.reduction == TUTTI_REDUCE_NONE || desc.output_count == 1, name, desc.output_count,
          " outputs, a reduction has exactly 1");
}

// Checks the operand dtypes of one instruction; unrestricted operands are not checked.
void check_rule(const tutti_program_desc& desc, const tutti_instruction& instruction,
                const op_info& op, const uint8_t* operand, const std::string& where) {
  const uint8_t result = instruction.dtype;
  const auto expect = [&](int index, uint8_t dtype) {
    REQUIRE(operand[index] == dtype, where, "operand ", index, " is ", dtype_text(operand[index]),
            ", expected ", dtype_text(dtype));
  };
  const auto expect_result = [&](uint8_t dtype) {
    REQUIRE(result == dtype, where, "result is ", dtype_text(result), ", expected ",
            dtype_text(dtype));
  };
  switch (instruction.opcode) {
    case TUTTI_OP_cast:
      REQUIRE(!is_complex(operand[0]) || is_complex(result) || result == TUTTI_BOOL, where,
              dtype_text(operand[0]), " does not become ", dtype_text(result));
      return;
    case TUTTI_OP_where:
      expect(0, TUTTI_BOOL);
      expect(1, result);
      expect(2, result);
      return;
    case TUTTI_OP_iota:
      expect_result(TUTTI_I64);
      REQUIRE(desc.reduction == TUTTI_REDUCE_NONE, where, "not allowed in a reduction");
      return;
    case TUTTI_OP_philox:
      expect(0, TUTTI_I64);
      expect(1, TUTTI_U64);
      expect_result(TUTTI_U32);
      return;
    default:
      break;
  }
  REQUIRE(accepts(op.kind, operand[0]), where, "not defined for ", dtype_text(operand[0]));
  for (int i = 1; i < op.arity; ++i) expect(i, operand[0]);
  expect_result(result_dtype(op.result, operand[0]));
}

void check_instruction(const tutti_program_desc& desc, const tutti_instruction& instruction,
                       const std::vector<uint8_t>& values, const std::string& place) {
  const op_info* op = find_op(instruction.opcode);
  if (op == nullptr) throw_unsupported(place, ": opcode ", instruction.opcode, " is unknown");
  const std::string where = place + " (" + op->name + ")";
  REQUIRE(instruction.operand_count == op->arity, where, "operand_count is ",
          instruction.operand_count, ", expected ", op->arity);
  REQUIRE(is_register(instruction.dtype), where, "result cannot be of ",
          dtype_text(instruction.dtype));
  uint8_t operand[3] = {};
  for (int i = 0; i < op->arity; ++i) {
    REQUIRE(instruction.operand[i] < values.size(), where, "operand ", i, " is value ",
            instruction.operand[i], ", but only ", values.size(), " exist before it");
    operand[i] = values[instruction.operand[i]];
  }
  check_rule(desc, instruction, *op, operand, where);
}

void check_output(const tutti_program_desc& desc, const tutti_program_operand& output,
                  const std::vector<uint8_t>& values, const std::string& where) {
  check_stored(where, output);
  REQUIRE(output.value < values.size(), where, "stores value ", output.value, " of ",
          values.size());
  uint8_t value = values[output.value];
  if (desc.reduction != TUTTI_REDUCE_NONE) {
    REQUIRE(value == desc.accumulator, where, "reduces a value of ", dtype_text(value),
            " in an accumulator of ", dtype_text(desc.accumulator));
    const bool any_number =
        desc.reduction == TUTTI_REDUCE_SUM || desc.reduction == TUTTI_REDUCE_PROD;
    REQUIRE(any_number || !is_complex(value), where, dtype_text(value),
            " has sums and products only");
    const bool logical = desc.reduction == TUTTI_REDUCE_ANY || desc.reduction == TUTTI_REDUCE_ALL;
    REQUIRE(!logical || value == TUTTI_BOOL, where, "any and all reduce bool, not ",
            dtype_text(value));
    const bool argument =
        desc.reduction == TUTTI_REDUCE_ARGMIN || desc.reduction == TUTTI_REDUCE_ARGMAX;
    if (argument) value = TUTTI_I64;
  }
  REQUIRE(register_dtype(output.dtype) == value, where, "stores a value of ", dtype_text(value),
          " as ", dtype_text(output.dtype));
}

// The dimension of the innermost loop, -1 if there is none.
int innermost(const tutti_program_desc& desc) {
  const uint32_t rank = desc.kept_rank + desc.reduced_rank;
  if (desc.reduction != TUTTI_REDUCE_NONE && desc.reduce_layout == TUTTI_REDUCE_INNER) {
    return static_cast<int>(rank) - 1;
  }
  return static_cast<int>(desc.kept_rank) - 1;
}

void check_operand(const place& where, const tutti_program_operand& declared,
                   const tutti_operand& operand) {
  REQUIRE(operand.buffer != nullptr, where, "buffer is NULL");
  const uint32_t size = dtype_size(declared.dtype);
  REQUIRE(operand.offset % size == 0, where, "offset ", operand.offset,
          " is no multiple of the element size ", size);
}

void check_access(const place& where, const tutti_program_operand& declared,
                  const tutti_operand& operand, const tutti_program_launch& launch) {
  const int inner = innermost(where.desc);
  if (inner < 0 || launch.extent[inner] <= 1 || declared.access == TUTTI_ACCESS_STRIDED) return;
  const int64_t promised = declared.access == TUTTI_ACCESS_UNIT ? 1 : 0;
  REQUIRE(operand.stride[inner] == promised, where, "innermost stride is ", operand.stride[inner],
          ", its access promises ", promised);
}

}  // namespace

std::string program_name(const tutti_program_desc& desc) {
  if (desc.label == nullptr || *desc.label == 0) return "program";
  return "program " + std::string(desc.label);
}

void validate_program(const tutti_program_desc& desc) {
  const std::string name = program_name(desc);
  check_header(desc, name);
  std::vector<uint8_t> values;  // dtype of each
  for (uint32_t i = 0; i < desc.input_count; ++i) {
    check_stored(name + ": input " + std::to_string(i), desc.inputs[i]);
    values.push_back(register_dtype(desc.inputs[i].dtype));
  }
  for (uint32_t i = 0; i < desc.scalar_count; ++i) {
    REQUIRE(is_register(desc.scalar_dtypes[i]) && !is_complex(desc.scalar_dtypes[i]),
            name + ": scalar " + std::to_string(i), "cannot be of ",
            dtype_text(desc.scalar_dtypes[i]));
    values.push_back(desc.scalar_dtypes[i]);
  }
  for (uint32_t i = 0; i < desc.instruction_count; ++i) {
    check_instruction(desc, desc.instructions[i], values,
                      name + ": instruction " + std::to_string(i));
    values.push_back(desc.instructions[i].dtype);
  }
  for (uint32_t i = 0; i < desc.output_count; ++i) {
    check_output(desc, desc.outputs[i], values, name + ": output " + std::to_string(i));
  }
}

void validate_launch(const tutti_program_desc& desc, const tutti_program_launch& launch) {
  REQUIRE(desc.scalar_count == 0 || launch.scalars != nullptr, program_name(desc),
          "scalars is NULL");
  for (uint32_t d = 0; d < desc.kept_rank; ++d) {
    REQUIRE(launch.extent[d] > 0, program_name(desc), "kept extent ", d, " is 0");
  }
  for (uint32_t i = 0; i < desc.input_count; ++i) {
    const place where{desc, "input", i};
    check_operand(where, desc.inputs[i], launch.inputs[i]);
    check_access(where, desc.inputs[i], launch.inputs[i], launch);
  }
  for (uint32_t i = 0; i < desc.output_count; ++i) {
    const place where{desc, "output", i};
    check_operand(where, desc.outputs[i], launch.outputs[i]);
    if (desc.reduction == TUTTI_REDUCE_NONE) {
      check_access(where, desc.outputs[i], launch.outputs[i], launch);
    }
    for (uint32_t d = desc.kept_rank; d < desc.kept_rank + desc.reduced_rank; ++d) {
      REQUIRE(launch.extent[d] <= 1 || launch.outputs[i].stride[d] == 0, where,
              "stride along reduced dimension ", d, " is ", launch.outputs[i].stride[d],
              ", expected 0");
    }
  }
}

void validate_view(const tutti_view& view, const std::string& what, bool shape_only) {
  REQUIRE(dtype_size(view.dtype) != 0, what, dtype_text(view.dtype), " is unknown");
  REQUIRE(view.rank <= TUTTI_MAX_RANK, what, "rank is ", view.rank, ", the limit is ",
          TUTTI_MAX_RANK);
  if (shape_only) return;
  REQUIRE(view.buffer != nullptr, what, "buffer is NULL");
  REQUIRE(view.offset % dtype_size(view.dtype) == 0, what, "offset ", view.offset,
          " is no multiple of the element size ", dtype_size(view.dtype));
}

bool is_in_range(uint64_t offset, uint32_t element_size, uint32_t rank, const uint64_t* extent,
                 const int64_t* stride, uint64_t buffer_bytes) {
  int64_t lowest = 0, highest = 1, begin = 0, end = 0;
  bool overflows = false;
  for (uint32_t d = 0; d < rank; ++d) {
    int64_t reach = 0;
    overflows |= __builtin_mul_overflow(extent[d] - 1, stride[d], &reach);
    int64_t& side = reach < 0 ? lowest : highest;
    overflows |= __builtin_add_overflow(side, reach, &side);
  }
  overflows |= __builtin_mul_overflow(lowest, element_size, &begin);
  overflows |= __builtin_mul_overflow(highest, element_size, &end);
  overflows |= __builtin_add_overflow(begin, offset, &begin);
  overflows |= __builtin_add_overflow(end, offset, &end);
  return !overflows && begin >= 0 && static_cast<uint64_t>(end) <= buffer_bytes;
}

std::string range_problem(uint64_t offset, uint32_t element_size, uint32_t rank,
                          const uint64_t* extent, const int64_t* stride, uint64_t buffer_bytes) {
  __extension__ using wide = __int128;
  wide lowest = 0;
  wide highest = 0;
  for (uint32_t d = 0; d < rank; ++d) {
    if (extent[d] == 0) return {};
  }
  for (uint32_t d = 0; d < rank; ++d) {
    if (stride[d] == 0 || extent[d] == 1) continue;
    // Checks single dimensions first, so that no product overflows.
    const uint64_t step =
        stride[d] < 0 ? 0 - static_cast<uint64_t>(stride[d]) : static_cast<uint64_t>(stride[d]);
    if (extent[d] - 1 > buffer_bytes / step)
      return "extent " + std::to_string(extent[d]) + " at stride " + std::to_string(stride[d]) +
             " leaves a buffer of " + std::to_string(buffer_bytes);
    const wide reach = static_cast<wide>(extent[d] - 1) * stride[d];
    (reach < 0 ? lowest : highest) += reach;
  }
  const wide begin = static_cast<wide>(offset) + lowest * static_cast<wide>(element_size);
  const wide end = static_cast<wide>(offset) + (highest + 1) * static_cast<wide>(element_size);
  if (begin >= 0 && end <= static_cast<wide>(buffer_bytes)) return {};
  return "reaches bytes " + std::to_string(static_cast<int64_t>(begin)) + " to " +
         std::to_string(static_cast<int64_t>(end)) + " of a buffer of " +
         std::to_string(buffer_bytes);
}

void validate_range(const std::string& what, uint64_t offset, uint32_t element_size, uint32_t rank,
                    const uint64_t* extent, const int64_t* stride, uint64_t buffer_bytes) {
  const std::string problem =
      range_problem(offset, element_size, rank, extent, stride, buffer_bytes);
  REQUIRE(problem.empty(), what, problem);
}

void validate_span(const std::string& what, uint64_t offset, uint64_t bytes,
                   uint64_t buffer_bytes) {
  REQUIRE(offset <= buffer_bytes && bytes <= buffer_bytes - offset, what, bytes,
          " bytes at offset ", offset, " of a buffer of ", buffer_bytes);
}

tutti_memory_kind memory_kind_of(const tutti_buffer_desc& desc) {
  if (desc.kind > TUTTI_MEMORY_HOST)
    throw_unsupported("allocate: memory of kind ", desc.kind, " is unknown");
  if (desc.flags != 0) throw_unsupported("allocate: flags ", desc.flags, " are unknown");
  return static_cast<tutti_memory_kind>(desc.kind);
}

void validate_map(uint64_t offset, uint64_t bytes, uint32_t flags, uint64_t buffer_bytes) {
  constexpr uint32_t known = TUTTI_MAP_READ | TUTTI_MAP_WRITE;
  if (flags == 0 || (flags & ~known) != 0) throw_unsupported("map: flags ", flags, " are unknown");
  validate_span("map", offset, bytes, buffer_bytes);
}

void validate_host(const std::string& what, const void* host, uint64_t bytes) {
  if (host == nullptr && bytes > 0) throw_invalid(what, ": host is NULL");
}

bool wants_profile(const tutti_stream_desc* desc) {
  const tutti_stream_desc mine = read_struct(desc, "stream description");
  constexpr uint32_t known = TUTTI_STREAM_PROFILE;
  if ((mine.flags & ~known) != 0)
    throw_unsupported("create a stream: flags ", mine.flags, " are unknown");
  return (mine.flags & TUTTI_STREAM_PROFILE) != 0;
}

}  // namespace tutti::sdk
