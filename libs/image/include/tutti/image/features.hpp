// SPDX-License-Identifier: Apache-2.0
//
// What is in images: edges, corners, orientations of gradients, connected components, places of a
// pattern; and boxes around what was found. Images are [..., height, width, channels] as in
// basics.hpp, of u8, u16 and floats: other dtypes throw dtype_error unless it says otherwise.
//
// Compositions of other operations, lazy and with gradients, but for canny(),
// connected_components() and non_maximum_suppression(): what these find depends on values far away,
// so they evaluate their operands, follow them on the host, and have no gradients.
#pragma once

#include <cstdint>
#include <utility>

#include "tutti/image/filters.hpp"

namespace tutti::image {

// ---- edges and corners, of each channel by itself

/// Which pixels are on an edge: bool, x's shape (J. Canny, "A computational approach to edge
/// detection", 1986). x is smoothed by gaussian_blur(deviation), without rounding, and derived by
/// sobel(), both with pad_mode::edge. A pixel counts whose gradient is longer than `low` and than
/// that of both neighbours in its direction, which is one of four (of two equal ones to the left
/// and right, or above and below, the first counts; beyond x gradients are 0). Of those that count
/// stay the ones whose gradient is longer than `high`, and all that such a pixel leads to over some
/// of eight neighbours. OpenCV's Canny() with L2gradient, but that its smoothing is another call.
/// NaN is on no edge. Throws value_error unless 0 <= low <= high, and as
/// gaussian_blur().
TUTTI_API array canny(const array& x, double low, double high, double deviation = 0);

/// Of each pixel det(A) - k trace(A)^2, where A has the products of both derivatives of sobel(),
/// smoothed by gaussian_blur(deviation): large at corners, negative on edges, about 0 where nothing
/// is (C. Harris and M. Stephens, "A combined corner and edge detector", 1988). Floating, f32 of u8
/// and u16; its unit is the fourth power of x's. Throws value_error for a k that is not finite, and
/// as gaussian_blur().
TUTTI_API array harris_corners(const array& x, double k = 0.05, double deviation = 1,
                               pad_mode mode = pad_mode::reflect);

// ---- orientations of gradients

struct hog_options {
  std::int64_t orientations = 9;                      ///< parts of half a turn, from 0 degrees on
  std::pair<std::int64_t, std::int64_t> cell{8, 8};   ///< pixels: height and width
  std::pair<std::int64_t, std::int64_t> block{3, 3};  ///< cells: height and width
};
/// Histograms of oriented gradients (N. Dalal and B. Triggs, "Histograms of oriented gradients for
/// human detection", 2005): [..., rows, columns, block height, block width, orientations] for all
/// places of a block of cells, one cell apart. A gradient is the difference of both neighbours, 0
/// at the edges of x, of the channel in which it is longest; it adds its length to the part that
/// its orientation modulo half a turn lies in, a cell has the means of these sums. Each block h
/// becomes h / sqrt(|h|^2 + 1e-10), is cut at 0.2 and divided likewise once more (L2-Hys).
/// scikit-image's hog(feature_vector=False), but where channels have gradients of equal length, of
/// which the first counts here. Pixels that fill no cell are left out. Floating, f32
/// of u8 and u16. Differentiable in the lengths. Throws value_error for options below 1,
/// shape_error where x has not the pixels of one block, or more than 6 axes.
TUTTI_API array hog(const array& x, const hog_options& options = {});

// ---- components

enum class connectivity : std::uint8_t {
  four,  ///< pixels above, below, left and right
  eight  ///< the diagonal ones too
};
struct components_result {
  array labels;  ///< i64, x's shape: 0 where x is 0, else the number of the component, from 1 on
  array counts;  ///< i64 [..., channels]: how many components each channel has
};
/// Connected pixels that are not 0, of each channel by itself. Components are numbered in row-major
/// order of their first pixels. Any dtype; NaN is not 0.
TUTTI_API components_result connected_components(const array& x,
                                                 connectivity by = connectivity::eight);

// ---- patterns

enum class matching : std::uint8_t {
  squared_difference,  ///< the sum of (x - pattern)^2: 0 where they are the same
  cross_correlation,   ///< the sum of x pattern
  coefficient          ///< Pearson's coefficient, in [-1, 1]: 0 where x or the pattern is constant
};
/// How well a pattern [h, w, channels] fits what lies below and to the right of each pixel, all
/// channels together: [..., height - h + 1, width - w + 1, 1]. Floating, f32 of u8 and u16, to
/// which the pattern is converted. By products or Fourier transforms, as convolve() chooses: errors
/// are relative to the norms of x and the pattern, and NaN and infinities reach places that do not
/// look at them. Differentiable in both. Throws shape_error for a
/// pattern without elements, of other channels, or that is higher or wider than x.
TUTTI_API array match_template(const array& x, const array& pattern,
                               matching by = matching::coefficient);

// ---- boxes

/// Which boxes stay if each takes away those with lower scores that overlap it by more than
/// `overlap`: i64 indices, the highest score first, of equal ones the first. `boxes` [n, 4] are x0,
/// y0, x1, y1; an overlap is the area that two have in common, divided by the area that they cover.
/// Boxes that end before they begin have no area. `scores` [n]; NaN is the lowest, and a box with
/// NaN overlaps nothing. Real numbers of any dtype. Throws shape_error for other shapes,
/// value_error for an `overlap` that is NaN.
TUTTI_API array non_maximum_suppression(const array& boxes, const array& scores,
                                        double overlap = 0.5);

}  // namespace tutti::image
