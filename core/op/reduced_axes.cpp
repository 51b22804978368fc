// SPDX-License-Identifier: Apache-2.0
//
// The axes that a reduction removes, from the arguments of the caller.
#include "op/reduced_axes.hpp"

#include "op/operands.hpp"

namespace tutti::op {
namespace {

// min(3, 4) means std::min; here 4 would be an axis of a number.
void require_no_second_value(const array& a, std::span<const std::int64_t> axes,
                             std::string_view op) {
  if (!a.node()->weak || axes.empty() || (op != "min" && op != "max")) return;
  base::fail<index_error>("{}: axis {} of a number; of two values take std::{} or {}imum", op,
                          axes.front(), op, op);
}

}  // namespace

reduced_axes resolve(const array& a, const reduce_options& options, std::string_view op) {
  const shape& extents = graph::get(a, op).extents;
  reduced_axes out;
  if (!options.axes) {
    out.mask = static_cast<std::uint8_t>((1u << extents.rank()) - 1);
  } else {
    require_no_second_value(a, *options.axes, op);
    for (std::int64_t given : *options.axes) {
      const unsigned bit = 1u << normalize_axis(given, extents.rank(), op);
      if ((out.mask & bit) != 0)
        base::fail<value_error>("{}: axis {} is given twice for shape {}", op, given, extents);
      out.mask = static_cast<std::uint8_t>(out.mask | bit);
    }
  }
  for (int i = 0; i < extents.rank(); ++i) {
    const bool reduced = (out.mask >> i & 1) != 0;
    if (reduced)
      out.count *= extents[i];
    else
      out.kept.push_back(extents[i]);
    out.kept_dims.push_back(reduced ? 1 : extents[i]);
  }
  return out;
}

reduce_options options_of(std::optional<integer> axis, bool keepdims) {
  reduce_options options = axis ? reduce_options(*axis) : reduce_options();
  options.keepdims = keepdims;
  return options;
}

}  // namespace tutti::op
