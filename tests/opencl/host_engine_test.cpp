// SPDX-License-Identifier: Apache-2.0
//
// Every instruction on every dtype, casts, loads, stores and layouts: the host engine gives the
// bits of the compiled kernel.
#include "host_engine_rig.hpp"

using namespace tutti;
using namespace tutti::test;

namespace {

constexpr uint64_t odd_count = 3001;

struct instruction {
  const sdk::op_info* op;
  uint8_t result;
};

// Programs of as many instructions as a launch has outputs.
void compare_instructions(const std::vector<instruction>& list, uint8_t dtype) {
  const uint32_t most = opened().properties.max_outputs;
  for (size_t first = 0; first < list.size(); first += most) {
    program_spec spec;
    const extents extent{odd_count};
    const uint32_t a = spec.input(dtype), b = spec.input(dtype);
    std::vector<operand> inputs{packed(dtype, extent), packed(dtype, extent)}, outputs;
    fill_random(inputs[0], 8, first + 1);
    fill_random(inputs[1], 8, first + 2);
    std::string what = sdk::dtype_name(dtype);
    for (size_t n = first; n < std::min(list.size(), first + most); ++n) {
      const auto& [op, result] = list[n];
      const uint32_t value =
          op->arity == 1 ? spec.op(op->opcode, result, {a}) : spec.op(op->opcode, result, {a, b});
      spec.output(value, result);
      outputs.push_back(packed(result, extent));
      what += std::string(" ") + op->name;
    }
    compare(spec, extent, inputs, {}, outputs, what);
  }
}

operand strided(uint8_t dtype, uint64_t elements, uint64_t offset, std::vector<int64_t> stride,
                uint64_t seed) {
  operand o;
  o.data = image(dtype, elements);
  fill_random(o, 4, seed);
  o.offset = offset;
  std::copy(stride.begin(), stride.end(), o.stride.begin());
  return o;
}

}  // namespace

BOOST_AUTO_TEST_CASE(every_instruction_gives_the_bits_of_the_compiled_one) {
  for (const uint8_t dtype : register_dtypes) {
    std::vector<instruction> list;
    for (const sdk::op_info& op : sdk::op_rows())
      if (sdk::accepts(op.kind, dtype)) list.push_back({&op, sdk::result_dtype(op.result, dtype)});
    BOOST_TEST(list.size() >= 6u);
    compare_instructions(list, dtype);
  }
}

BOOST_AUTO_TEST_CASE(every_cast_gives_the_bits_of_the_compiled_one) {
  for (const uint8_t from : register_dtypes) {
    std::vector<instruction> list;
    for (const uint8_t to : register_dtypes) {
      if (to == from) continue;
      if (!sdk::is_complex(from) || sdk::is_complex(to) || to == TUTTI_BOOL)
        list.push_back({sdk::find_op(TUTTI_OP_cast), to});
    }
    compare_instructions(list, from);
  }
}

BOOST_AUTO_TEST_CASE(choices_random_numbers_and_indices) {
  const extents extent{5, 601};
  for (const uint8_t dtype : register_dtypes) {
    program_spec spec;
    spec.kept_rank = 2;
    const uint32_t choice = spec.input(TUTTI_BOOL), a = spec.input(dtype);
    const bool complex = sdk::is_complex(dtype);  // no scalar is
    const uint32_t s = complex ? a : spec.scalar(dtype);
    spec.output(spec.op(TUTTI_OP_where, dtype, {choice, a, s}), dtype);
    std::vector<operand> inputs{packed(TUTTI_BOOL, extent), packed(dtype, extent)};
    fill_random(inputs[0], 1, 1);
    fill_random(inputs[1], 5, 2);
    image one(dtype, 1);
    std::mt19937_64 random(3);
    set_random(one, 0, 9, random);
    tutti_scalar scalar{};
    if (!complex) std::memcpy(&scalar, one.bytes.data(), one.bytes.size());
    compare(spec, extent, inputs, std::vector<tutti_scalar>(complex ? 0 : 1, scalar),
            {packed(dtype, extent)}, std::string("where of ") + sdk::dtype_name(dtype));
  }
  program_spec spec;
  spec.kept_rank = 2;
  const uint32_t key = spec.scalar(TUTTI_U64);
  const uint32_t index = spec.op(TUTTI_OP_iota, TUTTI_I64, {});
  spec.output(spec.op(TUTTI_OP_philox, TUTTI_U32, {index, key}), TUTTI_U32);
  spec.output(index, TUTTI_I64);
  tutti_scalar scalar{};
  const uint64_t bits = 0x123456789abcdef0;
  std::memcpy(&scalar, &bits, sizeof bits);
  compare(spec, extent, {}, {scalar}, {packed(TUTTI_U32, extent), packed(TUTTI_I64, extent)},
          "philox and iota");
}

BOOST_AUTO_TEST_CASE(halves_and_bools_in_memory) {
  const extents extent{65536};
  for (const uint8_t half : {uint8_t{TUTTI_F16}, uint8_t{TUTTI_BF16}}) {
    program_spec spec;
    const uint32_t a = spec.input(half), b = spec.input(TUTTI_F32);
    spec.output(a, TUTTI_F32);
    spec.output(spec.op(TUTTI_OP_multiply, TUTTI_F32, {a, b}), half);
    spec.output(b, half);
    operand every = packed(half, extent), reals = packed(TUTTI_F32, extent);
    for (uint64_t i = 0; i < extent[0]; ++i)
      std::memcpy(every.data.bytes.data() + 2 * (every.offset + i), &i, 2);
    fill_random(reals, 70000, 5);
    compare(spec, extent, {every, reals}, {},
            {packed(TUTTI_F32, extent), packed(half, extent), packed(half, extent)},
            sdk::dtype_name(half));
  }
  // Any byte but 0 is true, and 1 is what is stored.
  program_spec spec;
  spec.output(spec.input(TUTTI_BOOL), TUTTI_BOOL);
  operand bytes = packed(TUTTI_BOOL, {256});
  for (uint64_t i = 0; i < 256; ++i) bytes.data.bytes[bytes.offset + i] = std::byte(i);
  compare(spec, {256}, {bytes}, {}, {packed(TUTTI_BOOL, {256})}, "bools");
}

BOOST_AUTO_TEST_CASE(layouts_of_maps) {
  program_spec spec;
  spec.kept_rank = 3;
  const uint32_t a = spec.input(TUTTI_F32, TUTTI_ACCESS_STRIDED);
  const uint32_t b = spec.input(TUTTI_F32), row = spec.input(TUTTI_F16, TUTTI_ACCESS_STRIDED);
  const uint32_t one = spec.input(TUTTI_F32, TUTTI_ACCESS_ZERO);
  const uint32_t sum = spec.op(TUTTI_OP_add, TUTTI_F32, {a, b});
  const uint32_t scaled = spec.op(TUTTI_OP_multiply, TUTTI_F32, {sum, row});
  spec.output(spec.op(TUTTI_OP_tanh, TUTTI_F32, {scaled}), TUTTI_F32, TUTTI_ACCESS_STRIDED);
  spec.output(spec.op(TUTTI_OP_less, TUTTI_BOOL, {scaled, one}), TUTTI_BOOL, TUTTI_ACCESS_STRIDED);
  for (const extents& e :
       {extents{3, 40, 70}, extents{1, 1, 1}, extents{5, 7, 1}, extents{2, 1, 900}}) {
    const auto x = static_cast<int64_t>(e[0]), y = static_cast<int64_t>(e[1]),
               z = static_cast<int64_t>(e[2]);
    const uint64_t points = points_of(e);
    std::vector<operand> inputs{
        strided(TUTTI_F32, points + 2, points, {-y * z, -1, -y}, 1),  // backwards, transposed
        strided(TUTTI_F32, points, 0, {y * z, z, 1}, 2),
        strided(TUTTI_F16, points, 0, {1, x, 0}, 3),  // the same along the last dimension
        strided(TUTTI_F32, 3, 2, {0, 0, 0}, 4)};
    if (x * y * z > 1) inputs[0].offset = points - 1;
    std::vector<operand> outputs{strided(TUTTI_F32, points * 2, 1, {y * z * 2, z * 2, 2}, 5),
                                 strided(TUTTI_BOOL, points, 0, {1, x, x * y}, 6)};
    compare(spec, e, inputs, {}, outputs, "layout " + list_text(e));
  }
}

BOOST_AUTO_TEST_CASE(outputs_in_the_place_of_inputs) {
  const extents extent{2000};
  program_spec one;
  const uint32_t a = one.input(TUTTI_F32);
  one.output(one.op(TUTTI_OP_multiply, TUTTI_F32, {one.op(TUTTI_OP_exp, TUTTI_F32, {a}), a}),
             TUTTI_F32);
  std::vector<operand> inputs{packed(TUTTI_F32, extent)};
  fill_random(inputs[0], 3, 1);
  std::vector<operand> outputs{inputs[0]};
  outputs[0].alias = 0;
  compare(one, extent, inputs, {}, outputs, "in place");
  // Two outputs change places with their inputs.
  program_spec two;
  const uint32_t x = two.input(TUTTI_I32), y = two.input(TUTTI_I32);
  two.output(y, TUTTI_I32);
  two.output(two.op(TUTTI_OP_negative, TUTTI_I32, {x}), TUTTI_I32);
  inputs = {packed(TUTTI_I32, extent), packed(TUTTI_I32, extent)};
  fill_random(inputs[0], 3, 2);
  fill_random(inputs[1], 3, 3);
  outputs = inputs;
  outputs[0].alias = 0;
  outputs[1].alias = 1;
  compare(two, extent, inputs, {}, outputs, "exchanged");
}

BOOST_AUTO_TEST_CASE(what_it_lacks_is_refused) {
  program_spec spec;
  const uint32_t a = spec.input(TUTTI_C64);
  spec.output(spec.op(TUTTI_OP_less, TUTTI_BOOL, {a, a}), TUTTI_BOOL);
  try {
    const sdk::host_program program(spec.desc());
    BOOST_FAIL("no error");
  } catch (const sdk::plugin_error& error) {
    BOOST_TEST(error.code == TUTTI_ERROR_UNSUPPORTED);
    BOOST_TEST(std::string(error.what()).find("less of c64") != std::string::npos, error.what());
  }
}
