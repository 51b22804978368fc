// SPDX-License-Identifier: Apache-2.0
//
// Resampling of spatial axes and sampling at computed positions, and operations composed of it. x
// is [N, C, spatial...] with one to three spatial axes, for interpolate() with channel_order::last
// [N, spatial..., C]. Dtypes as conv2d; differentiable in x, positions and weights, except in
// positions for resampling::nearest. A neighbour that is NaN or infinite counts even if its weight
// is 0.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tutti/convolution.hpp"

namespace tutti::nn {

enum class resampling : std::uint8_t {
  nearest,  ///< one element
  linear,   ///< of the two neighbours along each axis: bilinear, trilinear
  cubic,    ///< of four, by R. Keys' kernel (IEEE ASSP 29, 1981): bicubic
  area,     ///< adaptive_avg_pool
};
/// Position of output i of `size` among `extent` elements.
enum class resampling_places : std::uint8_t {
  automatic,   ///< asymmetric for nearest, half_pixel for the others
  half_pixel,  ///< (i + 1/2) * extent / size - 1/2
  asymmetric,  ///< i * extent / size
};
/// Rounding to the nearest element; halves go down or up.
enum class nearest_rounding : std::uint8_t { floor, ceil, halves_down, halves_up };
struct interpolate_options {
  resampling mode = resampling::nearest;
  /// i * (extent - 1) / (size - 1): the outermost elements keep their positions. Not for area, and
  /// for nearest only if positions are given.
  bool align_corners = false;
  channel_order order = channel_order::first;
  resampling_places places = resampling_places::automatic;
  nearest_rounding rounding = nearest_rounding::floor;
  double cubic_coefficient = -0.75;  ///< a of Keys' kernel
  /// linear, cubic: for downsampling the kernel is widened by extent / size. For PyTorch's result
  /// use a cubic_coefficient of -0.5.
  bool antialias = false;
  /// linear, cubic: elements beyond the edge have no weight, and the other weights are normalised;
  /// antialias always does this. Otherwise the edge elements are used there.
  bool exclude_outside = false;
};
/// x with `size` elements along the spatial axes. Nearest accepts any dtype, the others those of
/// avg_pool. Throws shape_error if there are no elements, value_error for incompatible options.
TUTTI_API array interpolate(const array& x, const per_axis& size,
                            const interpolate_options& options = {});
/// With floor(extent * scale) elements; positions are computed from the scale itself, not from the
/// resulting size. One scale for all spatial axes, or one for each; throws value_error unless they
/// are positive and finite.
TUTTI_API array interpolate_by(const array& x, const std::vector<double>& scales,
                               const interpolate_options& options = {});

struct grid_sample_options {
  resampling mode = resampling::linear;  ///< nearest (halves to even), linear, cubic
  /// Beyond the edges: 0, the nearest element, or reflection at the outer edges of the outermost
  /// elements, with align_corners at their centres.
  padding_mode beyond = padding_mode::zeros;
  bool align_corners = false;  ///< -1 and 1 are the centres of the outermost elements, not edges
};
/// [N, C, positions...]: samples x [N, C, spatial...] with one to three spatial axes at grid [N,
/// positions..., axes]. The coordinates on the last axis are x, y, z in [-1, 1], where x is the
/// last axis of the image (PyTorch's grid_sample). Throws shape_error if they do not match.
TUTTI_API array grid_sample(const array& x, const array& grid,
                            const grid_sample_options& options = {});

struct roi_align_options {
  std::int64_t samples = 2;  ///< along each axis of each bin
  double scale = 1;          ///< from box coordinates to pixels of x
  bool half_pixel = true;    ///< boxes are shifted by half a pixel; otherwise at least one wide
};
/// [K, C, size...]: the mean of samples in size[0] x size[1] bins of boxes [K, 4], (x1, y1, x2, y2)
/// in the images [K] (integers) of x [N, C, height, width] (K. He et al., "Mask R-CNN", ICCV 2017).
/// Throws shape_error, and index_error for an invalid image as take().
TUTTI_API array roi_align(const array& x, const array& boxes, const array& images,
                          const per_axis& size, const roi_align_options& options = {});

struct deform_conv_options {
  per_axis stride = 1;
  window_padding padding = 0;
  per_axis dilation = 1;
  std::int64_t groups = 1;
  std::optional<array> mask{};  ///< [N, G window, positions...], multiplies the samples
  std::optional<array> bias{};  ///< [O]
};
/// conv2d in which tap k reads x at its position plus offsets [N, 2 G window, positions...]: for
/// each of G groups of channels and each tap, the row and column offsets (J. Dai et al.,
/// "Deformable Convolutional Networks", ICCV 2017; with a mask X. Zhu et al., CVPR 2019). Throws as
/// conv2d.
TUTTI_API array deform_conv2d(const array& x, const array& w, const array& offsets,
                              const deform_conv_options& options = {});

}  // namespace tutti::nn
