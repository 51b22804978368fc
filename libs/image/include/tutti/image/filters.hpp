// SPDX-License-Identifier: Apache-2.0
//
// Filters of images: smoothing, derivatives, morphology, thresholds and histograms, over images
// [..., height, width, channels] as in basics.hpp, for each channel separately unless stated
// otherwise.
//
// All are compositions of other operations: lazy, on every device, with gradients unless values are
// counted or compared. Smoothing keeps x's dtype (u8 and u16 are computed in f32, rounded to
// nearest and clipped); derivatives are floating, f32 for u8 and u16, of the stored values: 0 to
// 255, not to 1. Other dtypes throw dtype_error unless stated otherwise. Pixels beyond the edge are
// determined by `mode`, as in pad(): by default reflected at the outermost ones.
#pragma once

#include <cstdint>
#include <utility>

#include "tutti/image/basics.hpp"

namespace tutti::image {

// ---- smoothing

/// x smoothed by exp(-t^2 / (2 deviation^2)) along the rows and the columns, with radius
/// floor(truncate * deviation + 1/2) and weights that add up to 1: scipy.ndimage.gaussian_filter.
/// With a deviation of 0, x is not changed. Throws value_error unless deviation and truncate are
/// finite, not negative, and the radius is below 2^20.
TUTTI_API array gaussian_blur(const array& x, double deviation, double truncate = 4,
                              pad_mode mode = pad_mode::reflect);
/// The mean of height x width pixels around each pixel. Throws value_error unless both are odd,
/// from 1 to 2^20.
TUTTI_API array box_blur(const array& x, integer height, integer width,
                         pad_mode mode = pad_mode::reflect);
/// The median of size x size pixels around each pixel: NaN if one of them is. Real numbers of any
/// dtype, and bool. Throws value_error unless size is odd, from 1 to 1023.
TUTTI_API array median_filter(const array& x, integer size, pad_mode mode = pad_mode::reflect);
/// The mean of the pixels up to `radius` rows and columns away, with weights exp(-d^2 / (2
/// place_deviation^2) - |c|^2 / (2 color_deviation^2)), where d is the distance of the positions
/// and |c|^2 the sum over all channels of the squared differences of the values (C. Tomasi and R.
/// Manduchi, "Bilateral filtering for gray and color images", 1998). Throws value_error unless both
/// deviations are positive and finite, for a radius below 0 or above 32.
TUTTI_API array bilateral_filter(const array& x, integer radius, double place_deviation,
                                 double color_deviation, pad_mode mode = pad_mode::reflect);

// ---- derivatives

enum class direction : std::uint8_t {
  horizontal,  ///< along a row, to the right
  vertical     ///< along a column, downwards
};
/// Differences of neighbours two pixels apart, summed over three lines with weights 1, 2, 1 (I.
/// Sobel): eight times the derivative.
TUTTI_API array sobel(const array& x, direction along, pad_mode mode = pad_mode::reflect);
/// The same with weights 3, 10, 3 (H. Scharr, 2000): 32 times the derivative.
TUTTI_API array scharr(const array& x, direction along, pad_mode mode = pad_mode::reflect);
/// The sum of the four neighbours minus four times the pixel.
TUTTI_API array laplacian(const array& x, pad_mode mode = pad_mode::reflect);

// ---- morphology: minimum and maximum of height x width pixels within x, both odd. Real numbers
// and bool; NaN is propagated. value_error unless both are odd, from 1 to 2^20.

TUTTI_API array erode(const array& x, integer height, integer width);   ///< the smallest
TUTTI_API array dilate(const array& x, integer height, integer width);  ///< the largest
/// erode(), then dilate(): removes smaller bright spots.
TUTTI_API array opening(const array& x, integer height, integer width);
/// dilate(), then erode(): removes smaller dark spots.
TUTTI_API array closing(const array& x, integer height, integer width);

// ---- histograms and thresholds

/// The number of pixels of each channel in each of `bins` equal bins from low to high, as
/// histogram(): i64 [..., channels, bins].
TUTTI_API array channel_histogram(const array& x, integer bins, double low, double high);
/// For each channel of u8 the threshold t in [0, 255] with the largest variance between the values
/// up to t and those above (N. Otsu, "A threshold selection method from gray-level histograms",
/// 1979); of equal ones the first. u8 [..., channels]; 0 if all values are equal. Throws
/// dtype_error for other dtypes, shape_error without pixels.
TUTTI_API array otsu_threshold(const array& x);
/// Values of u8 spread so that each is about equally frequent: round(255 (n(v) - n0) / (n - n0)),
/// where n(v) pixels of the channel have at most the value v, n0 the smallest value, and n is their
/// number. A channel with only one value is not changed. Throws as otsu_threshold().
TUTTI_API array equalize(const array& x);
/// equalize() for parts of the image (K. Zuiderveld, "Contrast limited adaptive histogram
/// equalization", 1994). For each of tile_rows x tile_columns equal tiles, counts above clip_limit
/// times the mean count are clipped and the excess is distributed over all values, and v becomes
/// 255 times the fraction of pixels up to v; a pixel is interpolated between the four nearest
/// tiles. The arithmetic of OpenCV, for extents of which both or none are multiples of the tiles:
/// otherwise x is reflected at its last row and column until they are. A clip_limit of 0 clips
/// nothing. u8, otherwise dtype_error. Throws value_error without tiles or for more of them than
/// pixels, and for a clip_limit below 0.
TUTTI_API array clahe(const array& x, double clip_limit = 40, integer tile_rows = 8,
                      integer tile_columns = 8);

enum class local_mean : std::uint8_t {
  box,      ///< box_blur()
  gaussian  ///< gaussian_blur() of deviation (size - 1) / 6
};
/// Which pixels are greater than the mean of size x size pixels around them minus `offset`: bool,
/// x's shape. The means are not rounded. scikit-image's x > threshold_local(). Throws value_error
/// unless size is odd, from 1 to 2^20, and for an offset that is NaN.
TUTTI_API array adaptive_threshold(const array& x, integer size, double offset = 0,
                                   local_mean by = local_mean::gaussian,
                                   pad_mode mode = pad_mode::reflect);

/// Sums over the rows above and the columns to the left: [..., height + 1, width + 1, channels],
/// whose first row and column are 0; the sum over any rectangle is a combination of four of them.
/// i64 or u64 for integers, f64 for floats.
TUTTI_API array integral_image(const array& x);

}  // namespace tutti::image
