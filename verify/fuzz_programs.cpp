// SPDX-License-Identifier: Apache-2.0
//
// Programs and their launches. Whether a changed program still means something is found out here,
// by the table of instructions and plugin.h alone; what it computes then, by the judge of chains.
#include <algorithm>
#include <cstring>

#include "chains.hpp"
#include "fuzz.hpp"
#include "oracle.hpp"

namespace tutti::conformance {
namespace {

// A description over arrays with room behind their elements, so that counts and sizes that are too
// large by a little lead to memory of ours.
class raw_program {
 public:
  explicit raw_program(const program_spec& spec) : scalars_(spec.scalars) {
    desc_.known = spec.desc();
    lay_out(spec.inputs, inputs_);
    lay_out(spec.outputs, outputs_);
    lay_out(spec.instructions, instructions_);
    scalars_.resize(scalars_.size() + room);
    desc_.known.scalar_dtypes = scalars_.data();
    desc_.known.inputs = reinterpret_cast<const tutti_program_operand*>(inputs_.data());
    desc_.known.outputs = reinterpret_cast<const tutti_program_operand*>(outputs_.data());
    desc_.known.instructions = reinterpret_cast<const tutti_instruction*>(instructions_.data());
  }
  raw_program(const raw_program&) = delete;
  raw_program& operator=(const raw_program&) = delete;

  tutti_program_desc& desc() { return desc_.known; }
  uint8_t& scalar(uint32_t n) { return scalars_[n]; }
  // Of the elements as they were laid out; what is written back goes there as well.
  template <typename T, typename F>
  void edit(std::vector<std::byte>& array, uint32_t n, F&& change) {
    T element;
    std::memcpy(&element, &array[n * sizeof(T)], sizeof(T));
    change(element);
    std::memcpy(&array[n * sizeof(T)], &element, sizeof(T));
  }
  std::vector<std::byte> inputs_, outputs_, instructions_;

  // As a reader by the rules of plugin.h has it: no byte beyond struct_size, elements as far apart
  // as the description says.
  program_spec read() const {
    tutti_program_desc d{};
    std::memcpy(static_cast<void*>(&d), &desc_.known,
                std::min<uint64_t>(sizeof d, desc_.known.struct_size));
    program_spec spec;
    spec.kept_rank = d.kept_rank;
    spec.reduced_rank = d.reduced_rank;
    spec.reduction = d.reduction;
    spec.layout = d.reduce_layout;
    spec.accumulator = d.accumulator;
    elements(inputs_, d.input_count, d.operand_size, spec.inputs);
    elements(outputs_, d.output_count, d.operand_size, spec.outputs);
    elements(instructions_, d.instruction_count, d.instruction_size, spec.instructions);
    spec.scalars.assign(scalars_.begin(), scalars_.begin() + d.scalar_count);
    return spec;
  }

  static constexpr uint32_t room = 4;           // elements
  static constexpr uint32_t largest_size = 64;  // of an element

 private:
  template <typename T>
  static void lay_out(const std::vector<T>& list, std::vector<std::byte>& array) {
    array.assign((list.size() + room) * largest_size, std::byte{0});
    std::memcpy(array.data(), list.data(), list.size() * sizeof(T));
  }
  template <typename T>
  static void elements(const std::vector<std::byte>& array, uint32_t count, uint32_t size,
                       std::vector<T>& to) {
    to.assign(count, T{});
    for (uint32_t n = 0; n < count; ++n)
      std::memcpy(&to[n], &array[uint64_t{n} * size], std::min<size_t>(sizeof(T), size));
  }

  std::vector<uint8_t> scalars_;
  struct {
    tutti_program_desc known;
    unsigned char beyond[64] = {};
  } desc_;
};

void change_header(raw_program& p, generator& random, changes& c) {
  tutti_program_desc& d = p.desc();
  const auto rank = [&] { return one_of<uint32_t>(random, {0, 1, 2, 3, 8, 9, 1u << 31, ~0u}); };
  switch (random() % 10) {
    case 0:
      return c.set("struct_size", d.struct_size,
                   one_of<uint64_t>(random, {0, 7, 8, 12, 40, sizeof d - 8, sizeof d + 64}));
    case 1:
      return c.set("ir_version", d.ir_version, one_of<uint32_t>(random, {0, 2, 999, ~0u}));
    case 2:
      return c.set("operand_size", d.operand_size,
                   one_of<uint32_t>(random, {0, 1, 4, 7, 8, 12, 16, 64}));
    case 3:
      return c.set("instruction_size", d.instruction_size,
                   one_of<uint32_t>(random, {0, 1, 4, 8, 12, 15, 16, 24, 64}));
    case 4:
      return c.set("kept_rank", d.kept_rank, rank());
    case 5:
      return c.set("reduced_rank", d.reduced_rank, rank());
    case 6:
      return c.set("reduction", d.reduction, random() % 12);
    case 7:
      return c.set("reduce_layout", d.reduce_layout, random() % 4);
    case 8:
      return c.set("accumulator", d.accumulator, random() % 20);
    default:
      return c.set("wide_index", d.wide_index, random() % 256);
  }
}

void change_arrays(raw_program& p, generator& random, changes& c) {
  tutti_program_desc& d = p.desc();
  // A little more than there are, none at all, or as many as nobody has.
  const auto count = [&](uint32_t now) {
    return one_of<uint32_t>(random, {now + 1, now + raw_program::room, now - 1, 0, ~0u});
  };
  switch (random() % 8) {
    case 0:
      return c.set("input_count", d.input_count, count(d.input_count));
    case 1:
      return c.set("scalar_count", d.scalar_count, count(d.scalar_count));
    case 2:
      return c.set("instruction_count", d.instruction_count, count(d.instruction_count));
    case 3:
      return c.set("output_count", d.output_count, count(d.output_count));
    case 4:
      return c.set_null("inputs", d.inputs);
    case 5:
      return c.set_null("scalar_dtypes", d.scalar_dtypes);
    case 6:
      return c.set_null("instructions", d.instructions);
    default:
      return c.set_null("outputs", d.outputs);
  }
}

uint32_t any_value(generator& random) {
  return one_of<uint32_t>(
      random, {static_cast<uint32_t>(random() % 16), static_cast<uint32_t>(random() % 64), ~0u});
}

void change_instruction(raw_program& p, uint32_t n, generator& random, changes& c) {
  p.edit<tutti_instruction>(p.instructions_, n, [&](tutti_instruction& x) {
    c.add("instruction " + std::to_string(n));
    switch (random() % 4) {
      case 0:
        return c.set("opcode", x.opcode, chance(random, 3) ? random() : random() % 128);
      case 1:
        return c.set("dtype", x.dtype, chance(random, 4) ? random() : random() % 17);
      case 2:
        return c.set("operand_count", x.operand_count, one_of(random, {0, 1, 2, 3, 4, 255}));
      default:
        return c.set("operand", x.operand[random() % 3], any_value(random));
    }
  });
}

void change_operand(raw_program& p, std::vector<std::byte>& array, const char* name, uint32_t n,
                    generator& random, changes& c) {
  p.edit<tutti_program_operand>(array, n, [&](tutti_program_operand& x) {
    c.add(name + std::to_string(n));
    switch (random() % 3) {
      case 0:
        return c.set("dtype", x.dtype, chance(random, 4) ? random() : random() % 17);
      case 1:
        return c.set("access", x.access, random() % 5);
      default:
        return c.set("value", x.value, any_value(random));
    }
  });
}

void change_element(raw_program& p, const program_spec& spec, generator& random, changes& c) {
  const auto any_of = [&](const auto& list) {
    return static_cast<uint32_t>(random() % list.size());
  };
  switch (random() % 5) {
    case 0:
      return change_operand(p, p.inputs_, "input ", any_of(spec.inputs), random, c);
    case 1:
      return change_operand(p, p.outputs_, "output ", any_of(spec.outputs), random, c);
    case 2:
      return c.set("scalar dtype", p.scalar(any_of(spec.scalars)), random() % 20);
    default:
      return change_instruction(p, any_of(spec.instructions), random, c);
  }
}

// ---- what a program means

bool is_stored(uint8_t dtype) { return sdk::is_register(dtype) || sdk::is_storage_only(dtype); }

// The rules of an instruction beside the number of its operands.
bool is_sound(const tutti_instruction& x, const sdk::op_info& op, const uint8_t* operand,
              bool reduces) {
  const bool alike =
      (op.arity < 2 || operand[1] == operand[0]) && (op.arity < 3 || operand[2] == operand[0]);
  switch (x.opcode) {
    case TUTTI_OP_cast:
      return !sdk::is_complex(operand[0]) || sdk::is_complex(x.dtype) || x.dtype == TUTTI_BOOL;
    case TUTTI_OP_where:
      return operand[0] == TUTTI_BOOL && operand[1] == x.dtype && operand[2] == x.dtype;
    case TUTTI_OP_iota:
      return x.dtype == TUTTI_I64 && !reduces;
    case TUTTI_OP_philox:
      return operand[0] == TUTTI_I64 && operand[1] == TUTTI_U64 && x.dtype == TUTTI_U32;
    default:
      return sdk::accepts(op.kind, operand[0]) && alike &&
             x.dtype == sdk::result_dtype(op.result, operand[0]);
  }
}

// Whether each value can be computed and stored; `values` gets the dtype of each.
bool means_something(const program_spec& p, std::vector<uint8_t>& values) {
  const bool reduces = p.reduction != TUTTI_REDUCE_NONE;
  if (p.kept_rank > TUTTI_MAX_RANK || p.reduced_rank > TUTTI_MAX_RANK - p.kept_rank) return false;
  if (p.reduction > TUTTI_REDUCE_ARGMAX || p.layout > TUTTI_REDUCE_OUTER) return false;
  if (reduces != (p.reduced_rank > 0) || p.outputs.empty()) return false;
  if (reduces && p.outputs.size() != 1) return false;
  for (const tutti_program_operand& in : p.inputs) {
    if (!is_stored(in.dtype) || in.access > TUTTI_ACCESS_STRIDED) return false;
    values.push_back(sdk::register_dtype(in.dtype));
  }
  for (const uint8_t dtype : p.scalars) {
    if (!sdk::is_register(dtype) || sdk::is_complex(dtype)) return false;
    values.push_back(dtype);
  }
  for (const tutti_instruction& x : p.instructions) {
    const sdk::op_info* const op = sdk::find_op(x.opcode);
    if (op == nullptr || x.operand_count != op->arity || !sdk::is_register(x.dtype)) return false;
    uint8_t operand[3] = {};
    for (uint8_t k = 0; k < op->arity; ++k) {
      if (x.operand[k] >= values.size()) return false;
      operand[k] = values[x.operand[k]];
    }
    if (!is_sound(x, *op, operand, reduces)) return false;
    values.push_back(x.dtype);
  }
  return std::ranges::all_of(p.outputs, [&](const tutti_program_operand& out) {
    const bool fits =
        is_stored(out.dtype) && out.access <= TUTTI_ACCESS_STRIDED && out.value < values.size();
    if (!fits || reduces) return fits;
    return sdk::register_dtype(out.dtype) == values[out.value];
  });
}

// Whether the judge of chains knows all of it, and no element is written twice.
bool can_be_judged(const program_spec& p, const std::vector<uint8_t>& values) {
  const auto is_real = [](uint8_t dtype) { return !sdk::is_complex(dtype); };
  if (p.reduction != TUTTI_REDUCE_NONE || !std::ranges::all_of(values, is_real)) return false;
  for (const tutti_instruction& x : p.instructions)
    if (x.opcode == TUTTI_OP_iota || x.opcode == TUTTI_OP_philox) return false;
  return std::ranges::all_of(p.outputs, [](const tutti_program_operand& out) {
    return out.access == TUTTI_ACCESS_UNIT && is_stored(out.dtype) && sdk::is_register(out.dtype);
  });
}

// Inputs, scalars and outputs for a launch of any program that means something.
struct surroundings {
  extents extent;
  std::vector<operand> inputs, outputs;
  std::vector<uint64_t> scalar_bits;
  std::vector<tutti_scalar> scalars;
};

surroundings make_surroundings(const program_spec& p, generator& random) {
  surroundings w;
  const uint32_t rank = p.kept_rank + p.reduced_rank;
  for (uint32_t d = 0; d < rank; ++d)
    w.extent.push_back(1 + random() % (rank < 3 ? 40 : rank < 5 ? 5 : 3));
  const bool of_reduced = p.reduction != TUTTI_REDUCE_NONE && p.layout == TUTTI_REDUCE_INNER;
  const int64_t inner = of_reduced ? int64_t{rank} - 1 : int64_t{p.kept_rank} - 1;
  const auto place = [&](const tutti_program_operand& declared, bool is_output) {
    operand o = packed(declared.dtype, w.extent);
    for (uint32_t d = p.kept_rank; is_output && d < rank; ++d) o.stride[d] = 0;
    const bool is_still = declared.access == TUTTI_ACCESS_ZERO;
    const bool is_reduced = is_output && of_reduced;
    if (inner >= 0 && !is_reduced && declared.access != TUTTI_ACCESS_STRIDED)
      o.stride[static_cast<size_t>(inner)] = is_still ? 0 : 1;
    return o;
  };
  for (const tutti_program_operand& declared : p.inputs) {
    w.inputs.push_back(place(declared, false));
    const uint8_t dtype = sdk::register_dtype(declared.dtype);
    for (uint64_t i = 0; !sdk::is_complex(dtype) && i < w.inputs.back().data.size(); ++i)
      w.inputs.back().data.set(i, random_value(dtype, -3, 3, random));
  }
  for (const uint8_t dtype : p.scalars) {
    w.scalar_bits.push_back(random_value(dtype, 0.5, 4, random));
    w.scalars.push_back(to_scalar(dtype, w.scalar_bits.back()));
  }
  for (const tutti_program_operand& declared : p.outputs)
    w.outputs.push_back(place(declared, true));
  return w;
}

void judge(const program_spec& p, const surroundings& w) {
  for (uint64_t i = 0; i < points_of(w.extent); ++i) {
    std::vector<cell> values;
    for (const operand& o : w.inputs)
      values.push_back(
          to_cell(sdk::register_dtype(o.data.dtype), o.data.get(locate(o, w.extent, i))));
    for (size_t k = 0; k < w.scalars.size(); ++k)
      values.push_back(to_cell(p.scalars[k], w.scalar_bits[k]));
    for (const tutti_instruction& next : p.instructions) values.push_back(run(next, values));
    for (size_t k = 0; k < w.outputs.size(); ++k) {
      const uint64_t got = w.outputs[k].data.get(locate(w.outputs[k], w.extent, i));
      require(is_right(values[p.outputs[k].value], got), [&] {
        return "output " + std::to_string(k) + " at " + point_text(w.extent, i) + " is " +
               value_text(p.outputs[k].dtype, got) + ", which is wrong";
      });
    }
  }
}

std::string text_of(const program_spec& p) {
  std::string text = "program of " + std::to_string(p.inputs.size()) + " inputs:";
  for (const tutti_instruction& x : p.instructions)
    text += std::string(" ") + sdk::find_op(x.opcode)->name + "." + sdk::dtype_name(x.dtype);
  return text;
}

}  // namespace

void fuzz_program(session& s, generator& random) {
  const random_program base = make_program(s, random, 1 + random() % 6);
  raw_program raw(base.spec);
  changes c;
  for (uint64_t n = random() % 4; n > 0; --n) {
    const uint64_t what = random() % 4;
    if (what == 0)
      change_header(raw, random, c);
    else if (what == 1)
      change_arrays(raw, random, c);
    else
      change_element(raw, base.spec, random, c);
  }
  s.note(text_of(base.spec) + "; " + c.text());
  const tutti_program_desc& desc = raw.desc();
  int32_t support = TUTTI_SUPPORT_NO;
  const outcome asked =
      answer(s.api->program->supports(s.device.get(), &desc, &support, nullptr), "supports");
  tutti_program* made = nullptr;
  const outcome created = answer(s.api->program->create(s.device.get(), &desc, &made), "create");
  const handle<tutti_program> program(made, s.api->program->release);
  const bool supported = !asked && support == TUTTI_SUPPORT_YES;
  require(created ? made == nullptr : made != nullptr, "create: status and program disagree");
  require(supported || created, "made, though `supports` says no: " + c.text());
  require(!c.empty() || supported, "a sound program is not supported: " + asked.message);
  require(!c.empty() || !created, "a sound program is refused: " + created.message);
  if (created) return;
  const program_spec meant = raw.read();
  std::vector<uint8_t> values;
  require(means_something(meant, values), "accepted: " + c.text());
  surroundings w = make_surroundings(meant, random);
  launch(s, made, w.extent, w.inputs, w.scalars, w.outputs);
  if (can_be_judged(meant, values)) judge(meant, w);
}

namespace {

// A launch of a sound program, and what was made wrong in it.
struct bad_launch {
  tutti_program_launch desc{};
  std::vector<tutti_operand> inputs, outputs;
};

void spoil(bad_launch& l, const program_spec& p, generator& random, changes& c) {
  tutti_operand& any = chance(random, 3) ? l.outputs[random() % l.outputs.size()]
                                         : l.inputs[random() % l.inputs.size()];
  const bool is_output = &any >= l.outputs.data() && &any < l.outputs.data() + l.outputs.size();
  const auto& declared = is_output ? p.outputs[static_cast<size_t>(&any - l.outputs.data())]
                                   : p.inputs[static_cast<size_t>(&any - l.inputs.data())];
  switch (random() % 8) {
    case 0:
      return c.set("struct_size", l.desc.struct_size, one_of<uint64_t>(random, {0, 1, 7}));
    case 1:
      return c.set("operand_size", l.desc.operand_size, random() % 8);
    case 2:
      return c.set_null("inputs", l.desc.inputs);
    case 3:
      return c.set_null("outputs", l.desc.outputs);
    case 4:
      return c.set_null("scalars", l.desc.scalars);
    case 5:
      return c.set_null("a buffer", any.buffer);
    case 6:
      if (sdk::dtype_size(declared.dtype) > 1) return c.set("offset", any.offset, any.offset + 1);
      return c.set("extent", l.desc.extent[0], 0);
    default:
      if (l.desc.extent[0] > 1) return c.set("stride", any.stride[0], any.stride[0] + 1);
      return c.set("extent", l.desc.extent[0], 0);
  }
}

}  // namespace

// All that spoils a launch can be told from the description, so it is refused; and a sound launch
// behind it is right.
void fuzz_program_launch(session& s, generator& random) {
  const random_program base = make_program(s, random, 1 + random() % 3);
  const program_spec& p = base.spec;
  surroundings w = make_surroundings(p, random);
  const handle<tutti_program> program = s.program(p.desc());
  bad_launch l;
  std::vector<handle<tutti_buffer>> buffers;
  const auto add = [&](const operand& o, std::vector<tutti_operand>& to) {
    buffers.push_back(s.allocate(2 * o.data.bytes.size()));
    tutti_operand made{};
    made.buffer = buffers.back().get();
    made.offset = o.offset * sdk::dtype_size(o.data.dtype);
    std::copy(o.stride.begin(), o.stride.end(), made.stride);
    to.push_back(made);
  };
  for (const operand& o : w.inputs) add(o, l.inputs);
  for (const operand& o : w.outputs) add(o, l.outputs);
  l.desc.struct_size = sizeof l.desc;
  l.desc.operand_size = sizeof(tutti_operand);
  std::copy(w.extent.begin(), w.extent.end(), l.desc.extent);
  l.desc.inputs = l.inputs.data();
  l.desc.outputs = l.outputs.data();
  l.desc.scalars = w.scalars.data();
  changes c;
  spoil(l, p, random, c);
  s.note("launch of a " + text_of(p) + "; " + c.text());
  uint64_t bytes = 0;
  answer(s.api->program->workspace(program.get(), &l.desc, &bytes), "workspace");
  tutti_event* event = nullptr;
  const outcome refused =
      answer(s.api->program->launch(s.main_stream.get(), program.get(), &l.desc, &event), "launch");
  const handle<tutti_event> done(event, s.api->stream->event_release);
  const outcome later = answer(s.api->stream->synchronize(s.main_stream.get()), "synchronize");
  require(refused || later, "accepted: " + c.text());
  launch(s, program.get(), w.extent, w.inputs, w.scalars, w.outputs);
  std::vector<uint8_t> values;
  require(means_something(p, values), "a sound program makes no sense");
  if (can_be_judged(p, values)) judge(p, w);
}

}  // namespace tutti::conformance
