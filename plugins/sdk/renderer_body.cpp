// SPDX-License-Identifier: Apache-2.0
//
// Renders the code for each element: loads, instructions, casts and stores.
#include <algorithm>

#include "sdk/renderer_internal.hpp"

namespace tutti::sdk::detail {

const tutti_program_operand& operand_of(const tutti_program_desc& desc, uint32_t n) {
  return n < desc.input_count ? desc.inputs[n] : desc.outputs[n - desc.input_count];
}

bool uses_iota(const tutti_program_desc& desc) {
  return std::any_of(desc.instructions, desc.instructions + desc.instruction_count,
                     [](const tutti_instruction& i) { return i.opcode == TUTTI_OP_iota; });
}

std::string program::type(uint8_t dtype) const { return as_text(words_.types[dtype]); }

std::string program::register_type(uint8_t dtype) const {
  return dtype == TUTTI_BOOL ? "bool" : type(dtype);
}

std::string program::accumulator_type() const { return type(layout_.accumulator); }

std::string program::operand(uint32_t n) const {
  return n < layout_.inputs ? join("in", n) : join("out", n - layout_.inputs);
}

const tutti_program_operand& program::operand_desc(uint32_t n) const {
  return operand_of(desc_, n);
}

std::string program::pointer_type(uint32_t n) const {
  return join(words_.global, n < layout_.inputs ? "const " : "", type(operand_desc(n).dtype), "*");
}

namespace {

std::string access(std::string_view form, const place& at, const std::string& value) {
  std::string text = replaced(as_text(form), "$p", at.pointer);
  text = replaced(text, "$i", at.index);
  return replaced(text, "$v", value);
}

}  // namespace

std::string program::load(uint32_t input, const place& at) const {
  switch (desc_.inputs[input].dtype) {
    case TUTTI_BOOL:
      return join(at.pointer, "[", at.index, "] != 0");
    case TUTTI_F16:
      return access(words_.load_f16, at, "");
    case TUTTI_BF16:
      return access(words_.load_bf16, at, "");
    default:
      return join(at.pointer, "[", at.index, "]");
  }
}

std::string program::store(uint32_t output, const place& at, const std::string& value) const {
  switch (desc_.outputs[output].dtype) {
    case TUTTI_F16:
      return access(words_.store_f16, at, value) + ";";
    case TUTTI_BF16:
      return access(words_.store_bf16, at, value) + ";";
    default:
      return join(at.pointer, "[", at.index, "] = ", value, ";");
  }
}

std::string program::cast_register(const std::string& value, uint8_t from, uint8_t to) {
  if (from == to) return value;
  if (is_complex(from)) {
    if (to == TUTTI_BOOL) return join("((", value, ").re != 0) | ((", value, ").im != 0)");
    const std::string part = join("(", type(part_dtype(to)), ")(", value, ")");
    return call("complex", part_dtype(to), join(part, ".re, ", part, ".im"));
  }
  if (is_complex(to)) {
    return call("complex", part_dtype(to), join("(", type(part_dtype(to)), ")", value, ", 0"));
  }
  if (to == TUTTI_BOOL) return value + " != 0";
  if (is_floating(from) && is_integer(to)) {
    helpers_.saturating.emplace(from, to);
    return join("tutti_", dtype_name(from), "_to_", dtype_name(to), "(", value, ")");
  }
  return join("(", type(to), ")", value);
}

std::string program::call(const char* name, uint8_t dtype, const std::string& arguments) {
  const std::string function = join("tutti_", name, "_", dtype_name(dtype));
  helpers_.functions.insert(function);
  return join(function, "(", arguments, ")");
}

std::string program::cast(const std::string& value, uint8_t from, uint8_t to) {
  return cast_register(value, from, register_dtype(to));
}

std::string program::expression(uint32_t number) {
  const tutti_instruction& i = desc_.instructions[number];
  const auto name = [&](uint32_t k) { return join("v", i.operand[k]); };
  if (i.opcode == TUTTI_OP_cast) return cast_register(name(0), dtypes_[i.operand[0]], i.dtype);
  if (i.opcode == TUTTI_OP_philox) return join("tutti_philox(", name(0), ", ", name(1), ")");
  const uint8_t of = dtypes_[i.operand[0]];
  if (is_complex(of)) {
    std::string arguments = name(0);
    for (uint32_t k = 1; k < i.operand_count; ++k) arguments += ", " + name(k);
    return call(find_op(i.opcode)->name, of, arguments);
  }
  const op_texts op = texts_of(i.opcode);
  const char* form = is_floating(of) ? op.float_text : op.int_text;
  if (form == nullptr) {
    throw_unsupported(join(find_op(i.opcode)->name, ": not defined for ", dtype_name(of)));
  }
  std::string text = form;
  static constexpr const char* plain[] = {"$a", "$b", "$c"};
  static constexpr const char* wrapping[] = {"$ua", "$ub", "$uc"};
  for (uint32_t k = 0; k < i.operand_count; ++k) {
    const uint8_t dtype = dtypes_[i.operand[k]];
    text = replaced(text, wrapping[k], join("(", type(unsigned_dtype(dtype)), ")", name(k)));
    text = replaced(text, plain[k], name(k));
  }
  if (text.find('@') != std::string::npos) {
    text = replaced(text, "@", dtype_name(of));
    if (is_floating(of)) {
      collect_functions(text, helpers_.functions);
    } else if (is_integer(of)) {
      helpers_.integers.insert(of);
    }
  }
  const bool exact = i.dtype == TUTTI_BOOL || is_floating(i.dtype) || is_complex(i.dtype);
  return exact ? text : join("(", type(i.dtype), ")(", text, ")");
}

void program::store_outputs(const std::function<place(uint32_t)>& at) {
  for (uint32_t n = 0; n < layout_.outputs; ++n) {
    const uint32_t value = desc_.outputs[n].value;
    out_.line(store(n, at(layout_.inputs + n),
                    cast(join("v", value), dtypes_[value], desc_.outputs[n].dtype)));
  }
}

void program::hoisted_loads(const std::function<place(uint32_t)>& at) {
  for (uint32_t n = 0; n < layout_.inputs; ++n) {
    if (desc_.inputs[n].access != TUTTI_ACCESS_ZERO) continue;
    out_.line("const ", register_type(dtypes_[n]), " v", n, " = ", load(n, at(n)), ";");
  }
}

void program::body(const std::function<place(uint32_t)>& at, bool hoisted,
                   const std::string& linear) {
  for (uint32_t n = 0; n < layout_.inputs; ++n) {
    if (hoisted && desc_.inputs[n].access == TUTTI_ACCESS_ZERO) continue;
    out_.line("const ", register_type(dtypes_[n]), " v", n, " = ", load(n, at(n)), ";");
  }
  for (uint32_t n = 0; n < desc_.instruction_count; ++n) {
    const uint32_t value = layout_.inputs + desc_.scalar_count + n;
    const bool iota = desc_.instructions[n].opcode == TUTTI_OP_iota;
    const std::string text =
        iota ? join("(", type(desc_.instructions[n].dtype), ")(", linear, ")") : expression(n);
    out_.line("const ", register_type(dtypes_[value]), " v", value, " = ", text, ";");
  }
}

std::string program::reduced_value() {
  const uint32_t value = desc_.outputs[0].value;
  return cast_register(join("v", value), dtypes_[value], layout_.accumulator);
}

bool program::uses_iota() const { return detail::uses_iota(desc_); }

uint8_t program::widest_bytes() const {
  uint32_t widest = 1;
  for (uint8_t dtype : dtypes_) widest = std::max(widest, dtype_size(dtype));
  if (layout_.reduces()) widest = std::max(widest, dtype_size(layout_.accumulator));
  return static_cast<uint8_t>(std::min(widest, 8u));  // complex numbers use two lanes
}

void program::vector_pragma() {
  if (words_.vector_loop.empty()) return;
  const uint32_t lanes = std::max(options_.vector_bytes / widest_bytes(), 1u);
  out_.line(replaced(as_text(words_.vector_loop), "$w", std::to_string(lanes)));
}

void program::coordinates(const std::string& linear, uint32_t first, uint32_t count) {
  if (count == 0) return;
  if (count == 1) {
    out_.line("const ", index_, " c", first, " = ", linear, ";");
    return;
  }
  const std::string rest = join("rest", first);
  out_.line(index_, " ", rest, " = ", linear, ";");
  for (uint32_t d = first + count - 1; d > first; --d) {
    if (layout_.kind == schedule::gpu) {
      const std::string over = join("over", d), extent = join("n", d);
      out_.line("const ", index_, " ", over, " = ", quotient(rest, extent), ";");
      out_.line("const ", index_, " c", d, " = ", rest, " - ", over, " * ", extent, ";");
      out_.line(rest, " = ", over, ";");
      continue;
    }
    out_.line("const ", index_, " c", d, " = ", rest, " % n", d, ";");
    out_.line(rest, " /= n", d, ";");
  }
  out_.line("const ", index_, " c", first, " = ", rest, ";");
}

std::string program::quotient(const std::string& value, const std::string& divisor) {
  return call("quotient", layout_.wide ? uint8_t{TUTTI_I64} : uint8_t{TUTTI_I32},
              join(value, ", ", divisor, "_multiplier, ", divisor, "_shift"));
}

std::string program::base(uint32_t n, uint32_t first, uint32_t last, bool with_offset) const {
  std::string text = with_offset ? operand(n) + "_offset" : std::string();
  for (uint32_t d = first; d < last; ++d) {
    if (!text.empty()) text += " + ";
    text += join("c", d, " * ", operand(n), "_stride", d);
  }
  return text.empty() ? "0" : text;
}

}  // namespace tutti::sdk::detail
