// SPDX-License-Identifier: Apache-2.0
//
// Collectives as copies between devices and arithmetic on them. All consist of two steps: the
// reduction of one value per member to one member, and the distribution of one value to all, each
// by stars (direct), binomial trees or chains. Split into one chunk per member, the chains of all
// chunks are the ring of P. Patarasuk and X. Yuan, "Bandwidth optimal all-reduce algorithms for
// clusters of workstations", J. Parallel Distrib. Comput. 69 (2009).
#include <algorithm>
#include <cmath>
#include <functional>

#include "multi/collectives/backend.hpp"
#include "multi/collectives/over_ranks.hpp"
#include "multi/groups/participants.hpp"
#include "tutti/collective.hpp"
#include "tutti/ops.hpp"

namespace tutti::collective {
namespace {

namespace over_ranks = multi::over_ranks;
using multi::checked_axis;
using multi::equal_boundaries;
using multi::piece;

array combine(const array& first, const array& other, reduction with) {
  const array a = multi::widened(first), b = multi::widened(other);
  return with == reduction::prod  ? a * b
         : with == reduction::min ? minimum(a, b)
         : with == reduction::max ? maximum(a, b)
                                  : a + b;
}

// The seconds that a star over all members, trees, and a ring take for `bytes` per member, in both
// directions. A copy takes time on the host, a step waits for one copy, and bytes pass one link
// after the other; the constants are those of staged copies between CPU devices, rounded.
algorithm cheapest(std::size_t bytes, std::size_t members) {
  constexpr double per_step = 30e-6, per_copy = 10e-6, per_byte = 1 / 8e9;
  const double p = static_cast<double>(members), n = static_cast<double>(bytes) * per_byte;
  const double depth = std::ceil(std::log2(p));
  const double direct = 2 * per_step + 2 * (p - 1) * (per_copy + n);
  const double tree = 2 * depth * (per_step + n) + 2 * (p - 1) * per_copy;
  const double ring = 2 * (p - 1) * (per_step + p * per_copy + n / p);
  if (direct <= tree && direct <= ring) return algorithm::direct;
  return tree <= ring ? algorithm::tree : algorithm::ring;
}

/// One collective call: its participants and options.
class exchange {
 public:
  exchange(std::string_view op, const device_group& group, const options& how)
      : op_(op), group_(group), how_(how) {
    multi::check_options(how, op);
  }

  void choose(std::size_t bytes) {
    if (how_.algorithm == algorithm::automatic) how_.algorithm = cheapest(bytes, count());
  }
  bool in_pieces() const { return how_.algorithm == algorithm::ring && count() > 1; }
  std::size_t count() const { return group_.size(); }

  /// values[i], on member i, reduced on member `root`.
  array reduce(const std::vector<array>& values, std::size_t root, reduction with) const {
    array total = how_.deterministic || how_.algorithm == algorithm::direct
                      ? reduce_in_order(values, root, with)
                  : how_.algorithm == algorithm::tree ? reduce_by_tree(values, root, with)
                                                      : reduce_by_chain(values, root, with);
    if (with == reduction::avg) total = total / static_cast<double>(count());
    return total.astype(values[0].dtype());
  }

  /// `value`, on member `root`, distributed to every member.
  std::vector<array> spread(const array& value, std::size_t root) const {
    std::vector<array> out(count());
    out[root] = value;
    for (std::size_t distance = 1; distance < count(); ++distance) {
      const std::size_t to = (root + distance) % count();
      out[to] = move(out[(root + sender(distance)) % count()], to);
    }
    return out;
  }

  /// A copy on the member `to`, under the call's name and time limit.
  array move(const array& a, std::size_t to) const {
    return multi::move(a, group_[to], how_.time_limit, op_);
  }

 private:
  // The member from which the member at `distance` after the root gets the value. Earlier ones have
  // it.
  std::size_t sender(std::size_t distance) const {
    if (how_.algorithm == algorithm::direct) return 0;
    if (how_.algorithm == algorithm::ring) return distance - 1;
    return distance & (distance - 1);  // a binomial tree: the lowest bit cleared
  }

  array reduce_in_order(const std::vector<array>& values, std::size_t root, reduction with) const {
    array total = move(values[0], root);
    for (std::size_t i = 1; i < count(); ++i) total = combine(total, move(values[i], root), with);
    return total;
  }

  array reduce_by_chain(const std::vector<array>& values, std::size_t root, reduction with) const {
    array total = values[(root + 1) % count()];
    for (std::size_t i = 2; i <= count(); ++i) {
      const std::size_t at = (root + i) % count();
      total = combine(values[at], move(total, at), with);
    }
    return total;
  }

  array reduce_by_tree(const std::vector<array>& values, std::size_t root, reduction with) const {
    std::vector<array> totals;  // by distance from the root
    for (std::size_t i = 0; i < count(); ++i) totals.push_back(values[(root + i) % count()]);
    for (std::size_t step = 1; step < count(); step *= 2)
      for (std::size_t i = 0; i + step < count(); i += 2 * step)
        totals[i] = combine(totals[i], move(totals[i + step], (root + i) % count()), with);
    return totals[0];
  }

  std::string_view op_;
  const device_group& group_;
  options how_;
};

std::vector<array> checked_operands(std::string_view op, const device_group& group,
                                    const std::vector<array>& values, reduction with) {
  if (static_cast<int>(with) < 0 || with > reduction::avg)
    base::fail<value_error>("{}: unknown reduction {}", op, static_cast<int>(with));
  std::vector<array> out = multi::on_members(group, values, op);
  multi::require_agreement(group, out, -1, op);
  const dtype type = out[0].dtype();
  if (type == dtype::boolean || (with == reduction::avg && !is_floating(type)))
    base::fail<dtype_error>("{}: no {} of {}", op, multi::name_of(with), type);
  return out;
}

std::vector<array> pieces_of(const std::vector<array>& values, int axis, std::int64_t first,
                             std::int64_t last) {
  std::vector<array> out;
  for (const array& v : values) out.push_back(piece(v, axis, first, last));
  return out;
}

// f(values split to chunk c, c) for each of one chunk per member, over flattened values; returns
// each member's results concatenated, in the original shape.
std::vector<array> by_pieces(
    const std::vector<array>& values, std::size_t members,
    const std::function<std::vector<array>(const std::vector<array>&, std::size_t)>& f) {
  const shape extents = values[0].shape();
  std::vector<array> flat;
  for (const array& v : values) flat.push_back(v.flatten());
  const auto cuts = equal_boundaries(extents.size(), members);
  std::vector<std::vector<array>> found;  // [result][chunk]
  for (std::size_t c = 0; c < members; ++c) {
    if (c > 0 && cuts[c] == cuts[c + 1]) break;  // fewer elements than members
    const std::vector<array> results = f(pieces_of(flat, 0, cuts[c], cuts[c + 1]), c);
    found.resize(results.size());
    for (std::size_t r = 0; r < results.size(); ++r) found[r].push_back(results[r]);
  }
  std::vector<array> out;
  for (const auto& pieces : found) out.push_back(multi::join(pieces, 0).reshape(extents));
  return out;
}

// Whether backends, which know only flat values, split an array as along this axis.
bool cuts_evenly(const array& a, int axis, std::size_t count) {
  return axis == 0 && a.shape()[0] % static_cast<std::int64_t>(count) == 0;
}

// What each member received, concatenated.
std::vector<array> joined_each(const std::vector<std::vector<array>>& received, int axis) {
  std::vector<array> out;
  for (const auto& pieces : received) out.push_back(multi::join(pieces, axis));
  return out;
}

bool have_one_shape(const std::vector<array>& values) {
  return std::all_of(values.begin(), values.end(),
                     [&](const array& v) { return v.shape() == values[0].shape(); });
}

shape divided(shape extents, std::size_t count) {
  extents[0] /= static_cast<std::int64_t>(count);
  return extents;
}

std::vector<array> shaped(const std::vector<array>& flat, const shape& extents) {
  std::vector<array> out;
  for (const array& v : flat) out.push_back(v.reshape(extents));
  return out;
}

std::vector<array> cut(const array& a, int axis, std::size_t count) {
  const auto cuts = equal_boundaries(a.shape()[axis], count);
  std::vector<array> out;
  for (std::size_t i = 0; i < count; ++i) out.push_back(piece(a, axis, cuts[i], cuts[i + 1]));
  return out;
}

}  // namespace

std::vector<array> broadcast(const device_group& group, const array& value, const options& how) {
  if (group.ranks()) return over_ranks::call(over_ranks::broadcast, "broadcast", group, value, how);
  exchange e("broadcast", group, how);
  const std::size_t root = multi::owner(group, value, "broadcast");
  const array start = multi::on_member(value, group[root], "broadcast", "the value");
  e.choose(start.nbytes());
  if (!e.in_pieces()) return e.spread(start, root);
  return by_pieces({start}, e.count(),
                   [&](const auto& v, std::size_t) { return e.spread(v[0], root); });
}

array reduce(const device_group& group, const std::vector<array>& values, const device& root,
             reduction with, const options& how) {
  return multi::called(group, "reduce", [&] {
    exchange e("reduce", group, how);
    const std::size_t at = group.index_of(root, "reduce");
    const std::vector<array> operands = checked_operands("reduce", group, values, with);
    if (group.ranks()) return over_ranks::all_reduce(group, operands, with, how)[at];
    e.choose(operands[0].nbytes());
    if (!e.in_pieces()) return e.reduce(operands, at, with);
    return by_pieces(operands, e.count(), [&](const auto& v, std::size_t) {
      return std::vector<array>{e.reduce(v, at, with)};
    })[0];
  });
}

std::vector<array> all_reduce(const device_group& group, const std::vector<array>& values,
                              reduction with, const options& how) {
  return multi::called(group, "all_reduce", [&] {
    exchange e("all_reduce", group, how);
    const std::vector<array> operands = checked_operands("all_reduce", group, values, with);
    if (group.ranks()) return over_ranks::all_reduce(group, operands, with, how);
    if (auto flat = multi::by_backend(group, operands, TUTTI_COLLECTIVE_ALL_REDUCE, with,
                                      operands[0].size(), how, "all_reduce"))
      return shaped(*flat, operands[0].shape());
    e.choose(operands[0].nbytes());
    if (!e.in_pieces()) return e.spread(e.reduce(operands, 0, with), 0);
    return by_pieces(operands, e.count(), [&](const auto& v, std::size_t c) {
      return e.spread(e.reduce(v, c, with), c);
    });
  });
}

std::vector<array> reduce_scatter(const device_group& group, const std::vector<array>& values,
                                  reduction with, integer axis, const options& how) {
  return multi::called(group, "reduce_scatter", [&] {
    constexpr std::string_view op = "reduce_scatter";
    exchange e(op, group, how);
    const std::vector<array> operands = checked_operands(op, group, values, with);
    const int along = checked_axis(operands[0].shape(), axis, op);
    if (group.ranks()) return over_ranks::reduce_scatter(group, operands, with, along, how);
    if (cuts_evenly(operands[0], along, e.count()))
      if (auto flat =
              multi::by_backend(group, operands, TUTTI_COLLECTIVE_REDUCE_SCATTER, with,
                                operands[0].size() / static_cast<std::int64_t>(e.count()), how, op))
        return shaped(*flat, divided(operands[0].shape(), e.count()));
    e.choose(operands[0].nbytes());
    const auto cuts = equal_boundaries(operands[0].shape()[along], e.count());
    std::vector<array> out;
    for (std::size_t i = 0; i < e.count(); ++i)
      out.push_back(e.reduce(pieces_of(operands, along, cuts[i], cuts[i + 1]), i, with));
    return out;
  });
}

std::vector<array> all_gather(const device_group& group, const std::vector<array>& values,
                              integer axis, const options& how) {
  if (group.ranks())
    return over_ranks::call(over_ranks::all_gather, "all_gather", group, values, axis, how);
  constexpr std::string_view op = "all_gather";
  exchange e(op, group, how);
  const std::vector<array> operands = multi::on_members(group, values, op);
  const int along = checked_axis(operands[0].shape(), axis, op);
  multi::require_agreement(group, operands, along, op);
  const shape whole = multi::joined_extents(operands, along, op);
  if (have_one_shape(operands) && along == 0)
    if (auto flat = multi::by_backend(group, operands, TUTTI_COLLECTIVE_ALL_GATHER, reduction::sum,
                                      whole.size(), how, op))
      return shaped(*flat, whole);
  e.choose(static_cast<std::size_t>(whole.size()) * size_of(operands[0].dtype()));
  std::vector<std::vector<array>> received(e.count());
  for (std::size_t i = 0; i < e.count(); ++i) {
    const std::vector<array> copies = e.spread(operands[i], i);
    for (std::size_t m = 0; m < e.count(); ++m) received[m].push_back(copies[m]);
  }
  return joined_each(received, along);
}

array gather(const device_group& group, const std::vector<array>& values, const device& root,
             integer axis, const options& how) {
  if (group.ranks())
    return over_ranks::call(over_ranks::gather, "gather", group, values, root, axis, how);
  const exchange e("gather", group, how);
  const std::size_t at = group.index_of(root, "gather");
  std::vector<array> operands = multi::on_members(group, values, "gather");
  const int along = checked_axis(operands[0].shape(), axis, "gather");
  multi::require_agreement(group, operands, along, "gather");
  multi::joined_extents(operands, along, "gather");
  for (array& v : operands) v = e.move(v, at);
  return multi::join(operands, along);
}

std::vector<array> scatter(const device_group& group, const array& value, integer axis,
                           const options& how) {
  if (group.ranks())
    return over_ranks::call(over_ranks::scatter, "scatter", group, value, axis, how);
  const exchange e("scatter", group, how);
  const std::size_t root = multi::owner(group, value, "scatter");
  const array start = multi::on_member(value, group[root], "scatter", "the value");
  std::vector<array> out = cut(start, checked_axis(start.shape(), axis, "scatter"), e.count());
  for (std::size_t i = 0; i < e.count(); ++i) out[i] = e.move(out[i], i);
  return out;
}

std::vector<array> all_to_all(const device_group& group, const std::vector<array>& values,
                              integer axis, const options& how) {
  if (group.ranks())
    return over_ranks::call(over_ranks::all_to_all, "all_to_all", group, values, axis, how);
  constexpr std::string_view op = "all_to_all";
  const exchange e(op, group, how);
  const std::vector<array> operands = multi::on_members(group, values, op);
  const int along = checked_axis(operands[0].shape(), axis, op);
  multi::require_agreement(group, operands, along, op);
  if (have_one_shape(operands) && cuts_evenly(operands[0], along, e.count()))
    if (auto flat = multi::by_backend(group, operands, TUTTI_COLLECTIVE_ALL_TO_ALL, reduction::sum,
                                      operands[0].size(), how, op))
      return shaped(*flat, operands[0].shape());
  std::vector<std::vector<array>> received(e.count());
  for (const array& v : operands) {
    const std::vector<array> pieces = cut(v, along, e.count());
    for (std::size_t m = 0; m < e.count(); ++m) received[m].push_back(e.move(pieces[m], m));
  }
  return joined_each(received, along);
}

void barrier(const device_group& group, const options& how) {
  if (group.ranks()) return over_ranks::call(over_ranks::barrier, "barrier", group, how);
  exchange e("barrier", group, how);
  // Work of a device runs in the order in which it was enqueued: a value computed now comes last.
  std::vector<array> tokens;
  for (const device& member : group) tokens.push_back(array::from({1}, member) + 1);
  e.choose(tokens[0].nbytes());
  tokens = e.spread(e.reduce(tokens, 0, reduction::sum), 0);
  eval(tokens);
  for (const array& t : tokens) t.wait();
}

}  // namespace tutti::collective
