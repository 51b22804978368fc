// SPDX-License-Identifier: Apache-2.0
//
// Layers that normalise: by the batch, by rows, by groups of channels.
#include <fmt/format.h>

#include <cmath>

#include "base/named_errors.hpp"
#include "nn/checks.hpp"
#include "tutti/error.hpp"
#include "tutti/nn_layers.hpp"
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

array normalized(const array& x, const moments& m, double epsilon) {
  return (x - m.mean) * rsqrt(m.variance + epsilon);
}

moments moments_over(const array& x, const std::vector<std::int64_t>& axes) {
  return {mean(x, {axes, true}), var(x, {axes, true})};
}

}  // namespace

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
        const array x = detail::in_floats(given);
        const int axes = x.ndim();
        const auto in_place = [&](const array& v) { return along_channels(v, axes, o.order); };
        moments used{in_place(state[0]), in_place(state[1])};
        std::vector<array> next(state.begin(), state.end());
        if (how.training) {
          const std::int64_t count = x.size() / channels;
          if (count < 2)
            throw shape_error(
                fmt::format("batch_norm: training needs two elements or more a channel, got {}",
                            given.shape().str()));
          std::vector<std::int64_t> over;
          const int channel_axis = o.order == channel_order::first ? 1 : axes - 1;
          for (int i = 0; i < axes; ++i)
            if (i != channel_axis) over.push_back(i);
          used = moments_over(x, over);
          const auto n = static_cast<double>(count);
          const auto moved = [&](const array& old, const array& batch, double factor) {
            const array seen = stop_gradient(batch).reshape({channels}).astype(old.dtype());
            return old * (1 - o.momentum) + seen * (o.momentum * factor);
          };
          next = {moved(state[0], used.mean, 1), moved(state[1], used.variance, n / (n - 1))};
        }
        array y = normalized(x, used, o.epsilon);
        if (o.affine) y = y * in_place(parameters[0]) + in_place(parameters[1]);
        return {is_floating(given.dtype()) ? detail::narrowed(y, given.dtype()) : y,
                std::move(next)};
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
        const int skipped = given.ndim() - extents.rank();
        bool fits = skipped >= 0;
        for (int i = 0; fits && i < extents.rank(); ++i)
          fits = given.dim(skipped + i) == extents[i];
        if (!fits)
          throw shape_error(fmt::format("layer_norm: input must end in {}, got {}", extents.str(),
                                        given.shape().str()));
        const array x = detail::in_floats(given);
        std::vector<std::int64_t> over;
        for (int i = skipped; i < x.ndim(); ++i) over.push_back(i);
        array y = normalized(x, moments_over(x, over), o.epsilon);
        if (o.weight) y = y * parameters[0];
        if (o.bias) y = y + parameters[o.weight ? 1 : 0];
        return {is_floating(given.dtype()) ? detail::narrowed(y, given.dtype()) : y, {}};
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
        const array x = detail::in_floats(given);
        const std::int64_t rows = x.dim(0), of_group = channels / groups;
        shape of_row = x.shape();
        of_row.erase(0);
        const std::int64_t places = of_row.size() / channels;
        const bool first = o.order == channel_order::first;
        const array split_up = first ? x.reshape({rows, groups, of_group, places})
                                     : x.reshape({rows, places, groups, of_group});
        const std::vector<std::int64_t> over =
            first ? std::vector<std::int64_t>{2, 3} : std::vector<std::int64_t>{1, 3};
        array y = normalized(split_up, moments_over(split_up, over), o.epsilon).reshape(x.shape());
        if (o.affine)
          y = y * along_channels(parameters[0], x.ndim(), o.order) +
              along_channels(parameters[1], x.ndim(), o.order);
        return {is_floating(given.dtype()) ? detail::narrowed(y, given.dtype()) : y, {}};
      });
    };
    return layer(std::move(parts));
  });
}

layer rms_norm(std::int64_t width, double epsilon, dtype type, const device& on) {
  return named("rms_norm", [&] {
    check_epsilon("rms_norm", epsilon);
    layer_parts parts = with_scale("rms_norm", {width}, true, false, type, on);
    parts.apply = [width, epsilon](std::span<const array> parameters, std::span<const array>,
                                   const array& given, const pass&) -> applied {
      return named("rms_norm", [&]() -> applied {
        if (given.ndim() < 1 || given.dim(-1) != width)
          throw shape_error(
              fmt::format("rms_norm: input must end in {}, got {}", width, given.shape().str()));
        const array x = detail::in_floats(given);
        const array y = x * rsqrt(mean(square(x), {-1, true}) + epsilon) * parameters[0];
        return {is_floating(given.dtype()) ? detail::narrowed(y, given.dtype()) : y, {}};
      });
    };
    return layer(std::move(parts));
  });
}

}  // namespace tutti::nn
