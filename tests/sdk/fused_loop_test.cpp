// SPDX-License-Identifier: Apache-2.0
//
// Loops of machine code: drawn programs give the bits that their instructions give one by one,
// which no loop is made for.
#include "sdk/host_engine/fused_loop.hpp"

#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>

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
    const bool simple =
        row.ulp <= 4 && result_of(row, real) != TUTTI_C64 && result_of(row, real) != TUTTI_C128;
    const bool taken =
        (number && sdk::fused_loop::takes({row.opcode, real, result_of(row, real), {}, 0})) ||
        (truth && sdk::fused_loop::takes({row.opcode, TUTTI_BOOL, TUTTI_BOOL, {}, 0}));
    if (simple && (taken || row.opcode == TUTTI_OP_sin)) rows.push_back(&row);
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
    } else {
      to[i] = std::byte(random() % 2);
    }
  }
  return to;
}

// Runs instructions over whole arrays of `count` elements; `in` and `out` by value numbers.
void run(const std::vector<tutti_instruction>& steps, const std::vector<uint8_t>& in_dtype,
         const std::vector<uint8_t>& scalar_dtype, const std::vector<uint32_t>& stored,
         const std::vector<uint8_t>& stored_dtype, const std::vector<const std::byte*>& in,
         const tutti_scalar* scalar, const std::vector<std::byte*>& out, size_t count) {
  std::vector<tutti_program_operand> from, to;
  for (uint8_t dtype : in_dtype) from.push_back({dtype, TUTTI_ACCESS_UNIT, 0, 0});
  for (size_t n = 0; n < stored.size(); ++n)
    to.push_back({stored_dtype[n], TUTTI_ACCESS_UNIT, 0, stored[n]});
  tutti_program_desc desc{};
  desc.struct_size = sizeof desc;
  desc.kept_rank = 1;
  desc.inputs = from.data();
  desc.input_count = static_cast<uint32_t>(from.size());
  desc.scalar_dtypes = scalar_dtype.data();
  desc.scalar_count = static_cast<uint32_t>(scalar_dtype.size());
  desc.instructions = steps.data();
  desc.instruction_count = static_cast<uint32_t>(steps.size());
  desc.outputs = to.data();
  desc.output_count = static_cast<uint32_t>(to.size());
  std::vector<tutti_operand> in_place(from.size()), out_place(to.size());
  for (auto* all : {&in_place, &out_place})
    for (tutti_operand& each : *all) each.stride[0] = 1;
  tutti_program_launch launch{};
  launch.struct_size = sizeof launch;
  launch.operand_size = sizeof(tutti_operand);
  launch.extent[0] = count;
  launch.inputs = in_place.data();
  launch.scalars = scalar;
  launch.outputs = out_place.data();
  sdk::host_program(desc).run(launch, {in.data(), out.data()}, sdk::machine{2});
}

template <typename T>
bool same_number(const std::byte* a, const std::byte* b, size_t i) {
  T x, y;
  std::memcpy(&x, a + i * sizeof(T), sizeof(T));
  std::memcpy(&y, b + i * sizeof(T), sizeof(T));
  return (x != x && y != y) || std::memcmp(&x, &y, sizeof(T)) == 0;
}

bool same(const bytes& a, const bytes& b, uint8_t dtype) {
  for (size_t i = 0; i < a.size() / sdk::dtype_size(dtype); ++i) {
    const bool equal = dtype == TUTTI_F32   ? same_number<float>(a.data(), b.data(), i)
                       : dtype == TUTTI_F64 ? same_number<double>(a.data(), b.data(), i)
                                            : a[i] == b[i];
    if (!equal) return false;
  }
  return true;
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
#ifdef __x86_64__
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
    const uint8_t real = round % 2 == 0 ? TUTTI_F32 : TUTTI_F64;
    const drawn_program p = draw(random, real, 2 + random() % 40);
    const size_t count = round % 10 == 0 ? 1700 : 1 + random() % 70;
    const std::vector<uint8_t> in_dtype(p.dtype.begin(), p.dtype.begin() + inputs);
    const std::vector<uint8_t> scalar_dtype(scalars, real);
    std::vector<bytes> value;
    std::vector<tutti_scalar> scalar(scalars);
    for (uint8_t dtype : in_dtype) value.push_back(fill(random, dtype, count));
    for (tutti_scalar& each : scalar) {
      const bytes one = fill(random, real, 1);
      std::memcpy(&each, one.data(), one.size());
      value.emplace_back();
      for (size_t i = 0; i < count; ++i)
        value.back().insert(value.back().end(), one.begin(), one.end());
    }
    for (const tutti_instruction& step : p.steps) {
      tutti_instruction alone = step;
      std::vector<uint8_t> of;
      std::vector<const std::byte*> in;
      for (uint32_t k = 0; k < step.operand_count; ++k) {
        of.push_back(p.dtype[step.operand[k]]);
        in.push_back(value[step.operand[k]].data());
        alone.operand[k] = k;
      }
      bytes out(count * sdk::dtype_size(step.dtype));
      run({alone}, of, {}, {step.operand_count}, {step.dtype}, in, nullptr, {out.data()}, count);
      value.push_back(std::move(out));
    }
    std::vector<uint8_t> stored_dtype;
    std::vector<bytes> got;
    std::vector<std::byte*> to;
    std::vector<bytes> from(value.begin(), value.begin() + inputs);
    std::vector<const std::byte*> in;
    for (const bytes& each : from) in.push_back(each.data());
    got.reserve(outputs);
    for (uint32_t n = 0; n < outputs; ++n) {
      stored_dtype.push_back(p.dtype[p.stored[n]]);
      got.emplace_back(count * sdk::dtype_size(stored_dtype[n]));
      // Every other program writes a result over an input, as optimisers do.
      const bool in_place = n == 0 && round % 4 < 2 && stored_dtype[n] == in_dtype[0];
      to.push_back(in_place ? from[0].data() : got[n].data());
    }
    run(p.steps, in_dtype, scalar_dtype, p.stored, stored_dtype, in, scalar.data(), to, count);
    for (uint32_t n = 0; n < outputs; ++n) {
      const bytes have(to[n], to[n] + got[n].size());
      BOOST_TEST(same(have, value[p.stored[n]], stored_dtype[n]),
                 "program " << round << ", output " << n << " of " << count << " elements");
    }
  }
}

BOOST_AUTO_TEST_SUITE_END()
