// SPDX-License-Identifier: Apache-2.0
//
// Random programs, seeded, and the expression of the benchmarks.
#include <cmath>

#include "chains.hpp"
#include "harness.hpp"
#include "oracle.hpp"

namespace tutti::conformance {
namespace {

void compare(const random_program& p, const cell& want, uint64_t got, uint64_t point, uint64_t seed,
             uint64_t& judged) {
  if (!want.sure) return;
  ++judged;
  if (is_right(want, got)) return;
  const bool floating = sdk::is_floating(want.dtype);
  const uint64_t expected = floating ? bits_of(want.dtype, want.real) : want.bits;
  std::string text = "program seed " + std::to_string(seed) + ", point " + std::to_string(point) +
                     " is " + value_text(want.dtype, got) + ", expected " +
                     value_text(want.dtype, expected);
  if (floating) text += " within " + std::to_string(static_cast<double>(want.bound));
  text += "; instructions:";
  for (const tutti_instruction& i : p.spec.instructions) {
    text += std::string(" ") + sdk::find_op(i.opcode)->name + "." + sdk::dtype_name(i.dtype);
  }
  throw failure(text);
}

void check_chain(session& s, uint64_t seed, size_t length, uint64_t& judged) {
  generator random(seed);
  const random_program p = make_program(s, random, length);
  const extents extent = {1 + random() % 700};
  std::vector<operand> inputs;
  for (const tutti_program_operand& declared : p.spec.inputs) {
    inputs.push_back(packed(declared.dtype, extent));
    for (uint64_t i = 0; i < extent[0]; ++i) {
      inputs.back().data.set(3 + i, random_value(declared.dtype, -3, 3, random));
    }
  }
  std::vector<uint64_t> scalar_bits;
  std::vector<tutti_scalar> scalars;
  for (const uint8_t dtype : p.spec.scalars) {
    scalar_bits.push_back(random_value(dtype, 0.5, 4, random));
    scalars.push_back(to_scalar(dtype, scalar_bits.back()));
  }
  std::vector<operand> outputs;
  for (const tutti_program_operand& declared : p.spec.outputs) {
    outputs.push_back(packed(declared.dtype, extent));
  }
  launch(s, p.spec, extent, inputs, scalars, outputs);
  for (uint64_t i = 0; i < extent[0]; ++i) {
    std::vector<cell> values;
    for (const operand& o : inputs) values.push_back(to_cell(o.data.dtype, o.data.get(3 + i)));
    for (size_t k = 0; k < scalars.size(); ++k) {
      values.push_back(to_cell(p.spec.scalars[k], scalar_bits[k]));
    }
    for (const tutti_instruction& next : p.spec.instructions) values.push_back(run(next, values));
    for (size_t k = 0; k < outputs.size(); ++k) {
      compare(p, values[p.spec.outputs[k].value], outputs[k].data.get(3 + i), i, seed, judged);
    }
  }
}

constexpr uint64_t chains_of_a_group = 5, groups_of_a_length = 5;

void check_chains(session& s, size_t length, uint64_t part) {
  uint64_t judged = 0;
  for (uint64_t k = 0; k < chains_of_a_group; ++k)
    check_chain(s, s.seed * 1000 + length * 100 + part * chains_of_a_group + k, length, judged);
  require(judged > 200, [&] {
    return "too few points were well-conditioned enough to be judged: " + std::to_string(judged);
  });
}

// c = a * b + tanh(a) - exp(-b * b): the expression of the benchmarks, to 4 ulp of its terms.
void check_benchmark_expression(session& s) {
  const extents extent = {100003};
  program_spec spec;
  spec.input(TUTTI_F32);
  spec.input(TUTTI_F32);
  const uint8_t f = TUTTI_F32;
  const uint32_t product = spec.op(TUTTI_OP_multiply, f, {0, 1});
  const uint32_t tangent = spec.op(TUTTI_OP_tanh, f, {0});
  const uint32_t sum = spec.op(TUTTI_OP_add, f, {product, tangent});
  const uint32_t square = spec.op(TUTTI_OP_square, f, {1});
  const uint32_t minus = spec.op(TUTTI_OP_negative, f, {square});
  const uint32_t gauss = spec.op(TUTTI_OP_exp, f, {minus});
  spec.output(spec.op(TUTTI_OP_subtract, f, {sum, gauss}), f);
  generator random(s.seed);
  std::vector<operand> inputs = {packed(f, extent), packed(f, extent)},
                       outputs = {packed(f, extent)};
  const std::vector<uint64_t>& special = special_values(f);
  for (uint64_t i = 0; i < extent[0]; ++i) {
    const bool odd = i % 50 == 0;
    inputs[0].data.set(3 + i,
                       odd ? special[i / 50 % special.size()] : random_value(f, -4, 4, random));
    inputs[1].data.set(3 + i, random_value(f, -4, 4, random));
  }
  launch(s, spec, extent, inputs, {}, outputs);
  for (uint64_t i = 0; i < extent[0]; ++i) {
    const long double a = real_of(f, inputs[0].data.get(3 + i));
    const long double b = real_of(f, inputs[1].data.get(3 + i));
    const long double want = a * b + std::tanh(a) - std::exp(-b * b);
    const long double got = real_of(f, outputs[0].data.get(3 + i));
    if (std::isnan(want) && std::isnan(got)) continue;
    const long double scale = std::fabs(a * b) + 2;
    const bool overflow = std::isinf(got) && std::fabs(want) > 3.4028e38L;
    require(got == want || overflow || std::fabs(got - want) <= 8 * 0x1p-23L * scale, [&] {
      return "element " + std::to_string(i) + " is " + std::to_string(static_cast<double>(got)) +
             ", expected " + std::to_string(static_cast<double>(want));
    });
  }
}

}  // namespace

void add_chain_groups(groups& all, const session&) {
  for (const size_t length : {size_t{6}, size_t{8}, size_t{12}, size_t{20}, size_t{40}}) {
    for (uint64_t part = 0; part < groups_of_a_length; ++part)
      all.push_back({"chain/random_" + std::to_string(length) + "/" + std::to_string(part),
                     [=](session& t) { check_chains(t, length, part); }});
  }
  all.push_back({"chain/benchmark_expression", check_benchmark_expression});
}

}  // namespace tutti::conformance
