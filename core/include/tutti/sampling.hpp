// SPDX-License-Identifier: Apache-2.0
//
// Elements of spatial axes at places that are computed, and what is composed of them. x is [N, C,
// spatial...]. Dtypes as conv2d has them; differentiable in x, places and weights, but for
// resampling::nearest in places. A neighbour that is NaN or infinite counts though its weight be 0.
#pragma once

#include <cstdint>
#include <optional>

#include "tutti/convolution.hpp"
#include "tutti/pooling.hpp"

namespace tutti {

struct grid_sample_options {
  resampling mode = resampling::linear;  ///< nearest (halves to even), linear, cubic
  /// Beyond the edges: 0, the nearest element, or mirrored about the edges of the outermost
  /// elements, with align_corners about their middles.
  padding_mode beyond = padding_mode::zeros;
  bool align_corners = false;  ///< -1 and 1 are the middles of the outermost elements, not edges
};
/// [N, C, places...]: x [N, C, spatial...] of one to three spatial axes at grid [N, places...,
/// axes], whose last axis names the place along the last axis of x first: x, y, z in [-1, 1]
/// (PyTorch's grid_sample). Throws shape_error where they do not fit.
TUTTI_API array grid_sample(const array& x, const array& grid,
                            const grid_sample_options& options = {});

struct roi_align_options {
  std::int64_t samples = 2;  ///< along each axis of each part
  double scale = 1;          ///< of boxes, to pixels of x
  bool half_pixel = true;    ///< boxes are moved by half a pixel; otherwise at least one wide
};
/// [K, C, size...]: the mean of samples in size[0] x size[1] parts of boxes [K, 4], (x1, y1, x2,
/// y2) in the images [K] (integers) of x [N, C, height, width] (K. He et al., "Mask R-CNN", ICCV
/// 2017). Throws shape_error, and index_error for an image that is none, as take().
TUTTI_API array roi_align(const array& x, const array& boxes, const array& images,
                          const per_axis& size, const roi_align_options& options = {});

struct deform_conv_options {
  per_axis stride = 1;
  window_padding padding = 0;
  per_axis dilation = 1;
  std::int64_t groups = 1;
  std::optional<array> mask{};  ///< [N, G window, places...], times the samples
  std::optional<array> bias{};  ///< [O]
};
/// conv2d of which tap k at a place reads x there plus offsets [N, 2 G window, places...]: of each
/// of G groups of channels, and of each tap, the rows and the columns to go (J. Dai et al.,
/// "Deformable Convolutional Networks", ICCV 2017; with a mask X. Zhu et al., CVPR 2019). Throws as
/// conv2d.
TUTTI_API array deform_conv2d(const array& x, const array& w, const array& offsets,
                              const deform_conv_options& options = {});

}  // namespace tutti
