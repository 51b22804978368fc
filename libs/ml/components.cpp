// SPDX-License-Identifier: Apache-2.0
//
// Principal components and clusters as models.
#include <fmt/format.h>

#include <algorithm>

#include "base/named_errors.hpp"
#include "ml/samples.hpp"
#include "tutti/ml/models.hpp"
#include "tutti/ops.hpp"

namespace tutti::ml {

using detail::named;

pca::pca(const pca_options& options) : options_(options) {
  if (options.components && *options.components < 1)
    throw value_error(fmt::format("pca: {} components", *options.components));
}

pca& pca::fit(const array& given) {
  constexpr const char* op = "pca::fit";
  named(op, [&] {
    const array x = as_samples(given, op);
    const pca_result found =
        tutti::pca(x, options_.components.value_or(std::min(x.dim(0), x.dim(1))));
    mean_ = found.mean;
    components_ = found.components;
    variance_ = found.explained_variance;
    ratio_ = found.explained_variance_ratio;
  });
  return *this;
}

namespace {

// Standard deviations of components; 1 instead of 0.
array deviations_of(const array& variance) {
  const array is_zero = variance <= 0;
  return sqrt(where(is_zero, 1, variance));
}

}  // namespace

array pca::transform(const array& given) const {
  return named("pca::transform", [&] {
    require_fitted(mean_, "pca::transform");
    const array x = as_samples(given, mean_.size(), "pca::transform");
    const array scores = matmul(x - mean_, components_.T());
    return options_.whiten ? scores / deviations_of(variance_) : scores;
  });
}

array pca::inverse_transform(const array& given) const {
  return named("pca::inverse_transform", [&] {
    require_fitted(mean_, "pca::inverse_transform");
    const array scores = as_samples(given, components_.dim(0), "pca::inverse_transform");
    return matmul(options_.whiten ? scores * deviations_of(variance_) : scores, components_) +
           mean_;
  });
}

io::named_arrays pca::parameters() const {
  require_fitted(mean_, "pca::parameters");
  return {{"mean", mean_},
          {"components", components_},
          {"explained_variance", variance_},
          {"explained_variance_ratio", ratio_}};
}

void pca::load_parameters(const io::named_arrays& arrays) {
  const parameter_reader reader(
      arrays, {"mean", "components", "explained_variance", "explained_variance_ratio"},
      "pca::load_parameters");
  const array middle = reader.floats("mean", 1), components = reader.floats("components", 2);
  const array variance = reader.floats("explained_variance", 1);
  const array ratio = reader.floats("explained_variance_ratio", 1);
  reader.require_shape("components", components, {-1, middle.size()});
  reader.require_shape("explained_variance", variance, {components.dim(0)});
  reader.require_shape("explained_variance_ratio", ratio, {components.dim(0)});
  mean_ = middle;
  components_ = components;
  variance_ = variance;
  ratio_ = ratio;
}

k_means::k_means(random::key key, const k_means_options& options) : key_(key), options_(options) {
  if (options.clusters < 1 || options.starts < 1 || options.iterations < 1 ||
      !(options.tolerance >= 0))
    throw value_error(
        fmt::format("k_means: {} clusters, {} starts, {} iterations, a tolerance of {}",
                    options.clusters, options.starts, options.iterations, options.tolerance));
}

k_means& k_means::fit(const array& given) {
  constexpr const char* op = "k_means::fit";
  named(op, [&] {
    const array x = as_finite_samples(given, op);
    kmeans_result best{{}, {}, 0, 0};
    for (const random::key key : random::split(key_, options_.starts)) {
      kmeans_result found =
          kmeans(key, x, options_.clusters,
                 {.iterations = options_.iterations, .tolerance = options_.tolerance});
      if (!best.centers.valid() || found.inertia < best.inertia) best = std::move(found);
    }
    centers_ = best.centers;
    labels_ = best.labels;
    inertia_ = best.inertia;
    iterations_ = best.iterations;
  });
  return *this;
}

array k_means::transform(const array& given) const {
  return named("k_means::transform", [&] {
    require_fitted(centers_, "k_means::transform");
    return cdist(as_samples(given, centers_.dim(1), "k_means::transform"), centers_);
  });
}

array k_means::predict(const array& given) const {
  return named("k_means::predict", [&] {
    require_fitted(centers_, "k_means::predict");
    const array x = as_finite_samples(given, centers_.dim(1), "k_means::predict");
    return argmin(cdist(x, centers_, distance_metric::sqeuclidean), 1);
  });
}

double k_means::score(const array& given) const {
  return named("k_means::score", [&] {
    require_fitted(centers_, "k_means::score");
    const array x = as_samples(given, centers_.dim(1), "k_means::score");
    return -sum(min(cdist(x, centers_, distance_metric::sqeuclidean), 1)).item();
  });
}

io::named_arrays k_means::parameters() const {
  require_fitted(centers_, "k_means::parameters");
  return {{"centers", centers_}};
}

void k_means::load_parameters(const io::named_arrays& arrays) {
  const parameter_reader reader(arrays, {"centers"}, "k_means::load_parameters");
  const array centers = reader.floats("centers", 2);
  if (centers.size() == 0) reader.require_shape("centers", centers, {1, 1});
  centers_ = centers;
}

}  // namespace tutti::ml
