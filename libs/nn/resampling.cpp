// SPDX-License-Identifier: Apache-2.0
//
// Resampling along one axis after the other: gathers elements at positions that the host computes,
// and sums them with weights in one program.

#include <algorithm>
#include <cmath>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "tutti/extension.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/nn/pooling.hpp"
#include "tutti/nn/sampling.hpp"

namespace tutti::nn {

using tutti::base::named;

namespace {

// One spatial axis: `size` positions over `extent` elements, `scale` times as dense.
struct axis_places {
  std::int64_t extent, size;
  std::optional<double> scale;
  double shrink() const {
    return scale ? 1 / *scale : static_cast<double>(extent) / static_cast<double>(size);
  }
};

double source_of(std::int64_t i, const axis_places& of, const interpolate_options& options) {
  const auto place = static_cast<double>(i), from = static_cast<double>(of.extent);
  if (options.align_corners)
    return of.size > 1 ? place * (from - 1) / static_cast<double>(of.size - 1) : 0;
  const double half = options.places == resampling_places::asymmetric ? 0 : 0.5;
  // Without a scale the quotient is rounded once.
  if (!of.scale) return (place + half) * from / static_cast<double>(of.size) - half;
  return (place + half) / *of.scale - half;
}

// Keys' cubic kernel.
double cubic(double x, double a) {
  x = std::abs(x);
  if (x <= 1) return ((a + 2) * x - (a + 3)) * x * x + 1;
  return x < 2 ? ((x - 5) * x + 8) * x * a - 4 * a : 0;
}

// One tap of the sum: elements for each position, and their weights.
struct tap {
  std::vector<std::int64_t> index;
  std::vector<double> weight;
};

std::vector<tap> taps_of(const axis_places& of, const interpolate_options& options) {
  const bool is_cubic = options.mode == resampling::cubic;
  const bool exclude = options.exclude_outside || options.antialias;
  const double wider = options.antialias ? std::max(of.shrink(), 1.0) : 1;
  const double radius = (is_cubic ? 2 : 1) * wider;
  const auto reach = static_cast<std::int64_t>(std::ceil(std::min(radius, 0x1p50)));
  const auto count = static_cast<std::uint64_t>(of.size);
  tutti::detail::require_host_memory("interpolate", count, 32 * static_cast<std::uint64_t>(reach));
  std::vector<tap> taps(static_cast<std::size_t>(2 * reach));
  for (tap& t : taps)
    t = {tutti::detail::host_vector<std::int64_t>("interpolate", count),
         tutti::detail::host_vector<double>("interpolate", count)};
  for (std::size_t i = 0; i < count; ++i) {
    double at = source_of(static_cast<std::int64_t>(i), of, options);
    if (!is_cubic && !exclude) at = std::max(at, 0.0);  // there it is the first element itself
    const double floor = std::floor(at);
    double sum = 0;
    for (std::size_t k = 0; k < taps.size(); ++k) {
      const double offset = static_cast<double>(k) - static_cast<double>(reach - 1);
      const auto element = static_cast<std::int64_t>(floor + offset);
      const double x = (at - floor - offset) / wider;
      double weight =
          is_cubic ? cubic(x, options.cubic_coefficient) : std::max(1 - std::abs(x), 0.0);
      if (exclude && (element < 0 || element >= of.extent)) weight = 0;
      taps[k].index[i] = std::clamp<std::int64_t>(element, 0, of.extent - 1);
      taps[k].weight[i] = weight;
      sum += weight;
    }
    if (exclude)
      for (tap& t : taps) t.weight[i] /= sum;
  }
  return taps;
}

std::int64_t nearest_of(double at, nearest_rounding rounding) {
  switch (rounding) {
    case nearest_rounding::floor:
      return static_cast<std::int64_t>(std::floor(at));
    case nearest_rounding::ceil:
      return static_cast<std::int64_t>(std::ceil(at));
    case nearest_rounding::halves_down:
      return static_cast<std::int64_t>(std::ceil(at - 0.5));
    default:
      return static_cast<std::int64_t>(std::floor(at + 0.5));
  }
}

array nearest_along(const array& x, int axis, const axis_places& of,
                    const interpolate_options& options) {
  auto index =
      tutti::detail::host_vector<std::int64_t>("interpolate", static_cast<std::uint64_t>(of.size));
  const bool exact = !of.scale && !options.align_corners &&
                     options.places == resampling_places::asymmetric &&
                     options.rounding == nearest_rounding::floor;
  __extension__ using wide = __int128;
  for (std::int64_t i = 0; i < of.size; ++i)
    index[static_cast<std::size_t>(i)] =
        exact ? static_cast<std::int64_t>(wide(i) * of.extent / of.size)
              : std::clamp<std::int64_t>(nearest_of(source_of(i, of, options), options.rounding), 0,
                                         of.extent - 1);
  return take(x, array::from(index, x.device()), axis);
}

array resampled_along(const array& x, int axis, const axis_places& of,
                      const interpolate_options& options) {
  array sum;
  shape column = {of.size};
  for (int later = axis + 1; later < x.ndim(); ++later) column.push_back(1);
  for (const tap& t : taps_of(of, options)) {
    const array weight = op::numbers_on(x.device(), t.weight, column, x.dtype());
    const array part = take(x, array::from(t.index, x.device()), axis) * weight;
    sum = sum.valid() ? sum + part : part;
  }
  return sum;
}

void check_options(const interpolate_options& o) {
  if (o.mode > resampling::area || o.places > resampling_places::asymmetric ||
      o.rounding > nearest_rounding::halves_up)
    base::fail<value_error>("interpolate: unknown mode {}, places {} or rounding {}",
                            static_cast<int>(o.mode), static_cast<int>(o.places),
                            static_cast<int>(o.rounding));
  const bool is_sum = o.mode == resampling::linear || o.mode == resampling::cubic;
  const bool chosen = o.places != resampling_places::automatic;
  if (o.align_corners && (o.mode == resampling::area || (o.mode == resampling::nearest && !chosen)))
    throw value_error("interpolate: align_corners is for linear and cubic");
  if (!is_sum && (o.antialias || o.exclude_outside))
    throw value_error("interpolate: antialias and exclude_outside are for linear and cubic");
  if (!std::isfinite(o.cubic_coefficient))
    base::fail<value_error>("interpolate: a cubic_coefficient of {}", o.cubic_coefficient);
}

// Spatial extents, and for scales the given values.
array interpolated(const array& given, const std::vector<axis_places>& to,
                   interpolate_options options) {
  const char* label = "interpolate";
  const bool is_nearest = options.mode == resampling::nearest;
  if (options.places == resampling_places::automatic)
    options.places = is_nearest ? resampling_places::asymmetric : resampling_places::half_pixel;
  const dtype type =
      is_nearest ? op::type_of(given, label) : op::real_floating_type_of(given, label);
  array x = op::cast(given, is_nearest ? type : graph::compute_dtype(type), label);
  const int first = options.order == channel_order::last ? 1 : 2;
  shape extents = x.shape(), size;
  for (int i = 0; i < static_cast<int>(to.size()); ++i) {
    const axis_places& of = to[static_cast<std::size_t>(i)];
    if (of.extent == 0 && of.size > 0)
      base::fail<shape_error>("interpolate: no elements to take: {}", given.shape());
    extents[first + i] = of.size;
    size.push_back(of.size);
  }
  if (graph::checked_elements(extents, type, label) == 0)
    return op::zeros_on(extents, type, op::device_of(x), label);
  if (options.mode == resampling::area)
    return adaptive_avg_pool(given, per_axis(size), options.order);
  for (int i = 0; i < size.rank(); ++i) {
    const axis_places& of = to[static_cast<std::size_t>(i)];
    // Nothing changes, for any positions.
    if (of.size == of.extent && (!of.scale || *of.scale == 1)) continue;
    x = is_nearest ? nearest_along(x, first + i, of, options)
                   : resampled_along(x, first + i, of, options);
  }
  return op::cast(x, type, label);
}

int spatial_axes_of(const array& x, const char* label) {
  const int rank = op::extents_of(x, label).rank();
  if (rank < 3 || rank > 5)
    base::fail<shape_error>("{}: x must have one to three spatial axes: {}", label, x.shape());
  return rank - 2;
}

std::int64_t extent_of(const array& x, int axis, const interpolate_options& options) {
  return x.dim((options.order == channel_order::last ? 1 : 2) + axis);
}

}  // namespace

array interpolate(const array& x, const per_axis& size, const interpolate_options& options) {
  const int axes = spatial_axes_of(x, "interpolate");
  check_options(options);
  const shape to = op::axis_values(size.values(), axes, 0, "size", "interpolate");
  std::vector<axis_places> places;
  for (int i = 0; i < axes; ++i) places.push_back({extent_of(x, i, options), to[i], {}});
  return interpolated(x, places, options);
}

array interpolate_by(const array& x, const std::vector<double>& scales,
                     const interpolate_options& options) {
  return named("interpolate_by", [&] {
    const int axes = spatial_axes_of(x, "interpolate_by");
    check_options(options);
    if (scales.size() != 1 && scales.size() != static_cast<std::size_t>(axes))
      base::fail<value_error>("interpolate_by: {} scales for {} spatial axes", scales.size(), axes);
    std::vector<axis_places> places;
    for (int i = 0; i < axes; ++i) {
      const double scale = scales[scales.size() == 1 ? 0 : static_cast<std::size_t>(i)];
      const std::int64_t extent = extent_of(x, i, options);
      const double size = std::floor(static_cast<double>(extent) * scale);
      if (!(scale > 0) || !(size < 0x1p62))
        base::fail<value_error>("interpolate_by: a scale of {}", scale);
      places.push_back({extent, static_cast<std::int64_t>(size), scale});
    }
    return interpolated(x, places, options);
  });
}

}  // namespace tutti::nn
