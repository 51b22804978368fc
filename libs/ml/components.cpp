// SPDX-License-Identifier: Apache-2.0
//
// Principal components by singular values of the centred rows.

#include <algorithm>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "ml/samples.hpp"
#include "tutti/linalg.hpp"
#include "tutti/ml/models.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"

namespace tutti::ml {

using base::named;

pca::pca(const pca_options& options) : options_(options) {
  if (options.components && *options.components < 1)
    base::fail<value_error>("pca: {} components", *options.components);
}

pca& pca::fit(const array& given) {
  constexpr const char* op = "pca::fit";
  named(op, [&] {
    const array x = as_samples(given, op);
    const std::int64_t most = std::min(x.dim(0), x.dim(1));
    const std::int64_t count = options_.components.value_or(most);
    if (count > most) base::fail<value_error>("{}: {} components of {}", op, count, x.shape());
    const array middle = tutti::mean(x, {0, keep_dims::yes});
    const linalg::svd_result f = linalg::svd(x - middle, false);
    const auto first = slice{0, count, 1};
    const array rows = f.vh({first});
    const array largest = take_along_axis(rows, argmax(abs(rows), {1, keep_dims::yes}), 1);
    const array variances = square(f.s) / (static_cast<double>(x.dim(0)) - 1);
    mean_ = reshape(middle, {x.dim(1)});
    components_ = rows * stop_gradient(where(largest < 0, -1, 1));
    variance_ = variances({first});
    ratio_ = variance_ / sum(variances);
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
    const array x = as_samples(given, mean_, "pca::transform");
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

}  // namespace tutti::ml
