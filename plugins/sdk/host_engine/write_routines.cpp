// SPDX-License-Identifier: Apache-2.0
//
// Generates the routines of the host engine as C++: write_routines OUTPUT PRELUDE MATH... Each
// routine is the renderer's output for a program of one instruction or reduction, for each row of
// op_table.def and each supported dtype; MATH are the files with the renderer's functions. Routines
// with complex numbers are a separate part, TUTTI_COMPLEX_ROUTINES.
#include <array>
#include <stdexcept>

#include "sdk/host_engine/generator.hpp"
#include "sdk/renderer_internal.hpp"

using namespace tutti::sdk;
using detail::join;

namespace {

// C++ with the definitions of host_language.hpp.
dialect host_dialect() {
  dialect d;
  d.name = "C++";
  d.kernel = "static";
  d.vector_loop = "#pragma GCC ivdep";
  d.unroll = "#pragma GCC unroll $n";
  d.types[TUTTI_I8] = "schar";
  return d;
}

class routine_writer {
 public:
  explicit routine_writer(const dialect& words) : words_(words) {}

  // An instruction with operands of these register dtypes.
  void block(uint16_t opcode, std::vector<uint8_t> operands, uint8_t result) {
    tutti_instruction instruction{};
    instruction.opcode = opcode;
    instruction.dtype = result;
    instruction.operand_count = static_cast<uint8_t>(operands.size());
    for (uint32_t n = 0; n < operands.size(); ++n) instruction.operand[n] = n;
    tutti_program_desc desc{};
    desc.instructions = &instruction;
    desc.instruction_count = 1;
    add(desc, opcode, operands, result, static_cast<uint32_t>(operands.size()));
  }

  // A load or a store: the conversion happens at the operand.
  void copy(uint8_t from, uint8_t to) { add({}, TUTTI_OP_cast, {from}, to, 0); }

  // The index of each element, the first of which is in[0]. Numbers of 32 bits convert faster.
  void iota(uint8_t to) {
    const std::string name = join("iota_to_", dtype_name(to)), type(words_.types[to]);
    const auto loop = [&](const char* index) {
      return join("    for (", index, " i = 0; i < (", index, ")count; ++i) to[i] = (", type, ")((",
                  index, ")first + i);\n");
    };
    parts_[0].functions +=
        join("static void ", name, "(const void* const* in, void* out, long count) {\n  ", type,
             "* to = (", type, "*)out;\n  const long first = *(const long*)in[0];\n",
             "  if (first + count <= 0x7fffffffL)\n", loop("int"), "  else\n", loop("long"), "}\n");
    parts_[0].blocks += join("    {", uint32_t{TUTTI_OP_iota}, ", ", uint32_t{to}, ", ",
                             uint32_t{to}, ", ", name, "},\n");
  }

  void reduction(uint8_t kind, uint8_t accumulator) {
    const bool index = kind == TUTTI_REDUCE_ARGMIN || kind == TUTTI_REDUCE_ARGMAX;
    const uint8_t result = index ? uint8_t{TUTTI_I64} : accumulator;
    tutti_program_desc desc{};
    desc.reduced_rank = 1;
    desc.reduction = kind;
    desc.reduce_layout = TUTTI_REDUCE_INNER;
    desc.accumulator = accumulator;
    const std::string name = join("reduce_", uint32_t{kind}, "_", dtype_name(accumulator));
    part& to = parts_[is_complex(accumulator)];
    // GCC 12 contracts products of complex numbers in vectors regardless of flags.
    const bool scalar = is_complex(accumulator) && kind == TUTTI_REDUCE_PROD;
    if (scalar)
      to.functions += "#pragma GCC push_options\n#pragma GCC optimize(\"no-tree-vectorize\")\n";
    to.functions +=
        with_operands(desc, {accumulator}, result, 0).reduction_functions(name, needed_);
    if (scalar) to.functions += "#pragma GCC pop_options\n";
    const bool sums = kind == TUTTI_REDUCE_SUM && is_floating(part_dtype(accumulator));
    const auto optional = [&](bool there, const char* step) {
      return there ? join(name, step) : std::string("nullptr");
    };
    const bool eight = sums && !is_complex(accumulator);
    if (eight) to.functions += sum_of_eight(name + "_eight", words_.types[accumulator]);
    to.reductions +=
        join("    {", uint32_t{kind}, ", ", uint32_t{accumulator}, ", ", name, "_start, ", name,
             "_line, ", name, "_row, ", optional(index, "_join"), ", ", optional(eight, "_eight"),
             ", ", optional(sums, "_compensate"), ", ", optional(sums, "_settle"), "},\n");
  }

  static std::string sum_of_eight(const std::string& name, std::string_view type) {
    std::string rows, sum = join("(", type, ")0");
    for (const char* n : {"0", "1", "2", "3", "4", "5", "6", "7"}) {
      rows += join("  const ", type, "* row", n, " = (const ", type, "*)rows[", n, "];\n");
      sum = join("(", sum, " + row", n, "[j])");
    }
    return join("static void ", name, "(void* into, const void* const* rows, long count) {\n  ",
                type, "* lane = (", type, "*)into;\n", rows, "  ", "#pragma GCC ivdep",
                "\n  for (long j = 0; j < count; ++j) lane[j] = lane[j] + ", sum, ";\n}\n");
  }

  std::string text(const std::string& prelude) const {
    return join(prelude, detail::helper_text(words_, needed_), "#if TUTTI_COMPLEX_ROUTINES\n",
                parts_[1].text(), "#else\n", parts_[0].text(), "#endif\n");
  }

 private:
  struct part {
    std::string functions, blocks, reductions;
    std::string text() const {
      return join(functions, "constexpr tutti::sdk::routines::block_row blocks[] = {\n", blocks,
                  "};\nconstexpr tutti::sdk::routines::reduction_row reductions[] = {\n",
                  reductions, "};\n");
    }
  };

  detail::program with_operands(tutti_program_desc& desc, const std::vector<uint8_t>& operands,
                                uint8_t result, uint32_t value) {
    inputs_ = {};
    for (size_t n = 0; n < operands.size(); ++n)
      inputs_[n] = {operands[n], TUTTI_ACCESS_UNIT, 0, 0};
    output_ = {result, TUTTI_ACCESS_UNIT, 0, value};
    desc.struct_size = sizeof desc;
    desc.kept_rank = desc.reduction == TUTTI_REDUCE_NONE ? 1 : 0;
    desc.inputs = inputs_.data();
    desc.input_count = static_cast<uint32_t>(operands.size());
    desc.outputs = &output_;
    desc.output_count = 1;
    return {desc, words_, {schedule::cpu}};
  }

  void add(tutti_program_desc desc, uint16_t opcode, const std::vector<uint8_t>& operands,
           uint8_t result, uint32_t value) {
    const std::string name = join(find_op(opcode)->name, "_of_", dtype_name(operands[0]), "_to_",
                                  dtype_name(result), "_block");
    part& to = parts_[is_complex(operands[0]) || is_complex(result)];
    const bool turns = opcode == TUTTI_OP_sin || opcode == TUTTI_OP_cos || opcode == TUTTI_OP_tan;
    const std::string block =
        with_operands(desc, operands, result, value).block_function(name, needed_);
    to.functions += turns && operands[0] == TUTTI_F64 ? by_range(block, name, opcode) : block;
    const bool random = opcode == TUTTI_OP_philox;
    if (random) to.functions += "#include \"sdk/host_engine/host_philox.hpp\"\n";
    to.blocks += join("    {", uint32_t{opcode}, ", ", uint32_t{operands[0]}, ", ",
                      uint32_t{result}, ", ", random ? "philox_of_counters" : name, "},\n");
  }

  // Blocks of f64 that are all below 2^20 need the shorter of two reductions of the argument.
  std::string by_range(const std::string& block, const std::string& name, uint16_t opcode) {
    using detail::replaced;
    const std::string word(find_op(opcode)->name);
    const std::string near =
        replaced(replaced(block, name, name + "_near"), join("tutti_", word, "_f64"),
                 join("tutti_", word, "_near_f64"));
    detail::collect_functions(near, needed_.functions);
    return join(replaced(block, name, name + "_far"), near, "static void ", name,
                "(const void* const* in, void* out, long count) {\n",
                "  const double* x = (const double*)in[0];\n  int near = 1;\n",
                "  for (long i = 0; i < count; ++i) near &= fabs(x[i]) < 1048576.0;\n  (near ? ",
                name, "_near : ", name, "_far)(in, out, count);\n}\n");
  }

  const dialect& words_;
  std::array<tutti_program_operand, 3> inputs_{};
  tutti_program_operand output_{};
  detail::helpers needed_;
  part parts_[2];  // real and complex
};

constexpr uint8_t dtypes[] = {TUTTI_BOOL, TUTTI_I8,  TUTTI_I16, TUTTI_I32, TUTTI_I64,
                              TUTTI_U8,   TUTTI_U16, TUTTI_U32, TUTTI_U64, TUTTI_F32,
                              TUTTI_F64,  TUTTI_C64, TUTTI_C128};

void write_blocks(routine_writer& out) {
  for (const op_info& row : op_rows()) {
    for (uint8_t dtype : dtypes) {
      if (accepts(row.kind, dtype))
        out.block(row.opcode, std::vector<uint8_t>(row.arity, dtype),
                  result_dtype(row.result, dtype));
    }
  }
  out.block(TUTTI_OP_philox, {TUTTI_I64, TUTTI_U64}, TUTTI_U32);
  for (uint8_t from : dtypes) {
    out.block(TUTTI_OP_where, {TUTTI_BOOL, from, from}, from);
    for (uint8_t to : dtypes) {
      const bool defined = !is_complex(from) || is_complex(to) || to == TUTTI_BOOL;
      if (defined && from != to) out.block(TUTTI_OP_cast, {from}, to);
    }
    out.copy(from, from);
    if (is_integer(from) || is_floating(from)) out.iota(from);
  }
  for (uint8_t half : {TUTTI_F16, TUTTI_BF16}) {
    out.copy(half, TUTTI_F32);
    out.copy(TUTTI_F32, half);
  }
}

void write_reductions(routine_writer& out) {
  for (uint8_t dtype : dtypes) {
    if (dtype == TUTTI_BOOL) {
      out.reduction(TUTTI_REDUCE_ANY, dtype);
      out.reduction(TUTTI_REDUCE_ALL, dtype);
    } else {
      out.reduction(TUTTI_REDUCE_SUM, dtype);
      out.reduction(TUTTI_REDUCE_PROD, dtype);
    }
    if (is_complex(dtype)) continue;
    for (uint8_t kind :
         {TUTTI_REDUCE_MIN, TUTTI_REDUCE_MAX, TUTTI_REDUCE_ARGMIN, TUTTI_REDUCE_ARGMAX}) {
      out.reduction(kind, dtype);
    }
  }
}

std::string text_of(const std::vector<std::string>& arguments) {
  std::vector<std::string> math;
  for (size_t n = 1; n < arguments.size(); ++n) math.push_back(generator::read(arguments[n]));
  dialect words = host_dialect();
  words.libraries.assign(math.begin(), math.end());
  routine_writer out(words);
  write_blocks(out);
  write_reductions(out);
  return out.text(generator::read(arguments[0]));
}

}  // namespace

int main(int count, char** words) {
  return generator::run("write_routines", "PRELUDE MATH...", 2, count, words, text_of);
}
