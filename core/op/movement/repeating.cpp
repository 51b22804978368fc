// SPDX-License-Identifier: Apache-2.0
//
// Repeating, rolling, reversing and padding: compositions of views, concatenation and slice_update.
#include <algorithm>

#include "base/named_errors.hpp"
#include "op/operands.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/movement.hpp"

namespace tutti {

using base::named;

namespace {

// a with one axis repeated as a whole, for any rank.
array tile_axis(const array& a, int axis, std::int64_t count) {
  const op::along at(a.shape(), axis, "tile");
  shape to = a.shape();
  to[axis] = graph::extent_product(to[axis], count, "tile");
  const array rows = reshape(a, {at.outer, 1, at.length * at.inner});
  return reshape(broadcast_to(rows, {at.outer, count, at.length * at.inner}), to);
}

array flattened(const array& a, std::optional<integer>& axis, std::string_view op) {
  graph::get(a, op);
  if (axis) return a;
  axis = 0;
  return a.flatten();
}

// The remainder in [0, n).
std::int64_t modulo(std::int64_t value, std::int64_t n) {
  const std::int64_t rest = value % n;
  return rest < 0 ? rest + n : rest;
}

array rolled(const array& a, std::int64_t distance, int axis) {
  const std::int64_t n = a.dim(axis);
  const std::int64_t shift = n == 0 ? 0 : modulo(distance, n);
  if (shift == 0) return a;
  const std::vector<array> parts = split_at(a, {n - shift}, axis);
  return concatenate({parts[1], parts[0]}, axis);
}

// The positions that padding reads along an axis of `extent`, divided into runs of steps of 1, 0 or
// -1.
struct run {
  std::int64_t first, step, count;
};

std::vector<run> padding_runs(std::int64_t extent, const pad_width& width, pad_mode mode) {
  if (mode == pad_mode::edge || extent == 1)
    return {{0, 0, width.first}, {0, 1, extent}, {extent - 1, 0, width.second}};
  std::vector<run> runs;
  if (mode == pad_mode::wrap) {
    for (std::int64_t place = -width.first; place < extent + width.second;) {
      const std::int64_t phase = modulo(place, extent);
      const std::int64_t count = std::min(extent - phase, extent + width.second - place);
      runs.push_back({phase, 1, count});
      place += count;
    }
    return runs;
  }
  const std::int64_t period = graph::extent_product(2, extent - 1, "pad");
  for (std::int64_t place = -width.first; place < extent + width.second;) {
    const std::int64_t phase = modulo(place, period);
    const bool rising = phase < extent - 1;
    // An ascending run leaves the last element to the descending one after it, and vice versa.
    const std::int64_t turn = place + (rising ? extent - 1 - phase : period - phase);
    const std::int64_t end = std::min(turn, extent + width.second);
    runs.push_back({rising ? phase : period - phase, rising ? 1 : -1, end - place});
    place = end;
  }
  return runs;
}

// An axis that is reflected or repeated too often to be joined from pieces.
array gathered_axis(const array& a, int axis, const pad_width& width, std::int64_t padded,
                    pad_mode mode) {
  const std::int64_t last = a.shape()[axis] - 1;
  const std::int64_t period = mode == pad_mode::wrap ? last + 1 : 2 * last;
  std::vector<std::int64_t> places =
      detail::host_vector<std::int64_t>("pad", static_cast<std::uint64_t>(padded));
  for (std::int64_t i = 0; i < padded; ++i) {
    const std::int64_t phase = modulo(i - width.first, period);
    places[static_cast<std::size_t>(i)] = phase <= last ? phase : 2 * last - phase;
  }
  return take(a, array::from(places, a.device()), axis);
}

shape padded_shape(const shape& extents, int axis, const pad_width& width, dtype type) {
  shape to = extents;
  to[axis] =
      graph::extent_sum(graph::extent_sum(to[axis], width.first, "pad"), width.second, "pad");
  graph::checked_elements(to, type, "pad");
  return to;
}

array padded_axis(const array& a, int axis, const pad_width& width, pad_mode mode) {
  constexpr std::int64_t most_pieces = 16;
  const shape& extents = a.shape();
  const shape to = padded_shape(extents, axis, width, a.dtype());
  if (mode != pad_mode::edge && extents[axis] > 1 && to[axis] / (extents[axis] - 1) > most_pieces)
    return gathered_axis(a, axis, width, to[axis], mode);
  const std::vector<run> runs = padding_runs(extents[axis], width, mode);
  std::vector<array> pieces;
  for (const run& r : runs) {
    if (r.count == 0) continue;
    shape taken = extents;
    taken[axis] = r.count;
    const bool repeats = r.step == 0;
    const array piece =
        op::slice_along(a, axis, r.first, repeats ? 1 : r.count, repeats ? 1 : r.step);
    pieces.push_back(broadcast_to(piece, taken));
  }
  return concatenate(pieces, axis);
}

array padded_with(const array& a, std::span<const pad_width> widths, const array& value) {
  shape to = a.shape();
  shape starts = to, steps = to;
  for (int i = 0; i < to.rank(); ++i) {
    const bool given = static_cast<std::size_t>(i) < widths.size();
    starts[i] = given ? widths[static_cast<std::size_t>(i)].first : 0;
    steps[i] = 1;
    if (given) to = padded_shape(to, i, widths[static_cast<std::size_t>(i)], a.dtype());
  }
  if (a.size() == 0) return full(to, value, a.dtype(), a.device());
  return op::update_region(broadcast_to(op::cast(value, a.dtype(), "pad"), to), a, starts, steps);
}

// Element i along the axis counts[i] times.
array repeated_each(const array& a, std::span<const std::int64_t> counts,
                    std::optional<integer> axis, std::string_view op) {
  const array x = flattened(a, axis, op);
  const int along = normalize_axis(*axis, x.ndim(), op);
  if (x.dim(along) != static_cast<std::int64_t>(counts.size()))
    base::fail<shape_error>("{}: {} counts for axis {} of {}", op, counts.size(),
                            std::int64_t{*axis}, x.shape());
  shape to = x.shape();
  to[along] = 0;
  for (std::int64_t count : counts) {
    if (count < 0) base::fail<value_error>("{}: the count {} is negative", op, count);
    to[along] = graph::extent_sum(to[along], count, op);
  }
  graph::checked_elements(to, x.dtype(), op);
  std::vector<std::int64_t> places =
      detail::host_vector<std::int64_t>(op, static_cast<std::uint64_t>(to[along]));
  auto next = places.begin();
  for (std::size_t i = 0; i < counts.size(); ++i)
    next = std::fill_n(next, counts[i], static_cast<std::int64_t>(i));
  return take(x, array::from(places, x.device()), along);
}

}  // namespace

array tile(const array& a, const shape& counts) {
  shape extents = graph::get(a, "tile").extents;
  shape times = counts;
  for (std::int64_t count : counts)
    if (count < 0) base::fail<value_error>("tile: negative count in {}", counts);
  while (extents.rank() < times.rank()) extents.insert(0, 1);
  while (times.rank() < extents.rank()) times.insert(0, 1);
  array out = reshape(a, extents);
  shape cut, wide, to = extents;
  int rank = 0;
  for (int i = 0; i < times.rank(); ++i) {
    to[i] = graph::extent_product(to[i], times[i], "tile");
    rank += times[i] == 1 || extents[i] == 1 ? 1 : 2;
  }
  if (graph::checked_elements(to, a.dtype(), "tile") == 0)
    return op::zeros_on(to, a.dtype(), a.node()->device);
  if (rank > max_rank) {
    for (int i = times.rank(); i-- > 0;)
      if (times[i] != 1) out = tile_axis(out, i, times[i]);
    return out;
  }
  for (int i = 0; i < times.rank(); ++i) {
    if (times[i] != 1 && extents[i] != 1) {
      cut.push_back(1);
      wide.push_back(times[i]);
    }
    cut.push_back(extents[i]);
    wide.push_back(extents[i] == 1 ? times[i] : extents[i]);
  }
  return reshape(broadcast_to(reshape(out, cut), wide), to);
}

array repeat(const array& a, std::int64_t count, std::optional<integer> axis) {
  const array x = flattened(a, axis, "repeat");
  if (count < 0) base::fail<value_error>("repeat: the count {} is negative", count);
  const op::along at(x.shape(), *axis, "repeat");
  shape to = x.shape();
  to[at.axis] = graph::extent_product(to[at.axis], count, "repeat");
  if (graph::checked_elements(to, a.dtype(), "repeat") == 0)
    return op::zeros_on(to, a.dtype(), a.node()->device);
  if (x.ndim() == max_rank) {
    const array rows = reshape(x, {at.outer * at.length, 1, at.inner});
    return reshape(broadcast_to(rows, {at.outer * at.length, count, at.inner}), to);
  }
  shape wide = x.shape();
  wide.insert(at.axis + 1, count);
  return reshape(broadcast_to(expand_dims(x, at.axis + 1), wide), to);
}

array repeat(const array& a, std::span<const std::int64_t> counts, std::optional<integer> axis) {
  return counts.size() == 1 ? repeat(a, counts[0], axis) : repeated_each(a, counts, axis, "repeat");
}

array repeat(const array& a, std::initializer_list<integer> counts, std::optional<integer> axis) {
  return repeat(a, std::vector<std::int64_t>(counts.begin(), counts.end()), axis);
}

array repeat(const array& a, const array& counts, std::optional<integer> axis) {
  const shape& extents = graph::get(counts, "repeat").extents;
  if (extents.rank() > 1) base::fail<shape_error>("repeat: counts of shape {}", extents);
  const array wide = op::cast(op::index_values(counts, "repeat"), dtype::i64, "repeat");
  return repeat(a, wide.to_vector<std::int64_t>(), axis);
}

array repeat_each(const array& a, std::span<const std::int64_t> counts,
                  std::optional<integer> axis) {
  return repeated_each(a, counts, axis, "repeat_each");
}

array repeat_each(const array& a, std::initializer_list<integer> counts,
                  std::optional<integer> axis) {
  return repeat_each(a, std::vector<std::int64_t>(counts.begin(), counts.end()), axis);
}

array roll(const array& a, std::int64_t distance, const axis_list& axes) {
  graph::get(a, "roll");
  if (!axes.given()) return reshape(rolled(a.flatten(), distance, 0), a.shape());
  shape distances = axes.axes();
  std::ranges::fill(distances, distance);
  return roll(a, distances, axes);
}

array roll(const array& a, const shape& distances, const axis_list& axes) {
  graph::get(a, "roll");
  if (distances.rank() != axes.axes().rank())
    base::fail<value_error>("roll: distances {} for axes {} of {}", distances, axes.axes(),
                            a.shape());
  array out = a;
  for (int i = 0; i < distances.rank(); ++i)
    out = rolled(out, distances[i], normalize_axis(axes.axes()[i], a.ndim(), "roll"));
  return out;
}

array flip(const array& a, const axis_list& axes) {
  const int rank = graph::get(a, "flip").extents.rank();
  const unsigned chosen = axes.mask(rank, "flip");
  std::vector<slice> slices(static_cast<std::size_t>(rank));
  for (int i = 0; i < rank; ++i)
    if ((chosen >> i & 1) != 0) slices[static_cast<std::size_t>(i)].step = -1;
  return slice_view(a, slices);
}

array pad(const array& a, std::span<const pad_width> widths, pad_mode mode, const array& value) {
  return named("pad", [&] {
    const shape extents = graph::get(a, "pad").extents;
    if (mode > pad_mode::wrap)
      base::fail<value_error>("pad: unknown mode {}", static_cast<int>(mode));
    if (widths.size() > static_cast<std::size_t>(extents.rank()))
      base::fail<value_error>("pad: {} widths for an array of shape {}", widths.size(), extents);
    std::vector<slice> kept;
    std::vector<pad_width> added(widths.begin(), widths.end());
    bool cuts = false;
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const auto [before, after] = widths[i];
      const std::int64_t extent = extents[static_cast<int>(i)];
      const bool is_beyond = before < -extent || after < -extent;
      const std::int64_t first = is_beyond || before > 0 ? 0 : -before,
                         last = is_beyond || after > 0 ? extent : extent + after;
      if (is_beyond || first > last)
        base::fail<value_error>(
            "pad: the widths {} and {} of axis {} remove more elements than {} has", before, after,
            i, extents);
      cuts = cuts || before < 0 || after < 0;
      kept.push_back({first, last});
      added[i] = {std::max<std::int64_t>(before, 0), std::max<std::int64_t>(after, 0)};
    }
    if (cuts) return pad(slice_view(a, kept), added, mode, value);
    for (std::size_t i = 0; i < widths.size(); ++i) {
      const auto [before, after] = widths[i];
      if (mode != pad_mode::constant && extents[static_cast<int>(i)] == 0 &&
          (before > 0 || after > 0))
        base::fail<value_error>("pad: axis {} of {} is empty and has nothing to repeat", i,
                                extents);
    }
    array out = op::cast(a, op::type_of(a, "pad"), "pad");
    if (mode == pad_mode::constant) return padded_with(out, widths, value);
    for (std::size_t i = 0; i < widths.size(); ++i)
      if (widths[i].first > 0 || widths[i].second > 0)
        out = padded_axis(out, static_cast<int>(i), widths[i], mode);
    return out;
  });
}

array pad(const array& a, std::initializer_list<pad_width> widths, pad_mode mode,
          const array& value) {
  return pad(a, std::span(widths.begin(), widths.size()), mode, value);
}

}  // namespace tutti
