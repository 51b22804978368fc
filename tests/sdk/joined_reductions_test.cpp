// SPDX-License-Identifier: Apache-2.0
//
// Reductions in the loops of what they reduce: drawn ones give the bits that routines give which
// add up values computed before.
#include <boost/test/unit_test.hpp>
#include <cstring>
#include <random>

#include "drawn_programs.hpp"
#include "sdk/host_engine/host_engine.hpp"

using namespace drawn_programs;

namespace {

// A reduction of rows or columns: what is reduced, and into what.
struct drawn_reduction {
  uint8_t kind, layout, of, accumulator;
  uint32_t value;
  size_t rows, columns;
};

// The totals of a value of the program, over inputs with a gap between rows, of which the
// third has one value for each.
bytes reduced(const drawn_program& p, const std::vector<bytes>& in, const tutti_scalar* scalar,
              const drawn_reduction& what, uint32_t loop_bits) {
  const bool inner = what.layout == TUTTI_REDUCE_INNER;
  std::vector<tutti_program_operand> from;
  std::vector<tutti_operand> places;
  std::vector<const std::byte*> read;
  const auto pitch = static_cast<int64_t>(what.columns + 3);
  for (uint32_t n = 0; n < inputs; ++n) {
    const bool one = n == 2;
    from.push_back({p.dtype[n], one ? TUTTI_ACCESS_ZERO : TUTTI_ACCESS_UNIT, 0, 0});
    tutti_operand at{};
    at.stride[inner ? 0 : 1] = pitch;  // kept dimensions come first
    at.stride[inner ? 1 : 0] = one ? 0 : 1;
    places.push_back(at);
    read.push_back(in[std::min<size_t>(n, in.size() - 1)].data());
  }
  const tutti_program_operand to{what.accumulator, TUTTI_ACCESS_UNIT, 0, what.value};
  tutti_program_desc desc = description_of(p, from);
  desc.reduced_rank = 1;
  desc.reduction = what.kind;
  desc.reduce_layout = what.layout;
  desc.accumulator = what.accumulator;
  desc.outputs = &to;
  desc.output_count = 1;
  tutti_operand total{};
  total.stride[0] = 1;
  tutti_program_launch launch{};
  launch.struct_size = sizeof launch;
  launch.operand_size = sizeof(tutti_operand);
  launch.extent[0] = inner ? what.rows : what.columns;
  launch.extent[1] = inner ? what.columns : what.rows;
  launch.inputs = places.data();
  launch.scalars = scalar;
  launch.outputs = &total;
  bytes out(launch.extent[0] * sdk::dtype_size(what.accumulator));
  std::byte* written = out.data();
  sdk::host_program(desc, sdk::best_host_routines(), loop_bits)
      .run(launch, {read.data(), &written}, sdk::machine{2});
  return out;
}

}  // namespace

// Also of numbers that become wider.
BOOST_AUTO_TEST_CASE(drawn_reductions_have_the_bits_of_their_routines) {
  std::mt19937 random(2);
  constexpr uint8_t dtypes[] = {TUTTI_F32, TUTTI_F64, TUTTI_I32, TUTTI_U32, TUTTI_BOOL, TUTTI_U8,
                                TUTTI_I8,  TUTTI_I16, TUTTI_U16, TUTTI_F16, TUTTI_BF16};
  constexpr uint8_t kinds[] = {TUTTI_REDUCE_SUM, TUTTI_REDUCE_SUM, TUTTI_REDUCE_MIN,
                               TUTTI_REDUCE_MAX, TUTTI_REDUCE_PROD};
  for (int round = 0; round < 165; ++round) {
    drawn_reduction what{};
    what.of = dtypes[static_cast<size_t>(round) % std::size(dtypes)];
    what.kind = kinds[random() % std::size(kinds)];
    what.layout = random() % 2 == 0 ? TUTTI_REDUCE_INNER : TUTTI_REDUCE_OUTER;
    what.rows = 1 + random() % (round % 3 == 0 ? 280 : 20);
    what.columns = random() % 4 == 0 ? 1 + random() % 2200 : 120 + random() % 150;
    const bool drawn = what.of == TUTTI_F32 || what.of == TUTTI_F64 || what.of == TUTTI_I32 ||
                       what.of == TUTTI_U32;
    drawn_program p = draw(random, drawn ? what.of : uint8_t{TUTTI_F32}, 1 + random() % 12);
    if (!drawn) {  // comparisons are counted, halves squared, integers added as they are or as i32
      const bool half = what.of == TUTTI_F16 || what.of == TUTTI_BF16;
      p.dtype.assign(inputs + scalars, TUTTI_F32);
      if (what.of != TUTTI_BOOL) p.dtype[0] = what.of;
      if (what.of == TUTTI_BOOL)
        p.steps = {{TUTTI_OP_less, TUTTI_BOOL, 2, {0, 1}}};
      else if (half)
        p.steps = {{TUTTI_OP_square, TUTTI_F32, 1, {0}}};
      else
        p.steps = {{TUTTI_OP_cast, uint8_t(round % 3 == 0 ? TUTTI_I64 : TUTTI_I32), 1, {0}}};
      p.dtype.push_back(p.steps[0].dtype);
      if (what.of == TUTTI_BOOL) what.kind = TUTTI_REDUCE_SUM;
    } else if (p.dtype.back() == TUTTI_BOOL) {
      p.steps.push_back({TUTTI_OP_cast, what.of, 1, {static_cast<uint32_t>(p.dtype.size() - 1)}});
      p.dtype.push_back(what.of);
    }
    const bool as_it_is = !drawn && p.dtype.back() == TUTTI_I32 && round % 2 == 0;
    what.value = as_it_is ? 0 : static_cast<uint32_t>(p.dtype.size() - 1);
    const uint8_t of = p.dtype[what.value];
    const bool grows = what.kind == TUTTI_REDUCE_SUM || what.kind == TUTTI_REDUCE_PROD;
    what.accumulator = of == TUTTI_F32 || of == TUTTI_F64 || !grows ? of
                       : of >= TUTTI_U8                             ? uint8_t{TUTTI_U64}
                                                                    : uint8_t{TUTTI_I64};
    std::vector<bytes> in;
    for (uint32_t n = 0; n < inputs; ++n) {
      const size_t count = what.rows * (what.columns + 3);
      in.push_back(fill(random, p.dtype[n], count));
      for (std::byte& each : in.back())
        if (!drawn && p.dtype[n] == what.of) each = std::byte(random());
    }
    std::vector<tutti_scalar> scalar(scalars);
    for (uint32_t n = 0; n < scalars; ++n) {
      const bytes one = fill(random, p.dtype[inputs + n], 1);
      std::memcpy(&scalar[n], one.data(), one.size());
    }
    const bytes want = reduced(p, in, scalar.data(), what, 0);
    for (const uint32_t bits : {256u, 512u}) {
      if (bits > sdk::fused_loop::most_bits()) continue;
      BOOST_TEST(same(reduced(p, in, scalar.data(), what, bits), want, what.accumulator),
                 "reduction " << round << " of " << sdk::dtype_name(what.of) << ", kind "
                              << int(what.kind) << ", layout " << int(what.layout) << ", "
                              << what.rows << " x " << what.columns << ", " << bits << " bits");
    }
  }
}

// Long columns and rows of extreme values, and of floats that become integers.
BOOST_AUTO_TEST_CASE(sums_of_many_short_integers_do_not_wrap) {
  const std::vector<std::pair<uint8_t, int64_t>> extremes = {
      {TUTTI_BOOL, 1},    {TUTTI_I8, -128},       {TUTTI_U8, 255}, {TUTTI_I16, -32768},
      {TUTTI_U16, 65535}, {TUTTI_I32, INT32_MIN}, {TUTTI_F32, -3}};
  for (const auto& [of, value] : extremes) {
    for (const uint8_t layout : {TUTTI_REDUCE_INNER, TUTTI_REDUCE_OUTER}) {
      const bool inner = layout == TUTTI_REDUCE_INNER;
      const uint8_t accumulator = of == TUTTI_U8 ? TUTTI_U64 : TUTTI_I64;
      const drawn_reduction what{TUTTI_REDUCE_SUM,    layout,           of,
                                 accumulator,         inputs + scalars, inner ? 3u : 70003,
                                 inner ? 70003u : 129};
      drawn_program p{};
      p.dtype.assign(inputs + scalars, of);
      p.steps = {{TUTTI_OP_cast, accumulator, 1, {0}}};
      p.dtype.push_back(accumulator);
      const float real = static_cast<float>(value);
      const void* const from = of == TUTTI_F32 ? static_cast<const void*>(&real) : &value;
      bytes in(what.rows * (what.columns + 3) * sdk::dtype_size(of));
      for (size_t at = 0; at < in.size(); at += sdk::dtype_size(of))
        std::memcpy(in.data() + at, from, sdk::dtype_size(of));
      const std::vector<tutti_scalar> scalar(scalars);
      for (const uint32_t bits : {0u, 256u, 512u}) {
        if (bits > sdk::fused_loop::most_bits()) continue;
        const bytes sums = reduced(p, {in}, scalar.data(), what, bits);
        int64_t least = INT64_MAX, most = INT64_MIN;
        for (size_t n = 0; n < sums.size(); n += sizeof least) {
          int64_t sum = 0;
          std::memcpy(&sum, sums.data() + n, sizeof sum);
          least = std::min(least, sum);
          most = std::max(most, sum);
        }
        BOOST_TEST(least == 70003 * value, sdk::dtype_name(of) << ", " << bits << " bits");
        BOOST_TEST(most == 70003 * value, sdk::dtype_name(of) << ", " << bits << " bits");
      }
    }
  }
}
