// SPDX-License-Identifier: Apache-2.0
//
// Filters of images: smoothing, derivatives, morphology, thresholds and histograms, over images
// [..., height, width, channels] as in basics.hpp, each channel by itself unless it says otherwise.
//
// All are compositions of other operations: lazy, with gradients where values are not counted or
// compared, on every device. What smooths has x's dtype (u8 and u16 are computed in f32, rounded to
// nearest and cut); derivatives are floating, f32 of u8 and u16, of the numbers as they are: 0 to
// 255, not to 1. Other dtypes throw dtype_error unless it says otherwise. Pixels beyond the edge
// are those that `mode` says, as pad(): mirrored about the outermost ones where nothing is said.
#pragma once

#include <cstdint>
#include <utility>

#include "tutti/image/basics.hpp"

namespace tutti::image {

// ---- smoothing

/// x smoothed by exp(-t^2 / (2 deviation^2)) along the rows and the columns, of radius
/// floor(truncate * deviation + 1/2), whose weights add up to 1: scipy.ndimage.gaussian_filter. A
/// deviation of 0 leaves x. Throws value_error unless deviation and truncate are finite, not
/// negative, and the radius is below 2^20.
TUTTI_API array gaussian_blur(const array& x, double deviation, double truncate = 4,
                              pad_mode mode = pad_mode::reflect);
/// The mean of height x width pixels around each. Throws value_error unless both are odd, from 1 to
/// 2^20.
TUTTI_API array box_blur(const array& x, integer height, integer width,
                         pad_mode mode = pad_mode::reflect);
/// The median of size x size pixels around each: NaN where one of them is. Real numbers of any
/// dtype, and bool. Throws value_error unless size is odd, from 1 to 1023.
TUTTI_API array median_filter(const array& x, integer size, pad_mode mode = pad_mode::reflect);
/// The mean of the pixels up to `radius` rows and columns away, with weights
/// exp(-d^2 / (2 place_deviation^2) - |c|^2 / (2 color_deviation^2)), where d is the distance of
/// the places and |c|^2 the sum over all channels of the squared differences of the values (C.
/// Tomasi and R. Manduchi, "Bilateral filtering for gray and color images", 1998). Throws
/// value_error unless both deviations are positive and finite, for a radius below 0 or above 32.
TUTTI_API array bilateral_filter(const array& x, integer radius, double place_deviation,
                                 double color_deviation, pad_mode mode = pad_mode::reflect);

// ---- derivatives

enum class direction : std::uint8_t {
  horizontal,  ///< along a row, to the right
  vertical     ///< along a column, downwards
};
/// Differences of neighbours two pixels apart, added up over three lines with weights 1, 2, 1 (I.
/// Sobel): eight times the derivative.
TUTTI_API array sobel(const array& x, direction along, pad_mode mode = pad_mode::reflect);
/// The same with weights 3, 10, 3 (H. Scharr, 2000): 32 times the derivative.
TUTTI_API array scharr(const array& x, direction along, pad_mode mode = pad_mode::reflect);
/// The four neighbours, less four times the pixel.
TUTTI_API array laplacian(const array& x, pad_mode mode = pad_mode::reflect);

// ---- morphology: extremes of height x width pixels, an odd number each way, those within x only.
// Real numbers and bool; NaN wins. value_error unless both are odd, from 1 to 2^20.

TUTTI_API array erode(const array& x, integer height, integer width);   ///< the smallest
TUTTI_API array dilate(const array& x, integer height, integer width);  ///< the largest
/// erode(), then dilate(): without bright spots that are smaller.
TUTTI_API array opening(const array& x, integer height, integer width);
/// dilate(), then erode(): without dark spots that are smaller.
TUTTI_API array closing(const array& x, integer height, integer width);

// ---- histograms and thresholds

/// How many pixels of each channel lie in each of `bins` equal bins from low to high, as
/// histogram(): i64 [..., channels, bins].
TUTTI_API array channel_histogram(const array& x, integer bins, double low, double high);
/// Of each channel of u8 the value t in [0, 255] that parts it best: the variance between those up
/// to t and those above is the largest (N. Otsu, "A threshold selection method from gray-level
/// histograms", 1979); of equals the first. u8 [..., channels]; 0 where all are equal. Throws
/// dtype_error for other dtypes, shape_error for no pixels.
TUTTI_API array otsu_threshold(const array& x);
/// Values of u8 spread so that each is about as frequent: round(255 (n(v) - n0) / (n - n0)), where
/// n(v) pixels of the channel are up to v, n0 of them the smallest value, and n are all. A channel
/// of one value stays. Throws as otsu_threshold().
TUTTI_API array equalize(const array& x);
/// equalize() by parts, so that contrast is even (K. Zuiderveld, "Contrast limited adaptive
/// histogram equalization", 1994): of each of tile_rows x tile_columns equal tiles the counts
/// beyond clip_limit times the mean count are cut off and shared by all values, and v becomes 255
/// times the share of the pixels up to v; a pixel has what the four nearest tiles say, weighed by
/// distance. The arithmetic of OpenCV, for extents of which both or none are multiples of the
/// tiles: x is mirrored about its last row and column until they are. A clip_limit of 0 cuts
/// nothing. u8, else dtype_error. Throws value_error for no tiles or more of them than pixels, and
/// for a clip_limit below 0.
TUTTI_API array clahe(const array& x, double clip_limit = 40, integer tile_rows = 8,
                      integer tile_columns = 8);

enum class local_mean : std::uint8_t {
  box,      ///< box_blur()
  gaussian  ///< gaussian_blur() of deviation (size - 1) / 6
};
/// Which pixels are greater than the mean of size x size pixels around them less `offset`: bool,
/// x's shape. The means are not rounded. scikit-image's x > threshold_local(). Throws value_error
/// unless size is odd, from 1 to 2^20, and for an offset that is NaN.
TUTTI_API array adaptive_threshold(const array& x, integer size, double offset = 0,
                                   local_mean by = local_mean::gaussian,
                                   pad_mode mode = pad_mode::reflect);

/// Sums over the rows above and the columns to the left: [..., height + 1, width + 1, channels],
/// whose first row and column are 0; the sum over any rectangle is that of four of them. i64 or u64
/// of integers, f64 of floats.
TUTTI_API array integral_image(const array& x);

}  // namespace tutti::image
