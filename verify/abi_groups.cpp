// SPDX-License-Identifier: Apache-2.0
//
// The rules of plugin.h for programs: structs shorter and longer than the plugin's own,
// capabilities, and malformed descriptions that must be refused with a message, never by a crash.
#include <algorithm>
#include <cstring>

#include "harness.hpp"
#include "oracle.hpp"

namespace tutti::conformance {
namespace {

program_spec sample() {
  program_spec spec;
  spec.label = "sample";
  spec.input(TUTTI_F32);
  spec.input(TUTTI_F32);
  const uint32_t scale = spec.scalar(TUTTI_F32);
  const uint32_t sum = spec.op(TUTTI_OP_add, TUTTI_F32, {0, 1});
  spec.output(spec.op(TUTTI_OP_multiply, TUTTI_F32, {sum, scale}), TUTTI_F32);
  return spec;
}

struct mutation {
  const char* name;
  void (*apply)(program_spec& spec, tutti_program_desc& desc);
  int32_t code = TUTTI_ERROR_INVALID_ARGUMENT;
};

// clang-format off
const mutation mutations[] = {
    {"ir_version", [](program_spec&, tutti_program_desc& d) { d.ir_version = 999; }, TUTTI_ERROR_UNSUPPORTED},
    {"kept_rank", [](program_spec&, tutti_program_desc& d) { d.kept_rank = 9; }},
    {"kept_rank that wraps", [](program_spec&, tutti_program_desc& d) { d.kept_rank = ~0u; d.reduced_rank = 2; }},
    {"reduced_rank without a reduction", [](program_spec&, tutti_program_desc& d) { d.reduced_rank = 1; }},
    {"reduction", [](program_spec&, tutti_program_desc& d) { d.reduction = 99; d.reduced_rank = 1; d.accumulator = TUTTI_F32; }, TUTTI_ERROR_UNSUPPORTED},
    {"accumulator", [](program_spec&, tutti_program_desc& d) { d.reduction = TUTTI_REDUCE_SUM; d.reduced_rank = 1; d.accumulator = TUTTI_I32; }},
    {"opcode", [](program_spec& s, tutti_program_desc&) { s.instructions[0].opcode = 60000; }, TUTTI_ERROR_UNSUPPORTED},
    {"opcode 0", [](program_spec& s, tutti_program_desc&) { s.instructions[0].opcode = 0; }, TUTTI_ERROR_UNSUPPORTED},
    {"operand beyond all values", [](program_spec& s, tutti_program_desc&) { s.instructions[1].operand[1] = 1u << 30; }},
    {"operand not computed yet", [](program_spec& s, tutti_program_desc&) { s.instructions[0].operand[0] = 4; }},
    {"operand_count", [](program_spec& s, tutti_program_desc&) { s.instructions[0].operand_count = 1; }},
    {"operand_count beyond 3", [](program_spec& s, tutti_program_desc&) { s.instructions[0].operand_count = 200; }},
    {"instruction dtype", [](program_spec& s, tutti_program_desc&) { s.instructions[0].dtype = 77; }},
    {"result dtype", [](program_spec& s, tutti_program_desc&) { s.instructions[0].dtype = TUTTI_I32; }},
    {"f16 instruction", [](program_spec& s, tutti_program_desc&) { s.instructions[0].dtype = TUTTI_F16; }},
    {"operand dtypes that differ", [](program_spec& s, tutti_program_desc&) { s.inputs[1].dtype = TUTTI_I32; }},
    {"input dtype", [](program_spec& s, tutti_program_desc&) { s.inputs[0].dtype = 200; }},
    {"access", [](program_spec& s, tutti_program_desc&) { s.inputs[0].access = 9; }},
    {"scalar dtype", [](program_spec& s, tutti_program_desc&) { s.scalars[0] = 99; }},
    {"output value", [](program_spec& s, tutti_program_desc&) { s.outputs[0].value = 5; }},
    {"output dtype", [](program_spec& s, tutti_program_desc&) { s.outputs[0].dtype = TUTTI_I64; }},
    {"no output", [](program_spec&, tutti_program_desc& d) { d.output_count = 0; }},
    {"inputs NULL", [](program_spec&, tutti_program_desc& d) { d.inputs = nullptr; }},
    {"instructions NULL", [](program_spec&, tutti_program_desc& d) { d.instructions = nullptr; }},
    {"input_count", [](program_spec&, tutti_program_desc& d) { d.input_count = ~0u; }},
    {"instruction_count", [](program_spec&, tutti_program_desc& d) { d.instruction_count = ~0u; }},
    {"operand_size", [](program_spec&, tutti_program_desc& d) { d.operand_size = 0; }},
    {"instruction_size", [](program_spec&, tutti_program_desc& d) { d.instruction_size = 4; }},
    {"struct_size", [](program_spec&, tutti_program_desc& d) { d.struct_size = 0; }},
    {"not a float", [](program_spec& s, tutti_program_desc&) {
       s.instructions[1] = {TUTTI_OP_exp, TUTTI_I32, 1, {3, 0, 0}}; s.outputs[0].dtype = TUTTI_I32; }},
};
// clang-format on

void check_malformed(session& s) {
  // If a device lacks a feature of the description, it may report that instead.
  const uint8_t f32 = TUTTI_F32;
  const bool is_little = !s.computes(TUTTI_I32) || !s.has(TUTTI_OP_exp, {&f32, 1});
  for (const mutation& m : mutations) {
    program_spec spec = sample();
    tutti_program_desc desc = spec.desc();
    m.apply(spec, desc);
    const outcome result =
        tried(s.api->program->release, s.api->program->create, s.device.get(), &desc).first;
    require(bool(result), "accepted: wrong {}", m.name);
    const bool fits =
        result.code == m.code || (is_little && result.code == TUTTI_ERROR_UNSUPPORTED);
    require(fits, "wrong {} gives code {}: {}", m.name, result.code, result.message);
    require(!result.message.empty(), "no message for wrong {}", m.name);
  }
  tutti_program* program = nullptr;
  require(bool(take(s.api->program->create(s.device.get(), nullptr, &program))),
          "accepted: no description");
}

struct launch_fixture {
  explicit launch_fixture(session& s) : spec(sample()), program(s.program(spec.desc())) {
    for (auto& buffer : buffers) buffer = s.allocate(1024);
    const std::vector<float> ones(256, 1.0f);
    for (int i = 0; i < 3; ++i) {
      s.write(buffers[i].get(), 0, ones.data(), 1024);
      operands[i].buffer = buffers[i].get();
      operands[i].stride[0] = 1;
    }
    factor.f32 = 21.0f;
    desc.struct_size = sizeof desc;
    desc.operand_size = sizeof(tutti_operand);
    desc.extent[0] = 256;
    desc.inputs = operands;
    desc.outputs = operands + 2;
    desc.scalars = &factor;
  }

  outcome launch(session& s, const tutti_program_launch* l) {
    const outcome refused =
        take(s.api->program->launch(s.main_stream.get(), program.get(), l, nullptr));
    const outcome later = take(s.api->stream->synchronize(s.main_stream.get()));
    return refused ? refused : later;
  }

  void expect_result(session& s, const char* what) {
    std::vector<float> got(256);
    s.read(buffers[2].get(), 0, got.data(), 1024);
    require(std::count(got.begin(), got.end(), 42.0f) == 256, "{}: wrong result", what);
  }

  program_spec spec;
  handle<tutti_program> program;
  handle<tutti_buffer> buffers[3];
  tutti_operand operands[3] = {};
  tutti_scalar factor{};
  tutti_program_launch desc{};
};

void check_bad_launch(session& s) {
  launch_fixture f(s);
  require(bool(f.launch(s, nullptr)), "accepted: no launch");
  const auto refused = [&](const char* what, void (*change)(tutti_program_launch&)) {
    tutti_program_launch l = f.desc;
    change(l);
    require(bool(f.launch(s, &l)), "accepted: {}", what);
  };
  refused("struct_size 0", [](tutti_program_launch& l) { l.struct_size = 0; });
  refused("no inputs", [](tutti_program_launch& l) { l.inputs = nullptr; });
  refused("no outputs", [](tutti_program_launch& l) { l.outputs = nullptr; });
  refused("operand_size 0", [](tutti_program_launch& l) { l.operand_size = 0; });
  f.operands[1].buffer = nullptr;
  require(bool(f.launch(s, &f.desc)), "accepted: a NULL buffer");
  f.operands[1].buffer = f.buffers[1].get();
  check(s.api->program->launch(s.main_stream.get(), f.program.get(), &f.desc, nullptr), "launch");
  f.expect_result(s, "after refused launches");
}

// A launch beyond its buffers; only for plugins that check (elsewhere a kernel would access any
// memory).
void check_beyond(session& s) {
  if (s.api->native == nullptr || s.api->native->kind != TUTTI_NATIVE_HOST) {
    throw skipped("only for backends on host memory");
  }
  launch_fixture f(s);
  f.desc.extent[0] = 257;
  require(bool(f.launch(s, &f.desc)), "a launch beyond its buffers succeeded");
  f.desc.extent[0] = 256;
  f.operands[0].stride[0] = 1;
  f.operands[0].offset = 4;
  require(bool(f.launch(s, &f.desc)), "an offset beyond a buffer was accepted");
  f.operands[0].offset = 0;
  const outcome good = f.launch(s, &f.desc);
  require(!good, "a good launch after bad ones: {}", good.message);
  f.expect_result(s, "after bad launches");
}

// For a description whose arrays or size differ from those of this header.
handle<tutti_program> made_as_given(session& s, const tutti_program_desc& desc) {
  return made(s.api->program->release, "program create", s.api->program->create, s.device.get(),
              &desc);
}

// Fields that a shorter struct does not have must not be read; bytes of a longer one must be
// ignored.
void check_struct_sizes(session& s) {
  launch_fixture f(s);
  longer<tutti_program_desc> long_desc;
  std::memset(static_cast<void*>(&long_desc), 0xCD, sizeof long_desc);
  long_desc.known = f.spec.desc();
  long_desc.known.struct_size = sizeof long_desc;
  f.program = made_as_given(s, long_desc.known);
  longer<tutti_program_launch> long_launch;
  std::memset(static_cast<void*>(&long_launch), 0xCD, sizeof long_launch);
  long_launch.known = f.desc;
  long_launch.known.struct_size = sizeof long_launch;
  const outcome with_long = f.launch(s, &long_launch.known);
  require(!with_long, "structs longer than known: {}", with_long.message);
  f.expect_result(s, "longer structs");

  tutti_program_desc shorter = f.spec.desc();
  shorter.struct_size = offsetof(tutti_program_desc, label);
  shorter.label = reinterpret_cast<const char*>(uintptr_t{16});  // must not be dereferenced
  f.program = made_as_given(s, shorter);
  uint64_t bytes = 0;
  check(s.api->program->workspace(f.program.get(), &f.desc, &bytes), "workspace");
  if (bytes == 0) {
    f.desc.struct_size = offsetof(tutti_program_launch, workspace);
    f.desc.workspace = reinterpret_cast<tutti_buffer*>(uintptr_t{16});
    f.desc.workspace_bytes = ~uint64_t{0};
  }
  f.factor.f32 = 21.0f;
  const outcome with_short = f.launch(s, &f.desc);
  require(!with_short, "structs shorter than known: {}", with_short.message);
  f.expect_result(s, "shorter structs");
}

/// An array of a later version: our struct, followed by more fields.
template <typename T>
class widened {
 public:
  template <typename List>
  explicit widened(const List& list) {
    for (const T& value : list) {
      longer<T>& e = elements_.emplace_back();
      std::memset(static_cast<void*>(&e), 0xCD, sizeof e);
      e.known = value;
    }
  }
  const T* data() const { return &elements_[0].known; }
  static constexpr uint32_t size = sizeof(longer<T>);

 private:
  std::vector<longer<T>> elements_;
};

void check_array_strides(session& s) {
  launch_fixture f(s);
  const widened<tutti_program_operand> inputs(f.spec.inputs), outputs(f.spec.outputs);
  const widened<tutti_instruction> instructions(f.spec.instructions);
  tutti_program_desc desc = f.spec.desc();
  desc.inputs = inputs.data();
  desc.outputs = outputs.data();
  desc.operand_size = inputs.size;
  desc.instructions = instructions.data();
  desc.instruction_size = instructions.size;
  f.program = made_as_given(s, desc);
  const widened<tutti_operand> in(std::vector{f.operands[0], f.operands[1]}),
      out(std::vector{f.operands[2]});
  f.desc.inputs = in.data();
  f.desc.outputs = out.data();
  f.desc.operand_size = in.size;
  uint64_t bytes = 0;
  check(s.api->program->workspace(f.program.get(), &f.desc, &bytes), "workspace");
  const outcome result = f.launch(s, &f.desc);
  require(!result, "arrays of longer structs: {}", result.message);
  f.expect_result(s, "arrays of longer structs");
}

void check_capabilities(session& s) {
  tutti_program_capabilities c{};
  c.struct_size = sizeof c;
  check(s.api->program->capabilities(s.device.get(), &c), "capabilities");
  require(c.ir_version_min <= c.ir_version_max && c.ir_version_max > 0, "IR versions {} to {}",
          c.ir_version_min, c.ir_version_max);
  require(c.opcode_count == 0 || c.opcodes != nullptr, "opcodes is NULL");
  require(c.reduction_count == 0 || c.reductions != nullptr, "reductions is NULL");
  // Comparisons of any dtype give bool, which need not be stored.
  const uint32_t computed = s.properties.computed_dtypes | TUTTI_DTYPE_BIT(TUTTI_BOOL);
  const auto check_sets = [&](const uint32_t* sets, uint32_t count, const char* what) {
    for (uint32_t i = 0; i < count; ++i)
      require((sets[i] & ~computed) == 0, "{} {} has dtypes that are not among computed_dtypes",
              what, i);
  };
  check_sets(c.opcodes, c.opcode_count, "opcode");
  check_sets(c.reductions, c.reduction_count, "reduction");
}

// `supports` must accept everything in the capabilities, one instruction at a time.
void check_offered(session& s) {
  for (const sdk::op_info& op : sdk::op_rows()) {
    if (op.kind == sdk::op_kind::IR || op.arity > s.properties.max_inputs) continue;
    for (uint8_t dtype = TUTTI_BOOL; dtype <= TUTTI_C128; ++dtype) {
      if (!s.computes(dtype) || !s.stores(dtype) || !sdk::accepts(op.kind, dtype)) continue;
      const uint8_t result = sdk::result_dtype(op.result, dtype), dtypes[] = {dtype, result};
      if (!s.has(op.opcode, dtypes) || !s.stores(result)) continue;
      program_spec spec;
      for (uint8_t k = 0; k < op.arity; ++k) spec.input(dtype);
      spec.instructions.push_back({op.opcode, result, op.arity, {0, 1u % op.arity, 2u % op.arity}});
      spec.output(op.arity, result);
      const tutti_program_desc desc = spec.desc();
      int32_t support = TUTTI_SUPPORT_NO;
      const char* reason = nullptr;
      check(s.api->program->supports(s.device.get(), &desc, &support, &reason), "supports");
      require(support == TUTTI_SUPPORT_YES,
              "the capabilities have {} of {}, and `supports` says no: {}", op.name,
              sdk::dtype_name(dtype), reason != nullptr ? reason : "no reason given");
    }
  }
}

void check_supports(session& s) {
  const auto ask = [&](const program_spec& spec, const char** reason) {
    const tutti_program_desc desc = spec.desc();
    int32_t support = -1;
    check(s.api->program->supports(s.device.get(), &desc, &support, reason), "supports");
    return support;
  };
  const char* reason = nullptr;
  program_spec spec = sample();
  if (sdk::beyond(s.offered, spec.desc()).empty())
    require(ask(spec, &reason) == TUTTI_SUPPORT_YES, "a sum of f32 is not supported");
  spec.instructions[0].opcode = 60000;
  require(ask(spec, &reason) == TUTTI_SUPPORT_NO, "an opcode that does not exist is supported");
  require(reason != nullptr && *reason != 0, "no reason for an opcode that is not supported");
  require(ask(spec, nullptr) == TUTTI_SUPPORT_NO, "supports without a reason");
  spec = sample();
  tutti_program_desc malformed = spec.desc();
  malformed.output_count = 0;
  int32_t support = -1;
  require(bool(take(s.api->program->supports(s.device.get(), &malformed, &support, nullptr))),
          "supports of a malformed program says nothing");
}

void check_unknown_operator(session& s) {
  tutti_operator_desc d{};
  d.struct_size = sizeof d;
  d.kind = 12345;
  int32_t support = TUTTI_SUPPORT_YES;
  const char* reason = nullptr;
  check(s.api->op->supports(s.device.get(), &d, &support, &reason), "supports");
  require(support == TUTTI_SUPPORT_NO, "an operator that does not exist is supported");
  check(s.api->op->supports(s.device.get(), &d, &support, nullptr), "supports without a reason");
  tutti_plan* plan = nullptr;
  const outcome made = take(s.api->op->create(s.device.get(), &d, &plan));
  require(made.code == TUTTI_ERROR_UNSUPPORTED && plan == nullptr,
          "an operator that does not exist was prepared");
}

}  // namespace

void add_abi_groups(groups& all, const session&) {
  all.push_back({"abi/malformed_programs", check_malformed});
  all.push_back({"abi/malformed_launches", check_bad_launch});
  all.push_back({"abi/launch_beyond_buffers", check_beyond});
  all.push_back({"abi/struct_sizes", check_struct_sizes});
  all.push_back({"abi/array_strides", check_array_strides});
  all.push_back({"abi/capabilities", check_capabilities});
  all.push_back({"abi/offered", check_offered});
  all.push_back({"abi/supports", check_supports});
  all.push_back({"abi/unknown_operator", check_unknown_operator});
}

}  // namespace tutti::conformance
