// SPDX-License-Identifier: Apache-2.0
//
// The elementwise functions: one for each row of op_table.def, as elementwise.hpp declares them,
// and the few composed of them.
#include "base/named_errors.hpp"
#include "op/operands.hpp"

namespace tutti {

using base::named;

#define TUTTI_DEFINE_1(name, kinds, result)                                                  \
  array name(const array& a) {                                                               \
    array operands[] = {a};                                                                  \
    return op::apply(TUTTI_OP_##name, op::row_kind::kinds, op::row_result::result, operands, \
                     #name);                                                                 \
  }
#define TUTTI_DEFINE_2(name, kinds, result)                                                  \
  array name(const array& a, const array& b) {                                               \
    array operands[] = {a, b};                                                               \
    return op::apply(TUTTI_OP_##name, op::row_kind::kinds, op::row_result::result, operands, \
                     #name);                                                                 \
  }
#define TUTTI_DEFINE_NUMERIC(arity, name, result) TUTTI_DEFINE_##arity(name, NUMERIC, result)
#define TUTTI_DEFINE_REAL(arity, name, result) TUTTI_DEFINE_##arity(name, REAL, result)
#define TUTTI_DEFINE_FLOATING(arity, name, result) TUTTI_DEFINE_##arity(name, FLOATING, result)
#define TUTTI_DEFINE_REAL_FLOATING(arity, name, result) \
  TUTTI_DEFINE_##arity(name, REAL_FLOATING, result)
#define TUTTI_DEFINE_INTEGRAL(arity, name, result) TUTTI_DEFINE_##arity(name, INTEGRAL, result)
#define TUTTI_DEFINE_LOGICAL(arity, name, result) TUTTI_DEFINE_##arity(name, LOGICAL, result)
#define TUTTI_DEFINE_ANY(arity, name, result) TUTTI_DEFINE_##arity(name, ANY, result)
#define TUTTI_DEFINE_IR(arity, name, result)
#define TUTTI_OP(id, name, arity, kinds, result, ...) TUTTI_DEFINE_##kinds(arity, name, result)
#include "tutti/op_table.def"
#undef TUTTI_OP

array where(const array& condition, const array& b, const array& c) {
  const op::common_type common = op::promote_operands({b, c}, op::row_kind::ANY, "where");
  return graph::elementwise(TUTTI_OP_where, common.type,
                            {op::cast(condition, dtype::boolean, "where"),
                             op::cast(b, common.type, "where"), op::cast(c, common.type, "where")},
                            "where");
}

array clip(const array& a, const std::optional<array>& low, const std::optional<array>& high) {
  return named("clip", [&] {
    graph::get(a, "clip");
    const array raised = low ? maximum(a, *low) : a;
    return high ? minimum(raised, *high) : raised;
  });
}

array positive(const array& a) {
  const op::common_type common = op::promote_operands({a}, op::row_kind::NUMERIC, "positive");
  return common.weak ? a : op::cast(a, common.type, "positive");
}

array reciprocal(const array& a) {
  return named("reciprocal", [&] { return divide(1, a); });
}

array truncate_divide(const array& a, const array& b) {
  return named("truncate_divide", [&]() -> array {
    if (is_floating(result_type({a, b}))) return trunc(divide(a, b));
    const array down = floor_divide(a, b);
    // Rounded down if it is negative and not an integer.
    const array up = (remainder(a, b) != 0) & ((a < 0) != (b < 0));
    return down + up.astype(down.dtype());
  });
}

dtype result_type(array_list operands) {
  if (operands.empty()) throw value_error("result_type: no operands are given");
  return op::promote_operands(operands, op::row_kind::ANY, "result_type").type;
}

array angle(const array& a) {
  return named("angle", [&] { return atan2(imag(a), real(a)); });
}

array astype(const array& a, dtype type) { return op::cast(a, type, "astype"); }

// The first of equal operands gets the gradient, so that it is 0 at 0.
array relu(const array& a) {
  return named("relu", [&] { return maximum(0, a); });
}

array sigmoid(const array& a) {
  const op::common_type common = op::promote_operands({a}, op::row_kind::REAL_FLOATING, "sigmoid");
  const array x = common.weak ? a * 1.0 : op::cast(a, common.type, "sigmoid");
  // exp never overflows here, neither in the value nor in the gradient.
  const array is_negative = x < 0;
  const array power = exp(where(is_negative, x, -x));
  return where(is_negative, power, 1) / (1 + power);
}

array stop_gradient(const array& a) {
  graph::get(a, "stop_gradient");
  return graph::detach(a);
}

}  // namespace tutti
