// SPDX-License-Identifier: Apache-2.0
//
// Features of images: edges, corners, histograms of gradients, connected components, pattern
// matching, and selection of boxes. Images are [..., height, width, channels] as in basics.hpp, of
// u8, u16 and floats: other dtypes throw dtype_error unless stated otherwise.
//
// The functions are compositions of other operations, lazy and with gradients, except canny(),
// connected_components() and non_maximum_suppression(): their results depend on distant values, so
// they evaluate their operands, work on the host, and have no gradients.
#pragma once

#include <cstdint>
#include <utility>

#include "tutti/image/filters.hpp"

namespace tutti::image {

// ---- edges and corners, of each channel separately

/// Which pixels are on an edge: bool, x's shape (J. Canny, "A computational approach to edge
/// detection", 1986). x is smoothed by gaussian_blur(deviation), without rounding, and
/// differentiated by sobel(), both with pad_mode::edge. A pixel is a candidate if its gradient is
/// longer than `low` and than those of both neighbours in its direction, which is one of four (of
/// two equal ones to the left and right, or above and below, the first is used; beyond x gradients
/// are 0). Candidates are edges if their gradient is longer than `high`, or if they are connected
/// to such a pixel by candidates, with eight neighbours each. OpenCV's Canny() with L2gradient, but
/// there smoothing is a separate call. NaN is not on an edge. Throws value_error unless 0 <= low <=
/// high, and as
/// gaussian_blur().
TUTTI_API array canny(const array& x, double low, double high, double deviation = 0);

/// det(A) - k trace(A)^2 for each pixel, where A contains the products of both derivatives of
/// sobel(), smoothed by gaussian_blur(deviation): large at corners, negative on edges, about 0 in
/// flat regions (C. Harris and M. Stephens, "A combined corner and edge detector", 1988). Floating,
/// f32 for u8 and u16; its unit is the fourth power of x's. Throws value_error for a k that is not
/// finite, and as gaussian_blur().
TUTTI_API array harris_corners(const array& x, double k = 0.05, double deviation = 1,
                               pad_mode mode = pad_mode::reflect);

// ---- orientations of gradients

struct hog_options {
  std::int64_t orientations = 9;                      ///< bins of 180 degrees, from 0 degrees on
  std::pair<std::int64_t, std::int64_t> cell{8, 8};   ///< pixels: height and width
  std::pair<std::int64_t, std::int64_t> block{3, 3};  ///< cells: height and width
};
/// Histograms of oriented gradients (N. Dalal and B. Triggs, "Histograms of oriented gradients for
/// human detection", 2005): [..., rows, columns, block height, block width, orientations] for all
/// positions of a block of cells, one cell apart. A gradient is the difference of both neighbours,
/// 0 at the edges of x, of the channel in which it is longest. It adds its length to the bin of its
/// orientation modulo 180 degrees; a cell contains the means of these sums. Each block h becomes h
/// / sqrt(|h|^2 + 1e-10), is clipped at 0.2 and normalised again (L2-Hys). scikit-image's
/// hog(feature_vector=False), except that of channels with equally long gradients the first is used
/// here. Pixels that do not fill a cell are ignored. Floating, f32 for u8 and u16. Differentiable
/// in the lengths. Throws value_error for options below 1, shape_error if x is smaller than one
/// block, or has more than 6 axes.
TUTTI_API array hog(const array& x, const hog_options& options = {});

// ---- components

enum class connectivity : std::uint8_t {
  four,  ///< pixels above, below, left and right
  eight  ///< also the diagonal ones
};
struct components_result {
  array labels;  ///< i64, x's shape: 0 where x is 0, otherwise the number of the component, from 1
  array counts;  ///< i64 [..., channels]: number of components of each channel
};
/// Connected pixels that are not 0, for each channel separately. Components are numbered in
/// row-major order of their first pixels. Any dtype; NaN is not 0.
TUTTI_API components_result connected_components(const array& x,
                                                 connectivity by = connectivity::eight);

// ---- patterns

enum class matching : std::uint8_t {
  squared_difference,  ///< the sum of (x - pattern)^2: 0 where they are equal
  cross_correlation,   ///< the sum of x pattern
  coefficient          ///< Pearson's coefficient, in [-1, 1]: 0 where x or the pattern is constant
};
/// Similarity of a pattern [h, w, channels] and the region below and to the right of each pixel,
/// over all channels: [..., height - h + 1, width - w + 1, 1]. Floating, f32 for u8 and u16, to
/// which the pattern is converted. Uses products or Fourier transforms, as convolve() selects:
/// errors are relative to the norms of x and the pattern, and NaN and infinities may affect
/// positions that do not contain them. Differentiable in both. Throws shape_error for a pattern
/// without elements, with other channels, or that is higher or wider than x.
TUTTI_API array match_template(const array& x, const array& pattern,
                               matching by = matching::coefficient);

// ---- boxes

/// Which boxes remain if each suppresses those with lower scores whose overlap with it exceeds
/// `overlap`: i64 indices, the highest score first, the first of equal ones. `boxes` [n, 4] are x0,
/// y0, x1, y1; the overlap is the area of the intersection of two boxes divided by that of their
/// union. Boxes whose end is before their beginning have no area. `scores` [n]; NaN is the lowest,
/// and a box with NaN overlaps nothing. Real numbers of any dtype. Throws shape_error for other
/// shapes, value_error for an `overlap` that is NaN.
TUTTI_API array non_maximum_suppression(const array& boxes, const array& scores,
                                        double overlap = 0.5);

}  // namespace tutti::image
