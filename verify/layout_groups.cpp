// SPDX-License-Identifier: Apache-2.0
//
// Layouts of operands in memory: every access class, strides of any sign, broadcasts, transposes,
// offsets, up to eight dimensions, scalars, several outputs, outputs in the memory of inputs. The
// whole output buffer is compared, so writes between or beside the elements are detected.
#include <algorithm>

#include "harness.hpp"
#include "oracle.hpp"

namespace tutti::conformance {
namespace {

enum class layout { contiguous, step, negative, broadcast_inner, broadcast_outer, transposed };
constexpr layout layouts[] = {layout::contiguous,      layout::step,
                              layout::negative,        layout::broadcast_inner,
                              layout::broadcast_outer, layout::transposed};
constexpr const char* layout_names[] = {
    "contiguous", "step", "negative", "broadcast_inner", "broadcast_outer", "transposed"};

uint8_t access_of(layout l) {
  if (l == layout::contiguous || l == layout::broadcast_outer) return TUTTI_ACCESS_UNIT;
  return l == layout::broadcast_inner ? TUTTI_ACCESS_ZERO : TUTTI_ACCESS_STRIDED;
}

// An operand of that layout over `extent`, with 5 elements in front of it.
operand laid_out(layout l, uint8_t dtype, const extents& extent) {
  const size_t rank = extent.size();
  operand o;
  o.offset = 5;
  o.stride = row_major(extent);
  uint64_t elements = points_of(extent) + 10;
  if (l == layout::step) {
    for (int64_t& step : o.stride) step *= 3;
    elements *= 3;
  } else if (l == layout::negative) {
    for (size_t d = 0; d < rank; ++d) {
      o.offset += (extent[d] - 1) * static_cast<uint64_t>(o.stride[d]);
      o.stride[d] = -o.stride[d];
    }
  } else if (l == layout::broadcast_inner) {
    o.stride[rank - 1] = 0;
  } else if (l == layout::broadcast_outer) {
    o.stride[0] = rank > 1 ? 0 : o.stride[0];
  } else if (l == layout::transposed) {
    std::reverse(o.stride.begin(), o.stride.begin() + static_cast<std::ptrdiff_t>(rank));
    int64_t step = 1;
    for (size_t d = 0; d < rank; ++d) {
      o.stride[d] = step;
      step *= static_cast<int64_t>(extent[d]);
    }
  }
  o.data = image(dtype, elements);
  return o;
}

void fill(operand& o, generator& random) {
  for (uint64_t i = 0; i < o.data.size(); ++i) {
    o.data.set(i, random_value(sdk::register_dtype(o.data.dtype), -10, 10, random));
  }
}

void compare_elements(const operand& got, const operand& want, const std::string& what) {
  const uint8_t dtype = sdk::register_dtype(got.data.dtype);
  for (uint64_t i = 0; i < got.data.size(); ++i) {
    const uint64_t a = got.data.get(i), b = want.data.get(i);
    if (a == b || (sdk::is_floating(dtype) && ulp_distance(dtype, a, b) == 0)) continue;
    fail("{}: element {} of the buffer is {}, expected {}", what, i, value_text(dtype, a),
         value_text(dtype, b));
  }
}

// out = maximum(a, b): exact for every dtype, so it only tests the addressing.
void check_pair(session& s, layout la, layout lb, layout lo, uint8_t dtype, const extents& extent) {
  generator random(s.seed + points_of(extent));
  const uint8_t type = sdk::register_dtype(dtype);
  program_spec spec;
  spec.kept_rank = static_cast<uint32_t>(extent.size());
  const bool inner = !extent.empty();
  const auto access = [&](layout l) { return inner ? access_of(l) : uint8_t{TUTTI_ACCESS_UNIT}; };
  spec.input(dtype, access(la));
  spec.input(dtype, access(lb));
  const uint16_t opcode = dtype == TUTTI_BOOL ? TUTTI_OP_logical_xor : TUTTI_OP_maximum;
  spec.output(spec.op(opcode, type, {0, 1}), dtype, access(lo));
  std::vector<operand> inputs = {laid_out(la, dtype, extent), laid_out(lb, dtype, extent)};
  for (operand& o : inputs) fill(o, random);
  std::vector<operand> outputs = {laid_out(lo, dtype, extent)};
  operand want = outputs[0];
  for (uint64_t i = 0; i < points_of(extent); ++i) {
    const uint64_t a = inputs[0].data.get(locate(inputs[0], extent, i));
    const uint64_t b = inputs[1].data.get(locate(inputs[1], extent, i));
    want.data.set(locate(want, extent, i), evaluate(opcode, type, a, b, 0));
  }
  launch(s, spec, extent, inputs, {}, outputs);
  compare_elements(outputs[0], want, "extents " + list_text(extent));
}

void check_layout(session& s, layout la, layout lb, uint8_t dtype) {
  for (const extents& extent :
       {extents{1}, extents{17}, extents{1000}, extents{5, 33}, extents{130, 67}, extents{1, 9},
        extents{9, 1}, extents{3, 4, 65}, extents{70, 2, 66}}) {
    for (const layout lo :
         {layout::contiguous, layout::step, layout::negative, layout::transposed}) {
      if (la != layout::contiguous && lo != layout::contiguous && lo != la) continue;
      check_pair(s, la, lb, lo, dtype, extent);
    }
  }
}

void check_ranks(session& s, layout lb, layout lo, uint8_t dtype) {
  extents extent;
  for (int rank = 1; rank <= TUTTI_MAX_RANK; ++rank) {
    extent.push_back(rank % 2 == 0 ? 2 : 3);
    for (const layout l : layouts) check_pair(s, l, lb, lo, dtype, extent);
  }
}

// The position of each element in row-major order, added to elements read across their lines.
void check_places(session& s, const extents& extent) {
  program_spec spec;
  spec.kept_rank = static_cast<uint32_t>(extent.size());
  spec.input(TUTTI_I64, TUTTI_ACCESS_STRIDED);
  const uint32_t place = spec.op(TUTTI_OP_iota, TUTTI_I64, {});
  spec.output(spec.op(TUTTI_OP_add, TUTTI_I64, {0, place}), TUTTI_I64);
  std::vector<operand> inputs = {laid_out(layout::transposed, TUTTI_I64, extent)};
  generator random(s.seed);
  fill(inputs[0], random);
  std::vector<operand> outputs = {laid_out(layout::contiguous, TUTTI_I64, extent)};
  operand want = outputs[0];
  for (uint64_t i = 0; i < points_of(extent); ++i)
    want.data.set(locate(want, extent, i), inputs[0].data.get(locate(inputs[0], extent, i)) + i);
  launch(s, spec, extent, inputs, {}, outputs);
  compare_elements(outputs[0], want, "extents " + list_text(extent));
}

// A program without dimensions has one point.
void check_rank_zero(session& s) {
  program_spec spec;
  spec.kept_rank = 0;
  spec.input(TUTTI_I32, TUTTI_ACCESS_ZERO);
  const uint32_t scalar = spec.scalar(TUTTI_I32);
  spec.output(spec.op(TUTTI_OP_add, TUTTI_I32, {0, scalar}), TUTTI_I32, TUTTI_ACCESS_ZERO);
  std::vector<operand> inputs = {packed(TUTTI_I32, {1})}, outputs = {packed(TUTTI_I32, {1})};
  inputs[0].stride = outputs[0].stride = {};
  inputs[0].data.set(inputs[0].offset, 40);
  operand want = outputs[0];
  want.data.set(want.offset, 42);
  tutti_scalar two{};
  two.i32 = 2;
  launch(s, spec, {}, inputs, {two}, outputs);
  compare_elements(outputs[0], want, "rank 0");
}

// One program, one kernel: outputs of several dtypes from shared values, scalars of each dtype.
void check_outputs(session& s) {
  const extents extent = {1031};
  program_spec spec;
  spec.input(TUTTI_I32);
  spec.input(TUTTI_I32);
  const uint32_t scale = spec.scalar(TUTTI_I32);
  const uint32_t sum = spec.op(TUTTI_OP_add, TUTTI_I32, {0, 1});
  const uint32_t product = spec.op(TUTTI_OP_multiply, TUTTI_I32, {sum, scale});
  const uint32_t smaller = spec.op(TUTTI_OP_less, TUTTI_BOOL, {0, 1});
  const uint32_t chosen = spec.op(TUTTI_OP_where, TUTTI_I32, {smaller, product, 1});
  const uint32_t byte = spec.op(TUTTI_OP_cast, TUTTI_U8, {chosen});
  spec.output(product, TUTTI_I32);
  spec.output(smaller, TUTTI_BOOL);
  spec.output(byte, TUTTI_U8);
  spec.output(0, TUTTI_I32);
  generator random(s.seed);
  std::vector<operand> inputs = {packed(TUTTI_I32, extent), packed(TUTTI_I32, extent)};
  for (operand& o : inputs) fill(o, random);
  std::vector<operand> outputs = {packed(TUTTI_I32, extent), packed(TUTTI_BOOL, extent),
                                  packed(TUTTI_U8, extent), packed(TUTTI_I32, extent)};
  std::vector<operand> want = outputs;
  for (uint64_t i = 3; i < 3 + extent[0]; ++i) {
    const auto a = static_cast<int32_t>(inputs[0].data.get(i));
    const auto b = static_cast<int32_t>(inputs[1].data.get(i));
    const int32_t expected = (a + b) * 37;
    want[0].data.set(i, static_cast<uint64_t>(int64_t{expected}));
    want[1].data.set(i, a < b ? 1 : 0);
    want[2].data.set(i, static_cast<uint8_t>(a < b ? expected : b));
    want[3].data.set(i, static_cast<uint64_t>(int64_t{a}));
  }
  const size_t fits = std::min<size_t>(outputs.size(), s.properties.max_outputs);
  spec.outputs.resize(fits);
  outputs.resize(fits);
  tutti_scalar factor{};
  factor.i32 = 37;
  launch(s, spec, extent, inputs, {factor}, outputs);
  for (size_t k = 0; k < outputs.size(); ++k) {
    compare_elements(outputs[k], want[k], "output " + std::to_string(k));
  }
}

void check_alias(session& s, layout l, uint8_t dtype) {
  const extents extent = {37, 129};
  program_spec spec;
  spec.kept_rank = 2;
  const uint8_t type = sdk::register_dtype(dtype);
  spec.input(dtype, access_of(l));
  spec.input(dtype);
  spec.output(spec.op(TUTTI_OP_add, type, {0, 1}), dtype, access_of(l));
  spec.output(spec.op(TUTTI_OP_maximum, type, {0, 1}), dtype);
  generator random(s.seed);
  std::vector<operand> inputs = {laid_out(l, dtype, extent),
                                 laid_out(layout::contiguous, dtype, extent)};
  for (operand& o : inputs) fill(o, random);
  std::vector<operand> outputs = inputs;
  outputs[0].alias = 0;
  outputs[1].alias = 1;
  std::vector<operand> want = inputs;
  for (uint64_t i = 0; i < points_of(extent); ++i) {
    const uint64_t at_a = locate(inputs[0], extent, i), at_b = locate(inputs[1], extent, i);
    const uint64_t a = inputs[0].data.get(at_a), b = inputs[1].data.get(at_b);
    want[0].data.set(at_a, evaluate(TUTTI_OP_add, type, a, b, 0));
    want[1].data.set(at_b, evaluate(TUTTI_OP_maximum, type, a, b, 0));
  }
  launch(s, spec, extent, inputs, {}, outputs);
  compare_elements(outputs[0], want[0], "output 0 over input 0");
  compare_elements(outputs[1], want[1], "output 1 over input 1");
}

// More inputs than usual, as many as the device declares.
void check_limits(session& s) {
  const uint32_t count = std::min<uint32_t>(s.properties.max_inputs, 64);
  require(count >= 3 && s.properties.max_outputs >= 1 && s.properties.max_instructions >= 8,
          "the limits of programs are too small to be of use");
  const uint32_t used = std::min(count, s.properties.max_instructions);
  const extents extent = {67};
  program_spec spec;
  std::vector<operand> inputs;
  for (uint32_t k = 0; k < used; ++k) {
    spec.input(TUTTI_I32);
    inputs.push_back(packed(TUTTI_I32, extent));
    for (uint64_t i = 0; i < extent[0]; ++i) inputs[k].data.set(3 + i, k * 1000 + i);
  }
  uint32_t total = 0;
  for (uint32_t k = 1; k < used; ++k) total = spec.op(TUTTI_OP_add, TUTTI_I32, {total, k});
  spec.output(total, TUTTI_I32);
  std::vector<operand> outputs = {packed(TUTTI_I32, extent)};
  launch(s, spec, extent, inputs, {}, outputs);
  for (uint64_t i = 0; i < extent[0]; ++i) {
    const uint64_t want = 1000ull * used * (used - 1) / 2 + used * i;
    require(outputs[0].data.get(3 + i) == want, "sum of {} inputs is wrong at element {}", used, i);
  }
}

}  // namespace

void add_layout_groups(groups& all, const session& s) {
  for (const uint8_t dtype : {TUTTI_F32, TUTTI_F64, TUTTI_I32, TUTTI_I64, TUTTI_U8, TUTTI_I16,
                              TUTTI_BOOL, TUTTI_F16, TUTTI_BF16}) {
    if (!s.stores(dtype) || !s.computes(sdk::register_dtype(dtype))) continue;
    for (size_t i = 0; i < std::size(layouts); ++i) {
      for (const layout lb : {layout::contiguous, layout::broadcast_inner}) {
        const std::string name = std::string("layout/") + sdk::dtype_name(dtype) + "/" +
                                 layout_names[i] + "+" + layout_names[static_cast<int>(lb)];
        all.push_back(
            {name, [i, lb, dtype](session& t) { check_layout(t, layouts[i], lb, dtype); }});
      }
    }
  }
  all.push_back({"layout/ranks/contiguous", [](session& t) {
                   check_ranks(t, layout::contiguous, layout::contiguous, TUTTI_F32);
                 }});
  all.push_back({"layout/ranks/broadcast", [](session& t) {
                   check_ranks(t, layout::broadcast_inner, layout::negative, TUTTI_I32);
                 }});
  if (s.computes(TUTTI_I64)) {
    all.push_back({"layout/places", [](session& t) {
                     for (const extents& extent : {extents{130, 67}, extents{66, 3, 70}})
                       check_places(t, extent);
                   }});
  }
  all.push_back({"layout/rank_zero", check_rank_zero});
  all.push_back({"layout/several_outputs", check_outputs});
  all.push_back({"layout/many_inputs", check_limits});
  for (const layout l : {layout::contiguous, layout::step, layout::negative, layout::transposed}) {
    for (const uint8_t dtype : {TUTTI_F32, TUTTI_I32, TUTTI_F16}) {
      if (!s.stores(dtype)) continue;
      const std::string name = std::string("layout/alias/") + sdk::dtype_name(dtype) + "/" +
                               layout_names[static_cast<int>(l)];
      all.push_back({name, [l, dtype](session& t) { check_alias(t, l, dtype); }});
    }
  }
}

}  // namespace tutti::conformance
