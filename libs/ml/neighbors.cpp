// SPDX-License-Identifier: Apache-2.0
//
// Nearest neighbours: selects the smallest distances from a block of queries to all samples.

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "ml/samples.hpp"
#include "tutti/ml/metrics.hpp"
#include "tutti/ml/models.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"
#include "tutti/sorting.hpp"

namespace tutti::ml {

using base::named;

namespace {

// Distances per block: 32 or 64 MiB.
constexpr std::int64_t distances_at_once = std::int64_t{1} << 23;

void check_neighbors(const k_neighbors_options& options, const char* op) {
  if (options.neighbors < 1) base::fail<value_error>("{}: {} neighbors", op, options.neighbors);
  base::require_known(op, "metric", options.metric, distance_metric::cosine);
}

neighbors_result neighbors_of(const array& samples, const array& given,
                              const k_neighbors_options& options, const char* op) {
  check_neighbors(options, op);
  if (options.neighbors > samples.dim(0))
    base::fail<value_error>("{}: {} neighbors of {} samples", op, options.neighbors,
                            samples.dim(0));
  const array queries = as_finite_samples(given, samples.dim(1), op);
  const std::int64_t count = queries.dim(0);
  const std::int64_t block = std::max<std::int64_t>(1, distances_at_once / samples.dim(0));
  std::vector<array> distances, indices;
  for (std::int64_t first = 0; first < count; first += block) {
    const array part = queries({{first, std::min(first + block, count)}});
    const sorted_values nearest =
        topk(cdist(part, samples, options.metric), options.neighbors, -1, false);
    eval({nearest.values, nearest.indices});
    distances.push_back(nearest.values);
    indices.push_back(nearest.indices);
  }
  return {concatenate(distances), concatenate(indices)};
}

// The weight of each neighbour, [queries, neighbors]; they sum to 1.
array shares_of_neighbors(const array& distances, neighbor_weights weights) {
  if (weights == neighbor_weights::uniform)
    return ones_like(distances) / static_cast<double>(distances.dim(1));
  const array is_zero = distances == 0;
  const array touches = any(is_zero, {1, keep_dims::yes});
  const array each =
      where(touches, is_zero.astype(distances.dtype()), 1 / where(is_zero, 1, distances));
  return each / sum(each, {1, keep_dims::yes});
}

}  // namespace

neighbors_result k_neighbors(const array& samples, const array& queries,
                             const k_neighbors_options& options) {
  return named("k_neighbors", [&] {
    const array x = as_finite_samples(samples, "k_neighbors");
    return neighbors_of(x, queries, options, "k_neighbors");
  });
}

k_neighbors_classifier::k_neighbors_classifier(const k_neighbors_options& options)
    : options_(options) {
  check_neighbors(options, "k_neighbors_classifier");
}

k_neighbors_classifier& k_neighbors_classifier::fit(const array& given, const array& y) {
  constexpr const char* op = "k_neighbors_classifier::fit";
  named(op, [&] {
    const array x = as_finite_samples(given, op);
    const unique_result found = unique(as_labels(y, x.dim(0), op));
    samples_ = x;
    labels_ = found.inverse;
    classes_ = found.values;
  });
  return *this;
}

array k_neighbors_classifier::predict_proba(const array& x) const {
  constexpr const char* op = "k_neighbors_classifier::predict_proba";
  return named(op, [&] {
    require_fitted(samples_, op);
    const neighbors_result nearest = neighbors_of(samples_, x, options_, op);
    const array shares = shares_of_neighbors(nearest.distances, options_.weights);
    const array members = one_hot(take(labels_, nearest.indices), classes_.size(), dtype::boolean);
    return sum(where(members, expand_dims(shares, 2), 0), 1);
  });
}

array k_neighbors_classifier::predict(const array& x) const {
  return named("k_neighbors_classifier::predict",
               [&] { return take(classes_, argmax(predict_proba(x), 1)); });
}

double k_neighbors_classifier::score(const array& x, const array& y) const {
  return named("k_neighbors_classifier::score",
               [&] { return accuracy_score(y, predict(x)).item(); });
}

io::named_arrays k_neighbors_classifier::parameters() const {
  require_fitted(samples_, "k_neighbors_classifier::parameters");
  return {{"samples", samples_}, {"labels", labels_}, {"classes", classes_}};
}

void k_neighbors_classifier::load_parameters(const io::named_arrays& arrays) {
  constexpr const char* op = "k_neighbors_classifier::load_parameters";
  const parameter_reader reader(arrays, {"samples", "labels", "classes"}, op);
  const array samples = reader.floats("samples", 2), labels = reader.integers("labels", 1);
  const array classes = reader.integers("classes", 1);
  reader.require_shape("labels", labels, {samples.dim(0)});
  if (labels.size() == 0 || classes.size() == 0)
    base::fail<shape_error>("{}: samples {} of {} classes", op, samples.shape(), classes.size());
  if (!all((labels >= 0) & (labels < classes.size())).item<bool>())
    base::fail<value_error>("{}: labels outside of {} classes", op, classes.size());
  samples_ = samples;
  labels_ = labels;
  classes_ = classes;
}

k_neighbors_regressor::k_neighbors_regressor(const k_neighbors_options& options)
    : options_(options) {
  check_neighbors(options, "k_neighbors_regressor");
}

k_neighbors_regressor& k_neighbors_regressor::fit(const array& given, const array& y) {
  constexpr const char* op = "k_neighbors_regressor::fit";
  named(op, [&] {
    const array x = as_finite_samples(given, op);
    targets_ = stop_gradient(as_targets(y, x, op));
    samples_ = x;
  });
  return *this;
}

array k_neighbors_regressor::predict(const array& x) const {
  constexpr const char* op = "k_neighbors_regressor::predict";
  return named(op, [&] {
    require_fitted(samples_, op);
    const neighbors_result nearest = neighbors_of(samples_, x, options_, op);
    const array shares = shares_of_neighbors(nearest.distances, options_.weights);
    const array values = take(targets_, nearest.indices).astype(shares.dtype());
    return sum((targets_.ndim() == 2 ? expand_dims(shares, 2) : shares) * values, 1);
  });
}

double k_neighbors_regressor::score(const array& x, const array& y) const {
  return named("k_neighbors_regressor::score", [&] { return r2_score(y, predict(x)).item(); });
}

io::named_arrays k_neighbors_regressor::parameters() const {
  require_fitted(samples_, "k_neighbors_regressor::parameters");
  return {{"samples", samples_}, {"targets", targets_}};
}

void k_neighbors_regressor::load_parameters(const io::named_arrays& arrays) {
  constexpr const char* op = "k_neighbors_regressor::load_parameters";
  const parameter_reader reader(arrays, {"samples", "targets"}, op);
  const array samples = reader.floats("samples", 2), targets = reader.floats("targets", -1);
  reader.require_shape("targets", targets,
                       targets.ndim() == 2 ? shape{samples.dim(0), -1} : shape{samples.dim(0)});
  samples_ = samples;
  targets_ = targets;
}

}  // namespace tutti::ml
