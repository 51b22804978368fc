// SPDX-License-Identifier: Apache-2.0
//
// Creation of arrays and grids: constants use no memory until it is needed.

#include <cmath>
#include <limits>

#include "base/named_errors.hpp"
#include "op/operands.hpp"
#include "tutti/movement.hpp"

namespace tutti {

using base::named;

namespace {

bool is_exact_integer(double value) {
  return std::nearbyint(value) == value && std::fabs(value) <= 9007199254740992.0;
}

void require_range_dtype(dtype type) {
  if (is_bool(type) || is_complex(type))
    base::fail<dtype_error>("arange: needs an integer or floating dtype, got {}", type);
}

// first + step * [0, count) in i64, then in `type`; the caller has ensured that i64 suffices.
array integer_range(std::int64_t first, std::int64_t step, std::int64_t count, dtype type,
                    const device& on) {
  // Only the sum is certain to fit.
  const auto far = static_cast<std::uint64_t>(step) *
                   static_cast<std::uint64_t>(std::max<std::int64_t>(count - 1, 0));
  const auto last = static_cast<std::int64_t>(static_cast<std::uint64_t>(first) + far);
  if (is_integral(type) && count > 0 && !(op::holds(type, first) && op::holds(type, last)))
    base::fail<value_error>("arange: {} to {} does not fit {}", first, last, type);
  array values = graph::iota({count}, &detail::get(on), "arange");
  if (step != 1) values = values * step;
  if (first != 0) values = values + first;
  values = op::cast(values, type, "arange");
  if (is_integral(type) && !values.node()->is_constant())
    values.node()->range = {std::min(first, last), std::max(first, last)};
  return values;
}

}  // namespace

array full(const shape& shape, const array& value, dtype type, const device& on) {
  return named("full", [&] {
    graph::checked_elements(shape, type, "full");
    const array converted = op::cast(value, type, "full");
    if (converted.node()->is_constant()) {
      broadcast_to(converted, shape);
      return graph::constant_like(converted, shape, type, &detail::get(on));
    }
    return broadcast_to(converted.to(on), shape);
  });
}

array zeros(const shape& shape, dtype type, const device& on) {
  return graph::constant(shape, type, std::int64_t{0}, &detail::get(on), "zeros");
}

array ones(const shape& shape, dtype type, const device& on) {
  return graph::constant(shape, type, std::int64_t{1}, &detail::get(on), "ones");
}

array full_like(const array& a, const array& value, std::optional<dtype> type) {
  return named("full_like", [&] {
    const graph::node& n = graph::get(a, "full_like");
    graph::checked_elements(n.extents, type.value_or(n.type), "full_like");
    const array converted = op::cast(value, type.value_or(n.type), "full_like");
    if (converted.node()->is_constant()) {
      broadcast_to(converted, n.extents);
      return graph::constant_like(converted, n.extents, converted.dtype(), n.device);
    }
    return broadcast_to(converted.to(a.device()), n.extents);
  });
}

array empty(const shape& shape, dtype type, const device& on) { return zeros(shape, type, on); }

array empty_like(const array& a, std::optional<dtype> type) {
  graph::get(a, "empty_like");
  return zeros_like(a, type);
}

array zeros_like(const array& a, std::optional<dtype> type) {
  const graph::node& n = graph::get(a, "zeros_like");
  return graph::constant(n.extents, type.value_or(n.type), std::int64_t{0}, n.device, "zeros_like");
}

array ones_like(const array& a, std::optional<dtype> type) {
  const graph::node& n = graph::get(a, "ones_like");
  return graph::constant(n.extents, type.value_or(n.type), std::int64_t{1}, n.device, "ones_like");
}

array arange(double start, double stop, double step, dtype type, const device& on) {
  const auto fail = [&](const char* what) {
    base::fail<value_error>("arange: {}: from {} to {} in steps of {}", what, start, stop, step);
  };
  if (!std::isfinite(start) || !std::isfinite(stop) || !std::isfinite(step))
    fail("bounds must be finite");
  if (step == 0) fail("the step is zero");
  require_range_dtype(type);
  const double span = stop - start;
  // Bounds of different signs may be farther apart than a double can represent.
  const double wanted = std::ceil(std::isfinite(span) ? span / step : stop / step - start / step);
  if (wanted > 9007199254740992.0) fail("too many elements");
  const std::int64_t count = wanted > 0 ? static_cast<std::int64_t>(wanted) : 0;
  const double last = start + step * static_cast<double>(count);
  if (is_exact_integer(start) && is_exact_integer(step) && is_exact_integer(last))
    return integer_range(static_cast<std::int64_t>(start), static_cast<std::int64_t>(step), count,
                         type, on);
  if (!is_floating(type)) fail("an integer dtype needs integer start and step");
  const dtype compute = graph::compute_dtype(type);
  const array position =
      op::cast(graph::iota({count}, &detail::get(on), "arange"), compute, "arange");
  return op::cast(position * step + start, type, "arange");
}

array arange(std::int64_t start, std::int64_t stop, std::int64_t step, dtype type,
             const device& on) {
  if (step == 0) base::fail<value_error>("arange: the step is zero: from {} to {}", start, stop);
  require_range_dtype(type);
  // Unsigned, because the distance may exceed the signed range.
  const auto low = static_cast<std::uint64_t>(step > 0 ? start : stop);
  const auto high = static_cast<std::uint64_t>(step > 0 ? stop : start);
  const bool none = step > 0 ? start >= stop : start <= stop;
  const std::uint64_t width =
      step > 0 ? static_cast<std::uint64_t>(step) : 0 - static_cast<std::uint64_t>(step);
  const std::uint64_t count = none ? 0 : (high - low - 1) / width + 1;
  if (count > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()))
    base::fail<value_error>("arange: too many elements: from {} to {} in steps of {}", start, stop,
                            step);
  return integer_range(start, step, static_cast<std::int64_t>(count), type, on);
}

array eye(std::int64_t n, dtype type, const device& on) { return eye(n, n, 0, type, on); }

array eye(std::int64_t rows, std::int64_t columns, std::int64_t offset, dtype type,
          const device& on) {
  if (rows < 0 || columns < 0)
    base::fail<value_error>("eye: the extents {} and {} must not be negative", rows, columns);
  for (const shape& made : {shape{rows, columns}, shape{rows}, shape{columns}})
    graph::checked_elements(made, made.rank() == 1 ? dtype::i64 : type, "eye");
  const array row = arange(rows, dtype::i64, on), column = arange(columns, dtype::i64, on);
  return op::cast(equal(expand_dims(row, 1) + offset, column), type, "eye");
}

std::vector<array> meshgrid(array_list vectors, mesh_order order) {
  return named("meshgrid", [&] {
    const int count = static_cast<int>(vectors.size());
    shape grid;
    for (const array& v : vectors) {
      const shape& extents = graph::get(v, "meshgrid").extents;
      if (extents.rank() > 1)
        base::fail<shape_error>("meshgrid: needs vectors, got shape {}", extents);
      grid.push_back(v.size());
    }
    const bool swapped = order == mesh_order::xy && count > 1;
    if (swapped) std::swap(grid[0], grid[1]);
    std::vector<array> out;
    for (int i = 0; i < count; ++i) {
      const int axis = swapped && i < 2 ? 1 - i : i;
      shape lying = grid;
      for (int k = 0; k < count; ++k)
        if (k != axis) lying[k] = 1;
      out.push_back(broadcast_to(reshape(vectors[static_cast<std::size_t>(i)], lying), grid));
    }
    return out;
  });
}

array linspace(double start, double stop, std::int64_t count, bool endpoint, dtype type,
               const device& on) {
  if (!is_floating(type)) base::fail<dtype_error>("linspace: needs a floating dtype, got {}", type);
  if (count < 0) base::fail<value_error>("linspace: the count {} is negative", count);
  graph::checked_elements({count}, dtype::i64, "linspace");
  const dtype compute = graph::compute_dtype(type);
  const double largest = compute == dtype::f64 ? std::numeric_limits<double>::max()
                                               : std::numeric_limits<float>::max();
  if (!(std::fabs(start) <= largest && std::fabs(stop) <= largest))
    base::fail<value_error>("linspace: needs bounds that are finite in {}, got {} and {}", compute,
                            start, stop);
  const std::int64_t gaps = std::max<std::int64_t>(endpoint ? count - 1 : count, 1);
  // In quarters if the whole distance overflows.
  const double part = std::fabs(start) > largest / 4 || std::fabs(stop) > largest / 4 ? 0.25 : 1;
  const double from = start * part, to = stop * part;
  const double step = (to - from) / static_cast<double>(gaps);
  const array i = arange(count, dtype::i64, on);
  const array from_start = astype(i, compute) * step + from;
  const array from_stop = to - astype(gaps - i, compute) * step;
  const array near = count < 2 ? from_start : where(i < (gaps + 1) / 2, from_start, from_stop);
  return op::cast(part == 1 ? near : near / part, type, "linspace");
}

}  // namespace tutti
