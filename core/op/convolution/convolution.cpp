// SPDX-License-Identifier: Apache-2.0
//
// Convolutions of x with w: checks of arguments, padding other than zeros, and the operator.
#include "tutti/convolution.hpp"

#include "base/named_errors.hpp"
#include "op/convolution/convolve.hpp"
#include "tutti/error.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"

namespace tutti {
namespace {

using op::axis_numbers;
using op::window_geometry;

struct operands {
  array x, w;
  dtype type;  // of the result
};

operands checked_operands(const array& x, const array& w, int spatial, const char* label) {
  array both[] = {x, w};
  graph::get(x, label);
  graph::get(w, label);
  const dtype type = op::promote_operands(both, op::row_kind::FLOATING, label).type;
  if (is_complex(type)) base::fail<dtype_error>("{}: not defined for {}", label, type);
  const dtype compute = graph::compute_dtype(type);
  operands out{op::cast(x, compute, label), op::cast(w, compute, label), type};
  if (x.ndim() != spatial + 2 || w.ndim() != spatial + 2)
    base::fail<shape_error>("{}: x and w must have {} dimensions: {} and {}", label, spatial + 2,
                            x.shape(), w.shape());
  return out;
}

void check_groups(std::int64_t groups, std::int64_t channels, std::int64_t outputs,
                  const char* label) {
  if (groups < 1) base::fail<value_error>("{}: groups must be at least 1, not {}", label, groups);
  if (channels % groups != 0 || outputs % groups != 0)
    base::fail<shape_error>("{}: {} groups do not divide {} channels and {} of the result", label,
                            groups, channels, outputs);
}

// With steps of 1.
constexpr tutti_convolution_params plain{
    0, {1, 1, 1}, {1, 1, 1}, {1, 1, 1}, {}, 0, TUTTI_ACTIVATION_NONE, 0, 0};

void set(std::int64_t (&to)[3], const shape& values, int spatial, std::int64_t missing) {
  std::ranges::copy(op::spatial_numbers(values, spatial, missing), to);
}

graph::operator_params convolution_of(const tutti_convolution_params& p, bool channels_last,
                                      const char* label) {
  graph::operator_params what(TUTTI_OPERATOR_CONVOLUTION, p, label);
  what.channels_last = channels_last;
  return what;
}

graph::operator_params params_of(const window_geometry& g, bool channels_last, const char* label) {
  tutti_convolution_params p = plain;
  set(p.stride, g.stride, g.spatial, 1);
  set(p.dilation, g.dilation, g.spatial, 1);
  set(p.padding, g.before, g.spatial, 0);
  return convolution_of(p, channels_last, label);
}

// The convolution with windows of one element at every position.
array product(const array& x, const array& w, bool last) {
  const array weights = reshape(w, {w.dim(0), w.dim(1)});
  if (last) return matmul(x, swapaxes(weights, 0, 1));
  shape extents = x.shape();
  extents[1] = w.dim(0);
  return reshape(matmul(weights, reshape(x, {x.dim(0), x.dim(1), -1})), extents);
}

array convolution(const array& given_x, const array& given_w, const convolution_options& options,
                  int spatial, bool has_bias, const char* label) {
  const bool last = options.order == channel_order::last;
  auto [x, w, type] = checked_operands(given_x, given_w, spatial, label);
  const std::int64_t channels = x.dim(last ? -1 : 1), outputs = w.dim(0), groups = options.groups;
  check_groups(groups, channels, outputs, label);
  if (w.dim(1) != channels / groups)
    base::fail<shape_error>("{}: x {} has {} channels in each of {} groups, w {} has {}", label,
                            x.shape(), channels / groups, groups, w.shape(), w.dim(1));
  shape extents, window;
  for (int i = 0; i < spatial; ++i) {
    extents.push_back(x.dim(i + (last ? 1 : 2)));
    window.push_back(w.dim(i + 2));
  }
  window_geometry g = op::resolve_windows(extents, window, options.stride, options.padding,
                                          options.dilation, label);
  if (options.mode > padding_mode::replicate)
    base::fail<value_error>("{}: unknown padding mode {}", label, static_cast<int>(options.mode));
  if (options.mode != padding_mode::zeros && g.has_padding()) {
    const pad_mode mode =
        options.mode == padding_mode::reflect ? pad_mode::reflect : pad_mode::edge;
    x = op::padded(x, g, last ? 1 : 2, mode, 0);
    for (std::int64_t& n : g.before) n = 0;
  }
  // Products add a bias to columns only without a pass of its own, but have faster gradients.
  const bool is_everywhere = !g.has_padding() && std::ranges::count(g.stride, 1) == spatial;
  if (is_everywhere && groups == 1 && w.size() == outputs * channels && x.size() * w.size() > 0 &&
      (last || !has_bias || w.node()->is_traced()))
    return base::named(label, [&] { return op::cast(product(x, w, last), type, label); });
  shape w_extents = {groups, outputs / groups, channels / groups};
  for (int i = spatial; i < 3; ++i) w_extents.push_back(1);
  for (std::int64_t k : window) w_extents.push_back(k);
  const array out =
      op::convolve(op::as_groups(x, groups, last), reshape(w, w_extents), params_of(g, last, label),
                   op::spatial_numbers(g.places, spatial, 1));
  return op::cast(op::from_groups(out, spatial, last), type, label);
}

array with_bias(const array& out, const array& bias, channel_order order, const char* label) {
  graph::get(bias, label);
  const bool last = order == channel_order::last;
  const std::int64_t channels = out.dim(last ? -1 : 1);
  if (bias.shape() != shape{channels})
    base::fail<shape_error>("{}: a bias {} for {} channels of the result", label, bias.shape(),
                            channels);
  if (last) return out + bias;
  shape column = {channels};
  for (int i = 2; i < out.ndim(); ++i) column.push_back(1);
  return out + reshape(bias, column);
}

// Positions of the result along an axis.
std::int64_t transposed_places(std::int64_t extent, std::int64_t window, std::int64_t stride,
                               std::int64_t dilation, std::int64_t cut, std::int64_t added,
                               const char* label) {
  if (extent == 0) return 0;
  const std::int64_t way =
      graph::extent_sum(graph::extent_product(extent - 1, stride, label),
                        graph::extent_product(window - 1, dilation, label), label);
  return graph::extent_sum(way, added + 1, label) - cut;
}

array transposed(const array& given_x, const array& given_w,
                 const transposed_convolution_options& options, int spatial, bool,
                 const char* label) {
  const bool last = options.order == channel_order::last;
  const auto [x, w, type] = checked_operands(given_x, given_w, spatial, label);
  const std::int64_t channels = x.dim(last ? -1 : 1), groups = options.groups;
  check_groups(groups, channels, 0, label);
  if (w.dim(0) != channels)
    base::fail<shape_error>("{}: x {} has {} channels, w {} has {}", label, x.shape(), channels,
                            w.shape(), w.dim(0));
  if (options.padding.rule() != padding_rule::valid)
    base::fail<value_error>("{}: padding by a rule is not defined", label);
  const shape stride = op::axis_values(options.stride.values(), spatial, 1, "stride", label);
  const shape dilation = op::axis_values(options.dilation.values(), spatial, 1, "dilation", label);
  const shape added =
      op::axis_values(options.output_padding.values(), spatial, 0, "output_padding", label);
  const shape before = op::axis_values(options.padding.before(), spatial, 0, "padding", label);
  const shape after = op::axis_values(options.padding.after(), spatial, 0, "padding", label);
  shape places, window;
  for (int i = 0; i < spatial; ++i) {
    const std::int64_t extent = x.dim(i + (last ? 1 : 2)), taps = w.dim(i + 2);
    if (added[i] >= std::max(stride[i], dilation[i]))
      base::fail<value_error>("{}: output_padding {} must be less than stride {} or dilation {}",
                              label, added, stride, dilation);
    if (taps == 0) base::fail<shape_error>("{}: a window without elements: {}", label, w.shape());
    window.push_back(taps);
    const std::int64_t cut = graph::extent_sum(before[i], after[i], label);
    places.push_back(transposed_places(extent, taps, stride[i], dilation[i], cut, added[i], label));
    if (places.back() < 0)
      base::fail<shape_error>("{}: padding cuts off more than there is of {} with windows {}",
                              label, x.shape(), w.shape());
  }
  tutti_convolution_params p = plain;
  set(p.dilation, dilation, spatial, 1);
  set(p.input_dilation, stride, spatial, 1);
  p.flipped = 1;
  for (int i = 0; i < spatial; ++i)
    p.padding[3 - spatial + i] = (window[i] - 1) * dilation[i] - before[i];
  shape w_extents = {groups, channels / groups, w.dim(1)};
  for (int i = spatial; i < 3; ++i) w_extents.push_back(1);
  for (std::int64_t k : window) w_extents.push_back(k);
  const array by_group = base::named(label, [&] { return reshape(w, w_extents); });
  const array out =
      op::convolve(op::as_groups(x, groups, last), swapaxes(by_group, 1, 2),
                   convolution_of(p, last, label), op::spatial_numbers(places, spatial, 1));
  return op::cast(op::from_groups(out, spatial, last), type, label);
}

}  // namespace

window_padding::window_padding(std::initializer_list<pad_width> each)
    : window_padding(std::span(each.begin(), each.size())) {}
window_padding::window_padding(std::span<const pad_width> each) {
  for (const auto& [before, after] : each) before_.push_back(before), after_.push_back(after);
}

#define TUTTI_CONVOLUTION(name, spatial, function, options_type)                               \
  array name(const array& x, const array& w, const options_type& options) {                    \
    return function(x, w, options, spatial, false, #name);                                     \
  }                                                                                            \
  array name(const array& x, const array& w, const array& bias, const options_type& options) { \
    const array out = function(x, w, options, spatial, true, #name);                           \
    return with_bias(out, bias, options.order, #name);                                         \
  }
TUTTI_CONVOLUTION(conv1d, 1, convolution, convolution_options)
TUTTI_CONVOLUTION(conv2d, 2, convolution, convolution_options)
TUTTI_CONVOLUTION(conv3d, 3, convolution, convolution_options)
TUTTI_CONVOLUTION(conv_transpose1d, 1, transposed, transposed_convolution_options)
TUTTI_CONVOLUTION(conv_transpose2d, 2, transposed, transposed_convolution_options)
TUTTI_CONVOLUTION(conv_transpose3d, 3, transposed, transposed_convolution_options)
#undef TUTTI_CONVOLUTION

}  // namespace tutti
