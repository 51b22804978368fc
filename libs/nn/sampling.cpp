// SPDX-License-Identifier: Apache-2.0
//
// Elements at computed positions: rows of channels are gathered for each neighbour, and summed with
// weights.
#include "tutti/nn/sampling.hpp"

#include <cmath>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "tutti/extension.hpp"
#include "tutti/statistics.hpp"

namespace tutti::nn {
namespace {

using tutti::base::named;

// A neighbour along one axis: its index, its weight, and whether it is within x.
struct neighbour {
  array index, weight, inside;
};

// Keys' kernel with a = -0.75, for distances in [0, 1] and in [1, 2].
array near(const array& d) { return (1.25 * d - 2.25) * d * d + 1; }
array far(const array& d) { return ((-0.75 * d + 3.75) * d - 6) * d + 3; }

// x [N, C, spatial...] as rows of channels.
class sampler {
 public:
  sampler(const array& x, const grid_sample_options& options) : options_(options) {
    for (int axis = 2; axis < x.ndim(); ++axis) extents_.push_back(x.dim(axis));
    channels_ = x.dim(1);
    const array last = moveaxis(x, 1, -1);
    rows_ = reshape(contiguous(last), {1, last.size() / channels_, channels_});
    index_ = op::holds(dtype::i32, rows_.dim(1)) ? dtype::i32 : dtype::i64;
  }

  // [places..., C] at positions along each axis in images with these indices, which all broadcast.
  array at(const array& image, const std::vector<array>& places) const {
    std::vector<std::vector<neighbour>> along;
    for (int axis = 0; axis < extents_.rank(); ++axis)
      along.push_back(neighbours(places[static_cast<std::size_t>(axis)], extents_[axis]));
    array sum;
    gather(along, 0, {astype(image, index_), {}, {}}, sum);
    return sum;
  }

 private:
  array folded(const array& place, std::int64_t extent) const {
    const auto last = static_cast<double>(extent - 1);
    if (options_.beyond != padding_mode::reflect) return clip(place, 0, last);
    if (options_.align_corners) {
      if (extent == 1) return place * 0;
      const array m = remainder(abs(place), 2 * last);
      return minimum(m, 2 * last - m);
    }
    const array m = remainder(place, 2 * last + 2);
    return minimum(m, 2 * last + 1 - m);
  }

  std::vector<neighbour> neighbours(const array& at, std::int64_t extent) const {
    const array given = stop_gradient(at);
    const array finite = where(isfinite(given), given, -2.0);
    const bool nearest = options_.mode == resampling::nearest;
    const array base = nearest ? round(finite) : floor(finite), part = at - base;
    const int first = options_.mode == resampling::cubic ? -1 : 0,
              count = nearest ? 1 : 2 - 2 * first;
    std::vector<neighbour> out;
    for (int k = first; k < first + count; ++k) {
      const array place = base + static_cast<double>(k);
      neighbour n{
          astype(clip(folded(place, extent), 0, static_cast<double>(extent - 1)), index_), {}, {}};
      if (options_.beyond == padding_mode::zeros)
        n.inside = (place >= 0) & (place <= static_cast<double>(extent - 1));
      if (options_.mode == resampling::linear) n.weight = k == 0 ? 1 - part : part;
      if (options_.mode == resampling::cubic)
        n.weight = k == -1  ? far(part + 1)
                   : k == 0 ? near(part)
                   : k == 1 ? near(1 - part)
                            : far(2 - part);
      out.push_back(n);
    }
    return out;
  }

  // Adds the combinations of neighbours from `axis` on; `sofar` covers the previous axes.
  void gather(const std::vector<std::vector<neighbour>>& along, std::size_t axis,
              const neighbour& sofar, array& sum) const {
    if (axis == along.size()) {
      const array index = contiguous(sofar.index);
      array part = op::take_rows(rows_, reshape(index, {index.size()}));
      shape to = index.shape();
      to.push_back(channels_);
      part = reshape(part, to);
      if (sofar.weight.valid()) part = part * expand_dims(astype(sofar.weight, part.dtype()), -1);
      if (sofar.inside.valid())
        part = where(expand_dims(sofar.inside, -1), part, zeros({}, part.dtype(), part.device()));
      sum = sum.valid() ? sum + part : part;
      return;
    }
    for (const neighbour& n : along[axis]) {
      neighbour next = sofar;
      next.index = sofar.index * extents_[static_cast<int>(axis)] + n.index;
      if (n.weight.valid()) next.weight = sofar.weight.valid() ? sofar.weight * n.weight : n.weight;
      if (n.inside.valid()) next.inside = sofar.inside.valid() ? sofar.inside & n.inside : n.inside;
      gather(along, axis + 1, next, sum);
    }
  }

  grid_sample_options options_;
  shape extents_;
  std::int64_t channels_ = 0;
  array rows_;
  dtype index_ = dtype::i64;
};

// Operands in the dtype of the computation, and the dtype of the result.
struct float_operand {
  array x;
  dtype type;
  float_operand(const array& given, const char* label)
      : type(op::real_floating_type_of(given, label)) {
    x = op::cast(given, graph::compute_dtype(type), label);
  }
};

void check_elements(const array& x, int least, int most, const char* label) {
  const int rank = op::extents_of(x, label).rank();
  if (rank < least || rank > most)
    base::fail<shape_error>("{}: x has not the axes of images: {}", label, x.shape());
}

}  // namespace

array grid_sample(const array& given, const array& grid, const grid_sample_options& options) {
  const char* label = "grid_sample";
  return named(label, [&] {
    check_elements(given, 3, 5, label);
    if (options.mode > resampling::cubic || options.beyond > padding_mode::replicate)
      base::fail<value_error>("grid_sample: unknown mode {} or {}", static_cast<int>(options.mode),
                              static_cast<int>(options.beyond));
    const float_operand x(given, label);
    const int axes = given.ndim() - 2;
    if (op::extents_of(grid, label).rank() < 2 || grid.dim(-1) != axes ||
        grid.dim(0) != given.dim(0))
      base::fail<shape_error>("grid_sample: a grid {} for {}", grid.shape(), given.shape());
    shape to = grid.shape();
    to[to.rank() - 1] = given.dim(1);
    if (graph::checked_elements(to, x.type, label) == 0)
      return moveaxis(op::zeros_on(to, x.type, op::device_of(given), label), -1, 1);
    if (given.size() == 0)
      base::fail<shape_error>("grid_sample: no elements to take: {}", given.shape());
    const array places = op::cast(grid, x.x.dtype(), label);
    std::vector<array> at;
    for (int i = 0; i < axes; ++i) {
      const array along = places(ellipsis(), axes - 1 - i);
      const auto extent = static_cast<double>(given.dim(2 + i));
      at.push_back(options.align_corners ? (along + 1) * ((extent - 1) / 2)
                                         : ((along + 1) * extent - 1) / 2);
    }
    shape column = {given.dim(0)};
    for (int i = 1; i < to.rank() - 1; ++i) column.push_back(1);
    const array image = reshape(graph::iota({given.dim(0)}, op::device_of(given)), column);
    const array y = sampler(x.x, options).at(image, at);
    return moveaxis(op::cast(y, x.type, label), -1, 1);
  });
}

array roi_align(const array& given, const array& boxes, const array& images, const per_axis& size,
                const roi_align_options& options) {
  const char* label = "roi_align";
  return named(label, [&] {
    check_elements(given, 4, 4, label);
    const float_operand x(given, label);
    if (op::extents_of(images, label).rank() != 1 ||
        op::extents_of(boxes, label) != shape{images.size(), 4})
      base::fail<shape_error>("roi_align: boxes {} in images {}", boxes.shape(), images.shape());
    if (options.samples < 1 || !std::isfinite(options.scale))
      base::fail<value_error>("roi_align: {} samples, a scale of {}", options.samples,
                              options.scale);
    const std::int64_t count = images.size();
    const shape parts = op::axis_values(size.values(), 2, 1, "size", label);
    const shape to = {count, given.dim(1), parts[0], parts[1]};
    if (graph::checked_elements(to, x.type, label) == 0)
      return op::zeros_on(to, x.type, op::device_of(given), label);
    if (given.size() == 0)
      base::fail<shape_error>("roi_align: no elements to take: {}", given.shape());
    const array corners =
        op::cast(boxes, x.x.dtype(), label) * options.scale - (options.half_pixel ? 0.5 : 0.0);
    const auto along = [&](int first, int axis, shape column) {
      const std::int64_t places = graph::extent_product(parts[axis], options.samples, label);
      const array from = reshape(corners(all(), first), {count, 1, 1});
      array length = reshape(corners(all(), first + 2), {count, 1, 1}) - from;
      if (!options.half_pixel) length = maximum(length, 1.0);
      column[axis + 1] = places;
      const array i = reshape(graph::iota({places}, op::device_of(given)), column);
      return from + (astype(i, x.x.dtype()) + 0.5) * length / static_cast<double>(places);
    };
    const array rows = along(1, 0, {1, 1, 1}), columns = along(0, 1, {1, 1, 1});
    const auto beyond = [&](const array& at, int axis) {
      return (at < -1) | (at > static_cast<double>(given.dim(axis)));
    };
    const auto within = [&](const array& at, int axis) {
      return clip(at, 0, static_cast<double>(given.dim(axis) - 1));
    };
    const array image =
        reshape(op::checked_indices(images, given.dim(0), 0, given.shape(), label), {count, 1, 1});
    const sampler source(x.x, {.beyond = padding_mode::replicate});
    const array found = source.at(image, {within(rows, 2), within(columns, 3)});
    const array none = expand_dims(beyond(rows, 2) | beyond(columns, 3), -1);
    const array seen = where(none, zeros({}, found.dtype(), found.device()), found);
    const array split_up =
        reshape(seen, {count, parts[0], options.samples, parts[1], options.samples, given.dim(1)});
    return moveaxis(op::cast(mean(split_up, {2, 4}), x.type, label), -1, 1);
  });
}

array deform_conv2d(const array& given, const array& w, const array& offsets,
                    const deform_conv_options& options) {
  const char* label = "deform_conv2d";
  return named(label, [&] {
    check_elements(given, 4, 4, label);
    const float_operand x(given, label);
    if (op::extents_of(w, label).rank() != 4 || op::extents_of(offsets, label).rank() != 4)
      base::fail<shape_error>("deform_conv2d: weights {} and offsets {} need four axes", w.shape(),
                              offsets.shape());
    const std::int64_t taps = graph::extent_product(w.dim(2), w.dim(3), label);
    const op::window_geometry g =
        op::resolve_windows({given.dim(2), given.dim(3)}, {w.dim(2), w.dim(3)}, options.stride,
                            options.padding, options.dilation, label);
    const std::int64_t n = given.dim(0), c = given.dim(1), high = g.places[0], wide = g.places[1];
    const std::int64_t groups = offsets.dim(1) / (2 * taps), o = w.dim(0), shares = options.groups;
    const bool fits =
        groups > 0 && shares > 0 && c % groups == 0 && o % shares == 0 && c == w.dim(1) * shares &&
        offsets.shape() == shape{n, 2 * taps * groups, high, wide} &&
        (!options.mask || options.mask->shape() == shape{n, taps * groups, high, wide});
    if (!fits || given.size() == 0)
      base::fail<shape_error>("deform_conv2d: input {}, weights {} and offsets {} do not fit",
                              given.shape(), w.shape(), offsets.shape());
    const dtype compute = x.x.dtype();
    const array by = reshape(op::cast(offsets, compute, label), {n * groups, taps, 2, high, wide});
    // Positions of a tap without offsets: [taps, high, wide] of rows, then of columns.
    const auto own = [&](int axis) {
      const auto numbered = [&](std::int64_t count) {
        return graph::iota({count}, op::device_of(given));
      };
      const array place = numbered(g.places[axis]) * g.stride[axis] - g.before[axis];
      const array tap = numbered(g.window[axis]) * g.dilation[axis];
      const array sums = axis == 0 ? reshape(tap, {-1, 1, 1, 1}) + reshape(place, {-1, 1})
                                   : reshape(tap, {-1, 1, 1}) + place;
      const array both = broadcast_to(sums, {g.window[0], g.window[1], high, wide});
      return astype(reshape(both, {taps, high, wide}), compute);
    };
    const array image = reshape(graph::iota({n * groups}, op::device_of(given)), {-1, 1, 1, 1});
    const array split_up = reshape(x.x, {n * groups, c / groups, given.dim(2), given.dim(3)});
    array seen = sampler(split_up, {})
                     .at(image, {own(0) + by(all(), all(), 0), own(1) + by(all(), all(), 1)});
    if (options.mask)
      seen = seen *
             reshape(op::cast(*options.mask, compute, label), {n * groups, taps, high, wide, 1});
    // [n, shares, channels of one, taps, places] from [n * groups, taps, high, wide, c / groups].
    seen = reshape(transpose(seen, {0, 4, 1, 2, 3}), {n, shares, c / shares * taps, high * wide});
    const array weights =
        reshape(op::cast(w, compute, label), {shares, o / shares, c / shares * taps});
    array y = reshape(matmul(weights, seen), {n, o, high, wide});
    if (options.bias) y = y + reshape(op::cast(*options.bias, compute, label), {o, 1, 1});
    return op::cast(y, x.type, label);
  });
}

}  // namespace tutti::nn
