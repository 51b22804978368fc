// SPDX-License-Identifier: Apache-2.0
//
// Every reduction of every dtype in both layouts, in one part and in several: the host engine adds
// in the order of the compiled kernel.
#include "host_engine_rig.hpp"

using namespace tutti;
using namespace tutti::test;

namespace {

struct shape {
  extents kept, reduced;
};

// Small ones; lines that are cut into segments and lanes with a rest; and many, in parts.
std::vector<shape> shapes(uint8_t layout) {
  if (layout == TUTTI_REDUCE_INNER)
    return {{{}, {1}}, {{5}, {0}}, {{7, 3}, {65}}, {{2}, {3, 4500}}, {{1500}, {9}}, {{1}, {90001}}};
  return {{{1}, {1}},          {{5}, {0}},     {{300}, {7}},
          {{2, 70}, {3, 130}}, {{600}, {300}}, {{40}, {70, 33}}};
}

void compare_reduction(uint8_t kind, uint8_t dtype, uint8_t layout, bool transposed) {
  for (const shape& sh : shapes(layout)) {
    program_spec spec;
    spec.kept_rank = static_cast<uint32_t>(sh.kept.size());
    spec.reduced_rank = static_cast<uint32_t>(sh.reduced.size());
    spec.reduction = kind;
    spec.layout = layout;
    spec.accumulator = dtype;
    const bool index = kind == TUTTI_REDUCE_ARGMIN || kind == TUTTI_REDUCE_ARGMAX;
    // There is no position among no values, and the core asks for none.
    if (index && sh.reduced.front() == 0) continue;
    const uint8_t result = index ? uint8_t{TUTTI_I64} : dtype;
    const uint8_t access = transposed ? uint8_t{TUTTI_ACCESS_STRIDED} : uint8_t{TUTTI_ACCESS_UNIT};
    spec.output(spec.input(dtype, access), result);
    // The dimension that the layout names is the one whose elements are neighbours.
    const bool inner = layout == TUTTI_REDUCE_INNER;
    extents space = sh.kept, memory = inner ? sh.kept : sh.reduced;
    space.insert(space.end(), sh.reduced.begin(), sh.reduced.end());
    const extents& rest = inner ? sh.reduced : sh.kept;
    memory.insert(memory.end(), rest.begin(), rest.end());
    operand input = packed(dtype, memory);
    fill_random(input, 3, kind);
    if (!inner) {
      const auto first = input.stride.begin();
      std::rotate(first, first + static_cast<int64_t>(sh.reduced.size()),
                  first + static_cast<int64_t>(space.size()));
    }
    if (transposed) {
      input.data = image(dtype, 2 * input.data.size() + 2);
      fill_random(input, 3, kind);
      for (int64_t& step : input.stride) step *= 2;
    }
    compare(spec, space, {input}, {}, {packed(result, sh.kept)},
            std::string(sdk::dtype_name(dtype)) + " reduction " + std::to_string(kind) +
                " layout " + std::to_string(layout) + " of " + list_text(sh.kept) +
                list_text(sh.reduced));
  }
}

void compare_kinds(std::initializer_list<uint8_t> kinds, uint8_t dtype) {
  for (const uint8_t kind : kinds)
    for (const uint8_t layout : {uint8_t{TUTTI_REDUCE_INNER}, uint8_t{TUTTI_REDUCE_OUTER}})
      compare_reduction(kind, dtype, layout, false);
}

}  // namespace

// One of each kind and width, unless everything is asked for.
BOOST_AUTO_TEST_CASE(reductions_of_every_dtype) {
  constexpr uint32_t sample = TUTTI_DTYPE_BIT(TUTTI_BOOL) | TUTTI_DTYPE_BIT(TUTTI_I8) |
                              TUTTI_DTYPE_BIT(TUTTI_U32) | TUTTI_DTYPE_BIT(TUTTI_F32) |
                              TUTTI_DTYPE_BIT(TUTTI_F64) | TUTTI_DTYPE_BIT(TUTTI_C64);
  for (const uint8_t dtype : register_dtypes) {
    if (!TUTTI_TEST_EVERYTHING && (sample & TUTTI_DTYPE_BIT(dtype)) == 0) continue;
    if (dtype == TUTTI_BOOL) {
      compare_kinds({TUTTI_REDUCE_ANY, TUTTI_REDUCE_ALL}, dtype);
    } else {
      compare_kinds({TUTTI_REDUCE_SUM, TUTTI_REDUCE_PROD}, dtype);
    }
    if (sdk::is_complex(dtype)) continue;
    compare_kinds({TUTTI_REDUCE_MIN, TUTTI_REDUCE_MAX, TUTTI_REDUCE_ARGMIN, TUTTI_REDUCE_ARGMAX},
                  dtype);
  }
}

BOOST_AUTO_TEST_CASE(strided_reductions) {
  compare_reduction(TUTTI_REDUCE_SUM, TUTTI_F32, TUTTI_REDUCE_INNER, true);
  compare_reduction(TUTTI_REDUCE_SUM, TUTTI_F32, TUTTI_REDUCE_OUTER, true);
  compare_reduction(TUTTI_REDUCE_ARGMAX, TUTTI_F64, TUTTI_REDUCE_OUTER, true);
}

// A fused map before the reduction, and an output of another dtype.
BOOST_AUTO_TEST_CASE(reductions_of_computed_values) {
  for (const uint8_t layout : {uint8_t{TUTTI_REDUCE_INNER}, uint8_t{TUTTI_REDUCE_OUTER}}) {
    program_spec spec;
    spec.reduced_rank = 1;
    spec.reduction = TUTTI_REDUCE_SUM;
    spec.layout = layout;
    spec.accumulator = TUTTI_F32;
    const bool inner = layout == TUTTI_REDUCE_INNER;
    const uint32_t a = spec.input(TUTTI_BF16), b = spec.input(TUTTI_I32);
    const uint32_t s = spec.scalar(TUTTI_F32);
    const uint32_t wide = spec.op(TUTTI_OP_cast, TUTTI_F32, {b});
    const uint32_t scaled =
        spec.op(TUTTI_OP_multiply, TUTTI_F32, {spec.op(TUTTI_OP_sin, TUTTI_F32, {a}), s});
    const uint32_t sum = spec.op(TUTTI_OP_add, TUTTI_F32, {scaled, wide});
    spec.output(sum, TUTTI_F16);
    const extents space{37, 5000};
    std::vector<operand> inputs{packed(TUTTI_BF16, space), packed(TUTTI_I32, space)};
    for (operand& o : inputs) {
      if (!inner) {
        o.stride[0] = 1;
        o.stride[1] = 37;
      }
      for (uint64_t i = 0; i < o.data.size(); ++i)
        o.data.set(i, o.data.dtype == TUTTI_I32 ? i % 5 : std::bit_cast<uint32_t>(float(i % 13)));
    }
    tutti_scalar scalar{};
    const float by = 0.37f;
    std::memcpy(&scalar, &by, sizeof by);
    compare(spec, space, inputs, {scalar}, {packed(TUTTI_F16, {37})}, "a fused sum");
  }
}
