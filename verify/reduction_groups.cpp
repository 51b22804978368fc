// SPDX-License-Identifier: Apache-2.0
//
// Reductions of each kind, layout and dtype with odd shapes, strides, NaN, ties and empty ranges;
// and long sums. The oracle adds in long double.
#include <algorithm>
#include <cmath>
#include <limits>

#include "harness.hpp"
#include "oracle.hpp"

namespace tutti::conformance {
namespace {

constexpr const char* kind_names[] = {"none", "sum", "prod",   "min",   "max",
                                      "any",  "all", "argmin", "argmax"};

struct shape {
  extents kept, reduced;
};

// Every kept rank 0..3 with every reduced rank 1..2; sizes around vector widths and block sizes.
const std::vector<shape>& shapes() {
  static const std::vector<shape> list = {
      {{}, {1}},           {{}, {17}},      {{}, {1000}},     {{}, {4097}},      {{}, {100003}},
      {{}, {3, 5}},        {{}, {129, 67}}, {{1}, {1}},       {{7}, {1}},        {{1}, {65}},
      {{5}, {255}},        {{300}, {3}},    {{65}, {1031}},   {{1027}, {64}},    {{4}, {9, 31}},
      {{67}, {3, 129}},    {{3, 5}, {17}},  {{2, 33}, {100}}, {{31, 2}, {5, 4}}, {{2, 3, 4}, {5}},
      {{3, 1, 17}, {2, 7}}};
  return list;
}

struct job {
  uint8_t kind, layout, dtype, stored, accumulator;
};

uint8_t result_dtype(const job& j) {
  return j.kind >= TUTTI_REDUCE_ARGMIN ? static_cast<uint8_t>(TUTTI_I64) : j.accumulator;
}

bool floating(const job& j) { return sdk::is_floating(j.accumulator); }

// The input in memory: kept then reduced dimensions for INNER, reduced then kept ones for OUTER.
operand input_for(const job& j, const shape& sh) {
  extents memory = j.layout == TUTTI_REDUCE_INNER ? sh.kept : sh.reduced;
  const extents& rest = j.layout == TUTTI_REDUCE_INNER ? sh.reduced : sh.kept;
  memory.insert(memory.end(), rest.begin(), rest.end());
  operand o = packed(j.stored, memory);
  if (j.layout == TUTTI_REDUCE_OUTER) {
    const auto first = o.stride.begin();
    std::rotate(first, first + static_cast<std::ptrdiff_t>(sh.reduced.size()),
                first + static_cast<std::ptrdiff_t>(memory.size()));
  }
  return o;
}

void fill(operand& o, const job& j, const shape& sh, generator& random, bool special) {
  const bool product = j.kind == TUTTI_REDUCE_PROD;
  const bool tie = j.kind >= TUTTI_REDUCE_ARGMIN;
  for (uint64_t i = 3; i + 3 < o.data.size(); ++i) {
    uint64_t bits = random_value(j.dtype, tie ? -9 : -10, tie ? 9 : 10, random);
    if (tie && sdk::is_floating(j.dtype)) {
      bits = bits_of(j.dtype, std::nearbyint(real_of(j.dtype, bits)));
    }
    if (product && sdk::is_floating(j.dtype)) bits = random_value(j.dtype, 0.98, 1.02, random);
    if (j.dtype == TUTTI_BOOL) {
      const bool rare = random() % (points_of(sh.reduced) + 1) == 0;
      bits = (j.kind == TUTTI_REDUCE_ANY) == rare ? 1 : 0;
    }
    if (special && random() % 40 == 0) {
      const auto& list = special_values(j.dtype);
      bits = list[random() % list.size()];
    }
    o.data.set(i, bits);
  }
}

struct judgement {
  uint64_t bits = 0;
  long double real = 0;
  long double bound = 0;
};

judgement judge_float(const job& j, const std::vector<uint64_t>& values) {
  const bool single = j.accumulator == TUTTI_F32;
  long double total = j.kind == TUTTI_REDUCE_PROD ? 1 : 0, magnitude = 0;
  if (j.kind == TUTTI_REDUCE_MIN) total = std::numeric_limits<long double>::infinity();
  if (j.kind == TUTTI_REDUCE_MAX) total = -std::numeric_limits<long double>::infinity();
  for (const uint64_t bits : values) {
    const long double v = real_of(j.accumulator, bits);
    magnitude += std::fabs(v);
    const bool missing = std::isnan(v) || std::isnan(total);
    if (j.kind == TUTTI_REDUCE_SUM)
      total += v;
    else if (j.kind == TUTTI_REDUCE_PROD)
      total *= v;
    else if (missing)
      total = std::numeric_limits<long double>::quiet_NaN();
    else if (j.kind == TUTTI_REDUCE_MIN)
      total = std::min(total, v);
    else
      total = std::max(total, v);
  }
  long double bound = 0;
  if (j.kind == TUTTI_REDUCE_SUM) bound = magnitude * (single ? 1e-6L : 1e-14L);
  if (j.kind == TUTTI_REDUCE_PROD) {
    bound = std::fabs(total) * static_cast<long double>(values.size() + 1) *
            (single ? 0x1p-23L : 0x1p-52L);
  }
  return {bits_of(j.accumulator, total), total, bound};
}

judgement judge_index(const job& j, const std::vector<uint64_t>& values) {
  size_t best = 0;
  for (size_t i = 1; i < values.size(); ++i) {
    const long double a = real_of(j.dtype, values[best]), b = real_of(j.dtype, values[i]);
    if (std::isnan(a)) break;
    if (std::isnan(b) || (j.kind == TUTTI_REDUCE_ARGMIN ? b < a : b > a)) best = i;
  }
  return {best, 0, 0};
}

judgement judge_integer(const job& j, const std::vector<uint64_t>& values) {
  uint64_t total = 0;
  bool first = true;
  for (const uint64_t v : values) {
    if (j.kind == TUTTI_REDUCE_SUM) total += v;
    if (j.kind == TUTTI_REDUCE_PROD) total = first ? v : total * v;
    if (j.kind == TUTTI_REDUCE_ANY) total |= v;
    if (j.kind == TUTTI_REDUCE_ALL) total = first ? v : total & v;
    const bool smaller = real_of(j.accumulator, v) < real_of(j.accumulator, total);
    const bool larger = real_of(j.accumulator, v) > real_of(j.accumulator, total);
    if (j.kind == TUTTI_REDUCE_MIN && (first || smaller)) total = v;
    if (j.kind == TUTTI_REDUCE_MAX && (first || larger)) total = v;
    first = false;
  }
  const bool one = j.kind == TUTTI_REDUCE_PROD || j.kind == TUTTI_REDUCE_ALL;
  if (values.empty()) total = one ? 1 : 0;
  return {from_storage(j.accumulator, total), 0, 0};
}

judgement judge(const job& j, const std::vector<uint64_t>& values) {
  if (j.kind >= TUTTI_REDUCE_ARGMIN) return judge_index(j, values);
  return floating(j) ? judge_float(j, values) : judge_integer(j, values);
}

bool agrees(const job& j, const judgement& want, uint64_t got) {
  if (got == want.bits || j.kind >= TUTTI_REDUCE_ARGMIN || !floating(j)) return got == want.bits;
  if (std::isnan(want.real)) return std::isnan(real_of(j.accumulator, got));
  if (j.kind == TUTTI_REDUCE_MIN || j.kind == TUTTI_REDUCE_MAX) {
    return real_of(j.accumulator, got) == want.real;  // either zero
  }
  if (!std::isfinite(want.real)) return false;
  return std::fabs(real_of(j.accumulator, got) - want.real) <= want.bound;
}

program_spec spec_for(const job& j, const shape& sh, bool strided) {
  program_spec spec;
  spec.label = kind_names[j.kind];
  spec.kept_rank = static_cast<uint32_t>(sh.kept.size());
  spec.reduced_rank = static_cast<uint32_t>(sh.reduced.size());
  spec.reduction = j.kind;
  spec.layout = j.layout;
  spec.accumulator = j.accumulator;
  uint32_t value = spec.input(j.stored, strided ? TUTTI_ACCESS_STRIDED : TUTTI_ACCESS_UNIT);
  if (j.accumulator != j.dtype) value = spec.op(TUTTI_OP_cast, j.accumulator, {value});
  const uint8_t access = j.layout == TUTTI_REDUCE_OUTER ? TUTTI_ACCESS_UNIT : TUTTI_ACCESS_STRIDED;
  spec.output(value, result_dtype(j), access);
  return spec;
}

void run_shape(session& s, const job& j, const shape& sh, bool strided, bool special) {
  generator random(s.seed + points_of(sh.kept) * 31 + points_of(sh.reduced));
  extents space = sh.kept;
  space.insert(space.end(), sh.reduced.begin(), sh.reduced.end());
  operand input = input_for(j, sh);
  if (strided) {
    input.data = image(j.stored, 2 * input.data.size());
    for (int64_t& step : input.stride) step *= 2;
  }
  fill(input, j, sh, random, special);
  std::vector<operand> outputs = {packed(result_dtype(j), sh.kept)};
  const operand before = outputs[0];
  launch(s, spec_for(j, sh, strided), space, {input}, {}, outputs);

  const uint64_t kept = points_of(sh.kept), reduced = points_of(sh.reduced);
  for (uint64_t k = 0; k < before.data.size(); ++k) {
    const uint64_t got = outputs[0].data.get(k);
    if (k < before.offset || k >= before.offset + kept) {
      require(got == before.data.get(k), "wrote outside its output");
      continue;
    }
    std::vector<uint64_t> values(reduced);
    for (uint64_t r = 0; r < reduced; ++r) {
      values[r] = input.data.get(locate(input, space, (k - before.offset) * reduced + r));
      if (j.accumulator != j.dtype) values[r] = convert(j.dtype, j.accumulator, values[r]);
    }
    const judgement want = judge(j, values);
    if (agrees(j, want, got)) continue;
    fail("kept {}, reduced {}{}: element {} is {}, expected {}", list_text(sh.kept),
         list_text(sh.reduced), strided ? ", strided" : "", point_text(sh.kept, k - before.offset),
         value_text(result_dtype(j), got), value_text(result_dtype(j), want.bits));
  }
}

void check_reduction(session& s, const job& j, bool all_ranks) {
  for (const shape& sh : shapes()) {
    if (j.layout == TUTTI_REDUCE_OUTER && sh.kept.empty()) continue;
    const size_t rank = sh.kept.size() + sh.reduced.size();
    if (!all_ranks && rank > 2 && !(rank == 3 && sh.kept.size() == 1)) continue;
    run_shape(s, j, sh, false, false);
    if (points_of(sh.kept) < 100) run_shape(s, j, sh, true, false);
    const bool awkward = floating(j) && j.kind != TUTTI_REDUCE_PROD && j.stored == j.dtype;
    if (awkward && j.kind != TUTTI_REDUCE_SUM) run_shape(s, j, sh, false, true);
  }
}

void check_empty(session& s, uint8_t kind, uint8_t dtype, uint8_t layout) {
  const job j{kind, layout, dtype, dtype, dtype};
  if (layout == TUTTI_REDUCE_INNER) run_shape(s, j, {{}, {0}}, false, false);
  run_shape(s, j, {{19}, {0}}, false, false);
  run_shape(s, j, {{2, 5}, {0, 3}}, false, false);
}

// NaN and infinities in a sum, one at a time.
void check_sum_specials(session& s, uint8_t dtype) {
  const std::vector<double> specials = {std::nan(""), INFINITY, -INFINITY};
  for (const uint64_t length : {uint64_t{1}, uint64_t{70}, uint64_t{5000}}) {
    for (const double special : specials) {
      for (const uint64_t at : {uint64_t{0}, length / 2, length - 1}) {
        const job j{TUTTI_REDUCE_SUM, TUTTI_REDUCE_INNER, dtype, dtype, dtype};
        operand input = packed(dtype, {length});
        for (uint64_t i = 0; i < length; ++i) {
          input.data.set(3 + i, bits_of(dtype, i == at ? special : 1.0));
        }
        std::vector<operand> outputs = {packed(dtype, {})};
        launch(s, spec_for(j, {{}, {length}}, false), {length}, {input}, {}, outputs);
        const long double got = real_of(dtype, outputs[0].data.get(3));
        require(same(got, special), "a sum of {} with {} at {} is {}", length, special, at,
                static_cast<double>(got));
      }
    }
  }
}

void check_long_sum(session& s) {
  constexpr uint64_t length = 10'000'000;
  generator random(s.seed);
  operand input = packed(TUTTI_F32, {length});
  long double exact = 0;
  for (uint64_t i = 0; i < length; ++i) {
    const uint64_t bits = random_value(TUTTI_F32, 0, 1, random);
    exact += real_of(TUTTI_F32, bits);
    input.data.set(3 + i, bits);
  }
  const job j{TUTTI_REDUCE_SUM, TUTTI_REDUCE_INNER, TUTTI_F32, TUTTI_F32, TUTTI_F32};
  std::vector<operand> outputs = {packed(TUTTI_F32, {})};
  launch(s, spec_for(j, {{}, {length}}, false), {length}, {input}, {}, outputs);
  const long double got = real_of(TUTTI_F32, outputs[0].data.get(3));
  require(std::fabs(got - exact) <= 1e-6L * exact, "relative error {} in a sum of 1e7 f32",
          static_cast<double>((got - exact) / exact));
}

// A chain before the reduction, with a scalar and a broadcast row: sum((a - row)^2 * scale).
void check_fused(session& s, uint8_t layout) {
  const shape sh{{37}, {111}};
  const job j{TUTTI_REDUCE_SUM, layout, TUTTI_F32, TUTTI_F32, TUTTI_F32};
  program_spec spec;
  spec.reduced_rank = 1;
  spec.reduction = j.kind;
  spec.layout = layout;
  spec.accumulator = TUTTI_F32;
  const bool inner = layout == TUTTI_REDUCE_INNER;
  spec.input(TUTTI_F32);
  spec.input(TUTTI_F32, inner ? TUTTI_ACCESS_ZERO : TUTTI_ACCESS_UNIT);  // one element a kept point
  const uint32_t scale = spec.scalar(TUTTI_F32);
  const uint32_t difference = spec.op(TUTTI_OP_subtract, TUTTI_F32, {0, 1});
  const uint32_t square = spec.op(TUTTI_OP_square, TUTTI_F32, {difference});
  spec.output(spec.op(TUTTI_OP_multiply, TUTTI_F32, {square, scale}), TUTTI_F32,
              inner ? TUTTI_ACCESS_STRIDED : TUTTI_ACCESS_UNIT);
  generator random(s.seed);
  operand a = input_for(j, sh), row = packed(TUTTI_F32, {37});
  for (uint64_t i = 3; i + 3 < a.data.size(); ++i) {
    a.data.set(i, random_value(TUTTI_F32, -1, 1, random));
  }
  for (uint64_t i = 3; i < 40; ++i) row.data.set(i, random_value(TUTTI_F32, -1, 1, random));
  tutti_scalar half{};
  half.f32 = 0.5f;
  std::vector<operand> outputs = {packed(TUTTI_F32, {37})};
  launch(s, spec, {37, 111}, {a, row}, {half}, outputs);
  for (uint64_t k = 0; k < 37; ++k) {
    long double want = 0;
    for (uint64_t r = 0; r < 111; ++r) {
      const long double d = real_of(TUTTI_F32, a.data.get(locate(a, {37, 111}, k * 111 + r))) -
                            real_of(TUTTI_F32, row.data.get(3 + k));
      want += d * d / 2;
    }
    const long double got = real_of(TUTTI_F32, outputs[0].data.get(3 + k));
    require(std::fabs(got - want) <= 2e-6L * want, "element {} is {}, expected {}", k,
            static_cast<double>(got), static_cast<double>(want));
  }
}

void add_kind(groups& all, const session& s, uint8_t kind, uint8_t layout) {
  const std::string layout_name = layout == TUTTI_REDUCE_INNER ? "/inner/" : "/outer/";
  const std::string prefix = std::string("reduce/") + kind_names[kind] + layout_name;
  const bool logical = kind == TUTTI_REDUCE_ANY || kind == TUTTI_REDUCE_ALL;
  for (uint8_t stored = TUTTI_BOOL; stored <= TUTTI_F64; ++stored) {
    const uint8_t dtype = sdk::register_dtype(stored);
    if (!s.stores(stored) || !s.computes(dtype) || (dtype == TUTTI_BOOL) != logical) continue;
    const job j{kind, layout, dtype, stored, dtype};
    const bool all_ranks = stored == TUTTI_F32 || stored == TUTTI_I32 || logical;
    all.push_back({prefix + sdk::dtype_name(stored),
                   [j, all_ranks](session& t) { check_reduction(t, j, all_ranks); }});
  }
  const bool has_identity = kind == TUTTI_REDUCE_SUM || kind == TUTTI_REDUCE_PROD || logical;
  if (!has_identity) return;
  for (const uint8_t dtype : {TUTTI_BOOL, TUTTI_F32, TUTTI_I64}) {
    if (!s.computes(dtype) || (dtype == TUTTI_BOOL) != logical) continue;
    all.push_back({prefix + sdk::dtype_name(dtype) + "/empty",
                   [kind, dtype, layout](session& t) { check_empty(t, kind, dtype, layout); }});
  }
}

}  // namespace

void add_reduction_groups(groups& all, const session& s) {
  for (uint8_t kind = TUTTI_REDUCE_SUM; kind <= TUTTI_REDUCE_ARGMAX; ++kind) {
    for (const uint8_t layout : {TUTTI_REDUCE_INNER, TUTTI_REDUCE_OUTER}) {
      add_kind(all, s, kind, layout);
    }
  }
  for (const uint8_t layout : {TUTTI_REDUCE_INNER, TUTTI_REDUCE_OUTER}) {
    const std::string name = layout == TUTTI_REDUCE_INNER ? "inner" : "outer";
    const job widened{TUTTI_REDUCE_SUM, layout, TUTTI_I32, TUTTI_I32, TUTTI_I64};
    all.push_back(
        {"reduce/widened/" + name, [widened](session& t) { check_reduction(t, widened, false); }});
    all.push_back({"reduce/fused/" + name, [layout](session& t) { check_fused(t, layout); }});
  }
  for (const uint8_t dtype : {TUTTI_F32, TUTTI_F64}) {
    if (!s.computes(dtype)) continue;
    all.push_back({std::string("reduce/sum_specials/") + sdk::dtype_name(dtype),
                   [dtype](session& t) { check_sum_specials(t, dtype); }});
  }
  all.push_back({"reduce/long_sum", check_long_sum});
}

}  // namespace tutti::conformance
