// SPDX-License-Identifier: Apache-2.0
//
// Random positions are drawn on the host: there are only a few per example, and an index that is
// known on the host needs no check on the device.
#include "tutti/data/augmentation.hpp"

#include <cmath>
#include <vector>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "semantics/host_math.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/image/basics.hpp"
#include "tutti/indexing.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"

namespace tutti::data {

namespace {

/// Integers in [0, count), element by element: as random::integers(), but each with its own range.
class drawer {
 public:
  explicit drawer(random::key from) : from_(from) {}
  std::int64_t below(std::int64_t count) {
    __extension__ using wide = unsigned __int128;
    const std::uint64_t low = host::philox(next_, from_.value);
    const std::uint64_t word = low | std::uint64_t{host::philox(next_ + 1, from_.value)} << 32;
    next_ += 2;
    return static_cast<std::int64_t>(wide(word) * static_cast<std::uint64_t>(count) >> 64);
  }

 private:
  random::key from_;
  std::int64_t next_ = 0;
};

/// Throws shape_error for another rank, and the error of an array that was never assigned.
void require_rank(const array& a, int rank, std::string_view are, std::string_view op) {
  base::named(op, [&] {
    if (a.ndim() != rank) base::fail<shape_error>("{}: {}, not {}", op, are, a.shape());
  });
}

void require_pictures(const array& pictures, std::string_view op) {
  require_rank(pictures, 4, "pictures are [n, height, width, channels]", op);
}

/// Positions first[i] ... first[i] + extent - 1 of each example, one row per example.
array positions(const std::vector<std::int64_t>& first, std::int64_t extent, bool are_rows,
                const device& on) {
  std::vector<std::int64_t> all;
  all.reserve(first.size() * static_cast<std::size_t>(extent));
  for (const std::int64_t begin : first)
    for (std::int64_t i = 0; i < extent; ++i) all.push_back(begin + i);
  const auto n = static_cast<std::int64_t>(first.size());
  return array::from(all, are_rows ? shape{n, extent, 1} : shape{n, 1, extent}, on);
}

array per_picture(const array& values) { return values.reshape({-1, 1, 1, 1}); }

array jitter_factor(random::key from, const array& x, double reach) {
  return per_picture(random::uniform(from, {x.dim(0)}, std::max(0.0, 1 - reach), 1 + reach,
                                     dtype::f32, x.device()));
}

/// Whether the interval [1 - reach, 1 + reach] contains more than one number.
bool acts(double reach) { return 1 + reach > 1; }

array cut(const array& x) { return clip(x, 0, 1); }

array shifted_hue(random::key from, const array& x, double reach) {
  const array turns =
      per_picture(random::uniform(from, {x.dim(0)}, -reach, reach, dtype::f32, x.device()));
  const array hsv = image::rgb_to_hsv(x);
  const array hue = hsv({all(), all(), all(), slice{0, 1}}) + turns;
  return image::hsv_to_rgb(concatenate(
      {hue.astype(x.dtype()), hsv({all(), all(), all(), slice{1, 3}}).astype(x.dtype())}, 3));
}

void require_jitter(const color_jitter_options& o) {
  const auto require = [](double value, std::string_view what, bool is_fine) {
    if (!is_fine || !(value >= 0) || !std::isfinite(value))
      base::fail<value_error>("color_jitter: {} {}", what, value);
  };
  require(o.brightness, "brightness", true);
  require(o.contrast, "contrast", true);
  require(o.saturation, "saturation", true);
  require(o.hue, "hue", o.hue <= 0.5);
}

/// The positions of one mask, [n, extent]; draws n widths and first positions.
array mask_along(drawer& draw, std::int64_t n, std::int64_t extent, std::int64_t width,
                 const device& on) {
  std::vector<std::int64_t> begins, ends;
  for (std::int64_t i = 0; i < n; ++i) {
    const std::int64_t taken = draw.below(std::min(width, extent) + 1);
    begins.push_back(draw.below(extent - taken + 1));
    ends.push_back(begins.back() + taken);
  }
  const array at = arange(extent, dtype::i64, on);
  return logical_and(greater_equal(at, array::from(begins, {n, 1}, on)),
                     less(at, array::from(ends, {n, 1}, on)));
}

/// Throws unless the dtype is real and can represent this value; floating dtypes round it.
void require_value(double value, dtype type, std::string_view op) {
  if (is_floating(type)) return;
  if (!is_integral(type)) base::fail<dtype_error>("{}: spectra are real, not {}", op, type);
  const int bits = static_cast<int>(8 * size_of(type)) - (is_unsigned(type) ? 0 : 1);
  const double end = std::ldexp(1.0, bits), low = is_unsigned(type) ? 0 : -end;
  if (!(value >= low && value < end) || value != std::floor(value))
    base::fail<value_error>("{}: the value {} is not in {}", op, value, type);
}

}  // namespace

array random_crop(random::key from, const array& pictures, integer height, integer width,
                  integer padding) {
  constexpr std::string_view op = "random_crop";
  require_pictures(pictures, op);
  if (height < 0 || width < 0 || padding < 0)
    base::fail<value_error>("{}: {} x {} pixels, padding {}", op, std::int64_t{height},
                            std::int64_t{width}, std::int64_t{padding});
  return base::named(op, [&] {
    const array wide =
        padding == 0 ? pictures : image::pad(pictures, {padding, padding, padding, padding});
    const std::int64_t n = wide.dim(0), rest_down = wide.dim(1) - height,
                       rest_right = wide.dim(2) - width;
    if (rest_down < 0 || rest_right < 0)
      base::fail<shape_error>("{}: {} x {} pixels of {} with padding {}", op, std::int64_t{height},
                              std::int64_t{width}, pictures.shape(), std::int64_t{padding});
    if (n == 0 || height == 0 || width == 0 || wide.dim(3) == 0)
      return zeros({n, height, width, wide.dim(3)}, pictures.dtype(), pictures.device());
    // Indices of rows and columns, as vectors and uploaded. Products of extents do not overflow.
    for (const std::int64_t places : {n, n * height, n * width})
      detail::require_host_memory(op, static_cast<std::uint64_t>(places), 3 * sizeof(places));
    drawer draw(from);
    std::vector<std::int64_t> tops, lefts, numbers;
    for (std::int64_t i = 0; i < n; ++i) {
      numbers.push_back(i);
      tops.push_back(draw.below(rest_down + 1));
      lefts.push_back(draw.below(rest_right + 1));
    }
    const device on = pictures.device();
    return index_with(wide, {array::from(numbers, {n, 1, 1}, on), positions(tops, height, true, on),
                             positions(lefts, width, false, on)});
  });
}

array random_flip(random::key from, const array& pictures, double probability) {
  constexpr std::string_view op = "random_flip";
  require_pictures(pictures, op);
  return base::named(op, [&] {
    const array is_flipped =
        random::bernoulli(from, {pictures.dim(0)}, probability, pictures.device());
    return where(per_picture(is_flipped), image::flip_horizontal(pictures), pictures);
  });
}

array color_jitter(random::key from, const array& pictures, const color_jitter_options& options) {
  constexpr std::string_view op = "color_jitter";
  require_pictures(pictures, op);
  require_jitter(options);
  if (!is_floating(pictures.dtype()))
    base::fail<dtype_error>("{}: colours are floating, not {}: image::to_float() makes them", op,
                            pictures.dtype());
  if (pictures.dim(3) != 3)
    base::fail<shape_error>("{}: colours have 3 channels, not {}", op, pictures.dim(3));
  return base::named(op, [&] {
    const std::vector<random::key> keys = random::split(from, 4);
    array x = size_of(pictures.dtype()) < 4 ? pictures.astype(dtype::f32) : pictures;
    if (acts(options.brightness)) x = cut(x * jitter_factor(keys[0], x, options.brightness));
    if (acts(options.contrast)) {
      const array grey = mean(image::rgb_to_grey(x), {{1, 2, 3}, true});
      x = cut(grey + jitter_factor(keys[1], x, options.contrast) * (x - grey));
    }
    if (acts(options.saturation)) {
      const array grey = image::rgb_to_grey(x);
      x = cut(grey + jitter_factor(keys[2], x, options.saturation) * (x - grey));
    }
    if (options.hue > 0) x = cut(shifted_hue(keys[3], x, options.hue));
    return x.astype(pictures.dtype());
  });
}

array add_noise(random::key from, const array& a, double deviation) {
  constexpr std::string_view op = "add_noise";
  if (!(deviation >= 0) || !std::isfinite(deviation))
    base::fail<value_error>("{}: the deviation {}", op, deviation);
  return base::named(
      op, [&] { return a + random::normal(from, a.shape(), 0, deviation, a.dtype(), a.device()); });
}

array spec_augment(random::key from, const array& spectra, const spec_augment_options& options) {
  constexpr std::string_view op = "spec_augment";
  require_rank(spectra, 3, "spectra are [n, frequencies, times]", op);
  const auto& o = options;
  if (o.frequency_masks < 0 || o.frequency_width < 0 || o.time_masks < 0 || o.time_width < 0)
    base::fail<value_error>("{}: {} masks of {} frequencies and {} of {} times", op,
                            o.frequency_masks, o.frequency_width, o.time_masks, o.time_width);
  constexpr std::int64_t most_masks = 1024;
  if (o.frequency_masks > most_masks || o.time_masks > most_masks)
    base::fail<value_error>("{}: {} and {} masks, at most {}", op, o.frequency_masks, o.time_masks,
                            most_masks);
  return base::named(op, [&] {
    const std::int64_t n = spectra.dim(0), frequencies = spectra.dim(1), times = spectra.dim(2);
    const device on = spectra.device();
    require_value(o.value, spectra.dtype(), op);
    if (spectra.size() == 0) return spectra;
    detail::require_host_memory(op, static_cast<std::uint64_t>(n), 4 * sizeof(n));
    const std::vector<random::key> keys = random::split(from, 2);
    array out = spectra;
    drawer down(keys[0]), along(keys[1]);
    for (std::int64_t i = 0; i < o.frequency_masks; ++i)
      out = masked_fill(
          out, mask_along(down, n, frequencies, o.frequency_width, on).reshape({n, frequencies, 1}),
          o.value);
    for (std::int64_t i = 0; i < o.time_masks; ++i)
      out = masked_fill(out, mask_along(along, n, times, o.time_width, on).reshape({n, 1, times}),
                        o.value);
    return out;
  });
}

}  // namespace tutti::data
