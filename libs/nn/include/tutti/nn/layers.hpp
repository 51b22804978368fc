// SPDX-License-Identifier: Apache-2.0
//
// Layers: products, convolutions, pooling, normalisation, dropout, embeddings. Each is created from
// its sizes and, if it has weights, a random key that determines them. Sizes that are not positive,
// and options out of range, throw value_error at creation; an x that does not match throws
// shape_error when the layer is applied, both with the layer and the values.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tutti/convolution.hpp"
#include "tutti/nn/activations.hpp"
#include "tutti/nn/initializers.hpp"
#include "tutti/nn/layer.hpp"
#include "tutti/nn/pooling.hpp"

namespace tutti::nn {

// ---- products

struct linear_options {
  bool bias = true;
  initializer weight = kaiming_normal;
};

/// x W + b: x [..., in], parameters "weight" [in, out] and "bias" [out], which is initially 0.
/// Throws value_error if a width is not positive or there is no initialiser; when applied,
/// shape_error if the last extent of x is not `in`.
TUTTI_API layer linear(std::int64_t in, std::int64_t out, random::key key,
                       const linear_options& options = {}, dtype type = dtype::f32,
                       const device& on = default_device());

/// Linear layers with widths[0] inputs, then widths[1], ... units, and `f` between them (not after
/// the last). Throws value_error for fewer than two widths and an empty `f`.
TUTTI_API sequential perceptron(const std::vector<std::int64_t>& widths, random::key key,
                                const activation& f, const linear_options& options = {},
                                dtype type = dtype::f32, const device& on = default_device());

struct embedding_options {
  initializer weight = normal_values(1);
  std::optional<std::int64_t> padding{};  ///< an index whose vector is 0 and is not trained
};
/// Vectors for integers: the result for x of any shape is [..., width]; parameter "weight" [count,
/// width]. Throws dtype_error if x is not an integer, index_error as take().
TUTTI_API layer embedding(std::int64_t count, std::int64_t width, random::key key,
                          const embedding_options& options = {}, dtype type = dtype::f32,
                          const device& on = default_device());

// ---- convolutions: parameters "weight", as in convolution.hpp, and "bias" [out]

struct conv_options {
  per_axis stride = 1;
  window_padding padding = 0;
  per_axis dilation = 1;
  std::int64_t groups = 1;  ///< divides in and out
  padding_mode mode = padding_mode::zeros;
  channel_order order = channel_order::first;
  bool bias = true;
  initializer weight = kaiming_normal;
};
/// tutti's conv1d, conv2d, conv3d with weights [out, in / groups, window...]; x [N, in, spatial...]
/// or, with channel_order::last, [N, spatial..., in].
TUTTI_API layer conv1d(std::int64_t in, std::int64_t out, const per_axis& window, random::key key,
                       const conv_options& options = {}, dtype type = dtype::f32,
                       const device& on = default_device());
TUTTI_API layer conv2d(std::int64_t in, std::int64_t out, const per_axis& window, random::key key,
                       const conv_options& options = {}, dtype type = dtype::f32,
                       const device& on = default_device());
TUTTI_API layer conv3d(std::int64_t in, std::int64_t out, const per_axis& window, random::key key,
                       const conv_options& options = {}, dtype type = dtype::f32,
                       const device& on = default_device());

struct conv_transpose_options {
  per_axis stride = 1;
  window_padding padding = 0;
  per_axis output_padding = 0;
  per_axis dilation = 1;
  std::int64_t groups = 1;
  channel_order order = channel_order::first;
  bool bias = true;
  initializer weight = kaiming_normal;
};
/// conv_transpose1d, ... of tutti with weights [in, out / groups, window...].
TUTTI_API layer conv_transpose1d(std::int64_t in, std::int64_t out, const per_axis& window,
                                 random::key key, const conv_transpose_options& options = {},
                                 dtype type = dtype::f32, const device& on = default_device());
TUTTI_API layer conv_transpose2d(std::int64_t in, std::int64_t out, const per_axis& window,
                                 random::key key, const conv_transpose_options& options = {},
                                 dtype type = dtype::f32, const device& on = default_device());
TUTTI_API layer conv_transpose3d(std::int64_t in, std::int64_t out, const per_axis& window,
                                 random::key key, const conv_transpose_options& options = {},
                                 dtype type = dtype::f32, const device& on = default_device());

// ---- layers of the functions of pooling.hpp, without parameters

TUTTI_API layer max_pool(const per_axis& window, const pooling_options& options = {});
TUTTI_API layer avg_pool(const per_axis& window, const pooling_options& options = {});
TUTTI_API layer adaptive_max_pool(const per_axis& places,
                                  channel_order order = channel_order::first);
TUTTI_API layer adaptive_avg_pool(const per_axis& places,
                                  channel_order order = channel_order::first);
/// [N, C]: removes the spatial axes, which the functions keep.
TUTTI_API layer global_max_pool(channel_order order = channel_order::first);
TUTTI_API layer global_avg_pool(channel_order order = channel_order::first);
/// [N, ...] reshaped to [N, all the rest].
TUTTI_API layer flatten();

// ---- normalisation: (x - mean) / sqrt(variance + epsilon) over some axes, times "weight",
// initially 1, plus "bias", initially 0. f16 and bf16 are computed in f32 and rounded once.

/// For the functions, which take weights as arguments.
struct norm_options {
  std::optional<array> weight{};  ///< broadcasts to x; for batch_norm and group_norm [C]
  std::optional<array> bias{};
  double epsilon = 1e-5;                       ///< positive
  channel_order order = channel_order::first;  ///< for batch_norm and group_norm
};
struct channel_moments {
  array mean, variance;  ///< [C]
};
/// Mean and population variance of each channel of x [N, C, ...] or [N, ..., C].
TUTTI_API channel_moments moments_of_channels(const array& x,
                                              channel_order order = channel_order::first);
/// Normalises each channel by a mean and a variance [C].
TUTTI_API array batch_norm(const array& x, const array& mean, const array& variance,
                           const norm_options& options = {});
/// Normalises over the axes, by their mean and variance. x of bool and integers becomes f32.
TUTTI_API array layer_norm(const array& x, const axis_list& axes, const norm_options& options = {});
/// Over `groups` groups of channels and their positions, for each of N. With as many groups as
/// channels: instance normalisation. Throws value_error if groups do not divide the channels.
TUTTI_API array group_norm(const array& x, std::int64_t groups, const norm_options& options = {});
/// x / sqrt(mean(x^2) + epsilon) over the axes.
TUTTI_API array rms_norm(const array& x, const axis_list& axes, const norm_options& options = {});

// The layers have "weight" and "bias" as parameters, and call the functions.

struct batch_norm_options {
  double epsilon = 1e-5;  ///< positive
  double momentum = 0.1;  ///< weight of the batch in the new running statistics, in [0, 1]
  bool affine = true;     ///< with parameters
  channel_order order = channel_order::first;
};
/// Normalises each channel of x [N, C, ...] or [N, ..., C] (S. Ioffe, C. Szegedy, "Batch
/// Normalization", ICML 2015). In training it uses the statistics of the batch, and the state,
/// "running_mean" and "running_var" [C], initially 0 and 1, moves towards them (variance with
/// divisor n - 1); otherwise it uses the state. Throws shape_error in training if a channel has
/// fewer than two elements.
TUTTI_API layer batch_norm(std::int64_t channels, const batch_norm_options& options = {},
                           dtype type = dtype::f32, const device& on = default_device());

struct layer_norm_options {
  double epsilon = 1e-5;
  bool weight = true;
  bool bias = true;
};
/// Over the last axes, which must have these extents (J. Ba et al., "Layer Normalization",
/// arXiv:1607.06450).
TUTTI_API layer layer_norm(const shape& extents, const layer_norm_options& options = {},
                           dtype type = dtype::f32, const device& on = default_device());

struct group_norm_options {
  double epsilon = 1e-5;
  bool affine = true;
  channel_order order = channel_order::first;
};
/// Over `groups` groups of channels with their positions, for each of N (Y. Wu, K. He, "Group
/// Normalization", ECCV 2018). With as many groups as channels: instance normalisation. Throws
/// value_error if groups do not divide channels.
TUTTI_API layer group_norm(std::int64_t groups, std::int64_t channels,
                           const group_norm_options& options = {}, dtype type = dtype::f32,
                           const device& on = default_device());

/// x / sqrt(mean(x^2) + epsilon) over the last axes, which must have these extents, times "weight"
/// (B. Zhang, R. Sennrich, "Root Mean Square Layer Normalization", NeurIPS 2019).
TUTTI_API layer rms_norm(const shape& extents, double epsilon = 1e-6, dtype type = dtype::f32,
                         const device& on = default_device());
TUTTI_API layer rms_norm(std::int64_t width, double epsilon = 1e-6, dtype type = dtype::f32,
                         const device& on = default_device());

// ---- dropout

struct dropout_options {
  axis_list shared{};  ///< axes that share one random decision: {2, 3} drops whole channels
};
/// In training, 0 with probability `rate`, otherwise x / (1 - rate) (N. Srivastava et al.,
/// "Dropout", JMLR 15, 2014); not in training, x. Throws value_error unless 0 <= rate < 1; when
/// applied in training, value_error without a key.
TUTTI_API layer dropout(double rate, const dropout_options& options = {});

}  // namespace tutti::nn
