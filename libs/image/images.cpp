// SPDX-License-Identifier: Apache-2.0
//
// Dtypes of images, and geometry that only moves pixels.
#include "image/images.hpp"

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "tutti/image/basics.hpp"

namespace tutti {
namespace op {

void check_image(const array& x, std::string_view op) {
  if (op::extents_of(x, op).rank() < 3)
    base::fail<shape_error>("{}: an image is [..., height, width, channels], not {}", op,
                            x.shape());
}

dtype image_compute_dtype(const array& x, std::string_view op) {
  const dtype type = type_of(x, op);
  if (type == dtype::u8 || type == dtype::u16) return dtype::f32;
  if (!is_floating(type))
    base::fail<dtype_error>("{}: images are u8, u16 or floating, not {}", op, type);
  return graph::compute_dtype(type);
}

dtype unrounded_dtype(const array& x, dtype compute) {
  return is_floating(x.dtype()) ? x.dtype() : compute;
}

array as_batch(const array& x) {
  std::int64_t images = 1;
  for (int axis = 0; axis < x.ndim() - 3; ++axis) images *= x.dim(axis);
  return reshape(x, {images, x.dim(-3), x.dim(-2), x.dim(-1)});
}

array image_neighbours(const array& wide, const shape& extents, std::int64_t row,
                       std::int64_t column) {
  const int rank = extents.rank();
  return image::crop(wide, row, column, extents[rank - 3], extents[rank - 2]);
}

array image_numbers(const array& x, std::string_view op) {
  return cast(x, image_compute_dtype(x, op), op);
}

array as_image_dtype(const array& y, dtype type, std::string_view op) {
  if (is_floating(type)) return cast(y, type, op);
  const double most = type == dtype::u8 ? 255 : 65535;
  // NaN fails the comparison.
  return cast(where(y > 0, minimum(round(y), most), zeros_like(y)), type, op);
}

}  // namespace op

namespace image {

using base::named;

array flip_horizontal(const array& x) {
  op::check_image(x, "flip_horizontal");
  return flip(x, -2);
}

array flip_vertical(const array& x) {
  op::check_image(x, "flip_vertical");
  return flip(x, -3);
}

array rotate90(const array& x, integer times) {
  op::check_image(x, "rotate90");
  switch ((std::int64_t{times} % 4 + 4) % 4) {
    case 1:
      return flip(swapaxes(x, -3, -2), -3);
    case 2:
      return flip(x, {-3, -2});
    case 3:
      return flip(swapaxes(x, -3, -2), -2);
    default:
      return x;
  }
}

array crop(const array& x, integer top, integer left, integer height, integer width) {
  op::check_image(x, "crop");
  const auto is_within = [&](std::int64_t from, std::int64_t count, std::int64_t extent) {
    return from >= 0 && count >= 0 && count <= extent && from <= extent - count;
  };
  if (!is_within(top, height, x.dim(-3)) || !is_within(left, width, x.dim(-2)))
    base::fail<shape_error>("crop: {} x {} pixels from row {} and column {} of {}",
                            std::int64_t{height}, std::int64_t{width}, std::int64_t{top},
                            std::int64_t{left}, x.shape());
  return x({ellipsis(), {top, top + height}, {left, left + width}, {}});
}

array center_crop(const array& x, integer height, integer width) {
  op::check_image(x, "center_crop");
  const std::int64_t h = height, w = width, rows = x.dim(-3), columns = x.dim(-2);
  if (h < 0 || h > rows || w < 0 || w > columns)
    base::fail<shape_error>("center_crop: {} x {} pixels of {}", h, w, x.shape());
  return named("center_crop", [&] { return crop(x, (rows - h) / 2, (columns - w) / 2, h, w); });
}

array pad(const array& x, const margins& around, pad_mode mode, const array& value) {
  op::check_image(x, "pad");
  std::vector<pad_width> widths(static_cast<std::size_t>(x.ndim()) - 3);
  widths.emplace_back(around.top, around.bottom);
  widths.emplace_back(around.left, around.right);
  return tutti::pad(x, widths, mode, value);
}

}  // namespace image
}  // namespace tutti
