// SPDX-License-Identifier: Apache-2.0
//
// Images: colours, geometry and resampling. For image files see data/image_files.hpp.
//
// An image is [..., height, width, channels]; leading axes are batches. Row 0 is at the top, and
// the centre of the pixel in row y and column x is the point (x, y). All functions are compositions
// of other operations: they are lazy, have gradients, and run on every device.
//
// Floating colours range from 0 (none) to 1 (full), u8 and u16 are these times 255 and 65535.
// Values outside of this range are not clipped. f16 and bf16 are computed in f32. Other dtypes
// throw dtype_error unless stated otherwise; a wrong length of the last axis, or fewer than three
// axes where height and width are required, throws shape_error.
#pragma once

#include <cstdint>
#include <optional>

#include "tutti/movement.hpp"
#include "tutti/ops.hpp"

namespace tutti::image {

// ---- colours. Any axes before the last one. Results are floating, f32 for u8 and u16.

/// u8 and u16 as floating colours in [0, 1]; floats keep their dtype.
TUTTI_API array to_float(const array& a, dtype type = dtype::f32);
/// Floating colours times 255, rounded to nearest (halves to even) and clipped to [0, 255]; u8 is
/// not changed, u16 is divided by 257 and rounded. NaN becomes 0. Has no gradient.
TUTTI_API array to_u8(const array& a);
/// The same for 65535; u8 is multiplied by 257.
TUTTI_API array to_u16(const array& a);

/// 0.299 R + 0.587 G + 0.114 B (ITU-R BT.601), of the stored values: [..., 3] to [..., 1]. For u8
/// and u16 the result is f32 in [0, 1]: to_u8(rgb_to_grey(x)) is u8 again.
TUTTI_API array rgb_to_grey(const array& rgb);
/// Repeats the value three times, as a view: [..., 1] to [..., 3]. Any dtype.
TUTTI_API array grey_to_rgb(const array& grey);
/// Hue in [0, 1), from red to green to blue, saturation and value (A. R. Smith, "Color gamut
/// transform pairs", 1978). The hue of greys is 0.
TUTTI_API array rgb_to_hsv(const array& rgb);
/// The inverse; the hue is taken modulo 1.
TUTTI_API array hsv_to_rgb(const array& hsv);
/// Hue as of HSV, saturation and lightness, in this order.
TUTTI_API array rgb_to_hsl(const array& rgb);
TUTTI_API array hsl_to_rgb(const array& hsl);
/// Y as rgb_to_grey, then (B - Y) / 1.772 + 1/2 and (R - Y) / 1.402 + 1/2: what JPEG stores (JFIF
/// 1.02), in [0, 1].
TUTTI_API array rgb_to_ycbcr(const array& rgb);
TUTTI_API array ycbcr_to_rgb(const array& ycbcr);
/// sRGB (IEC 61966-2-1) as CIE 1976 L*a*b* with white D65 (0.95047, 1, 1.08883): L* in [0, 100].
TUTTI_API array rgb_to_lab(const array& rgb);
/// The inverse. Colours outside of sRGB give values outside of [0, 1].
TUTTI_API array lab_to_rgb(const array& lab);

// ---- geometry without arithmetic: views, and pad. Any dtype.

TUTTI_API array flip_horizontal(const array& x);  ///< swaps left and right
TUTTI_API array flip_vertical(const array& x);    ///< swaps top and bottom
/// Rotates counter-clockwise by `times` quarter turns.
TUTTI_API array rotate90(const array& x, integer times = 1);
/// Rows from `top` and columns from `left` on. Throws shape_error if the region is not within x.
TUTTI_API array crop(const array& x, integer top, integer left, integer height, integer width);
/// The centre; for an odd difference one pixel less at top and left. Throws shape_error likewise.
TUTTI_API array center_crop(const array& x, integer height, integer width);

/// Pixels to add; negative numbers remove pixels.
struct margins {
  std::int64_t top = 0, bottom = 0, left = 0, right = 0;
};
/// x with pixels around it, as tutti::pad().
TUTTI_API array pad(const array& x, const margins& around, pad_mode mode = pad_mode::constant,
                    const array& value = 0);

// ---- resampling. Results have x's dtype; u8 and u16 are computed in f32, rounded to nearest and
// clipped to their range (except for `nearest`, which accepts any dtype).

enum class filter : std::uint8_t {
  nearest,   ///< the pixel at floor((i + 1/2) extent / size)
  bilinear,  ///< a triangle of radius 1
  bicubic,   ///< R. Keys' kernel with a = -1/2 (IEEE ASSP 29, 1981), radius 2
  lanczos,   ///< sinc(t) sinc(t / 3), radius 3
  area,      ///< the mean over the area of the new pixel, with fractions of pixels
};
/// x with height x width pixels. Position i along an axis is at t = (i + 1/2) extent / size - 1/2;
/// for downsampling the filter is widened by extent / size, to avoid aliasing. Weights are those of
/// the pixels within its radius, normalised, computed in f64; one axis after the other. Except for
/// `area` this is the arithmetic of Pillow's resize() in mode "F", which does not round
/// intermediate values. nn::interpolate() has separate options for positions and
/// kernels. Throws shape_error for negative extents, or without pixels.
TUTTI_API array resize(const array& x, integer height, integer width, filter by = filter::bilinear);

enum class sampling : std::uint8_t {
  nearest,   ///< the pixel at floor(place + 1/2)
  bilinear,  ///< of the four surrounding pixels
};
enum class border : std::uint8_t {
  constant,  ///< pixels beyond the edge have a given value
  edge,      ///< of the nearest pixel
};
struct warp_options {
  sampling by = sampling::bilinear;
  border beyond = border::constant;
  double value = 0;                         ///< for border::constant, in x's dtype
  std::optional<std::int64_t> height = {};  ///< of the result; default: x's
  std::optional<std::int64_t> width = {};
};
/// The image whose pixel at (x', y') is x at (m00 x' + m01 y' + m02, m10 x' + m11 y' + m12), for m
/// [2, 3] of numbers: m maps positions of the result to those of x. Computed in f64 if x or m is
/// f64, otherwise in f32. Differentiable in x and, except for sampling::nearest, in m. A position
/// that is NaN is beyond the edge (with border::edge it is 0). A neighbour that is NaN or infinite
/// counts even if its weight is 0. Throws shape_error for other shapes of m, and without pixels.
TUTTI_API array affine_warp(const array& x, const array& m, const warp_options& options = {});
/// The same for m [3, 3], whose third row gives the divisor of both coordinates.
TUTTI_API array perspective_warp(const array& x, const array& m, const warp_options& options = {});
/// x rotated counter-clockwise about its centre, which becomes the centre of the result. `options`
/// give the extents of the result. Throws value_error for an angle that is not finite.
TUTTI_API array rotate(const array& x, double degrees, const warp_options& options = {});

}  // namespace tutti::image
