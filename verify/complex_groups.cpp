// SPDX-License-Identifier: Apache-2.0
//
// Complex numbers: every instruction of the table with complex operands or results, casts, sums and
// products, over packed, strided and reversed operands. The oracle is the table's host column in
// long double. Errors are relative to the larger part, since the smaller one may cancel.
#include <cmath>
#include <complex>
#include <limits>

#include "harness.hpp"
#include "oracle.hpp"
#include "sdk/host_types.hpp"
#include "semantics/host_math.hpp"

namespace tutti::conformance {
namespace {

using wide = long double;
using enum sdk::op_kind;
using enum sdk::op_result;

// ---- elements of an image as numbers: bool, f32, f64, c64, c128

wide_complex get(const image& of, uint64_t index) {
  return sdk::with_stored_type(of.dtype, [&](auto tag) {
    using stored = typename decltype(tag)::type;
    return host::convert<wide_complex>(stored::load(of.bytes.data() + index * stored::bytes));
  });
}

// Stores the value, of a real dtype its real part, and returns the stored one.
wide_complex set(image& of, uint64_t index, wide_complex value) {
  sdk::with_stored_type(of.dtype, [&](auto tag) {
    using stored = typename decltype(tag)::type;
    using T = typename stored::value;
    std::byte* const to = of.bytes.data() + index * stored::bytes;
    if constexpr (host::Complex<T>)
      stored::store(to, host::convert<T>(value));
    else
      stored::store(to, host::convert<T>(value.real()));
  });
  return get(of, index);
}

std::string text(wide_complex value) {
  char buffer[96];
  std::snprintf(buffer, sizeof buffer, "(%.17Lg, %.17Lg)", value.real(), value.imag());
  return buffer;
}

// The largest error allowed, in units of `epsilon` of the result's size.
bool near(wide_complex got, wide_complex want, uint8_t dtype, wide units) {
  if (same(got.real(), want.real()) && same(got.imag(), want.imag())) return true;
  if (!host::isfinite(want)) return false;
  const bool single = sdk::part_dtype(dtype) == TUTTI_F32;
  const wide unit = single ? wide(std::numeric_limits<float>::epsilon())
                           : wide(std::numeric_limits<double>::epsilon());
  const wide least =
      single ? wide(std::numeric_limits<float>::min()) : wide(std::numeric_limits<double>::min());
  return std::abs(got - want) <= units * unit * std::max(std::abs(want), least);
}

// The expected value in the dtype of the result.
wide_complex rounded(uint8_t dtype, wide_complex value) {
  image one(dtype, 1);
  return dtype == TUTTI_BOOL ? value : set(one, 0, value);
}

wide_complex draw_complex(generator& random, double low, double high) {
  const auto unit = [&] { return wide(random() >> 11) * 0x1p-53L; };
  const wide re = low + (high - low) * unit();
  return {re, low + (high - low) * unit()};
}

// Layouts: one dimension, elements in order, every third, and backwards.
operand laid_out(uint8_t dtype, uint64_t count, int64_t step) {
  operand o;
  const uint64_t span = (count - 1) * static_cast<uint64_t>(std::abs(step)) + 1;
  o.data = image(dtype, span + 6);
  o.offset = step < 0 ? 3 + span - 1 : 3;
  o.stride[0] = step;
  return o;
}

// ---- instructions

// Multiples of epsilon: a row's ulp counts for each of its real functions; a power also multiplies
// the error of the logarithm.
wide allowed(const sdk::op_info& op) {
  if (op.opcode == TUTTI_OP_power) return 128;
  return op.ulp == 0 ? 4 : 4 * static_cast<wide>(op.ulp);
}

void run_row(session& s, const sdk::op_info& op, uint8_t dtype, uint64_t count, int64_t step) {
  generator random(s.seed + op.opcode * 16u + dtype);
  const extents extent = {count};
  const uint8_t result = sdk::result_dtype(op.result, dtype);
  const uint8_t access = step == 1 ? TUTTI_ACCESS_UNIT : TUTTI_ACCESS_STRIDED;
  program_spec spec;
  spec.label = op.name;
  std::vector<operand> inputs;
  std::vector<std::vector<wide_complex>> values(2, std::vector<wide_complex>(count));
  for (uint8_t k = 0; k < op.arity; ++k) {
    inputs.push_back(laid_out(dtype, count, step));
    spec.input(dtype, access);
    for (uint64_t i = 0; i < count; ++i) {
      values[k][i] =
          set(inputs[k].data, locate(inputs[k], extent, i), draw_complex(random, op.low, op.high));
    }
  }
  const uint32_t value =
      op.arity == 1 ? spec.op(op.opcode, result, {0}) : spec.op(op.opcode, result, {0, 1});
  spec.output(value, result, access);
  std::vector<operand> outputs = {laid_out(result, count, step)};
  launch(s, spec, extent, inputs, {}, outputs);
  for (uint64_t i = 0; i < count; ++i) {
    const wide_complex got = get(outputs[0].data, locate(outputs[0], extent, i));
    const wide_complex a = values[0][i], b = values[1][i];
    const wide_complex want =
        rounded(result, sdk::is_complex(dtype) ? evaluate_wide(op.opcode, a, b)
                                               : evaluate_wide(op.opcode, a.real(), b.real()));
    if (near(got, want, result, allowed(op))) continue;
    fail("{}({}{}) is {}, expected {}", op.name, text(a), op.arity > 1 ? ", " + text(b) : "",
         text(got), text(want));
  }
}

void check_row(session& s, const sdk::op_info& op, uint8_t dtype) {
  for (const uint64_t count : {1, 7, 16, 65, 1000}) run_row(s, op, dtype, count, 1);
  if (op.opcode != TUTTI_OP_multiply && op.opcode != TUTTI_OP_exp) return;  // layouts are the same
  run_row(s, op, dtype, 517, 3);
  run_row(s, op, dtype, 517, -1);
}

void check_cast(session& s, uint8_t from, uint8_t to) {
  generator random(s.seed + from * 32u + to);
  const extents extent = {517};
  program_spec spec;
  spec.label = "cast";
  spec.input(from);
  spec.output(spec.op(TUTTI_OP_cast, to, {0}), to);
  std::vector<operand> inputs = {laid_out(from, extent[0], 1)};
  std::vector<operand> outputs = {laid_out(to, extent[0], 1)};
  for (uint64_t i = 0; i < extent[0]; ++i) {
    set(inputs[0].data, 3 + i,
        i % 5 == 0 ? wide_complex(0, i % 2) : draw_complex(random, -300, 300));
  }
  launch(s, spec, extent, inputs, {}, outputs);
  for (uint64_t i = 0; i < extent[0]; ++i) {
    const wide_complex value = get(inputs[0].data, 3 + i), got = get(outputs[0].data, 3 + i);
    const wide_complex want =
        to == TUTTI_BOOL ? wide_complex(value != wide_complex(0)) : rounded(to, value);
    if (got != want) fail("{} became {}, expected {}", text(value), text(got), text(want));
  }
}

// ---- reductions: [outer, inner], over either axis

void check_reduction(session& s, uint8_t dtype, uint8_t kind, uint8_t layout, uint64_t kept,
                     uint64_t reduced) {
  generator random(s.seed + kind * 64u + dtype + reduced);
  program_spec spec;
  spec.label = "reduce";
  spec.reduced_rank = 1;
  spec.reduction = kind;
  spec.layout = layout;
  spec.accumulator = dtype;
  const bool inner = layout == TUTTI_REDUCE_INNER;
  spec.input(dtype);
  spec.output(0, dtype, inner ? TUTTI_ACCESS_ZERO : TUTTI_ACCESS_UNIT);
  const extents extent = {kept, reduced};
  operand input;
  input.data = image(dtype, kept * reduced);
  input.stride[0] = inner ? static_cast<int64_t>(reduced) : 1;
  input.stride[1] = inner ? 1 : static_cast<int64_t>(kept);
  const bool product = kind == TUTTI_REDUCE_PROD;
  std::vector<wide_complex> want(kept, wide_complex(product ? 1 : 0));
  std::vector<wide> size(kept, 0);
  for (uint64_t i = 0; i < kept * reduced; ++i) {
    // Factors of size 1: products neither vanish nor overflow.
    const wide_complex drawn = draw_complex(random, -1, 1);
    const wide_complex value =
        set(input.data, locate(input, extent, i), product ? drawn / std::abs(drawn) : drawn);
    wide_complex& total = want[i / reduced];
    total = product ? total * value : total + value;
    size[i / reduced] += product ? 4 : std::abs(value);
  }
  std::vector<operand> outputs = {laid_out(dtype, kept, 1)};
  launch(s, spec, extent, {input}, {}, outputs);
  const wide unit = dtype == TUTTI_C64 ? 0x1p-23L : 0x1p-52L;
  for (uint64_t i = 0; i < kept; ++i) {
    const wide_complex got = get(outputs[0].data, 3 + i);
    if (!(std::abs(got - want[i]) <= 4 * unit * (size[i] + 1)))
      fail("{} number {} of {} is {}, expected {}", product ? "product" : "sum", i,
           list_text(extent), text(got), text(want[i]));
  }
}

void check_reductions(session& s, uint8_t dtype, uint8_t kind) {
  for (const uint8_t layout : {TUTTI_REDUCE_INNER, TUTTI_REDUCE_OUTER}) {
    for (const extents& e : {extents{1, 1}, extents{3, 65}, extents{257, 9}, extents{2, 5003}}) {
      check_reduction(s, dtype, kind, layout, e[0], e[1]);
    }
  }
}

}  // namespace

void add_complex_groups(groups& all, const session& s) {
  for (const uint8_t dtype : {TUTTI_C64, TUTTI_C128}) {
    if (!s.stores(dtype) || !s.computes(dtype)) continue;
    const std::string name = sdk::dtype_name(dtype);
    for (const sdk::op_info& op : sdk::op_rows()) {
      const bool makes = op.result == COMPLEX_OF;
      const uint8_t of = makes ? sdk::part_dtype(dtype) : dtype;
      if (op.kind == IR || !sdk::accepts(op.kind, of)) continue;
      all.push_back({std::string("op/") + op.name + "/" + (makes ? "to_" : "") + name,
                     [&op, of](session& t) { check_row(t, op, of); }});
    }
    for (const uint8_t kind : {TUTTI_REDUCE_SUM, TUTTI_REDUCE_PROD}) {
      all.push_back({std::string("complex/") + (kind == TUTTI_REDUCE_SUM ? "sum/" : "prod/") + name,
                     [dtype, kind](session& t) { check_reductions(t, dtype, kind); }});
    }
    for (const uint8_t other : {TUTTI_BOOL, TUTTI_F32, TUTTI_F64, TUTTI_C64, TUTTI_C128}) {
      if (other == dtype || !s.computes(other)) continue;
      const uint8_t from = other == TUTTI_BOOL ? dtype : other;
      const uint8_t to = other == TUTTI_BOOL ? other : dtype;
      all.push_back({std::string("cast/") + sdk::dtype_name(from) + "/" + sdk::dtype_name(to),
                     [from, to](session& t) { check_cast(t, from, to); }});
    }
  }
}

}  // namespace tutti::conformance
