// SPDX-License-Identifier: Apache-2.0
//
// Linear layers, embeddings, dropout.

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "nn/checks.hpp"
#include "tutti/nn/layers.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn {

using tutti::base::named;

layer linear(std::int64_t in, std::int64_t out, random::key key, const linear_options& options,
             dtype type, const device& on) {
  return named("linear", [&] {
    if (in < 1 || out < 1)
      base::fail<value_error>("linear: widths must be positive, got {} -> {}", in, out);
    layer_parts parts{.kind = "linear"};
    detail::add_parameter(parts, "weight",
                          detail::initial_values("linear", "linear_options::weight", options.weight,
                                                 key, {in, out}, type, on));
    if (options.bias) detail::add_parameter(parts, "bias", zeros({out}, type, on));
    parts.apply = [in](std::span<const array> parameters, std::span<const array>, const array& x,
                       const pass&) -> applied {
      if (x.ndim() < 1 || x.shape().back() != in)
        base::fail<shape_error>("linear: input must end in {}, got {}", in, x.shape());
      const array y = matmul(x, parameters[0]);
      return {parameters.size() > 1 ? y + parameters[1] : y, {}};
    };
    return layer(std::move(parts));
  });
}

sequential perceptron(const std::vector<std::int64_t>& widths, random::key key, const activation& f,
                      const linear_options& options, dtype type, const device& on) {
  if (widths.size() < 2)
    base::fail<value_error>("perceptron: needs two widths or more, got {}", widths.size());
  if (!f) throw value_error("perceptron: the activation function is empty");
  const int count = static_cast<int>(widths.size()) - 1;
  const std::vector<random::key> keys = random::split(key, count);
  std::vector<layer> layers;
  for (std::size_t i = 0; i + 1 < widths.size(); ++i) {
    if (i > 0) layers.push_back(activate(f));
    layers.push_back(linear(widths[i], widths[i + 1], keys[i], options, type, on));
  }
  return sequential(std::move(layers));
}

layer embedding(std::int64_t count, std::int64_t width, random::key key,
                const embedding_options& options, dtype type, const device& on) {
  return named("embedding", [&] {
    detail::require_positive("embedding", "count", count);
    detail::require_positive("embedding", "width", width);
    const std::optional<std::int64_t> padding = options.padding;
    if (padding && (*padding < 0 || *padding >= count))
      base::fail<value_error>("embedding: padding {} is not below {}", *padding, count);
    layer_parts parts{.kind = "embedding"};
    detail::add_parameter(parts, "weight",
                          detail::initial_values("embedding", "embedding_options::weight",
                                                 options.weight, key, {count, width}, type, on));
    return detail::stateless(std::move(parts), [padding](std::span<const array> parameters,
                                                         const array& x, const pass&) {
      const array y = take(parameters[0], x, 0);
      if (!padding) return y;
      return where(expand_dims(x == *padding, -1), zeros({}, y.dtype(), y.device()), y);
    });
  });
}

layer flatten() {
  return detail::stateless({.kind = "flatten"},
                           [](std::span<const array>, const array& x, const pass&) {
                             if (x.ndim() < 1)
                               throw shape_error("flatten: needs an axis N, got []");
                             shape rest = x.shape();  // not -1, which is undefined if N is 0
                             rest.erase(0);
                             return x.reshape({x.dim(0), rest.size()});
                           });
}

layer dropout(double rate, const dropout_options& options) {
  detail::require_option(rate >= 0 && rate < 1, "dropout", "rate", rate);
  const auto apply = [rate, shared = options.shared](std::span<const array>, const array& x,
                                                     const pass& how) {
    if (!how.training || rate == 0) return x;
    if (!how.key) throw value_error("dropout: training needs a key: nn::training(key)");
    detail::require_floating("dropout", "input", x.dtype());
    shape drawn = x.shape();
    const unsigned together = shared.given() ? shared.mask(x.ndim(), "dropout") : 0;
    for (int i = 0; i < x.ndim(); ++i)
      if ((together >> i & 1U) != 0) drawn[i] = 1;
    const array kept = random::bernoulli(*how.key, drawn, 1 - rate, x.device());
    return where(kept, x * (1 / (1 - rate)), zeros({}, x.dtype(), x.device()));
  };
  return detail::stateless({.kind = "dropout"}, apply);
}

}  // namespace tutti::nn
