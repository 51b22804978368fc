// SPDX-License-Identifier: Apache-2.0
//
// The programs, from op_table.def and the rules of plugin.h.
#include "programs.hpp"

#include "sdk/op_info.hpp"

namespace tutti::test {

using sdk::dtype_name;

namespace {

template <typename F>
void each_register_dtype(F&& f) {
  for (uint8_t d = TUTTI_BOOL; d <= TUTTI_C128; ++d) {
    if (sdk::is_register(d)) f(d);
  }
}

// All opcodes and casts that a register dtype has, each stored.
program_spec operations_of(uint8_t dtype) {
  program_spec p;
  p.label = std::string("operations_") + dtype_name(dtype);
  const uint32_t a = p.input(dtype), b = p.input(dtype), flag = p.input(TUTTI_BOOL);
  for (const sdk::op_info& row : sdk::op_rows()) {
    if (row.kind == sdk::op_kind::IR || !sdk::accepts(row.kind, dtype)) continue;
    const uint8_t to = sdk::result_dtype(row.result, dtype);
    const uint32_t value =
        p.op(row.opcode, to, row.arity == 1 ? std::vector{a} : std::vector{a, b});
    p.output(value, to);
  }
  p.output(p.op(TUTTI_OP_where, dtype, {flag, a, b}), dtype);
  each_register_dtype([&](uint8_t to) {
    const bool real = to != TUTTI_BOOL && !sdk::is_complex(to);
    if (sdk::is_complex(dtype) && real) return;
    if (to != dtype) p.output(p.op(TUTTI_OP_cast, to, {a}), to);
  });
  return p;
}

std::vector<program_spec> reductions() {
  std::vector<program_spec> all;
  for (uint8_t kind = TUTTI_REDUCE_SUM; kind <= TUTTI_REDUCE_ARGMAX; ++kind) {
    const bool logical = kind == TUTTI_REDUCE_ANY || kind == TUTTI_REDUCE_ALL;
    const bool index = kind == TUTTI_REDUCE_ARGMIN || kind == TUTTI_REDUCE_ARGMAX;
    each_register_dtype([&](uint8_t dtype) {
      if (logical != (dtype == TUTTI_BOOL)) return;
      if (sdk::is_complex(dtype) && kind != TUTTI_REDUCE_SUM && kind != TUTTI_REDUCE_PROD) return;
      for (uint8_t layout : {TUTTI_REDUCE_INNER, TUTTI_REDUCE_OUTER}) {
        program_spec p;
        p.label = "reduce" + std::to_string(kind) + "_" + dtype_name(dtype) +
                  (layout == TUTTI_REDUCE_INNER ? "_inner" : "_outer");
        p.reduced_rank = 1;
        p.reduction = kind;
        p.layout = layout;
        p.accumulator = dtype;
        p.wide_index = dtype == TUTTI_I64;
        const uint32_t value = p.input(dtype);
        p.output(value, index ? uint8_t{TUTTI_I64} : dtype,
                 layout == TUTTI_REDUCE_INNER ? TUTTI_ACCESS_ZERO : TUTTI_ACCESS_UNIT);
        all.push_back(p);
      }
    });
  }
  return all;
}

// Ranks, access classes, widths of indices, scalars, half precision, random numbers.
std::vector<program_spec> layouts() {
  std::vector<program_spec> all;
  for (uint32_t rank = 0; rank <= TUTTI_MAX_RANK; ++rank) {
    for (uint8_t wide : {0, 1}) {
      program_spec p;
      p.label = "rank" + std::to_string(rank) + (wide ? "_wide" : "");
      p.kept_rank = rank;
      p.wide_index = wide;
      const uint8_t strided = rank == 0 ? TUTTI_ACCESS_ZERO : TUTTI_ACCESS_STRIDED;
      const uint32_t a = p.input(TUTTI_F32, strided), b = p.input(TUTTI_F32, TUTTI_ACCESS_ZERO);
      const uint32_t s = p.scalar(TUTTI_F32);
      const uint32_t sum = p.op(TUTTI_OP_add, TUTTI_F32, {a, b});
      p.output(p.op(TUTTI_OP_multiply, TUTTI_F32, {sum, s}), TUTTI_F32, strided);
      all.push_back(p);
    }
  }
  program_spec halves;
  halves.label = "halves";
  const uint32_t f16 = halves.input(TUTTI_F16), bf16 = halves.input(TUTTI_BF16);
  const uint32_t sum = halves.op(TUTTI_OP_add, TUTTI_F32, {f16, bf16});
  for (uint8_t dtype : {TUTTI_F16, TUTTI_BF16, TUTTI_F32}) halves.output(sum, dtype);
  all.push_back(halves);
  program_spec random;
  random.label = "random";
  random.kept_rank = 2;
  const uint32_t key = random.scalar(TUTTI_U64);
  const uint32_t index = random.op(TUTTI_OP_iota, TUTTI_I64, {});
  random.output(random.op(TUTTI_OP_philox, TUTTI_U32, {index, key}), TUTTI_U32);
  all.push_back(random);
  for (uint8_t layout : {TUTTI_REDUCE_INNER, TUTTI_REDUCE_OUTER}) {
    program_spec p;
    p.label = layout == TUTTI_REDUCE_INNER ? "mean_inner_3_of_5" : "mean_outer_3_of_5";
    p.kept_rank = 2;
    p.reduced_rank = 3;
    p.reduction = TUTTI_REDUCE_SUM;
    p.layout = layout;
    p.accumulator = TUTTI_F32;
    const uint32_t x = p.input(TUTTI_F16, TUTTI_ACCESS_STRIDED);
    const uint32_t s = p.scalar(TUTTI_BOOL);
    const uint32_t y = p.op(TUTTI_OP_exp, TUTTI_F32, {x});
    p.output(p.op(TUTTI_OP_where, TUTTI_F32, {s, y, x}), TUTTI_BF16, TUTTI_ACCESS_STRIDED);
    all.push_back(p);
  }
  return all;
}

}  // namespace

std::vector<program_spec> all_programs() {
  std::vector<program_spec> all;
  each_register_dtype([&](uint8_t dtype) { all.push_back(operations_of(dtype)); });
  for (auto list : {reductions(), layouts()}) all.insert(all.end(), list.begin(), list.end());
  return all;
}

std::vector<program_spec> contiguous_programs() {
  std::vector<program_spec> all;
  for (const uint8_t dtype : {TUTTI_BOOL, TUTTI_I8, TUTTI_I64, TUTTI_F16, TUTTI_BF16, TUTTI_F32,
                              TUTTI_F64, TUTTI_C64, TUTTI_C128}) {
    const uint8_t computed = sdk::register_dtype(dtype);
    program_spec map;
    map.label = std::string("add_") + dtype_name(dtype);
    const uint32_t a = map.input(dtype), b = map.input(dtype);
    const auto opcode = dtype == TUTTI_BOOL ? TUTTI_OP_bitwise_or : TUTTI_OP_add;
    map.output(map.op(opcode, computed, {a, b}), dtype);
    all.push_back(map);
    if (dtype == TUTTI_I64 || dtype == TUTTI_BF16 || dtype == TUTTI_C128) continue;
    for (const uint8_t layout : {TUTTI_REDUCE_INNER, TUTTI_REDUCE_OUTER}) {
      program_spec sums;
      sums.label = std::string(layout == TUTTI_REDUCE_INNER ? "sum_rows_" : "sum_columns_") +
                   dtype_name(dtype);
      sums.reduced_rank = 1;
      sums.reduction = dtype == TUTTI_BOOL ? TUTTI_REDUCE_ANY : TUTTI_REDUCE_SUM;
      sums.layout = layout;
      sums.accumulator = computed;
      const uint32_t x = sums.input(dtype);
      sums.output(x, computed,
                  layout == TUTTI_REDUCE_INNER ? TUTTI_ACCESS_ZERO : TUTTI_ACCESS_UNIT);
      all.push_back(sums);
    }
  }
  // Of which NVRTC 13.0 lost the imaginary part: kernels_cu/math_native.cu.
  program_spec map;
  map.label = "expm1_c128";
  const uint32_t x = map.input(TUTTI_C128);
  map.output(map.op(TUTTI_OP_expm1, TUTTI_C128, {x}), TUTTI_C128);
  all.push_back(map);
  return all;
}

std::vector<program_spec> typical_programs() {
  static const char* const names[] = {"rank1",
                                      "rank3_wide",
                                      "rank0",
                                      "halves",
                                      "random",
                                      "mean_inner_3_of_5",
                                      "mean_outer_3_of_5",
                                      "reduce1_f32_inner",
                                      "reduce4_i32_outer",
                                      "reduce5_bool_inner",
                                      "reduce7_f64_inner"};
  std::vector<program_spec> chosen;
  const std::vector<program_spec> all = all_programs();
  for (const char* name : names) {
    for (const program_spec& p : all) {
      if (p.label == name) chosen.push_back(p);
    }
  }
  // tanh(x * w + b), what a layer does to its product.
  program_spec layer;
  layer.label = "layer";
  layer.kept_rank = 2;
  const uint32_t x = layer.input(TUTTI_F32), b = layer.input(TUTTI_F32);
  const uint32_t w = layer.scalar(TUTTI_F32);
  const uint32_t product = layer.op(TUTTI_OP_multiply, TUTTI_F32, {x, w});
  const uint32_t sum = layer.op(TUTTI_OP_add, TUTTI_F32, {product, b});
  layer.output(layer.op(TUTTI_OP_tanh, TUTTI_F32, {sum}), TUTTI_F32);
  chosen.push_back(layer);
  // Integers with helpers, and a saturating cast.
  program_spec integers;
  integers.label = "integers";
  const uint32_t i = integers.input(TUTTI_I16), j = integers.input(TUTTI_I16);
  const uint32_t f = integers.input(TUTTI_F32);
  const uint32_t q = integers.op(TUTTI_OP_floor_divide, TUTTI_I16, {i, j});
  integers.output(integers.op(TUTTI_OP_left_shift, TUTTI_I16, {q, j}), TUTTI_I16);
  integers.output(integers.op(TUTTI_OP_cast, TUTTI_U8, {f}), TUTTI_U8);
  chosen.push_back(integers);
  return chosen;
}

}  // namespace tutti::test
