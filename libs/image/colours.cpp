// SPDX-License-Identifier: Apache-2.0
//
// Colour spaces, channel by channel. Where two formulas meet, the one that is not selected gets an
// argument at which it is finite, so that gradients are finite.

#include <array>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "image/images.hpp"
#include "tutti/image/basics.hpp"

namespace tutti::image {

namespace {

using three_channels = std::array<array, 3>;

void check_channels(const array& a, std::int64_t count, std::string_view op) {
  const shape& extents = op::extents_of(a, op);
  if (extents.rank() < 1 || extents.back() != count)
    base::fail<shape_error>("{}: the last axis has {} channels, not {}", op, count, a.shape());
}

double full_of(dtype type) { return type == dtype::u8 ? 255 : 65535; }

// Floating colours, in the dtype of the computation.
array colours(const array& a, std::string_view op) {
  const array x = op::image_numbers(a, op);
  return is_floating(a.dtype()) ? x : x / full_of(a.dtype());
}

// f of the channels of a; the result is floating.
template <class F>
array by_channel(const array& a, std::string_view op, F&& f) {
  return base::named(op, [&] {
    check_channels(a, 3, op);
    const array x = colours(a, op);
    const dtype result = is_floating(a.dtype()) ? a.dtype() : dtype::f32;
    if (x.size() == 0) return op::zeros_on(x.shape(), result, op::device_of(x));
    const std::vector<array> c = unstack(x, -1);
    const three_channels y = f(c[0], c[1], c[2]);
    const array parts[] = {op::cast(y[0], result, op), op::cast(y[1], result, op),
                           op::cast(y[2], result, op)};
    return stack(parts, -1);
  });
}

array luma(const array& r, const array& g, const array& b) {
  return 0.299 * r + 0.587 * g + 0.114 * b;
}

// The value of a quotient 0 / 0.
array ratio_or_zero(const array& a, const array& b) {
  const array none = b == 0;
  return where(none, 0, a / where(none, 1, b));
}

struct hue_parts {
  array hue, largest, smallest, range;
};

hue_parts hue_of(const array& r, const array& g, const array& b) {
  const array most = maximum(maximum(r, g), b), least = minimum(minimum(r, g), b);
  const array range = most - least;
  const array from_red = ratio_or_zero(g - b, range), from_green = ratio_or_zero(b - r, range),
              from_blue = ratio_or_zero(r - g, range);
  const array sixths = where(b == most, from_blue + 4, where(g == most, from_green + 2, from_red));
  const array hue = where(range == 0, 0, sixths) / 6;
  return {where(hue < 0, hue + 1, hue), most, least, range};
}

// For hue and n in twelfths of a turn: a trapezoid that is 1 at red, by A. R. Smith's hexagon.
array hexagon(const array& hue, double n) {
  const array k = remainder(hue * 12 + n, 12);
  return clip(minimum(k - 3, 9 - k), -1, 1);
}

constexpr double white[] = {0.95047, 1, 1.08883};
// Linear sRGB to CIE XYZ, from the primaries of IEC 61966-2-1 and this white (B. Lindbloom), and
// its inverse.
constexpr double to_xyz[3][3] = {{0.4124564, 0.3575761, 0.1804375},
                                 {0.2126729, 0.7151522, 0.0721750},
                                 {0.0193339, 0.1191920, 0.9503041}};

struct matrix3 {
  double at[3][3];
};

constexpr matrix3 inverse(const double (&m)[3][3]) {
  matrix3 out{};
  double determinant = 0;
  for (int i = 0; i < 3; ++i)
    for (int j = 0; j < 3; ++j) {
      const int a = (i + 1) % 3, b = (i + 2) % 3, c = (j + 1) % 3, d = (j + 2) % 3;
      out.at[j][i] = m[a][c] * m[b][d] - m[a][d] * m[b][c];
      if (i == 0) determinant += m[0][j] * out.at[j][0];
    }
  for (auto& row : out.at)
    for (double& v : row) v /= determinant;
  return out;
}
constexpr matrix3 from_xyz = inverse(to_xyz);

array combined(const double (&row)[3], const three_channels& c) {
  return row[0] * c[0] + row[1] * c[1] + row[2] * c[2];
}

array linear_light(const array& c) {
  constexpr double bend = 0.04045;
  return where(c > bend, power((maximum(c, bend) + 0.055) / 1.055, 2.4), c / 12.92);
}
array companded(const array& c) {
  constexpr double bend = 0.0031308;
  return where(c > bend, 1.055 * power(maximum(c, bend), 1 / 2.4) - 0.055, c * 12.92);
}

constexpr double lab_bend = 6.0 / 29, lab_slope = 3 * lab_bend * lab_bend, lab_offset = 4.0 / 29;

array lab_root(const array& t) {
  constexpr double bend = lab_bend * lab_bend * lab_bend;
  return where(t > bend, cbrt(maximum(t, bend)), t / lab_slope + lab_offset);
}
array lab_cube(const array& t) {
  return where(t > lab_bend, t * t * t, (t - lab_offset) * lab_slope);
}

array quantized(const array& a, dtype to, std::string_view op) {
  return base::named(op, [&] {
    const array x = colours(a, op);
    if (a.dtype() == to) return a;
    return op::as_image_dtype(x * full_of(to), to, op);
  });
}

}  // namespace

array to_float(const array& a, dtype type) {
  if (!is_floating(type)) base::fail<dtype_error>("to_float: the dtype is floating, not {}", type);
  const array x = op::image_numbers(a, "to_float");
  if (is_floating(a.dtype())) return op::cast(a, type, "to_float");
  const dtype compute = graph::compute_dtype(type);
  return op::cast(op::cast(x, compute, "to_float") / full_of(a.dtype()), type, "to_float");
}

array to_u8(const array& a) { return quantized(a, dtype::u8, "to_u8"); }
array to_u16(const array& a) { return quantized(a, dtype::u16, "to_u16"); }

array rgb_to_grey(const array& rgb) {
  return base::named("rgb_to_grey", [&] {
    check_channels(rgb, 3, "rgb_to_grey");
    const array x = colours(rgb, "rgb_to_grey");
    const std::vector<array> c = unstack(x, -1);
    const dtype result = is_floating(rgb.dtype()) ? rgb.dtype() : dtype::f32;
    return expand_dims(op::cast(luma(c[0], c[1], c[2]), result, "rgb_to_grey"), -1);
  });
}

array grey_to_rgb(const array& grey) {
  check_channels(grey, 1, "grey_to_rgb");
  shape extents = grey.shape();
  extents[extents.rank() - 1] = 3;
  return broadcast_to(grey, extents);
}

array rgb_to_hsv(const array& rgb) {
  return by_channel(rgb, "rgb_to_hsv", [](const array& r, const array& g, const array& b) {
    const hue_parts h = hue_of(r, g, b);
    return three_channels{h.hue, ratio_or_zero(h.range, h.largest), h.largest};
  });
}

array hsv_to_rgb(const array& hsv) {
  return by_channel(hsv, "hsv_to_rgb", [](const array& h, const array& s, const array& v) {
    // The hexagon ranges from -1 to 1, the fraction of the colour from 0 to 1 over a sixth of a
    // turn.
    const auto channel = [&](double n) {
      const array k = remainder(h * 6 + n, 6);
      return v - v * s * clip(minimum(k, 4 - k), 0, 1);
    };
    return three_channels{channel(5), channel(3), channel(1)};
  });
}

array rgb_to_hsl(const array& rgb) {
  return by_channel(rgb, "rgb_to_hsl", [](const array& r, const array& g, const array& b) {
    const hue_parts h = hue_of(r, g, b);
    const array lightness = (h.largest + h.smallest) / 2;
    const array room = 1 - abs(2 * lightness - 1);
    return three_channels{h.hue, ratio_or_zero(h.range, room), lightness};
  });
}

array hsl_to_rgb(const array& hsl) {
  return by_channel(hsl, "hsl_to_rgb", [](const array& h, const array& s, const array& l) {
    const array half = s * minimum(l, 1 - l);
    return three_channels{l - half * hexagon(h, 0), l - half * hexagon(h, 8),
                          l - half * hexagon(h, 4)};
  });
}

array rgb_to_ycbcr(const array& rgb) {
  return by_channel(rgb, "rgb_to_ycbcr", [](const array& r, const array& g, const array& b) {
    const array y = luma(r, g, b);
    return three_channels{y, (b - y) / 1.772 + 0.5, (r - y) / 1.402 + 0.5};
  });
}

array ycbcr_to_rgb(const array& ycbcr) {
  return by_channel(ycbcr, "ycbcr_to_rgb", [](const array& y, const array& cb, const array& cr) {
    const array r = y + 1.402 * (cr - 0.5), b = y + 1.772 * (cb - 0.5);
    return three_channels{r, (y - 0.299 * r - 0.114 * b) / 0.587, b};
  });
}

array rgb_to_lab(const array& rgb) {
  return by_channel(rgb, "rgb_to_lab", [](const array& r, const array& g, const array& b) {
    const three_channels light = {linear_light(r), linear_light(g), linear_light(b)};
    three_channels f;
    for (std::size_t i = 0; i < 3; ++i) f[i] = lab_root(combined(to_xyz[i], light) / white[i]);
    return three_channels{116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])};
  });
}

array lab_to_rgb(const array& lab) {
  return by_channel(lab, "lab_to_rgb", [](const array& l, const array& a, const array& b) {
    const array y = (l + 16) / 116;
    const three_channels xyz = {lab_cube(y + a / 500) * white[0], lab_cube(y),
                                lab_cube(y - b / 200) * white[2]};
    three_channels out;
    for (std::size_t i = 0; i < 3; ++i) out[i] = companded(combined(from_xyz.at[i], xyz));
    return out;
  });
}

}  // namespace tutti::image
