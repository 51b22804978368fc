// SPDX-License-Identifier: Apache-2.0
#include "multi/groups/participants.hpp"

#include <cmath>
#include <numeric>

#include "base/env.hpp"
#include "op/operands.hpp"
#include "plugin/opened_device.hpp"

namespace tutti::multi {

array on_member(const array& value, const device& member, std::string_view op,
                const std::string& what) {
  const graph::node& n = graph::get(value, op);
  if (n.device != nullptr && n.device != &detail::get(member))
    throw device_error(std::string(op) + ": " + what + " is on " + n.device->name +
                           ", but belongs on " + member.name() + "; move it with to()",
                       TUTTI_ERROR_INVALID_ARGUMENT);
  return (n.weak ? op::cast(value, n.type, op) : value).to(member);
}

std::size_t owner(const device_group& group, const array& value, std::string_view op) {
  const graph::node& n = graph::get(value, op);
  for (std::size_t i = 0; i < group.size(); ++i)
    if (n.device == nullptr || n.device == &detail::get(group[i])) return i;
  throw device_error(std::string(op) + ": the value is on " + n.device->name +
                         ", which is not one of " + group.names(),
                     TUTTI_ERROR_INVALID_ARGUMENT);
}

std::vector<array> on_members(const device_group& group, const std::vector<array>& values,
                              std::string_view op) {
  if (values.size() != group.size())
    base::fail<value_error>("{}: {} arrays for {} devices ({})", op, values.size(), group.size(),
                            group.names());
  std::vector<array> out;
  for (std::size_t i = 0; i < values.size(); ++i)
    out.push_back(on_member(values[i], group[i], op, "array " + std::to_string(i)));
  return out;
}

void require_agreement(const device_group& group, const std::vector<array>& values, int axis,
                       std::string_view op) {
  const auto differ = [&](std::size_t i, std::string_view what, std::string first,
                          std::string other) {
    return std::string(op) + ": " + std::string(what) + " differ: " + first + " on " +
           group[0].name() + " and " + other + " on " + group[i].name();
  };
  for (std::size_t i = 1; i < values.size(); ++i) {
    if (values[i].dtype() != values[0].dtype())
      throw dtype_error(differ(i, "dtypes", std::string(name(values[0].dtype())),
                               std::string(name(values[i].dtype()))));
    shape seen = values[i].shape();
    if (axis >= 0 && seen.rank() == values[0].ndim()) seen[axis] = values[0].shape()[axis];
    if (seen != values[0].shape())
      throw shape_error(differ(i, axis < 0 ? "shapes" : "shapes beside the axis",
                               values[0].shape().str(), values[i].shape().str()));
  }
}

array move(const array& a, const device& to, double time_limit, std::string_view op) {
  static const double usual = base::time_limit();
  return graph::move_to(a, &detail::get(to),
                        {std::isinf(time_limit) ? usual : time_limit, std::string(op)});
}

shape joined_extents(const std::vector<array>& values, int axis, std::string_view op) {
  shape whole = values[0].shape();
  for (std::size_t i = 1; i < values.size(); ++i)
    whole[axis] = graph::extent_sum(whole[axis], values[i].shape()[axis], op);
  graph::checked_elements(whole, values[0].dtype(), op);
  return whole;
}

int checked_axis(const shape& extents, integer axis, std::string_view op) {
  if (extents.rank() == 0) base::fail<shape_error>("{}: 0-d arrays have no axis to cut", op);
  return normalize_axis(axis, extents.rank(), op);
}

void check_options(const collective::options& how, std::string_view op) {
  if (!(how.time_limit > 0))
    base::fail<value_error>("{}: a time limit of {} s is not positive", op, how.time_limit);
  const int number = static_cast<int>(how.algorithm);
  if (number < 0 || number > static_cast<int>(collective::algorithm::ring))
    base::fail<value_error>("{}: unknown algorithm {}", op, number);
}

double checked_sum(std::span<const double> weights, std::string_view op) {
  double total = 0;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (!(weights[i] >= 0) || std::isinf(weights[i]))
      base::fail<value_error>("{}: weight {} is {}", op, i, weights[i]);
    total += weights[i];
  }
  if (!(total > 0) || std::isinf(total))
    base::fail<value_error>("{}: the {} weights sum to {}", op, weights.size(), total);
  return total;
}

array piece(const array& a, int axis, std::int64_t first, std::int64_t last) {
  return first == 0 && last == a.shape()[axis] ? a : op::part_along(a, axis, first, last);
}

std::vector<std::int64_t> equal_boundaries(std::int64_t extent, std::size_t count) {
  const auto parts = static_cast<std::int64_t>(count);
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i <= parts; ++i)
    out.push_back(i * (extent / parts) + std::min(i, extent % parts));
  return out;
}

std::vector<std::int64_t> weighted_boundaries(std::int64_t extent,
                                              std::span<const double> weights) {
  const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
  std::vector<std::int64_t> out{0};
  double before = 0;
  for (const double w : weights) {
    before += w;
    // A double rounds extents beyond 2^53.
    const double place = std::round(static_cast<double>(extent) * (before / total));
    out.push_back(place < static_cast<double>(extent) ? static_cast<std::int64_t>(place) : extent);
  }
  return out;
}

array join(const std::vector<array>& pieces, int axis) {
  return pieces.size() == 1 ? pieces[0] : concatenate(pieces, axis);
}

std::vector<bucket> buckets_of(const std::vector<array>& values, std::uint64_t most,
                               bool by_device) {
  std::vector<bucket> out;
  std::uint64_t bytes = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    bytes += values[i].nbytes();
    if (i > 0 && values[i].dtype() == values[i - 1].dtype() && bytes <= most &&
        (!by_device || values[i].device() == values[i - 1].device())) {
      ++out.back().last;
      continue;
    }
    out.push_back({i, i + 1});
    bytes = values[i].nbytes();
  }
  return out;
}

array joined(const std::vector<array>& values, const bucket& which) {
  std::vector<array> flat;
  for (std::size_t i = which.first; i < which.last; ++i) flat.push_back(values[i].flatten());
  return join(flat, 0);
}

void separate(const array& flat, const bucket& which, std::vector<array>& values) {
  std::int64_t at = 0;
  for (std::size_t i = which.first; i < which.last; ++i) {
    const std::int64_t end = at + values[i].size();
    values[i] = piece(flat, 0, at, end).reshape(values[i].shape());
    at = end;
  }
}

}  // namespace tutti::multi
