// SPDX-License-Identifier: Apache-2.0
//
// Sampling of spatial axes at computed positions, and operations composed of it. x is [N, C,
// spatial...]. Dtypes as conv2d; differentiable in x, positions and weights, except in positions
// for resampling::nearest. A neighbour that is NaN or infinite counts even if its weight is 0.
#pragma once

#include <cstdint>
#include <optional>

#include "tutti/convolution.hpp"
#include "tutti/pooling.hpp"

namespace tutti {

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

}  // namespace tutti
