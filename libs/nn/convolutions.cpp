// SPDX-License-Identifier: Apache-2.0
//
// Convolution and pooling layers.

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "nn/checks.hpp"
#include "tutti/extension.hpp"
#include "tutti/nn/layers.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn {

using tutti::base::named;

namespace {

void check_channels(const char* op, std::int64_t in, std::int64_t out, std::int64_t groups) {
  detail::require_positive(op, "in", in);
  detail::require_positive(op, "out", out);
  if (groups < 1 || in % groups != 0 || out % groups != 0)
    base::fail<value_error>("{}: {} groups do not divide {} -> {} channels", op, groups, in, out);
}

void check_image(const char* op, const array& x, std::int64_t channels, int axes,
                 channel_order order) {
  const int at = order == channel_order::first ? 1 : axes + 1;
  if (x.ndim() != axes + 2 || x.dim(at) != channels)
    base::fail<shape_error>("{}: input must have {} axes with {} channels at {}, got {}", op,
                            axes + 2, channels, at, x.shape());
}

/// `weights`: the shape of the weights; `convolve(x, w, bias, to)` and `convolve(x, w, to)` are the
/// convolution with and without a bias.
template <class Options, class Of, class F>
layer convolution_layer(const char* op, std::int64_t in, std::int64_t out, int axes,
                        const shape& weights, random::key key, const Options& options, const Of& to,
                        dtype type, const device& on, F convolve) {
  layer_parts parts{.kind = op};
  detail::add_parameter(
      parts, "weight",
      detail::initial_values(op, "options.weight", options.weight, key, weights, type, on));
  if (options.bias) detail::add_parameter(parts, "bias", zeros({out}, type, on));
  return detail::stateless(
      std::move(parts),
      [=, order = options.order](std::span<const array> p, const array& x, const pass&) {
        check_image(op, x, in, axes, order);
        return p.size() > 1 ? convolve(x, p[0], p[1], to) : convolve(x, p[0], to);
      });
}

template <class F>
layer forward_convolution(const char* op, int axes, std::int64_t in, std::int64_t out,
                          const per_axis& window, random::key key, const conv_options& o,
                          dtype type, const device& on, F convolve) {
  return named(op, [&] {
    check_channels(op, in, out, o.groups);
    const shape weights = detail::joined(
        {out, in / o.groups}, tutti::op::axis_values(window.values(), axes, 1, "window", op));
    const convolution_options options{.stride = o.stride,
                                      .padding = o.padding,
                                      .dilation = o.dilation,
                                      .groups = o.groups,
                                      .mode = o.mode,
                                      .order = o.order};
    return convolution_layer(op, in, out, axes, weights, key, o, options, type, on, convolve);
  });
}

template <class F>
layer transposed_convolution(const char* op, int axes, std::int64_t in, std::int64_t out,
                             const per_axis& window, random::key key,
                             const conv_transpose_options& o, dtype type, const device& on,
                             F convolve) {
  return named(op, [&] {
    check_channels(op, in, out, o.groups);
    const shape weights = detail::joined(
        {in, out / o.groups}, tutti::op::axis_values(window.values(), axes, 1, "window", op));
    const transposed_convolution_options options{.stride = o.stride,
                                                 .padding = o.padding,
                                                 .output_padding = o.output_padding,
                                                 .dilation = o.dilation,
                                                 .groups = o.groups,
                                                 .order = o.order};
    return convolution_layer(op, in, out, axes, weights, key, o, options, type, on, convolve);
  });
}

layer pooling_layer(const char* op, activation pool) {
  return detail::stateless(
      {.kind = op}, [pool = std::move(pool)](std::span<const array>, const array& x, const pass&) {
        return pool(x);
      });
}

array without_places(const array& pooled, channel_order order) {
  const std::int64_t channels = pooled.dim(order == channel_order::first ? 1 : -1);
  return pooled.reshape({pooled.dim(0), channels});
}

}  // namespace

#define TUTTI_CONVOLUTION_LAYER(name, axes, made, options_type)                          \
  layer name(std::int64_t in, std::int64_t out, const per_axis& window, random::key key, \
             const options_type& options, dtype type, const device& on) {                \
    return made(#name, axes, in, out, window, key, options, type, on,                    \
                [](const auto&... of) { return tutti::name(of...); });                   \
  }
TUTTI_CONVOLUTION_LAYER(conv1d, 1, forward_convolution, conv_options)
TUTTI_CONVOLUTION_LAYER(conv2d, 2, forward_convolution, conv_options)
TUTTI_CONVOLUTION_LAYER(conv3d, 3, forward_convolution, conv_options)
TUTTI_CONVOLUTION_LAYER(conv_transpose1d, 1, transposed_convolution, conv_transpose_options)
TUTTI_CONVOLUTION_LAYER(conv_transpose2d, 2, transposed_convolution, conv_transpose_options)
TUTTI_CONVOLUTION_LAYER(conv_transpose3d, 3, transposed_convolution, conv_transpose_options)
#undef TUTTI_CONVOLUTION_LAYER

layer max_pool(const per_axis& window, const pooling_options& options) {
  return pooling_layer("max_pool",
                       [=](const array& x) { return tutti::max_pool(x, window, options); });
}
layer avg_pool(const per_axis& window, const pooling_options& options) {
  return pooling_layer("avg_pool",
                       [=](const array& x) { return tutti::avg_pool(x, window, options); });
}
layer adaptive_max_pool(const per_axis& places, channel_order order) {
  return pooling_layer("adaptive_max_pool",
                       [=](const array& x) { return tutti::adaptive_max_pool(x, places, order); });
}
layer adaptive_avg_pool(const per_axis& places, channel_order order) {
  return pooling_layer("adaptive_avg_pool",
                       [=](const array& x) { return tutti::adaptive_avg_pool(x, places, order); });
}
layer global_max_pool(channel_order order) {
  return pooling_layer("global_max_pool", [=](const array& x) {
    return without_places(tutti::global_max_pool(x, order), order);
  });
}
layer global_avg_pool(channel_order order) {
  return pooling_layer("global_avg_pool", [=](const array& x) {
    return without_places(tutti::global_avg_pool(x, order), order);
  });
}

}  // namespace tutti::nn
