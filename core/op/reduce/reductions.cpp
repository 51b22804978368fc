// SPDX-License-Identifier: Apache-2.0
//
// Reductions over any axes, and functions composed of them.
#include <cmath>

#include "op/operands.hpp"
#include "op/reduced_axes.hpp"
#include "plugin/opened_device.hpp"

namespace tutti {
namespace {

using op::reduced_axes;
using op::resolve;

// Reduces `a`, in the accumulation dtype or stored in a narrower one, to `result`.
array reduce(tutti_reduction reduction, const array& a, const reduced_axes& axes, bool keepdims,
             dtype result, std::int64_t neutral, std::string_view op) {
  const shape& to = keepdims ? axes.kept_dims : axes.kept;
  const graph::node& n = *a.node();
  if (to.size() == 0 || axes.count == 0) return graph::constant(to, result, neutral, n.device);
  const bool finds_index = reduction == TUTTI_REDUCE_ARGMIN || reduction == TUTTI_REDUCE_ARGMAX;
  if (axes.count == 1 && !finds_index) return reshape(op::cast(a, result, op), to);
  const dtype accumulator = graph::compute_dtype(n.type);
  const array y = graph::reduce(reduction, axes.mask, accumulator, result, a, op);
  return keepdims ? reshape(y, to) : y;
}

array accumulate(tutti_reduction reduction, const array& a, const reduce_options& options,
                 std::optional<dtype> wanted, std::int64_t neutral, std::string_view op) {
  const dtype type = op::accumulator_type(a, wanted, op);
  return reduce(reduction, op::cast(a, type, op), resolve(a, options, op), options.keepdims, type,
                neutral, op);
}

bool multiplies_f64(const array& a) {
  const detail::opened_device& device = *graph::or_default(a.node()->device);
  const std::uint8_t widened[] = {TUTTI_F64, TUTTI_F32};
  return op::device_stores(a, dtype::f64) && device.programs.has(TUTTI_OP_cast, widened) &&
         device.programs.reduces(TUTTI_REDUCE_PROD, TUTTI_F64);
}

void require_elements(const array& a, const reduced_axes& axes, std::string_view op) {
  if (axes.count == 0 && axes.kept.size() != 0)
    base::fail<value_error>("{}: no elements to choose from along the reduced axes of {}", op,
                            a.shape());
}

array extremum(tutti_reduction reduction, const array& a, const reduce_options& options,
               std::string_view op) {
  const dtype type = op::real_type_of(a, op);
  const reduced_axes axes = resolve(a, options, op);
  require_elements(a, axes, op);
  if (is_bool(type)) {
    const array bytes = op::cast(a, dtype::u8, op);
    return op::cast(reduce(reduction, bytes, axes, options.keepdims, dtype::u8, 0, op), type, op);
  }
  return reduce(reduction, op::cast(a, type, op), axes, options.keepdims, type, 0, op);
}

array truth(tutti_reduction reduction, const array& a, const reduce_options& options,
            std::int64_t neutral, std::string_view op) {
  return reduce(reduction, op::cast(a, dtype::boolean, op), resolve(a, options, op),
                options.keepdims, dtype::boolean, neutral, op);
}

array arg_extremum(tutti_reduction reduction, const array& a, const reduce_options& options,
                   std::string_view op) {
  if (options.axes && options.axes->size() > 1)
    base::fail<value_error>("{}: takes one axis, got {}", op, options.axes->size());
  dtype type = op::real_type_of(a, op);
  if (is_bool(type)) type = dtype::u8;
  const reduced_axes axes = resolve(a, options, op);
  require_elements(a, axes, op);
  array x = op::cast(a, type, op);
  if (axes.mask == 0) return op::zeros_on(axes.kept, dtype::i64, x.node()->device);
  const array y = reduce(reduction, x, axes, false, dtype::i64, 0, op);
  if (!y.node()->is_constant()) y.node()->range = {0, axes.count - 1};
  return options.keepdims ? reshape(y, axes.kept_dims) : y;
}

// a in the dtype in which composites compute, and the dtype of their result.
struct widened {
  array values;
  dtype result;
};

widened widen(const array& a, std::string_view op) {
  const dtype result = op::floating_type_of(a, op);
  return {op::cast(a, graph::compute_dtype(result), op), result};
}

widened widen_real(const array& a, std::string_view op) {
  op::real_type_of(a, op);
  return widen(a, op);
}

reduce_options along(integer axis) { return {axis, keep_dims::yes}; }

// The largest elements, 0 if they are not finite, as constants for the gradient.
array finite_max(const array& a, const reduce_options& options) {
  const array top = stop_gradient(max(a, options));
  return where(isfinite(top), top, 0);
}

}  // namespace

array sum(const array& a, const reduce_options& options) { return sum(a, options, std::nullopt); }

array prod(const array& a, const reduce_options& options) { return prod(a, options, std::nullopt); }

array sum(const array& a, const reduce_options& options, std::optional<dtype> type) {
  return accumulate(TUTTI_REDUCE_SUM, a, options, type, 0, "sum");
}

array prod(const array& a, const reduce_options& options, std::optional<dtype> type) {
  // Rounding errors of nearby partial products have the same sign and accumulate, so those of f32
  // are computed in f64 if the device has it.
  if (op::accumulator_type(a, type, "prod") == dtype::f32 && multiplies_f64(a))
    return op::cast(accumulate(TUTTI_REDUCE_PROD, a, options, dtype::f64, 1, "prod"), dtype::f32,
                    "prod");
  return accumulate(TUTTI_REDUCE_PROD, a, options, type, 1, "prod");
}

array min(const array& a, const reduce_options& options) {
  return extremum(TUTTI_REDUCE_MIN, a, options, "min");
}

array max(const array& a, const reduce_options& options) {
  return extremum(TUTTI_REDUCE_MAX, a, options, "max");
}

array any(const array& a, const reduce_options& options) {
  return truth(TUTTI_REDUCE_ANY, a, options, 0, "any");
}

array all(const array& a, const reduce_options& options) {
  return truth(TUTTI_REDUCE_ALL, a, options, 1, "all");
}

array mean(const array& a, const reduce_options& options) {
  const widened x = widen(a, "mean");
  const reduced_axes axes = resolve(a, options, "mean");
  const array total =
      reduce(TUTTI_REDUCE_SUM, x.values, axes, options.keepdims, x.values.dtype(), 0, "mean");
  return op::cast(total / static_cast<double>(axes.count), x.result, "mean");
}

array var(const array& a, const reduce_options& options, double correction) {
  if (std::isnan(correction)) throw value_error("var: the correction is NaN");
  const widened x = widen_real(a, "var");
  const reduced_axes axes = resolve(a, options, "var");
  reduce_options keep = options;
  keep.keepdims = true;
  const array deviation = x.values - mean(x.values, keep);
  const array total = reduce(TUTTI_REDUCE_SUM, square(deviation), axes, options.keepdims,
                             x.values.dtype(), 0, "var");
  const double divisor = std::fmax(0, static_cast<double>(axes.count) - correction);
  return op::cast(total / divisor, x.result, "var");
}

array logsumexp(const array& a, const reduce_options& options) {
  const widened x = widen_real(a, "logsumexp");
  const reduced_axes axes = resolve(a, options, "logsumexp");
  const shape& to = options.keepdims ? axes.kept_dims : axes.kept;
  if (axes.count == 0) {
    // The logarithm of an empty sum.
    return graph::constant(to, x.result, -HUGE_VAL, x.values.node()->device);
  }
  reduce_options keep = options;
  keep.keepdims = true;
  const array top = finite_max(x.values, keep);
  const array total = log(sum(exp(x.values - top), keep)) + top;
  return op::cast(reshape(total, to), x.result, "logsumexp");
}

array argmin(const array& a, const reduce_options& options) {
  return arg_extremum(TUTTI_REDUCE_ARGMIN, a, options, "argmin");
}

array argmin(const array& a, std::optional<integer> axis, bool keepdims) {
  return argmin(a, op::options_of(axis, keepdims));
}

array argmax(const array& a, const reduce_options& options) {
  return arg_extremum(TUTTI_REDUCE_ARGMAX, a, options, "argmax");
}

array argmax(const array& a, std::optional<integer> axis, bool keepdims) {
  return argmax(a, op::options_of(axis, keepdims));
}

array softmax(const array& a, integer axis) {
  const widened x = widen_real(a, "softmax");
  normalize_axis(axis, a.ndim(), "softmax");
  if (a.size() == 0) return op::cast(x.values, x.result, "softmax");
  const array top = stop_gradient(max(x.values, along(axis)));
  const array powers = exp(x.values - top);
  // One division for each sum, which is at least 1; one for each element would take longer than the
  // memory access.
  return op::cast(powers * (1 / sum(powers, along(axis))), x.result, "softmax");
}

array log_softmax(const array& a, integer axis) {
  const widened x = widen_real(a, "log_softmax");
  normalize_axis(axis, a.ndim(), "log_softmax");
  if (a.size() == 0) return op::cast(x.values, x.result, "log_softmax");
  // As in softmax, all results are NaN if the largest value is infinite.
  const array shifted = x.values - stop_gradient(max(x.values, along(axis)));
  const array total = log(sum(exp(shifted), along(axis)));
  return op::cast(shifted - total, x.result, "log_softmax");
}

}  // namespace tutti
