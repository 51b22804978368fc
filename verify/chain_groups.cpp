// SPDX-License-Identifier: Apache-2.0
//
// Random programs, seeded, and the expression of the benchmarks.
#include <cmath>

#include "chains.hpp"
#include "harness.hpp"
#include "oracle.hpp"
#include "program_meaning.hpp"

namespace tutti::conformance {
namespace {

constexpr uint64_t chains_of_a_group = 5, groups_of_a_length = 5;

void check_chains(session& s, size_t length, uint64_t part) {
  uint64_t judged = 0;
  for (uint64_t k = 0; k < chains_of_a_group; ++k) {
    generator random(s.seed * 1000 + length * 100 + part * chains_of_a_group + k);
    const program_spec p = make_program(s, random, length).spec;
    surroundings w = make_surroundings(p, {1 + random() % 700}, random);
    launch(s, p, w.extent, w.inputs, w.scalars, w.outputs);
    judged += judge(p, w);
  }
  require(judged > 200, "too few points were well-conditioned enough to be judged: {}", judged);
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
    require(got == want || overflow || std::fabs(got - want) <= 8 * 0x1p-23L * scale,
            "element {} is {}, expected {}", i, static_cast<double>(got),
            static_cast<double>(want));
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
