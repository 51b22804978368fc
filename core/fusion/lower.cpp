// SPDX-License-Identifier: Apache-2.0
//
// Converts groups to programs: value numbering of inputs, scalars and instructions.
#include "fusion/lower.hpp"

#include <algorithm>
#include <cstring>

#include "fusion/iteration_space.hpp"
#include "graph/build.hpp"
#include "graph/fold.hpp"

namespace tutti::fusion {
namespace {

using graph::compute_dtype;

// A value before its final number is known: inputs, scalars and instructions are counted
// separately, and numbered consecutively at the end.
enum class place : std::uint32_t { input = 0, scalar = 1u << 30, instruction = 2u << 30 };
constexpr std::uint32_t index_mask = (1u << 30) - 1;

std::uint32_t reference(place where, std::size_t index) {
  return static_cast<std::uint32_t>(where) | static_cast<std::uint32_t>(index);
}

class builder {
 public:
  using edge = kept_program::edge;

  /// `keep`: gets the edges to inputs and constants.
  builder(lowered& out, const shape& space, kept_program* keep = nullptr)
      : out_(out), space_(space), keep_(keep) {}

  std::uint32_t input(const node& n, edge from = {}) {
    operand x;
    x.source = &graph::base_of(n);
    x.offset = layout_of(n).offset;
    x.type = n.type;
    const shape strides = graph::broadcast_view_strides(n, space_);
    std::copy(strides.begin(), strides.end(), x.stride);
    for (std::size_t i = 0; i < out_.inputs.size(); ++i) {
      const operand& seen = out_.inputs[i];
      if (same_memory(*seen.source, *x.source) && seen.offset == x.offset && seen.type == x.type &&
          std::equal(x.stride, x.stride + max_rank, seen.stride))
        return reference(place::input, i);
    }
    out_.inputs.push_back(x);
    if (keep_ != nullptr) keep_->inputs.push_back({from, 0});
    return reference(place::input, out_.inputs.size() - 1);
  }

  std::uint32_t constant(const node& n, edge from = {}) {
    const graph::constant_value value = graph::convert_constant(n, n.type);
    const dtype type = compute_dtype(n.type);
    const auto part = [&](const tutti_scalar& number, bool imaginary) {
      const std::uint32_t result = scalar(real_dtype(type), number);
      if (keep_ != nullptr) keep_->scalars.push_back({from, result & index_mask, imaginary});
      return result;
    };
    if (!is_complex(type)) return part(value.real, false);
    const std::uint32_t real = part(value.real, false);
    return instruction(TUTTI_OP_complex, type, {real, part(value.imaginary, true)});
  }

  std::uint32_t scalar(dtype type, const tutti_scalar& value) {
    for (std::size_t i = 0; i < out_.scalars.size(); ++i)
      if (out_.scalar_dtypes[i] == static_cast<std::uint8_t>(type) &&
          std::memcmp(&out_.scalars[i], &value, sizeof value) == 0)
        return reference(place::scalar, i);
    out_.scalars.push_back(value);
    out_.scalar_dtypes.push_back(static_cast<std::uint8_t>(type));
    return reference(place::scalar, out_.scalars.size() - 1);
  }

  std::uint32_t instruction(std::uint16_t opcode, dtype type,
                            std::initializer_list<std::uint32_t> operands) {
    return instruction(opcode, type, operands.begin(), operands.size());
  }

  std::uint32_t instruction(std::uint16_t opcode, dtype type, const std::uint32_t* operands,
                            std::size_t count) {
    tutti_instruction i{};
    i.opcode = opcode;
    i.dtype = static_cast<std::uint8_t>(type);
    i.operand_count = static_cast<std::uint8_t>(count);
    std::copy_n(operands, count, i.operand);
    out_.instructions.push_back(i);
    return reference(place::instruction, out_.instructions.size() - 1);
  }

  // The value in dtype `to`; emits nothing if the register already has this dtype.
  std::uint32_t convert(std::uint32_t value, dtype from, dtype to) {
    if (to == dtype::f16 || to == dtype::bf16) {
      if (from == dtype::f64) return to_odd(value, to);
      if (to == dtype::bf16 && is_integral(from) && size_of(from) >= 4)
        return to_odd_from_integer(value, from);
    }
    if (compute_dtype(from) == compute_dtype(to)) return value;
    return instruction(TUTTI_OP_cast, compute_dtype(to), {value});
  }

  std::uint32_t node_value(const node& n, const std::uint32_t* operands) {
    if (n.opcode() == TUTTI_OP_cast) return convert(operands[0], n.inputs[0]->type, n.type);
    return instruction(n.opcode(), compute_dtype(n.type), operands, n.inputs.size());
  }

  std::uint32_t final_number(std::uint32_t value) const {
    const std::uint32_t index = value & index_mask;
    const auto inputs = static_cast<std::uint32_t>(out_.inputs.size());
    const auto scalars = static_cast<std::uint32_t>(out_.scalars.size());
    const auto where = static_cast<place>(value & ~index_mask);
    if (where == place::input) return index;
    return where == place::scalar ? inputs + index : inputs + scalars + index;
  }

  void renumber() {
    for (tutti_instruction& i : out_.instructions)
      for (std::uint8_t k = 0; k < i.operand_count; ++k) i.operand[k] = final_number(i.operand[k]);
    for (tutti_program_operand& o : out_.output_descs) o.value = final_number(o.value);
  }

  // Keeps the arranged program, if it depends on nothing but the structure of its group.
  void keep() {
    if (keep_ == nullptr || out_.wide_index) return;
    for (std::size_t i = 0; i < out_.inputs.size(); ++i)
      keep_->inputs[i].reach = reach_of(out_, out_.inputs[i]);
    keep_->program = out_;
    keep_->is_filled = true;
  }

  // `number`: of the member.
  void output(const node& member, dtype type, std::uint32_t value, const graph::layout& where,
              std::uint32_t number = 0) {
    operand x;
    x.source = &member;
    x.offset = where.offset;
    x.type = type;
    std::copy(where.strides.begin(), where.strides.end(), x.stride);
    out_.outputs.push_back(x);
    if (keep_ != nullptr) keep_->outputs.push_back(number);
    out_.output_descs.push_back({static_cast<std::uint8_t>(type), 0, 0, value});
  }

 private:
  // A number of the program itself, which may equal a constant of the group.
  template <class T>
  std::uint32_t literal(dtype type, T value) {
    keep_ = nullptr;
    return scalar(type, graph::scalar_from(type, value).real);
  }

  // f64 to f32 before a half: rounded to odd, so that rounding twice gives the same as rounding
  // once (S. Boldo, G. Melquiond, "Emulation of FMA and correctly rounded sums", 2008).
  std::uint32_t to_odd(std::uint32_t x, dtype to) {
    const auto real = [&](dtype type, double v) { return literal(type, v); };
    const auto wide = [&](std::uint16_t opcode, std::uint32_t a, std::uint32_t b) {
      return instruction(opcode, dtype::f64, {a, b});
    };
    const auto truth = [&](std::uint16_t opcode, std::uint32_t a, std::uint32_t b) {
      return instruction(opcode, dtype::boolean, {a, b});
    };
    const auto choose = [&](std::uint32_t c, std::uint32_t a, std::uint32_t b) {
      return instruction(TUTTI_OP_where, dtype::f32, {c, a, b});
    };
    const std::uint32_t nearest = instruction(TUTTI_OP_cast, dtype::f32, {x});
    const std::uint32_t back = instruction(TUTTI_OP_cast, dtype::f64, {nearest});
    // To one bit less, by Veltkamp's splitting: the same if the last bit is 0.
    const std::uint32_t scaled = wide(TUTTI_OP_multiply, back, real(dtype::f64, 0x1p30 + 1));
    const std::uint32_t shorter =
        wide(TUTTI_OP_subtract, scaled, wide(TUTTI_OP_subtract, scaled, back));
    const std::uint32_t moves = truth(TUTTI_OP_logical_and, truth(TUTTI_OP_not_equal, back, x),
                                      truth(TUTTI_OP_equal, shorter, back));
    const std::uint32_t side = choose(truth(TUTTI_OP_greater, x, back), real(dtype::f32, HUGE_VAL),
                                      real(dtype::f32, -HUGE_VAL));
    const std::uint32_t next = instruction(TUTTI_OP_nextafter, dtype::f32, {nearest, side});
    const std::uint32_t odd = choose(moves, next, nearest);
    if (to == dtype::f16) return odd;
    // Below 2^-126 f32 has as few bits as bf16: there it is rounded at the step of both.
    const std::uint32_t magic = real(dtype::f64, 0x1.8p-81);
    const std::uint32_t stepped =
        wide(TUTTI_OP_copysign, wide(TUTTI_OP_subtract, wide(TUTTI_OP_add, x, magic), magic), x);
    const std::uint32_t size = instruction(TUTTI_OP_abs, dtype::f64, {x});
    return choose(truth(TUTTI_OP_less, size, real(dtype::f64, 0x1p-126)),
                  instruction(TUTTI_OP_cast, dtype::f32, {stepped}), odd);
  }

  // The same for integers: the upper bits, and whether a lower bit is set.
  std::uint32_t to_odd_from_integer(std::uint32_t value, dtype from) {
    const auto whole = [&](std::int64_t v) { return literal(dtype::u64, v); };
    const auto u64 = [&](std::uint16_t opcode, std::initializer_list<std::uint32_t> operands) {
      return instruction(opcode, dtype::u64, operands);
    };
    std::uint32_t size = value, negative = 0;
    if (!is_unsigned(from)) {
      negative =
          instruction(TUTTI_OP_less, dtype::boolean, {value, literal(from, std::int64_t{0})});
      const dtype same = from == dtype::i32 ? dtype::i64 : from;
      size = convert(value, from, same);
      size = instruction(TUTTI_OP_abs, same, {size});
    }
    if (from != dtype::u64) size = u64(TUTTI_OP_cast, {size});
    // The remaining number has between 10 and 24 bits.
    std::uint32_t shift = whole(0);
    for (const int bits : {15, 30, 40}) {
      const std::uint32_t far = instruction(TUTTI_OP_greater_equal, dtype::boolean,
                                            {size, whole(std::int64_t{1} << (bits + 9))});
      shift = u64(TUTTI_OP_where, {far, whole(bits), shift});
    }
    const std::uint32_t upper = u64(TUTTI_OP_right_shift, {size, shift});
    const std::uint32_t lost = instruction(TUTTI_OP_not_equal, dtype::boolean,
                                           {u64(TUTTI_OP_left_shift, {upper, shift}), size});
    const std::uint32_t odd = u64(TUTTI_OP_bitwise_or, {upper, u64(TUTTI_OP_cast, {lost})});
    const std::uint32_t unit = u64(TUTTI_OP_left_shift, {whole(1), shift});
    const std::uint32_t y = instruction(TUTTI_OP_multiply, dtype::f32,
                                        {instruction(TUTTI_OP_cast, dtype::f32, {odd}),
                                         instruction(TUTTI_OP_cast, dtype::f32, {unit})});
    if (is_unsigned(from)) return y;
    return instruction(TUTTI_OP_where, dtype::f32,
                       {negative, instruction(TUTTI_OP_negative, dtype::f32, {y}), y});
  }

  // Merged duplicates share the value of one of them. When programs are compiled ahead, pending
  // values have no memory yet.
  static bool same_memory(const node& a, const node& b) {
    return &a == &b ||
           (a.storage != nullptr && a.storage == b.storage && a.storage_offset == b.storage_offset);
  }

  lowered& out_;
  const shape& space_;
  kept_program* keep_;  // null also if the program cannot be kept
};

void finish(lowered& out, builder& b, const shape& space, std::uint8_t reduced_axes) {
  for (const operand& x : out.inputs)
    out.input_descs.push_back({static_cast<std::uint8_t>(x.type), 0, 0, 0});
  b.renumber();
  arrange(out, space, reduced_axes);
}

// The node from which a member reads an input: a merged duplicate is read from the node that
// computes it.
const node& computed(const plan& p, const node& input) {
  const node* n = look_through(input);
  return n->mark >= 0 ? *p.canonical(*n) : input;
}

// Contiguous over the kept axes, 0 along the reduced ones.
graph::layout output_layout(const shape& space, std::uint8_t reduced_axes) {
  graph::layout where{0, space};
  std::int64_t step = 1;
  for (int i = space.rank() - 1; i >= 0; --i) {
    const bool reduced = (reduced_axes >> i & 1) != 0;
    where.strides[i] = reduced ? 0 : step;
    if (!reduced) step *= space[i];
  }
  return where;
}

}  // namespace

lowered lower(const plan& p, const group& g, kept_program* keep) {
  lowered out;
  if (keep != nullptr) *keep = {};
  const node* reduction = g.reduction;
  const shape& space = reduction != nullptr ? reduction->inputs[0]->extents : g.members[0]->extents;
  builder b(out, space, keep);
  // There are few members: a linear search is faster than a map.
  boost::container::small_vector<std::pair<const node*, std::uint32_t>, 16> values;
  const auto value_of = [&](kept_program::edge from) {
    const node& input = *g.members[from.member]->inputs[from.input];
    if (input.is_constant()) return b.constant(input, from);
    const node& n = computed(p, input);
    for (auto it = values.rbegin(); it != values.rend(); ++it)
      if (it->first == &n) return it->second;
    return b.input(n, from);
  };
  for (std::uint32_t m = 0; m < g.members.size(); ++m) {
    const node* n = g.members[m];
    std::uint32_t operands[3] = {};
    for (std::uint32_t i = 0; i < n->inputs.size() && i < 3; ++i) operands[i] = value_of({m, i});
    if (n == reduction) {
      const dtype from = n->inputs[0]->type;
      const std::uint32_t value = b.convert(operands[0], from, n->reduction().accumulator);
      b.output(*n, n->type, value, output_layout(space, n->reduction().axes), m);
    } else {
      const std::uint32_t value = b.node_value(*n, operands);
      values.emplace_back(n, value);
      if (std::find(g.outputs.begin(), g.outputs.end(), n) != g.outputs.end())
        b.output(*n, n->type, value, output_layout(space, 0), m);
    }
  }
  if (reduction != nullptr) {
    out.reduction = reduction->reduction().reduction;
    out.accumulator = reduction->reduction().accumulator;
  }
  finish(out, b, space, reduction != nullptr ? reduction->reduction().axes : 0);
  b.keep();
  return out;
}

const lowered* kept_program::of(const plan& p, const group& g) {
  if (!is_filled) return nullptr;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const edge from = inputs[i].from;
    const node& n = computed(p, *g.members[from.member]->inputs[from.input]);
    operand& x = program.inputs[i];
    x.source = &graph::base_of(n);
    x.offset = n.is_view() ? n.view().where.offset : 0;
    if (x.offset + inputs[i].reach >= narrow_limit) return nullptr;
  }
  for (std::size_t i = 0; i < outputs.size(); ++i)
    program.outputs[i].source = g.members[outputs[i]];
  std::uint32_t known = 0;  // scalars; constants that were equal may differ now
  for (const kept_scalar& s : scalars) {
    const node& n = *g.members[s.from.member]->inputs[s.from.input];
    const graph::constant_value value = graph::convert_constant(n, n.type);
    const tutti_scalar& part = s.imaginary ? value.imaginary : value.real;
    tutti_scalar& mine = program.scalars[s.scalar];
    if (s.scalar == known) {
      mine = part;
      ++known;
    } else if (std::memcmp(&mine, &part, sizeof part) != 0) {
      return nullptr;
    }
  }
  return &program;
}

lowered lower_copy(const node& source, const shape& extents, dtype type,
                   const graph::layout& where) {
  const node* sources[] = {&source};
  return lower_copies(sources, extents, type, {&where, 1});
}

lowered lower_copies(std::span<const node* const> sources, const shape& extents, dtype type,
                     std::span<const graph::layout> places) {
  lowered out;
  builder b(out, extents);
  for (std::size_t i = 0; i < sources.size(); ++i) {
    const node& source = *sources[i];
    const std::uint32_t value = source.is_constant() ? b.constant(source) : b.input(source);
    b.output(source, type, b.convert(value, source.type, type), places[i]);
  }
  finish(out, b, extents, 0);
  return out;
}

tutti_program_desc lowered::desc(const char* label) const {
  tutti_program_desc d{};
  d.struct_size = sizeof d;
  d.ir_version = TUTTI_IR_VERSION;
  d.operand_size = sizeof(tutti_program_operand);
  d.instruction_size = sizeof(tutti_instruction);
  d.kept_rank = static_cast<std::uint32_t>(kept_rank);
  d.reduced_rank = static_cast<std::uint32_t>(reduced_rank);
  d.reduction = static_cast<std::uint8_t>(reduction);
  d.reduce_layout = static_cast<std::uint8_t>(reduce_layout);
  d.accumulator = static_cast<std::uint8_t>(accumulator);
  d.wide_index = wide_index ? 1 : 0;
  d.input_count = static_cast<std::uint32_t>(input_descs.size());
  d.scalar_count = static_cast<std::uint32_t>(scalars.size());
  d.instruction_count = static_cast<std::uint32_t>(instructions.size());
  d.output_count = static_cast<std::uint32_t>(output_descs.size());
  d.inputs = input_descs.data();
  d.scalar_dtypes = scalar_dtypes.data();
  d.instructions = instructions.data();
  d.outputs = output_descs.data();
  d.label = label;
  return d;
}

void lowered::key(std::string& out) const {
  out.clear();
  const auto append = [&](const void* data, std::size_t bytes) {
    out.append(static_cast<const char*>(data), bytes);
  };
  const std::uint16_t head[] = {static_cast<std::uint16_t>(kept_rank),
                                static_cast<std::uint16_t>(reduced_rank),
                                static_cast<std::uint16_t>(reduction),
                                static_cast<std::uint16_t>(reduce_layout),
                                static_cast<std::uint16_t>(accumulator),
                                static_cast<std::uint16_t>(wide_index),
                                static_cast<std::uint16_t>(input_descs.size()),
                                static_cast<std::uint16_t>(scalar_dtypes.size()),
                                static_cast<std::uint16_t>(instructions.size()),
                                static_cast<std::uint16_t>(output_descs.size())};
  append(head, sizeof head);
  append(input_descs.data(), input_descs.size() * sizeof input_descs[0]);
  append(scalar_dtypes.data(), scalar_dtypes.size());
  append(instructions.data(), instructions.size() * sizeof instructions[0]);
  append(output_descs.data(), output_descs.size() * sizeof output_descs[0]);
}

std::string lowered::label() const {
  static constexpr const char* reductions[] = {"",    "sum", "prod",   "min",   "max",
                                               "any", "all", "argmin", "argmax"};
  std::string text;
  const auto append = [&](const char* word) {
    if (!text.empty()) text += '+';
    text += word;
  };
  constexpr std::size_t shown = 6;
  for (std::size_t i = 0; i < instructions.size() && i < shown; ++i)
    append(graph::opcode_name(instructions[i].opcode));
  if (instructions.size() > shown)
    append((std::to_string(instructions.size() - shown) + " more").c_str());
  if (reduction != TUTTI_REDUCE_NONE) append(reductions[reduction]);
  if (text.empty()) text = inputs.empty() ? "fill" : "copy";
  return text;
}

std::uint64_t lowered::points() const {
  std::uint64_t product = 1;
  for (int i = 0; i < kept_rank + reduced_rank; ++i) product *= extent[i];
  return product;
}

}  // namespace tutti::fusion
