// SPDX-License-Identifier: Apache-2.0
//
// Programs, changed in their header, their arrays and the elements of these.
#include <algorithm>
#include <cstring>

#include "chains.hpp"
#include "fuzz.hpp"
#include "program_meaning.hpp"

namespace tutti::conformance {
namespace {

// A description over arrays with space after their elements, so that counts and sizes that are
// slightly too large lead to memory of this test.
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
  raw_program(raw_program&&) = delete;

  tutti_program_desc& desc() { return desc_.known; }
  uint8_t& scalar(uint32_t n) { return scalars_[n]; }
  // The elements as they were laid out; changes are written back there.
  template <typename T, typename F>
  void edit(std::vector<std::byte>& array, uint32_t n, F&& change) {
    T element;
    std::memcpy(&element, &array[n * sizeof(T)], sizeof(T));
    change(element);
    std::memcpy(&array[n * sizeof(T)], &element, sizeof(T));
  }
  std::vector<std::byte> inputs_, outputs_, instructions_;

  // As read by the rules of plugin.h: no byte beyond struct_size, elements at the distances given
  // in the description.
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
  longer<tutti_program_desc> desc_;
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
  const auto [created, program] =
      answer(s.api->program->release, "create", s.api->program->create, s.device.get(), &desc);
  const bool supported = !asked && support == TUTTI_SUPPORT_YES;
  require(supported || created, "made, though `supports` says no: {}", c.text());
  require(!c.empty() || supported, "a sound program is not supported: {}", asked.message);
  require(!c.empty() || !created, "a sound program is refused: {}", created.message);
  if (created) return;
  const program_spec meant = raw.read();
  std::vector<uint8_t> values;
  require(means_something(meant, values), "accepted: {}", c.text());
  surroundings w = make_surroundings(meant, small_extents(meant, random), random);
  launch(s, program.get(), w.extent, w.inputs, w.scalars, w.outputs);
  if (can_be_judged(meant, values)) judge(meant, w);
}

}  // namespace tutti::conformance
