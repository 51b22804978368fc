// SPDX-License-Identifier: Apache-2.0
//
// Normalisation layers: over the batch, rows, or groups of channels.

#include <cmath>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "nn/checks.hpp"
#include "tutti/grad.hpp"
#include "tutti/nn/layers.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn {

using tutti::base::named;

namespace {

void check_epsilon(const char* op, double epsilon) {
  detail::require_option(std::isfinite(epsilon) && epsilon > 0, op, "epsilon", epsilon);
}

void check_channels_of(const char* op, const array& x, std::int64_t channels, channel_order order) {
  if (x.ndim() < 2 || x.dim(order == channel_order::first ? 1 : -1) != channels)
    base::fail<shape_error>("{}: input must have {} channels on its {} axis, got {}", op, channels,
                            order == channel_order::first ? "second" : "last", x.shape());
}

/// A vector of channels that broadcasts against an input with this number of axes.
array along_channels(const array& v, int axes, channel_order order) {
  if (order == channel_order::last) return v;
  shape column{v.dim(0)};
  for (int i = 2; i < axes; ++i) column.push_back(1);
  return v.reshape(column);
}

layer_parts with_scale(const char* kind, const shape& extents, bool weight, bool bias, dtype type,
                       const device& on) {
  detail::require_floating(kind, "dtype", type);
  layer_parts parts{.kind = kind};
  if (weight) detail::add_parameter(parts, "weight", ones(extents, type, on));
  if (bias) detail::add_parameter(parts, "bias", zeros(extents, type, on));
  return parts;
}

struct normalized_values {
  array y;               // (x - mean) / sqrt(variance + epsilon) * weight
  array mean, variance;  // with the reduced axes, of extent 1
};

array normalized(const array& x, const array& mean, const array& variance, double epsilon) {
  return (x - mean) * rsqrt(variance + epsilon);
}

/// x, normalised by its own mean and variance over the axes; the optional weight must be constant
/// along them. Uses the gradient of S. Ioffe and C. Szegedy (Batch normalisation, 2015), which
/// takes two sums over the elements of x.
normalized_values normalized_by_own(const array& given, const std::vector<std::int64_t>& axes,
                                    double epsilon, const std::optional<array>& weight = {}) {
  const auto sums = [axes](const array& a) { return sum(a, {axes, true}); };
  double count = 1;
  for (const std::int64_t axis : axes) count *= static_cast<double>(given.dim(axis));
  const vector_function forward = [=](const std::vector<array>& v) {
    const array& x = v[0];
    const array mean = sums(x) / count;
    // Not x - mean, which would be stored for its two uses.
    const array variance = sums(square(mean - x)) / count;
    const array y = normalized(x, mean, variance, epsilon);
    return std::vector<array>{v.size() > 1 ? y * v[1] : y, mean, variance};
  };
  const backward_function backward = [=](const std::vector<array>& v,
                                         const std::vector<array>& values,
                                         const std::vector<array>& of) {
    const array &x = v[0], &mean = values[1];
    const array scale = rsqrt(values[2] + epsilon);
    const array from_middle = x - mean;
    const array total = sums(of[0]), along = sums(of[0] * from_middle) * scale;
    const array rate = v.size() > 1 ? scale * v[1] : scale;
    const array of_middle = (scale * rate * along - 2 * of[2]) / count;
    std::vector<array> found{rate * of[0] - from_middle * of_middle -
                             (rate * total - of[1]) / count};
    if (v.size() > 1) found.push_back(along.reshape(v[1].shape()));
    return found;
  };
  std::vector<array> arguments{given};
  if (weight) arguments.push_back(*weight);
  const std::vector<array> values = custom_vjp(forward, backward)(arguments);
  return {values[0], values[1], values[2]};
}

/// Multiplies by weight, adds bias, and casts to the dtype of `given`.
array finished(array y, const array& given, const std::optional<array>& weight,
               const std::optional<array>& bias) {
  if (weight) y = y * *weight;
  if (bias) y = y + *bias;
  if (y.ndim() > given.ndim())
    base::fail<shape_error>("norm: weights do not broadcast to {}, but to {}", given.shape(),
                            y.shape());
  return is_floating(given.dtype()) ? detail::narrowed(y, given.dtype()) : y;
}

std::vector<std::int64_t> chosen(const axis_list& axes, int rank, const char* op) {
  const unsigned mask = axes.mask(rank, op);
  std::vector<std::int64_t> out;
  for (int i = 0; i < rank; ++i)
    if ((mask >> i & 1U) != 0) out.push_back(i);
  return out;
}

/// The number of channels; throws if x has no channel axis.
std::int64_t channels_of(const char* op, const array& x, channel_order order) {
  if (x.ndim() < 2) base::fail<shape_error>("{}: needs channels, got {}", op, x.shape());
  return x.dim(order == channel_order::first ? 1 : -1);
}

std::optional<array> channel_vector(const char* op, const std::optional<array>& v, const array& x,
                                    channel_order order) {
  if (!v) return {};
  const std::int64_t channels = channels_of(op, x, order);
  if (v->shape() != shape{channels})
    base::fail<shape_error>("{}: needs one number for each of {} channels, got {}", op, channels,
                            v->shape());
  return along_channels(*v, x.ndim(), order);
}

/// All axes except the channel axis.
std::vector<std::int64_t> axes_of_a_channel(const array& x, channel_order order) {
  std::vector<std::int64_t> axes;
  const int channel_axis = order == channel_order::first ? 1 : x.ndim() - 1;
  for (int i = 0; i < x.ndim(); ++i)
    if (i != channel_axis) axes.push_back(i);
  return axes;
}

/// The last axes of x, which must have these extents.
axis_list last_axes(const char* op, const shape& extents, const array& x) {
  const int skipped = x.ndim() - extents.rank();
  bool fits = skipped >= 0;
  for (int i = 0; fits && i < extents.rank(); ++i) fits = x.dim(skipped + i) == extents[i];
  if (!fits) base::fail<shape_error>("{}: input must end in {}, got {}", op, extents, x.shape());
  shape axes;
  for (int i = skipped; i < x.ndim(); ++i) axes.push_back(i);
  return axes;
}

}  // namespace

channel_moments moments_of_channels(const array& x, channel_order order) {
  constexpr const char* op = "moments_of_channels";
  return named(op, [&]() -> channel_moments {
    channels_of(op, x, order);
    const std::vector<std::int64_t> over = axes_of_a_channel(x, order);
    const array of = detail::in_floats(x);
    return {mean(of, over), var(of, over)};
  });
}

array batch_norm(const array& given, const array& mean, const array& variance,
                 const norm_options& o) {
  constexpr const char* op = "batch_norm";
  return named(op, [&] {
    check_epsilon(op, o.epsilon);
    const array x = detail::in_floats(given);
    const auto in_place = [&](const std::optional<array>& v) {
      return channel_vector(op, v, x, o.order);
    };
    const array y = normalized(x, *in_place(mean), *in_place(variance), o.epsilon);
    return finished(y, given, in_place(o.weight), in_place(o.bias));
  });
}

array layer_norm(const array& given, const axis_list& axes, const norm_options& o) {
  return named("layer_norm", [&] {
    check_epsilon("layer_norm", o.epsilon);
    const array x = detail::in_floats(given);
    const std::vector<std::int64_t> over = chosen(axes, x.ndim(), "layer_norm");
    return finished(normalized_by_own(x, over, o.epsilon).y, given, o.weight, o.bias);
  });
}

array group_norm(const array& given, std::int64_t groups, const norm_options& o) {
  constexpr const char* op = "group_norm";
  return named(op, [&] {
    check_epsilon(op, o.epsilon);
    detail::require_positive(op, "groups", groups);
    const std::int64_t channels = channels_of(op, given, o.order);
    if (channels % groups != 0)
      base::fail<value_error>("group_norm: {} groups do not divide {} channels", groups, channels);
    const array x = detail::in_floats(given);
    const std::int64_t rows = x.dim(0), of_group = channels / groups;
    shape of_row = x.shape();
    of_row.erase(0);
    const std::int64_t places = channels == 0 ? 0 : of_row.size() / channels;
    const bool first = o.order == channel_order::first;
    const array split_up = first ? x.reshape({rows, groups, of_group, places})
                                 : x.reshape({rows, places, groups, of_group});
    const std::vector<std::int64_t> over =
        first ? std::vector<std::int64_t>{2, 3} : std::vector<std::int64_t>{1, 3};
    const array y = normalized_by_own(split_up, over, o.epsilon).y.reshape(x.shape());
    return finished(y, given, channel_vector(op, o.weight, x, o.order),
                    channel_vector(op, o.bias, x, o.order));
  });
}

array rms_norm(const array& given, const axis_list& axes, const norm_options& o) {
  return named("rms_norm", [&] {
    check_epsilon("rms_norm", o.epsilon);
    const array x = detail::in_floats(given);
    const std::vector<std::int64_t> over = chosen(axes, x.ndim(), "rms_norm");
    const array y = x * rsqrt(mean(square(x), {over, true}) + o.epsilon);
    return finished(y, given, o.weight, o.bias);
  });
}

layer batch_norm(std::int64_t channels, const batch_norm_options& options, dtype type,
                 const device& on) {
  return named("batch_norm", [&] {
    detail::require_positive("batch_norm", "channels", channels);
    check_epsilon("batch_norm", options.epsilon);
    detail::require_option(options.momentum >= 0 && options.momentum <= 1, "batch_norm", "momentum",
                           options.momentum);
    layer_parts parts =
        with_scale("batch_norm", {channels}, options.affine, options.affine, type, on);
    const dtype wide = detail::is_narrow(type) ? dtype::f32 : type;
    parts.state_names = {"running_mean", "running_var"};
    parts.state = {zeros({channels}, wide, on), ones({channels}, wide, on)};
    parts.apply = [channels, o = options](std::span<const array> parameters,
                                          std::span<const array> state, const array& given,
                                          const pass& how) -> applied {
      return named("batch_norm", [&]() -> applied {
        check_channels_of("batch_norm", given, channels, o.order);
        norm_options by{.epsilon = o.epsilon, .order = o.order};
        if (o.affine) by.weight = parameters[0], by.bias = parameters[1];
        if (!how.training)
          return {batch_norm(given, state[0], state[1], by), {state.begin(), state.end()}};
        const std::int64_t count = given.size() / channels;
        if (count < 2)
          base::fail<shape_error>(
              "batch_norm: training needs two elements or more a channel, got {}", given.shape());
        const array x = detail::in_floats(given);
        const auto in_place = [&](const std::optional<array>& v) {
          return channel_vector("batch_norm", v, x, o.order);
        };
        const normalized_values own =
            normalized_by_own(x, axes_of_a_channel(x, o.order), o.epsilon, in_place(by.weight));
        const auto n = static_cast<double>(count);
        const auto moved = [&](const array& old, const array& batch, double factor) {
          const array seen = stop_gradient(batch).reshape({channels}).astype(old.dtype());
          return old * (1 - o.momentum) + seen * (o.momentum * factor);
        };
        return {finished(own.y, given, {}, in_place(by.bias)),
                {moved(state[0], own.mean, 1), moved(state[1], own.variance, n / (n - 1))}};
      });
    };
    return layer(std::move(parts));
  });
}

layer layer_norm(const shape& extents, const layer_norm_options& options, dtype type,
                 const device& on) {
  return named("layer_norm", [&] {
    if (extents.rank() < 1) throw value_error("layer_norm: needs one axis or more");
    check_epsilon("layer_norm", options.epsilon);
    layer_parts parts = with_scale("layer_norm", extents, options.weight, options.bias, type, on);
    const auto apply = [extents, o = options](std::span<const array> parameters, const array& given,
                                              const pass&) {
      const axis_list over = last_axes("layer_norm", extents, given);
      norm_options by{.epsilon = o.epsilon};
      if (o.weight) by.weight = parameters[0];
      if (o.bias) by.bias = parameters[o.weight ? 1 : 0];
      return layer_norm(given, over, by);
    };
    return detail::stateless(std::move(parts), apply);
  });
}

layer group_norm(std::int64_t groups, std::int64_t channels, const group_norm_options& options,
                 dtype type, const device& on) {
  return named("group_norm", [&] {
    detail::require_positive("group_norm", "groups", groups);
    detail::require_positive("group_norm", "channels", channels);
    if (channels % groups != 0)
      base::fail<value_error>("group_norm: {} groups do not divide {} channels", groups, channels);
    check_epsilon("group_norm", options.epsilon);
    layer_parts parts =
        with_scale("group_norm", {channels}, options.affine, options.affine, type, on);
    const auto apply = [groups, channels, o = options](std::span<const array> parameters,
                                                       const array& given, const pass&) {
      check_channels_of("group_norm", given, channels, o.order);
      norm_options by{.epsilon = o.epsilon, .order = o.order};
      if (o.affine) by.weight = parameters[0], by.bias = parameters[1];
      return group_norm(given, groups, by);
    };
    return detail::stateless(std::move(parts), apply);
  });
}

layer rms_norm(const shape& extents, double epsilon, dtype type, const device& on) {
  return named("rms_norm", [&] {
    if (extents.rank() < 1) throw value_error("rms_norm: needs one axis or more");
    check_epsilon("rms_norm", epsilon);
    layer_parts parts = with_scale("rms_norm", extents, true, false, type, on);
    const auto apply = [extents, epsilon](std::span<const array> parameters, const array& given,
                                          const pass&) {
      const axis_list over = last_axes("rms_norm", extents, given);
      return rms_norm(given, over, {.weight = parameters[0], .epsilon = epsilon});
    };
    return detail::stateless(std::move(parts), apply);
  });
}

layer rms_norm(std::int64_t width, double epsilon, dtype type, const device& on) {
  return rms_norm(shape{width}, epsilon, type, on);
}

}  // namespace tutti::nn
