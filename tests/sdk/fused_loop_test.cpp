// SPDX-License-Identifier: Apache-2.0
//
// Loops of machine code: drawn programs give the bits that the compiled routines of their
// instructions give one by one.
#include "sdk/host_engine/fused_loop.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <random>

#include "drawn_programs.hpp"
#include "sdk/host_engine/dispatch.hpp"
#include "sdk/host_engine/host_engine.hpp"
#include "verify/program_spec.hpp"

using namespace drawn_programs;

namespace {

// What a program has to give: inputs, scalars, and each result as its routine computes it. Of rows
// of `columns` the third input has one value each.
struct expected_values {
  expected_values(const drawn_program& p, std::mt19937& random, size_t elements, size_t columns)
      : count(elements), scalar(scalars) {
    for (uint32_t n = 0; n < inputs; ++n) value.push_back(fill(random, p.dtype[n], count));
    const size_t element = sdk::dtype_size(p.dtype[2]);
    for (size_t i = 0; i < count && columns > 0; ++i)
      std::copy_n(value[2].data() + i / columns * columns * element, element,
                  value[2].data() + i * element);
    for (uint32_t n = 0; n < scalars; ++n) {
      const bytes one = fill(random, p.dtype[inputs + n], 1);
      std::memcpy(&scalar[n], one.data(), one.size());
      value.emplace_back();
      for (size_t i = 0; i < count; ++i)
        value.back().insert(value.back().end(), one.begin(), one.end());
    }
    for (const tutti_instruction& step : p.steps) {
      const void* in[3] = {};
      for (uint32_t k = 0; k < step.operand_count; ++k) in[k] = value[step.operand[k]].data();
      bytes out(count * sdk::dtype_size(step.dtype));
      sdk::find_block(sdk::best_host_routines(), step.opcode, p.dtype[step.operand[0]], step.dtype)(
          in, out.data(), static_cast<long>(count));
      value.push_back(std::move(out));
    }
  }

  size_t count;
  std::vector<tutti_scalar> scalar;
  std::vector<bytes> value;
};

// The outputs of the program; the first one is written over the first input if that has its dtype.
// With `columns` it is run over rows, between which the second input has gaps, and of which each is
// one element of the third.
std::vector<bytes> run(const drawn_program& p, const expected_values& want, uint32_t loop_bits,
                       bool in_place, size_t columns) {
  std::vector<tutti_program_operand> from, to;
  for (uint32_t n = 0; n < inputs; ++n) from.push_back({p.dtype[n], TUTTI_ACCESS_UNIT, 0, 0});
  for (uint32_t value : p.stored) to.push_back({p.dtype[value], TUTTI_ACCESS_UNIT, 0, value});
  tutti_program_desc desc = description_of(p, from);
  desc.outputs = to.data();
  desc.output_count = outputs;
  std::vector<tutti_operand> places(inputs + outputs);
  for (tutti_operand& each : places) each.stride[0] = 1;
  tutti_program_launch launch{};
  launch.struct_size = sizeof launch;
  launch.operand_size = sizeof(tutti_operand);
  launch.extent[0] = want.count;
  launch.inputs = places.data();
  launch.scalars = want.scalar.data();
  launch.outputs = places.data() + inputs;
  std::vector<bytes> in(want.value.begin(), want.value.begin() + inputs), out;
  if (columns > 0) {
    constexpr size_t gap = 5;
    desc.kept_rank = 2;
    launch.extent[0] = want.count / columns;
    launch.extent[1] = columns;
    for (tutti_operand& each : places) {
      each.stride[0] = static_cast<int64_t>(columns);
      each.stride[1] = 1;
    }
    places[1].stride[0] += gap;
    from[2].access = TUTTI_ACCESS_ZERO;
    places[2].stride[1] = 0;
    const size_t element = sdk::dtype_size(p.dtype[1]);
    for (size_t row = want.count / columns; row-- > 1;)
      in[1].insert(in[1].begin() + static_cast<std::ptrdiff_t>(row * columns * element),
                   gap * element, std::byte{1});
  }
  for (const tutti_program_operand& each : to)
    out.emplace_back(want.count * sdk::dtype_size(each.dtype));
  std::vector<const std::byte*> read;
  std::vector<std::byte*> written;
  for (const bytes& each : in) read.push_back(each.data());
  for (bytes& each : out) written.push_back(each.data());
  in_place = in_place && to[0].dtype == p.dtype[0];
  if (in_place) written[0] = in[0].data();
  sdk::host_program(desc, sdk::best_host_routines(), loop_bits)
      .run(launch, {read.data(), written.data()}, sdk::machine{2});
  if (in_place) out[0] = in[0];
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(fused_loops)

BOOST_AUTO_TEST_CASE(a_loop_is_made_where_the_processor_can) {
  sdk::fused_loop::description what;
  what.instructions = {{TUTTI_OP_multiply, TUTTI_F32, TUTTI_F32, {0, 1}, 2},
                       {TUTTI_OP_negative, TUTTI_F32, TUTTI_F32, {2}, 3}};
  what.inputs = {{0, TUTTI_F32}};
  what.results = {{3, TUTTI_F32}};
  what.first_scalar = 1;
  what.scalars = 1;
  const bool can = sdk::fused_loop::takes(what.instructions[0]);
#if defined TUTTI_MACHINE_CODE && defined __x86_64__
  BOOST_TEST(can == bool(__builtin_cpu_supports("avx2")));
#endif
  const auto loop = sdk::fused_loop::make(what);
  BOOST_TEST((loop != nullptr) == can);
  if (loop == nullptr) return;
  const float x[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11};
  float y[] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 100};
  tutti_scalar two{};
  two.f32 = 2;
  const auto* from = reinterpret_cast<const std::byte*>(x);
  auto* to = reinterpret_cast<std::byte*>(y);
  loop->run(&from, &to, &two, 11);
  for (int i = 0; i < 11; ++i) BOOST_TEST(y[i] == -2 * x[i]);
  BOOST_TEST(y[11] == 100);
}

BOOST_AUTO_TEST_CASE(drawn_programs_have_the_bits_of_their_instructions) {
  std::mt19937 random(1);
  for (int round = 0; round < 400; ++round) {
    constexpr uint8_t dtypes[] = {TUTTI_F32, TUTTI_F64, TUTTI_F32, TUTTI_F64, TUTTI_I32, TUTTI_U32};
    const drawn_program p = draw(random, dtypes[round % std::size(dtypes)], 1 + random() % 40);
    const size_t columns = round % 5 == 1 ? 64 + random() % 50 : 0;
    const size_t flat = round % 10 == 0 ? 1700 : 1 + random() % 70;
    const expected_values want(p, random, columns > 0 ? 7 * columns : flat, columns);
    for (const uint32_t bits : {0u, 256u, 512u}) {
      if (bits > sdk::fused_loop::most_bits()) continue;
      const std::vector<bytes> got = run(p, want, bits, round % 4 < 2, columns);
      for (uint32_t n = 0; n < outputs; ++n)
        BOOST_TEST(same(got[n], want.value[p.stored[n]], p.dtype[p.stored[n]]),
                   "program " << round << ", output " << n << " of " << want.count << " elements, "
                              << bits << " bits");
    }
  }
}

// Every bit pattern of a half, as f32, doubled, and of f32 as many around where halves round.
BOOST_AUTO_TEST_CASE(halves_are_converted_as_by_routines) {
  constexpr size_t count = 1 << 16;
  for (const uint8_t from : {TUTTI_F16, TUTTI_BF16, TUTTI_F32}) {
    for (const uint8_t into : {TUTTI_F16, TUTTI_BF16, TUTTI_F32}) {
      bytes in(count * sdk::dtype_size(from));
      for (uint32_t i = 0; i < count; ++i) {
        const uint32_t bits = from == TUTTI_F32 ? i << 16 | (i * 40503u & 0xffffu) : i;
        std::memcpy(in.data() + i * sdk::dtype_size(from), &bits, sdk::dtype_size(from));
      }
      tutti::conformance::program_spec p;
      const uint32_t read = p.input(from);
      p.output(p.op(TUTTI_OP_add, TUTTI_F32, {read, read}), into);
      const tutti_program_desc desc = p.desc();
      tutti_operand place{};
      place.stride[0] = 1;
      tutti_program_launch launch{};
      launch.struct_size = sizeof launch;
      launch.operand_size = sizeof(tutti_operand);
      launch.extent[0] = count - 3;
      launch.inputs = launch.outputs = &place;
      bytes want;
      for (const uint32_t bits : {0u, 256u, 512u}) {
        if (bits > sdk::fused_loop::most_bits()) continue;
        bytes out(count * sdk::dtype_size(into));
        const std::byte* at = in.data();
        std::byte* to = out.data();
        sdk::host_program(desc, sdk::best_host_routines(), bits)
            .run(launch, {&at, &to}, sdk::machine{2});
        if (bits == 0) want = out;
        BOOST_TEST(same(out, want, into), sdk::dtype_name(from)
                                              << " to " << sdk::dtype_name(into) << ", " << bits);
      }
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
