// SPDX-License-Identifier: Apache-2.0
//
// Layers that normalise: by the batch, by rows, by groups of channels.
#include <fmt/format.h>

#include <cmath>

#include "base/named_errors.hpp"
#include "nn/checks.hpp"
#include "tutti/error.hpp"
#include "tutti/nn/layers.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn {

using tutti::detail::named;

namespace {

void check_epsilon(const char* op, double epsilon) {
  detail::require_option(std::isfinite(epsilon) && epsilon > 0, op, "epsilon", epsilon);
}

void check_channels_of(const char* op, const array& x, std::int64_t channels, channel_order order) {
  if (x.ndim() < 2 || x.dim(order == channel_order::first ? 1 : -1) != channels)
    throw shape_error(fmt::format("{}: input must have {} channels on its {} axis, got {}", op,
                                  channels, order == channel_order::first ? "second" : "last",
                                  x.shape().str()));
}

/// A vector of channels that broadcasts against an input of so many axes.
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
  if (weight) {
    parts.names.push_back("weight");
    parts.parameters.push_back(ones(extents, type, on));
  }
  if (bias) {
    parts.names.push_back("bias");
    parts.parameters.push_back(zeros(extents, type, on));
  }
  return parts;
}

struct moments {
  array mean, variance;
};

moments moments_over(const array& x, const std::vector<std::int64_t>& axes) {
  return {mean(x, {axes, true}), var(x, {axes, true})};
}

array normalized(const array& x, const moments& m, double epsilon) {
  return (x - m.mean) * rsqrt(m.variance + epsilon);
}

/// Times weight, plus bias, and in the dtype of what was given.
array finished(array y, const array& given, const std::optional<array>& weight,
               const std::optional<array>& bias) {
  if (weight) y = y * *weight;
  if (bias) y = y + *bias;
  if (y.ndim() > given.ndim())
    throw shape_error(fmt::format("norm: weights do not broadcast to {}, but to {}",
                                  given.shape().str(), y.shape().str()));
  return is_floating(given.dtype()) ? detail::narrowed(y, given.dtype()) : y;
}

std::vector<std::int64_t> chosen(const axis_list& axes, int rank, const char* op) {
  const unsigned mask = axes.mask(rank, op);
  std::vector<std::int64_t> out;
  for (int i = 0; i < rank; ++i)
    if ((mask >> i & 1U) != 0) out.push_back(i);
  return out;
}

/// Of what has a channel axis.
std::int64_t channels_of(const char* op, const array& x, channel_order order) {
  if (x.ndim() < 2)
    throw shape_error(fmt::format("{}: needs channels, got {}", op, x.shape().str()));
  return x.dim(order == channel_order::first ? 1 : -1);
}

std::optional<array> channel_vector(const char* op, const std::optional<array>& v, const array& x,
                                    channel_order order) {
  if (!v) return {};
  const std::int64_t channels = channels_of(op, x, order);
  if (v->shape() != shape{channels})
    throw shape_error(fmt::format("{}: needs one number for each of {} channels, got {}", op,
                                  channels, v->shape().str()));
  return along_channels(*v, x.ndim(), order);
}

/// The last axes of x, which must have these extents.
axis_list last_axes(const char* op, const shape& extents, const array& x) {
  const int skipped = x.ndim() - extents.rank();
  bool fits = skipped >= 0;
  for (int i = 0; fits && i < extents.rank(); ++i) fits = x.dim(skipped + i) == extents[i];
  if (!fits)
    throw shape_error(
        fmt::format("{}: input must end in {}, got {}", op, extents.str(), x.shape().str()));
  shape axes;
  for (int i = skipped; i < x.ndim(); ++i) axes.push_back(i);
  return axes;
}

}  // namespace

channel_moments moments_of_channels(const array& x, channel_order order) {
  constexpr const char* op = "moments_of_channels";
  return named(op, [&]() -> channel_moments {
    const std::int64_t channels = channels_of(op, x, order);
    std::vector<std::int64_t> over;
    const int channel_axis = order == channel_order::first ? 1 : x.ndim() - 1;
    for (int i = 0; i < x.ndim(); ++i)
      if (i != channel_axis) over.push_back(i);
    const moments m = moments_over(detail::in_floats(x), over);
    return {m.mean.reshape({channels}), m.variance.reshape({channels})};
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
    const array y = normalized(x, {*in_place(mean), *in_place(variance)}, o.epsilon);
    return finished(y, given, in_place(o.weight), in_place(o.bias));
  });
}

array layer_norm(const array& given, const axis_list& axes, const norm_options& o) {
  return named("layer_norm", [&] {
    check_epsilon("layer_norm", o.epsilon);
    const array x = detail::in_floats(given);
    const array y = normalized(x, moments_over(x, chosen(axes, x.ndim(), "layer_norm")), o.epsilon);
    return finished(y, given, o.weight, o.bias);
  });
}

array group_norm(const array& given, std::int64_t groups, const norm_options& o) {
  constexpr const char* op = "group_norm";
  return named(op, [&] {
    check_epsilon(op, o.epsilon);
    detail::require_positive(op, "groups", groups);
    const std::int64_t channels = channels_of(op, given, o.order);
    if (channels % groups != 0)
      throw value_error(
          fmt::format("group_norm: {} groups do not divide {} channels", groups, channels));
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
    const array y =
        normalized(split_up, moments_over(split_up, over), o.epsilon).reshape(x.shape());
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
        channel_moments used{state[0], state[1]};
        std::vector<array> next(state.begin(), state.end());
        if (how.training) {
          const std::int64_t count = given.size() / channels;
          if (count < 2)
            throw shape_error(
                fmt::format("batch_norm: training needs two elements or more a channel, got {}",
                            given.shape().str()));
          used = moments_of_channels(given, o.order);
          const auto n = static_cast<double>(count);
          const auto moved = [&](const array& old, const array& batch, double factor) {
            const array seen = stop_gradient(batch).astype(old.dtype());
            return old * (1 - o.momentum) + seen * (o.momentum * factor);
          };
          next = {moved(state[0], used.mean, 1), moved(state[1], used.variance, n / (n - 1))};
        }
        norm_options by{.epsilon = o.epsilon, .order = o.order};
        if (o.affine) by.weight = parameters[0], by.bias = parameters[1];
        return {batch_norm(given, used.mean, used.variance, by), std::move(next)};
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
    parts.apply = [extents, o = options](std::span<const array> parameters, std::span<const array>,
                                         const array& given, const pass&) -> applied {
      return named("layer_norm", [&]() -> applied {
        const axis_list over = last_axes("layer_norm", extents, given);
        norm_options by{.epsilon = o.epsilon};
        if (o.weight) by.weight = parameters[0];
        if (o.bias) by.bias = parameters[o.weight ? 1 : 0];
        return {layer_norm(given, over, by), {}};
      });
    };
    return layer(std::move(parts));
  });
}

layer group_norm(std::int64_t groups, std::int64_t channels, const group_norm_options& options,
                 dtype type, const device& on) {
  return named("group_norm", [&] {
    detail::require_positive("group_norm", "groups", groups);
    detail::require_positive("group_norm", "channels", channels);
    if (channels % groups != 0)
      throw value_error(
          fmt::format("group_norm: {} groups do not divide {} channels", groups, channels));
    check_epsilon("group_norm", options.epsilon);
    layer_parts parts =
        with_scale("group_norm", {channels}, options.affine, options.affine, type, on);
    parts.apply = [groups, channels, o = options](std::span<const array> parameters,
                                                  std::span<const array>, const array& given,
                                                  const pass&) -> applied {
      return named("group_norm", [&]() -> applied {
        check_channels_of("group_norm", given, channels, o.order);
        norm_options by{.epsilon = o.epsilon, .order = o.order};
        if (o.affine) by.weight = parameters[0], by.bias = parameters[1];
        return {group_norm(given, groups, by), {}};
      });
    };
    return layer(std::move(parts));
  });
}

layer rms_norm(const shape& extents, double epsilon, dtype type, const device& on) {
  return named("rms_norm", [&] {
    if (extents.rank() < 1) throw value_error("rms_norm: needs one axis or more");
    check_epsilon("rms_norm", epsilon);
    layer_parts parts = with_scale("rms_norm", extents, true, false, type, on);
    parts.apply = [extents, epsilon](std::span<const array> parameters, std::span<const array>,
                                     const array& given, const pass&) -> applied {
      return named("rms_norm", [&]() -> applied {
        const axis_list over = last_axes("rms_norm", extents, given);
        return {rms_norm(given, over, {.weight = parameters[0], .epsilon = epsilon}), {}};
      });
    };
    return layer(std::move(parts));
  });
}

layer rms_norm(std::int64_t width, double epsilon, dtype type, const device& on) {
  return rms_norm(shape{width}, epsilon, type, on);
}

}  // namespace tutti::nn
