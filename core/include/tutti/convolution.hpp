// SPDX-License-Identifier: Apache-2.0
//
// Convolution over one, two or three spatial axes, as used in neural networks: the
// cross-correlation of x with w. Operands promote; bool and integers become f32, f16 and bf16 are
// computed in f32 and rounded once, complex numbers throw dtype_error. Differentiable in all
// operands, to any order.
//
// x is [N, C, spatial...], or with channel_order::last [N, spatial..., C]; the result has the same
// order. Weights are [O, C / groups, window...] in both cases. Extents that do not match throw
// shape_error, options out of range value_error, both with the function and the values.
//
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
  same,   ///< ceil(extent / stride) positions; an odd padding is longer at the end
};

/// Padding of x: one number for all sides, one for both sides of each axis, a pair for each axis,
/// or a rule: 1, {1, 2}, {{0, 1}, {2, 2}}, padding_rule::same.
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
  per_axis stride = 1;         ///< between windows, at least 1
  window_padding padding = 0;  ///< not negative
  per_axis dilation = 1;       ///< between taps, at least 1
  std::int64_t groups = 1;     ///< divides C and O; groups = C is a depthwise convolution
  padding_mode mode = padding_mode::zeros;
  channel_order order = channel_order::first;
};

/// out[n, o, p] = sum over c and taps k of x[n, c, p * stride + k * dilation - padding] w[o, c, k],
/// c over the channels of the group of o. The result has (extent + padding - dilation * (window -
/// 1) - 1) / stride + 1 positions, rounded down; a window that is longer than the padded extent
/// throws shape_error. If w has infinities or NaN, elements whose window reaches into the padding
/// are either the sum of the other taps, or NaN, since zero times infinity is NaN (the same holds
/// for conv1d in PyTorch): some kernels multiply the padding and others skip it.
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
  window_padding padding = 0;   ///< positions removed from the result; of the rules only valid
  per_axis output_padding = 0;  ///< positions added at the end; less than stride or dilation
  per_axis dilation = 1;
  std::int64_t groups = 1;
  channel_order order = channel_order::first;
};

/// The adjoint of conv1d, ... with the same options and weights [C, O / groups, window...], from
/// [N, C, ...] to [N, O, ...]: each element of x adds w times itself to the positions from which
/// conv1d would compute it. (extent - 1) * stride - padding + dilation * (window - 1) +
/// output_padding + 1 positions. Near the ends, infinities and NaN in w have the same effect as in
/// conv1d.
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
