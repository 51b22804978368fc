// SPDX-License-Identifier: Apache-2.0
//
// Arrays from nothing: constants take no memory until something needs them there.
#include <cmath>

#include "op/operands.hpp"

namespace tutti {
namespace {

std::string number(double value) {
  std::string text = std::to_string(value);
  text.erase(text.find_last_not_of('0') + 1);
  if (text.back() == '.') text.pop_back();
  return text;
}

bool is_exact_integer(double value) {
  return std::nearbyint(value) == value && std::fabs(value) <= 9007199254740992.0;
}

// first + step * [0, count) in i64, then in `type`; the caller has made sure that i64 suffices.
array integer_range(std::int64_t first, std::int64_t step, std::int64_t count, dtype type,
                    const device& on) {
  const std::int64_t last = count > 0 ? first + step * (count - 1) : first;
  if (is_integral(type) && count > 0 && !(op::holds(type, first) && op::holds(type, last)))
    throw value_error("arange: " + std::to_string(first) + " to " + std::to_string(last) +
                      " does not fit " + std::string(name(type)));
  array values = graph::iota({count}, &detail::get(on));
  if (step != 1) values = values * step;
  if (first != 0) values = values + first;
  values = op::cast(values, type, "arange");
  if (is_integral(type) && !values.node()->is_constant())
    values.node()->range = {std::min(first, last), std::max(first, last)};
  return values;
}

}  // namespace

array full(const shape& shape, const array& value, dtype type, const device& on) {
  const array converted = op::cast(value, type, "full");
  if (converted.node()->is_constant()) {
    broadcast_to(converted, shape);
    return graph::constant_like(converted, shape, type, &detail::get(on));
  }
  return broadcast_to(converted.to(on), shape);
}

array zeros(const shape& shape, dtype type, const device& on) {
  return graph::constant(shape, type, std::int64_t{0}, &detail::get(on));
}

array ones(const shape& shape, dtype type, const device& on) {
  return graph::constant(shape, type, std::int64_t{1}, &detail::get(on));
}

array zeros_like(const array& a, std::optional<dtype> type) {
  const graph::node& n = graph::get(a, "zeros_like");
  return graph::constant(n.extents, type.value_or(n.type), std::int64_t{0}, n.device);
}

array ones_like(const array& a, std::optional<dtype> type) {
  const graph::node& n = graph::get(a, "ones_like");
  return graph::constant(n.extents, type.value_or(n.type), std::int64_t{1}, n.device);
}

array arange(double start, double stop, double step, dtype type, const device& on) {
  const auto fail = [&](const char* what) {
    throw value_error("arange: " + std::string(what) + ": from " + number(start) + " to " +
                      number(stop) + " in steps of " + number(step));
  };
  if (!std::isfinite(start) || !std::isfinite(stop) || !std::isfinite(step))
    fail("bounds must be finite");
  if (step == 0) fail("the step is zero");
  if (is_bool(type) || is_complex(type))
    throw dtype_error("arange: needs an integer or floating dtype, got " + std::string(name(type)));
  const double wanted = std::ceil((stop - start) / step);
  if (wanted > 9007199254740992.0) fail("too many elements");
  const std::int64_t count = wanted > 0 ? static_cast<std::int64_t>(wanted) : 0;
  const double last = start + step * static_cast<double>(count);
  if (is_exact_integer(start) && is_exact_integer(step) && is_exact_integer(last))
    return integer_range(static_cast<std::int64_t>(start), static_cast<std::int64_t>(step), count,
                         type, on);
  if (!is_floating(type)) fail("an integer dtype needs integer start and step");
  const dtype compute = graph::compute_dtype(type);
  const array position = op::cast(graph::iota({count}, &detail::get(on)), compute, "arange");
  return op::cast(position * step + start, type, "arange");
}

array arange(std::int64_t stop, dtype type, const device& on) {
  if (is_bool(type) || is_complex(type))
    throw dtype_error("arange: needs an integer or floating dtype, got " + std::string(name(type)));
  return integer_range(0, 1, std::max<std::int64_t>(stop, 0), type, on);
}

array eye(std::int64_t n, dtype type, const device& on) { return eye(n, n, 0, type, on); }

array eye(std::int64_t rows, std::int64_t columns, std::int64_t offset, dtype type,
          const device& on) {
  if (rows < 0 || columns < 0)
    throw value_error("eye: the extents " + std::to_string(rows) + " and " +
                      std::to_string(columns) + " must not be negative");
  const array row = arange(rows, dtype::i64, on), column = arange(columns, dtype::i64, on);
  return op::cast(equal(expand_dims(row, 1) + offset, column), type, "eye");
}

}  // namespace tutti
