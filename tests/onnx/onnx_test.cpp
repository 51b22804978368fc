// SPDX-License-Identifier: Apache-2.0
//
// ONNX's operators said with the public API, against its reference implementation (vectors.txt,
// written by make_vectors.py). A row is what a user writes for the operator: one that grows long,
// or that needs loops, shows what the API does not say.
#include <algorithm>

#include "tutti/nn.hpp"
#include "tutti/tutti.hpp"
#include "tutti_test/paths.hpp"
#include "tutti_test/vectors.hpp"

namespace {

using namespace tutti_test;
using tutti::array;
using tutti::dtype;
using tutti::slice;
namespace nn = tutti::nn;
using operand_list = std::vector<array>;
using order = std::vector<std::size_t>;

/// Gates of the last axis in another order.
array reordered(const array& a, const order& places) {
  const operand_list parts = tutti::split(a, static_cast<std::int64_t>(places.size()), -1);
  operand_list out;
  for (std::size_t p : places) out.push_back(parts[p]);
  return tutti::concatenate(out, -1);
}

/// Weights of one direction: ONNX has W and R transposed, both biases in one, and gates in an order
/// of its own.
nn::recurrent_weights weights(const operand_list& v, std::int64_t direction, const order& places) {
  const operand_list biases = tutti::split(v[3][direction], 2);
  return {.input = reordered(v[1][direction].T(), places),
          .hidden = reordered(v[2][direction].T(), places),
          .bias = reordered(biases[0], places),
          .hidden_bias = reordered(biases[1], places)};
}

const order of_lstm{0, 2, 3, 1}, of_gru{1, 0, 2};  // from i, o, f, c and z, r, h

/// Y [T, directions, N, hidden] from [N, T, hidden].
array by_step(const array& y) { return tutti::expand_dims(y.transpose({1, 0, 2}), 1); }
array rows_first(const array& x) { return x.transpose({1, 0, 2}); }

array gru(const operand_list& v, std::int64_t n) {
  return by_step(
      nn::gru(rows_first(v[0]), weights(v, 0, of_gru), {.state = {v[4][0]}, .reset_before = n == 0})
          .value);
}

array lstm(const operand_list& v, std::int64_t n) {
  const auto run = [&](std::int64_t direction, const nn::recurrence_options& options,
                       const std::optional<array>& peephole = {}) {
    nn::recurrent_weights w = weights(v, direction, of_lstm);
    if (peephole) w.peephole = reordered(*peephole, {0, 2, 1});
    return nn::lstm(rows_first(v[0]), w, options);
  };
  switch (n) {
    case 0:
      return by_step(run(0, {.state = {v[4][0], v[5][0]}}, v[6][0]).value);
    case 1:
      return tutti::expand_dims(run(0, {.state = {v[4][0], v[5][0]}}, v[6][0]).state[1], 0);
    case 2:
      return tutti::concatenate(
          {by_step(run(0, {}).value), by_step(run(1, {.reverse = true}).value)}, 1);
    case 5:
      return by_step(run(0, {.state = {v[4][0], v[5][0]}, .clip = 0.5, .coupled = true}).value);
    default:
      return by_step(
          run(0, {.reverse = n == 4, .state = {v[5][0], v[6][0]}, .lengths = v[4]}, v[7][0]).value);
  }
}

array attention(const operand_list& v, std::int64_t n) {
  nn::attention_options o{.grouped = true};
  if (n == 0) o.soft_cap = 1.5;
  if (n == 1) o.mask = v[3], o.scale = 0.25;
  if (n == 2) o.mask = v[3];
  if (n == 3) o.causal = true;
  if (n == 4) o.lengths = v[3];
  if (n == 5) o.window = {.before = 1, .after = 1};
  const nn::attention_result r = nn::attention_with_weights(v[0], v[1], v[2], o);
  return n == 2 ? r.weights : r.value;
}

array resize(const array& x, std::int64_t n) {
  using enum tutti::resampling;
  using places = tutti::resampling_places;
  using rounding = tutti::nearest_rounding;
  switch (n) {
    case 0:
      return tutti::interpolate(x, {8, 4});
    case 1:
      return tutti::interpolate(x, {8, 4},
                                {.places = places::half_pixel, .rounding = rounding::halves_up});
    case 2:
      return tutti::interpolate_by(x, {2.5, 0.625}, {.mode = linear});
    case 3:
      return tutti::interpolate_by(x, {1.75, 0.75}, {.mode = linear, .places = places::asymmetric});
    case 4:
      return tutti::interpolate(x, {9, 3}, {.mode = cubic, .cubic_coefficient = -0.5});
    case 5:
      return tutti::interpolate_by(x, {2.5, 0.625}, {.mode = cubic, .exclude_outside = true});
    case 6:
      return tutti::interpolate(x, {9, 3}, {.mode = linear, .align_corners = true});
    case 7:
      return tutti::interpolate(x, {2, 3}, {.mode = linear, .antialias = true});
    case 8:
      return tutti::interpolate_by(x, {0.375, 0.5},
                                   {.mode = cubic, .cubic_coefficient = -0.5, .antialias = true});
    default:
      return tutti::interpolate(
          x, {3, 10},
          {.align_corners = true, .places = places::half_pixel, .rounding = rounding::ceil});
  }
}

array grid_sample(const operand_list& v, std::int64_t n) {
  using enum tutti::padding_mode;
  using mode = tutti::resampling;
  const std::vector<tutti::grid_sample_options> options = {
      {},
      {.beyond = replicate, .align_corners = true},
      {.mode = mode::nearest},
      {.mode = mode::cubic, .beyond = reflect, .align_corners = true},
      {.mode = mode::cubic},
      {.beyond = reflect},
      {}};
  return tutti::grid_sample(v[0], v[1], options.at(static_cast<std::size_t>(n)));
}

/// ONNX counts elements of all planes.
array max_pool(const array& x, std::int64_t n) {
  if (n == 0)
    return tutti::max_pool(x, {2, 3}, {.stride = tutti::per_axis{2, 3}, .ceil_mode = true});
  const array places =
      tutti::max_pool_with_indices(
          x, {2, 3},
          {.stride = tutti::per_axis{1, 2}, .padding = {{1, 0}, {1, 1}}, .dilation = {2, 1}})
          .indices;
  const std::int64_t planes = x.dim(0) * x.dim(1), plane = x.dim(2) * x.dim(3);
  return places + tutti::arange(planes).reshape({x.dim(0), x.dim(1), 1, 1}) * plane;
}

array unique(const array& rows, std::int64_t n) {
  const auto [values, indices, inverse, counts] = tutti::unique_all(rows, n == 4 ? 1 : 0);
  return n == 1 ? indices : n == 2 ? inverse : n == 3 ? counts : values;
}

// clang-format off
#define TUTTI_CALL(expression) \
  []([[maybe_unused]] const operand_list& v, [[maybe_unused]] std::int64_t n) { return expression; }

const vector_calls table = {
  {"BatchNormalization", TUTTI_CALL(nn::batch_norm(v[0], v[3], v[4], {.weight = v[1], .bias = v[2], .epsilon = 1.0 / 1024}))},
  {"InstanceNormalization", TUTTI_CALL(nn::group_norm(v[0], v[0].dim(1), {.weight = v[1], .bias = v[2], .epsilon = 1.0 / 1024}))},
  {"GroupNormalization", TUTTI_CALL(nn::group_norm(v[0], 3, {.weight = v[1], .bias = v[2], .epsilon = 1.0 / 1024}))},
  {"LayerNormalization", TUTTI_CALL(nn::layer_norm(v[0], {2, 3}, {.weight = v[1], .bias = v[2], .epsilon = 1.0 / 1024}))},
  {"RMSNormalization", TUTTI_CALL(nn::rms_norm(v[0], {-2, -1}, {.weight = v[1], .epsilon = 1.0 / 1024}))},
  {"LpNormalization", TUTTI_CALL(v[0] / tutti::norm(v[0], 2, {1, true}))},
  {"MeanVarianceNormalization", TUTTI_CALL(nn::layer_norm(v[0], {0, 2, 3}, {.epsilon = 1e-9}))},
  {"RNN", TUTTI_CALL(by_step(nn::rnn(rows_first(v[0]), weights(v, 0, {0}), {.state = {v[4][0]}}).value))},
  {"GRU", TUTTI_CALL(gru(v, n))},
  {"LSTM", TUTTI_CALL(lstm(v, n))},
  {"Attention", TUTTI_CALL(attention(v, n))},
  {"RotaryEmbedding", TUTTI_CALL(nn::rotary(v[0], v[1], {.base = 1000, .width = n == 2 ? 4 : 0, .interleaved = n == 1}))},
  {"Gelu", TUTTI_CALL(n == 1 ? nn::gelu_tanh(v[0]) : nn::gelu(v[0]))},
  {"Resize", TUTTI_CALL(resize(v[0], n))},
  {"GridSample", TUTTI_CALL(grid_sample(v, n))},
  {"RoiAlign", TUTTI_CALL(tutti::roi_align(v[0], v[1], v[2], {3, 2}, {.scale = 0.75, .half_pixel = n == 0}))},
  {"DeformConv", TUTTI_CALL(tutti::deform_conv2d(v[0], v[1], v[2], {.stride = {2, 1}, .padding = 1, .groups = 2, .mask = v[4], .bias = v[3]}))},
  {"AveragePool", TUTTI_CALL(n == 0 ? tutti::avg_pool(v[0], {2, 3}, {.stride = 2, .padding = {{1, 1}, {0, 1}}, .dilation = 2, .count_padding = false})
                                    : tutti::avg_pool(v[0], {2, 3}, {.stride = tutti::per_axis{2, 3}, .padding = {{0, 1}, {1, 1}}, .ceil_mode = true}))},
  {"MaxPool", TUTTI_CALL(max_pool(v[0], n))},
  {"ConvTranspose", TUTTI_CALL(tutti::conv_transpose2d(v[0], v[1], v[2], {.stride = {2, 1}}))},
  {"Pad", TUTTI_CALL(n == 0 ? tutti::pad(v[0], {{1, 0}, {5, 6}}, tutti::pad_mode::wrap) : tutti::pad(v[0], {{-1, 1}, {2, -2}}, tutti::pad_mode::constant, 7))},
  {"Div", TUTTI_CALL(tutti::truncate_divide(v[0], v[1]))},
  {"Mod", TUTTI_CALL(v[0] - tutti::truncate_divide(v[0], v[1]) * v[1])},
  {"Unique", TUTTI_CALL(unique(v[0], n))},
  {"SoftmaxCrossEntropyLoss", TUTTI_CALL(nn::cross_entropy(tutti::moveaxis(v[0], 1, -1), v[1]))},
};
#undef TUTTI_CALL
// clang-format on

}  // namespace

BOOST_AUTO_TEST_CASE(operators_of_onnx) {
  BOOST_TEST(check_vectors(paths::vectors, table) >= static_cast<int>(table.size()));
}
