// SPDX-License-Identifier: Apache-2.0
//
// Convolution over one, two or three spatial axes, as networks have it: the cross-correlation of x
// with w. Operands promote; bool and integers become f32, f16 and bf16 are computed in f32 and
// rounded once, complex numbers throw dtype_error. Differentiable in all operands, as often as
// wanted.
//
// x is [N, C, spatial...], or with channel_order::last [N, spatial..., C]; the result has the same
// order. Weights are [O, C / groups, window...] in either. Extents that do not fit throw
// shape_error, options out of range value_error, both naming the function and the values.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <utility>

#include "tutti/array.hpp"
#include "tutti/movement.hpp"

namespace tutti {

/// One number for all spatial axes, or one for each: 2, {2, 1}.
class TUTTI_API per_axis {
 public:
  template <detail::integral_argument T>
  per_axis(T all) : values_{integer(all)} {}
  per_axis(std::initializer_list<integer> each) : values_(each) {}
  explicit per_axis(const shape& each) : values_(each) {}
  const shape& values() const { return values_; }

 private:
  shape values_;
};

enum class padding_rule : std::uint8_t {
  valid,  ///< none
  same,   ///< ceil(extent / stride) places; what cannot be halved goes behind
};

/// Elements around x: one number for all sides, one for both sides of each axis, a pair for each
/// axis, or a rule: 1, {1, 2}, {{0, 1}, {2, 2}}, padding_rule::same.
class TUTTI_API window_padding {
 public:
  template <detail::integral_argument T>
  window_padding(T all) : before_{integer(all)}, after_{integer(all)} {}
  window_padding(std::initializer_list<integer> each) : before_(each), after_(each) {}
  window_padding(std::initializer_list<pad_width> each);
  explicit window_padding(std::span<const pad_width> each);
  window_padding(padding_rule rule) : before_{0}, after_{0}, rule_(rule) {}

  const shape& before() const { return before_; }
  const shape& after() const { return after_; }
  padding_rule rule() const { return rule_; }

 private:
  shape before_, after_;
  padding_rule rule_ = padding_rule::valid;
};

enum class padding_mode : std::uint8_t {
  zeros,
  reflect,    ///< mirrored about the edge elements, which are not repeated
  replicate,  ///< the nearest element
};

enum class channel_order : std::uint8_t { first, last };

struct convolution_options {
  per_axis stride = 1;         ///< from window to window, at least 1
  window_padding padding = 0;  ///< not negative
  per_axis dilation = 1;       ///< from tap to tap, at least 1
  std::int64_t groups = 1;     ///< divides C and O; C of them: depthwise
  padding_mode mode = padding_mode::zeros;
  channel_order order = channel_order::first;
};

/// out[n, o, p] = sum over c and taps k of x[n, c, p * stride + k * dilation - padding] w[o, c, k],
/// c over the channels of the group of o. The result has (extent + padding - dilation * (window -
/// 1) - 1) / stride + 1 places, rounded down; a window that is longer than what it goes over throws
/// shape_error. Where w has an infinity or a NaN, elements whose window reaches into padding of
/// zeros are either what its other taps give, or NaN, as zero times infinity is (and as in
/// PyTorch): some kernels multiply padding, others leave it out, and none pays for telling these
/// apart.
TUTTI_API array conv1d(const array& x, const array& w, const convolution_options& options = {});
TUTTI_API array conv2d(const array& x, const array& w, const convolution_options& options = {});
TUTTI_API array conv3d(const array& x, const array& w, const convolution_options& options = {});
/// The same plus bias[O].
TUTTI_API array conv1d(const array& x, const array& w, const array& bias,
                       const convolution_options& options = {});
TUTTI_API array conv2d(const array& x, const array& w, const array& bias,
                       const convolution_options& options = {});
TUTTI_API array conv3d(const array& x, const array& w, const array& bias,
                       const convolution_options& options = {});

struct transposed_convolution_options {
  per_axis stride = 1;
  window_padding padding = 0;   ///< places of the result that are cut off; no rule but valid
  per_axis output_padding = 0;  ///< places that are added behind; less than stride or dilation
  per_axis dilation = 1;
  std::int64_t groups = 1;
  channel_order order = channel_order::first;
};

/// The adjoint of conv1d, ... with the same options and weights [C, O / groups, window...], from
/// [N, C, ...] to [N, O, ...]: each element of x adds w, times itself, to the places that it would
/// have been computed from. (extent - 1) * stride - padding + dilation * (window - 1) +
/// output_padding + 1 places. Infinities and NaN in w reach elements near the ends as they do
/// there.
TUTTI_API array conv_transpose1d(const array& x, const array& w,
                                 const transposed_convolution_options& options = {});
TUTTI_API array conv_transpose2d(const array& x, const array& w,
                                 const transposed_convolution_options& options = {});
TUTTI_API array conv_transpose3d(const array& x, const array& w,
                                 const transposed_convolution_options& options = {});
/// The same plus bias[O].
TUTTI_API array conv_transpose1d(const array& x, const array& w, const array& bias,
                                 const transposed_convolution_options& options = {});
TUTTI_API array conv_transpose2d(const array& x, const array& w, const array& bias,
                                 const transposed_convolution_options& options = {});
TUTTI_API array conv_transpose3d(const array& x, const array& w, const array& bias,
                                 const transposed_convolution_options& options = {});

}  // namespace tutti
