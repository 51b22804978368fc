// SPDX-License-Identifier: Apache-2.0
//
// Binning, growth and evaluation of trees.
#include "ml/trees.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "ml/samples.hpp"
#include "tutti/extension.hpp"
#include "tutti/ops.hpp"
#include "tutti/sorting.hpp"

namespace tutti::ml {

namespace {

constexpr std::int64_t rows_for_quantiles = 200000;

// A value between two neighbouring sorted values, in [low, high) after rounding to their dtype.
double edge_between(double low, double high, dtype type) {
  double middle = low + (high - low) / 2;
  if (type == dtype::f32) middle = static_cast<float>(middle);
  return std::isfinite(middle) && middle < high ? middle : low;
}

// The upper edges of bins of sorted values with NaN last: fewer than max_bins.
std::vector<double> edges_of(const double* sorted, std::size_t count, std::size_t max_bins,
                             dtype type) {
  while (count > 0 && std::isnan(sorted[count - 1])) --count;
  std::vector<double> edges;
  for (std::size_t i = 1; i < count && edges.size() < max_bins; ++i)
    if (sorted[i - 1] < sorted[i]) edges.push_back(edge_between(sorted[i - 1], sorted[i], type));
  if (edges.size() < max_bins) return edges;
  edges.clear();
  for (std::size_t b = 1; b < max_bins; ++b) {
    const double place =
        static_cast<double>(b) / static_cast<double>(max_bins) * static_cast<double>(count - 1);
    const auto low = static_cast<std::size_t>(place);
    const std::size_t high = std::min(low + (place > static_cast<double>(low) ? 1 : 0), count - 1);
    const double edge = edge_between(sorted[low], sorted[high], type);
    // No edge is needed above the largest value.
    if ((edges.empty() || edges.back() < edge) && edge < sorted[count - 1]) edges.push_back(edge);
  }
  return edges;
}

// Values at valid indices; a is flat, the result has the shape of `places`.
array values_at(const array& a, const array& places) {
  const array rows = op::take_rows(reshape(a, {1, a.size(), 1}), reshape(places, {-1}));
  return reshape(rows, places.shape());
}

array row_starts(std::int64_t rows, std::int64_t stride, const array& like) {
  return arange(rows, like.dtype(), like.device()) * stride;
}

dtype index_type(std::int64_t a, std::int64_t b) {
  return static_cast<double>(a) * static_cast<double>(b) < 2147483648.0 ? dtype::i32 : dtype::i64;
}

}  // namespace

bool is_grown_on_host(const array& x) {
  return x.device().properties().type == device_type::cpu && x.dim(0) < 0xffffffff;
}

double rounding_of_gains(dtype type) { return 16 * finfo(type).epsilon; }

binned_samples binned(const array& x, int max_bins, std::int64_t leaves, bool on_host) {
  const std::int64_t rows = x.dim(0), features = x.dim(1);
  const std::int64_t step = (rows + rows_for_quantiles - 1) / rows_for_quantiles;
  const array columns = x({slice{{}, {}, step}}).T();
  const std::vector<double> sorted = host_values(sort(columns, -1));
  const auto count = static_cast<std::size_t>(columns.dim(1));
  std::vector<std::vector<double>> edges;
  std::size_t most = 0;
  for (std::size_t f = 0; f < static_cast<std::size_t>(features); ++f) {
    edges.push_back(
        edges_of(&sorted[f * count], count, static_cast<std::size_t>(max_bins), x.dtype()));
    most = std::max(most, edges.back().size());
  }
  const std::int64_t bins = static_cast<std::int64_t>(most) + 1;
  const dtype type = index_type(std::max(rows, leaves * bins), features);
  std::vector<double> table;
  std::vector<array> keys;
  std::vector<std::uint8_t> columns_on_host;
  for (std::size_t f = 0; f < edges.size(); ++f) {
    const auto column = static_cast<std::int64_t>(f);
    const array list = numbers_like(x, edges[f], {edges[f].size()});
    const array bin = searchsorted(list, x(all(), column));
    if (on_host) {
      const std::vector<std::uint8_t> own = bin.astype(dtype::u8).to_vector<std::uint8_t>();
      columns_on_host.insert(columns_on_host.end(), own.begin(), own.end());
    } else {
      keys.push_back((bin + column * bins).astype(type));
    }
    edges[f].resize(static_cast<std::size_t>(bins), std::numeric_limits<double>::infinity());
    table.insert(table.end(), edges[f].begin(), edges[f].end());
  }
  binned_samples out;
  out.edges = numbers_like(x, table, {table.size()});
  out.rows = rows;
  out.features = features;
  out.bins = bins;
  if (on_host) {
    out.columns = std::move(columns_on_host);
    out.edge_values = std::move(table);
  } else {
    out.keys = contiguous(stack(keys, 1));
  }
  eval(out.edges, on_host ? out.edges : out.keys);
  return out;
}

namespace {

// The key of the best split of each node, the last bin of its left child, for sums of first and
// second derivatives and counts [nodes, features, bins, 3]; or without second derivatives if these
// are 1.
array best_keys(const array& histogram, const tree_options& o) {
  const std::int64_t nodes = histogram.dim(0), bins = histogram.dim(2);
  const array left = cumsum(histogram, 2), whole = left(all(), all(), slice{bins - 1, bins, 1});
  const array right = whole - left;
  const auto part = [](const array& a, std::int64_t which) { return a(ellipsis(), which); };
  const auto gain = [&](const array& sums) {
    const array weight = part(sums, 1) + o.l2;
    return square(part(sums, 0)) / where(weight > 0, weight, 1);
  };
  const array parent = gain(whole), gained = gain(left) + gain(right) - parent;
  const auto is_leaf = [&](const array& sums) {
    return (part(sums, sums.dim(-1) - 1) >= o.min_samples) & (part(sums, 1) >= least_curvature);
  };
  // Smaller gains are rounding errors.
  const array noise = parent * rounding_of_gains(histogram.dtype());
  const array usable = is_leaf(left) & is_leaf(right) & (gained > noise);
  const array ranked = reshape(where(usable, gained, 0), {nodes, -1});
  return where(max(ranked, 1) > 0, argmax(ranked, 1), bins - 1);
}

}  // namespace

tree grow(const binned_samples& x, const array& g, const array& h, const tree_options& o) {
  if (!x.columns.empty()) return grow_on_host(x, g, h, o);
  const array one = ones_like(g);
  const array sums = h.valid() ? stack({g, h, one}, 1) : stack({g, one}, 1);
  const std::int64_t width = sums.dim(1);
  const array of_keys = reshape(broadcast_to(expand_dims(sums, 1), {x.rows, x.features, width}),
                                {1, x.rows * x.features, width});
  const array starts = row_starts(x.rows, x.features, x.keys);
  const std::int64_t keys = x.features * x.bins;
  array node = zeros({x.rows}, x.keys.dtype(), x.keys.device());
  std::vector<array> splits;
  std::int64_t nodes = 1;
  for (int level = 0; level < o.depth; ++level, nodes *= 2) {
    const array places = reshape(x.keys + expand_dims(node * keys, 1), {-1});
    const array histogram = op::scatter_rows(of_keys, places, nodes * keys);
    const array best =
        contiguous(best_keys(reshape(histogram, {nodes, x.features, x.bins, width}), o)
                       .astype(x.keys.dtype()));
    splits.push_back(best);
    const array limit = values_at(best, node);
    const array key = values_at(x.keys, starts + floor_divide(limit, x.bins));
    node = node * 2 + (key > limit).astype(node.dtype());
  }
  const array totals = reshape(op::scatter_rows(expand_dims(sums, 0), node, nodes), {nodes, width});
  const array weight = totals(all(), 1) + o.l2;
  const array values =
      where(weight > 0, totals(all(), 0) / where(weight > 0, weight, 1), 0) * -o.rate;
  const array chosen = concatenate(splits);
  return {floor_divide(chosen, x.bins).astype(dtype::i64), values_at(x.edges, chosen), values,
          values_at(values, node)};
}

array sum_of_trees(const array& given, const array& features, const array& thresholds,
                   const array& values, std::int64_t outputs) {
  const std::int64_t trees = values.dim(0), leaves = values.dim(1), nodes = features.dim(1);
  const std::int64_t columns = given.dim(1);
  // About 16 MiB for each array of a position in each tree.
  const std::int64_t block = std::max<std::int64_t>(1, (std::int64_t{1} << 22) / trees);
  const dtype type = index_type(std::max(block * columns, trees * leaves), 1);
  const array of_nodes = features.astype(type);
  const array trees_at = arange(trees, type, given.device());
  std::vector<array> parts;
  for (std::int64_t first = 0; first < given.dim(0); first += block) {
    const array x = contiguous(given({{first, std::min(first + block, given.dim(0))}}));
    const array starts = expand_dims(row_starts(x.dim(0), columns, trees_at), 1);
    array place = zeros({x.dim(0), trees}, type, x.device());
    for (std::int64_t reached = 0; reached < nodes; reached = 2 * reached + 1) {
      const array at = trees_at * nodes + place;
      const array limit = values_at(thresholds, at);
      const array value = values_at(x, starts + values_at(of_nodes, at));
      const array is_right = logical_not(value <= limit) & (limit < INFINITY);
      place = place * 2 + 1 + is_right.astype(type);
    }
    const array found = values_at(values, trees_at * leaves + (place - nodes));
    parts.push_back(sum(reshape(found, {x.dim(0), trees / outputs, outputs}), 1));
  }
  return concatenate(parts);
}

}  // namespace tutti::ml
