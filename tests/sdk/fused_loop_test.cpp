// SPDX-License-Identifier: Apache-2.0
//
// Loops of machine code: drawn programs give the bits that the compiled routines of their
// instructions give one by one.
#include "sdk/host_engine/fused_loop.hpp"

#include <algorithm>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

#include "sdk/host_engine/dispatch.hpp"
#include "sdk/host_engine/host_engine.hpp"
#include "sdk/op_info.hpp"

using namespace tutti;

namespace {

constexpr uint32_t inputs = 6, scalars = 3, outputs = 4;
using bytes = std::vector<std::byte>;

struct drawn_program {
  std::vector<uint8_t> dtype;  // of inputs, scalars, results
  std::vector<tutti_instruction> steps;
  std::vector<uint32_t> stored;
};

uint8_t result_of(const sdk::op_info& op, uint8_t dtype) {
  return sdk::result_dtype(op.result, dtype);
}

// A program of arithmetic, comparisons and choices, with a sine where no loop goes on.
drawn_program draw(std::mt19937& random, uint8_t real, uint32_t length) {
  drawn_program p;
  p.dtype = {real, real, real, TUTTI_BOOL, real, TUTTI_BOOL, real, real, real};
  const auto pick = [&](uint8_t dtype) {
    uint32_t value = 0;
    do {
      value = static_cast<uint32_t>(random() % p.dtype.size());
    } while (p.dtype[value] != dtype);
    return value;
  };
  std::vector<const sdk::op_info*> rows;
  for (const sdk::op_info& row : sdk::op_rows()) {
    const bool number = sdk::accepts(row.kind, real), truth = sdk::accepts(row.kind, TUTTI_BOOL);
    // Which sign a NaN has where two meet is not defined.
    if (row.opcode == TUTTI_OP_signbit || row.opcode == TUTTI_OP_copysign) continue;
    const bool taken =
        (number && sdk::fused_loop::takes({row.opcode, real, result_of(row, real), {}, 0})) ||
        (truth && sdk::fused_loop::takes({row.opcode, TUTTI_BOOL, TUTTI_BOOL, {}, 0}));
    if (taken || row.opcode == TUTTI_OP_sin) rows.push_back(&row);
  }
  while (p.steps.size() < length) {
    tutti_instruction step{};
    const uint32_t kind = random() % 12;
    if (kind == 0) {
      step = {TUTTI_OP_where, real, 3, {pick(TUTTI_BOOL), pick(real), pick(real)}};
    } else if (kind == 1) {
      const bool up = random() % 2 == 0;
      step = {TUTTI_OP_cast,
              up ? real : uint8_t{TUTTI_BOOL},
              1,
              {pick(up ? uint8_t{TUTTI_BOOL} : real)}};
    } else {
      const sdk::op_info& row = *rows[random() % rows.size()];
      const bool number = sdk::accepts(row.kind, real);
      const uint8_t of = number && (random() % 3 != 0 || !sdk::accepts(row.kind, TUTTI_BOOL))
                             ? real
                             : uint8_t{TUTTI_BOOL};
      if (!sdk::accepts(row.kind, of)) continue;
      step.opcode = row.opcode;
      step.dtype = result_of(row, of);
      step.operand_count = row.arity;
      for (uint32_t k = 0; k < row.arity; ++k) step.operand[k] = pick(of);
    }
    p.steps.push_back(step);
    p.dtype.push_back(step.dtype);
  }
  for (uint32_t n = 0; n < outputs; ++n)
    p.stored.push_back(static_cast<uint32_t>(p.dtype.size() - 1 - random() % (length / 2 + 1)));
  return p;
}

template <typename T>
T special(std::mt19937& random) {
  using limits = std::numeric_limits<T>;
  const T all[] = {0,
                   T(-0.0),
                   1,
                   -1,
                   T(0.5),
                   T(2.5),
                   limits::infinity(),
                   -limits::infinity(),
                   limits::quiet_NaN(),
                   limits::denorm_min(),
                   limits::max(),
                   T(1e9)};
  if (random() % 4 == 0) return all[random() % std::size(all)];
  return T(random()) / T(1u << 29) - T(4);
}

bytes fill(std::mt19937& random, uint8_t dtype, size_t count) {
  bytes to(count * sdk::dtype_size(dtype));
  for (size_t i = 0; i < count; ++i) {
    if (dtype == TUTTI_F32) {
      const auto x = special<float>(random);
      std::memcpy(to.data() + 4 * i, &x, 4);
    } else if (dtype == TUTTI_F64) {
      const auto x = special<double>(random);
      std::memcpy(to.data() + 8 * i, &x, 8);
    } else if (dtype == TUTTI_I32 || dtype == TUTTI_U32) {
      const uint32_t small = random() % 40, edge = random() % 2 == 0 ? 0x80000000u : ~small;
      const uint32_t all[] = {small, edge, static_cast<uint32_t>(random())};
      std::memcpy(to.data() + 4 * i, &all[random() % std::size(all)], 4);
    } else {
      to[i] = std::byte(random() % 2);
    }
  }
  return to;
}

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
  tutti_program_desc desc{};
  desc.struct_size = sizeof desc;
  desc.kept_rank = 1;
  desc.inputs = from.data();
  desc.input_count = inputs;
  desc.scalar_dtypes = p.dtype.data() + inputs;
  desc.scalar_count = scalars;
  desc.instructions = p.steps.data();
  desc.instruction_count = static_cast<uint32_t>(p.steps.size());
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

template <typename T>
bool same_number(const std::byte* a, const std::byte* b, size_t i) {
  T x, y;
  std::memcpy(&x, a + i * sizeof(T), sizeof(T));
  std::memcpy(&y, b + i * sizeof(T), sizeof(T));
  return (x != x && y != y) || std::memcmp(&x, &y, sizeof(T)) == 0;
}

bool same_half(const std::byte* a, const std::byte* b, size_t i, uint16_t infinity) {
  uint16_t x, y;
  std::memcpy(&x, a + 2 * i, 2);
  std::memcpy(&y, b + 2 * i, 2);
  return x == y || ((x & 0x7fff) > infinity && (y & 0x7fff) > infinity);
}

bool same(const bytes& a, const bytes& b, uint8_t dtype) {
  for (size_t i = 0; i < a.size() / sdk::dtype_size(dtype); ++i) {
    const bool equal = dtype == TUTTI_F32    ? same_number<float>(a.data(), b.data(), i)
                       : dtype == TUTTI_F64  ? same_number<double>(a.data(), b.data(), i)
                       : dtype == TUTTI_F16  ? same_half(a.data(), b.data(), i, 0x7c00)
                       : dtype == TUTTI_BF16 ? same_half(a.data(), b.data(), i, 0x7f80)
                                             : true;
    if (!equal) return false;
  }
  const bool real =
      dtype == TUTTI_F32 || dtype == TUTTI_F64 || dtype == TUTTI_F16 || dtype == TUTTI_BF16;
  return real || a == b;
}

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
    read.push_back(in[n].data());
  }
  const tutti_program_operand to{what.accumulator, TUTTI_ACCESS_UNIT, 0, what.value};
  tutti_program_desc desc{};
  desc.struct_size = sizeof desc;
  desc.kept_rank = desc.reduced_rank = 1;
  desc.reduction = what.kind;
  desc.reduce_layout = what.layout;
  desc.accumulator = what.accumulator;
  desc.inputs = from.data();
  desc.input_count = inputs;
  desc.scalar_dtypes = p.dtype.data() + inputs;
  desc.scalar_count = scalars;
  desc.instructions = p.steps.data();
  desc.instruction_count = static_cast<uint32_t>(p.steps.size());
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

// Totals that loops add to are those that routines add up, also of numbers that become wider.
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
      const tutti_program_operand read{from, TUTTI_ACCESS_UNIT, 0, 0},
          written{into, TUTTI_ACCESS_UNIT, 0, 1};
      tutti_instruction twice{TUTTI_OP_add, TUTTI_F32, 2, {0, 0, 0}};
      tutti_program_desc desc{};
      desc.struct_size = sizeof desc;
      desc.kept_rank = 1;
      desc.inputs = &read;
      desc.input_count = 1;
      desc.instructions = &twice;
      desc.instruction_count = 1;
      desc.outputs = &written;
      desc.output_count = 1;
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
