// SPDX-License-Identifier: Apache-2.0
//
// Operations on sharded arrays: each member works on its parts; exchange between members uses the
// collectives.
#include <fmt/format.h>

#include <limits>
#include <optional>

#include "multi/groups/group_ranks.hpp"
#include "multi/groups/participants.hpp"
#include "op/operands.hpp"
#include "tutti/multi.hpp"

namespace tutti {
namespace {

// Index of the first split input, checked against all others: they must have the same group and
// split. `same` compares the split axes of two.
template <class Same>
std::optional<std::size_t> split_input(const std::vector<sharded>& inputs, std::string_view op,
                                       Same&& same) {
  std::optional<std::size_t> first;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const sharded& a = inputs[first.value_or(0)];
    const sharded& b = inputs[i];
    if (!(a.group() == b.group()))
      base::fail<value_error>("{}: operands over different groups: {} and {}", op, a.str(),
                              b.str());
    if (b.replicated()) continue;
    if (!first)
      first = i;
    else if (!same(a, b) || a.boundaries() != b.boundaries())
      base::fail<value_error>("{}: operands are split differently: {} and {}; reshard() one", op,
                              a.str(), b.str());
  }
  return first;
}

int from_the_end(const sharded& a) { return a.shape().rank() - a.axis(); }

// The part of a replicated operand that corresponds to part i of `split`: all of it if it
// broadcasts along the split axis.
array matching(const sharded& whole, const sharded& split, std::size_t i) {
  const array& copy = whole.parts()[i];
  const int axis = copy.ndim() - from_the_end(split);
  if (axis < 0 || copy.shape()[axis] == 1) return copy;
  const auto& cuts = split.boundaries();
  if (copy.shape()[axis] != cuts.back()) return copy;  // the operation reports the error
  const std::size_t place = split.group().first() + i;
  return multi::piece(copy, axis, cuts[place], cuts[place + 1]);
}

using binary = array (*)(const array&, const array&);

sharded elementwise(binary f, const sharded& a, const sharded& b, std::string_view op) {
  const auto first = split_input({a, b}, op, [](const sharded& x, const sharded& y) {
    return from_the_end(x) == from_the_end(y);
  });
  const shape result = broadcast_shapes(a.shape(), b.shape(), op);
  std::vector<array> parts;
  for (std::size_t i = 0; i < a.group().size(); ++i) {
    const bool cut_a = first && a.replicated(), cut_b = first && b.replicated();
    parts.push_back(
        f(cut_a ? matching(a, b, i) : a.parts()[i], cut_b ? matching(b, a, i) : b.parts()[i]));
  }
  if (!first) return sharded::from_replicas(a.group(), parts);
  const sharded& split = a.replicated() ? b : a;
  const int axis = result.rank() - from_the_end(split);
  if (result[axis] == split.boundaries().back())
    return {a.group(), axis, split.boundaries(), std::move(parts)};
  // The split axis has extent 1 and broadcasts.
  if (a.group().total() == 1) return {a.group(), axis, {0, result[axis]}, std::move(parts)};
  base::fail<shape_error>("{}: the split axis does not broadcast: {} and {}", op, a.str(), b.str());
}

// f(a, b), or f(b, a) if `turned`, for a constant b, which is treated as replicated.
sharded beside_constant(binary f, const sharded& a, const array& b, bool turned,
                        std::string_view op) {
  const graph::node& n = graph::get(b, op);
  if (!n.is_constant())
    throw device_error(fmt::format("{}: {} and an array on {}; replicate() or shard() it", op,
                                   a.str(), b.device().name()),
                       TUTTI_ERROR_INVALID_ARGUMENT);
  if (n.weak)  // stays weak: it takes the dtype of the parts
    return map([&](const array& p) { return turned ? f(b, p) : f(p, b); }, a);
  std::vector<array> copies;
  for (const device& member : a.group()) copies.push_back(b.to(member));
  const sharded whole = sharded::from_replicas(a.group(), copies);
  return turned ? elementwise(f, whole, a, op) : elementwise(f, a, whole, op);
}

struct resolved_axes {
  bool crosses = false;  // whether the split axis is reduced
  int split_axis = 0;    // of the result
};

resolved_axes resolve(const sharded& a, const reduce_options& over, std::string_view op) {
  resolved_axes out{false, a.axis()};
  if (!over.axes) return {true, 0};
  std::vector<bool> reduced(static_cast<std::size_t>(a.shape().rank()), false);
  for (const std::int64_t axis : *over.axes)
    reduced[static_cast<std::size_t>(normalize_axis(axis, a.shape().rank(), op))] = true;
  out.crosses = reduced[static_cast<std::size_t>(a.axis())];
  for (int i = 0; i < a.axis(); ++i)
    if (reduced[static_cast<std::size_t>(i)] && !over.keepdims) --out.split_axis;
  return out;
}

using reducer = array (*)(const array&, const reduce_options&);

// What changes no minimum, or no maximum, of such an array.
array no_extreme(const shape& extents, dtype type, const device& on, collective::reduction with) {
  const bool is_min = with == collective::reduction::min;
  if (!is_integral(type)) return full(extents, is_min ? HUGE_VAL : -HUGE_VAL, type, on);
  const auto most = std::numeric_limits<std::int64_t>::max() >> (64 - 8 * size_of(type));
  const array largest =
      is_unsigned(type) ? bitwise_not(zeros(extents, type, on)) : full(extents, most, type, on);
  return is_min ? largest : bitwise_not(largest);
}

sharded reduce_across(const sharded& a, reducer local, const reduce_options& over,
                      collective::reduction with, const collective::options& how) {
  const bool ordered = with == collective::reduction::min || with == collective::reduction::max;
  const auto is_empty = [&](const array& part) { return part.shape()[a.axis()] == 0; };
  const auto some = std::find_if_not(a.parts().begin(), a.parts().end(), is_empty);
  std::vector<array> values;
  for (array part : a.parts()) {
    if (ordered && is_empty(part) && a.shape()[a.axis()] > 0) {
      shape extents = part.shape();
      extents[a.axis()] = 1;
      // A copy of another part takes its gradient to that.
      part = some != a.parts().end() ? some->to(part.device())
                                     : no_extreme(extents, a.dtype(), part.device(), with);
    }
    values.push_back(local(part, over));
  }
  return sharded::from_replicas(a.group(), collective::all_reduce(a.group(), values, with, how));
}

sharded reduce(const sharded& a, reducer local, const reduce_options& over,
               collective::reduction with, const collective::options& how, std::string_view op) {
  const auto here = [&](const std::vector<array>& p) { return local(p[0], over); };
  if (a.replicated()) return map_parts(here, {a});
  const resolved_axes axes = resolve(a, over, op);
  if (axes.crosses) return reduce_across(a, local, over, with, how);
  std::vector<array> parts;
  for (const array& p : a.parts()) parts.push_back(local(p, over));
  return {a.group(), axes.split_axis, a.boundaries(), std::move(parts)};
}

sharded cast(const sharded& a, dtype type) {
  return map([type](const array& p) { return p.astype(type); }, a);
}

}  // namespace

sharded map_parts(const std::function<array(const std::vector<array>&)>& f,
                  const std::vector<sharded>& inputs) {
  if (inputs.empty()) throw value_error("map: no inputs");
  multi::require_function(f, "map", "function");
  const auto first = split_input(
      inputs, "map", [](const sharded& x, const sharded& y) { return x.axis() == y.axis(); });
  const device_group& group = inputs[0].group();
  std::vector<array> parts;
  for (std::size_t i = 0; i < group.size(); ++i) {
    parts.push_back(f(parts_at(inputs, i)));
    graph::get(parts.back(), "map");
  }
  if (!first) return sharded::from_replicas(group, parts);
  const sharded& split = inputs[*first];
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const std::int64_t extent = split.parts()[i].shape()[split.axis()];
    if (parts[i].ndim() <= split.axis() || parts[i].shape()[split.axis()] != extent)
      base::fail<shape_error>("map: the function makes {} of a part of extent {} of {}",
                              parts[i].shape(), extent, split.str());
  }
  parts = multi::on_members(group, parts, "map");
  multi::require_agreement(group, parts, split.axis(), "map");
  return {group, split.axis(), split.boundaries(), std::move(parts)};
}

#define TUTTI_SHARDED_OPERATOR(symbol, f)                                                          \
  sharded operator symbol(const sharded& a, const sharded& b) { return elementwise(f, a, b, #f); } \
  sharded operator symbol(const sharded& a, const array& b) {                                      \
    return beside_constant(f, a, b, false, #f);                                                    \
  }                                                                                                \
  sharded operator symbol(const array& a, const sharded& b) {                                      \
    return beside_constant(f, b, a, true, #f);                                                     \
  }
TUTTI_SHARDED_OPERATOR(+, add)
TUTTI_SHARDED_OPERATOR(-, subtract)
TUTTI_SHARDED_OPERATOR(*, multiply)
TUTTI_SHARDED_OPERATOR(/, divide)
#undef TUTTI_SHARDED_OPERATOR

sharded sum(const sharded& a, const reduce_options& over, const collective::options& how) {
  return reduce(a, tutti::sum, over, collective::reduction::sum, how, "sum");
}

sharded prod(const sharded& a, const reduce_options& over, const collective::options& how) {
  return reduce(a, tutti::prod, over, collective::reduction::prod, how, "prod");
}

sharded min(const sharded& a, const reduce_options& over, const collective::options& how) {
  return reduce(a, tutti::min, over, collective::reduction::min, how, "min");
}

sharded max(const sharded& a, const reduce_options& over, const collective::options& how) {
  return reduce(a, tutti::max, over, collective::reduction::max, how, "max");
}

sharded mean(const sharded& a, const reduce_options& over, const collective::options& how) {
  if (a.replicated() || !resolve(a, over, "mean").crosses)
    return reduce(a, tutti::mean, over, collective::reduction::sum, how, "mean");
  // The sum in f32 or wider, then the division, as mean() of arrays does.
  const dtype result = op::floating_type_of(a.parts()[0], "mean");
  const sharded total = sum(cast(a, graph::compute_dtype(result)), over, how);
  const double count =
      static_cast<double>(a.shape().size()) / static_cast<double>(total.shape().size());
  return cast(total / count, result);
}

}  // namespace tutti
