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
  using enum tutti::nn::resampling;
  using places = tutti::nn::resampling_places;
  using rounding = tutti::nn::nearest_rounding;
  switch (n) {
    case 0:
      return tutti::nn::interpolate(x, {8, 4});
    case 1:
      return tutti::nn::interpolate(
          x, {8, 4}, {.places = places::half_pixel, .rounding = rounding::halves_up});
    case 2:
      return tutti::nn::interpolate_by(x, {2.5, 0.625}, {.mode = linear});
    case 3:
      return tutti::nn::interpolate_by(x, {1.75, 0.75},
                                       {.mode = linear, .places = places::asymmetric});
    case 4:
      return tutti::nn::interpolate(x, {9, 3}, {.mode = cubic, .cubic_coefficient = -0.5});
    case 5:
      return tutti::nn::interpolate_by(x, {2.5, 0.625}, {.mode = cubic, .exclude_outside = true});
    case 6:
      return tutti::nn::interpolate(x, {9, 3}, {.mode = linear, .align_corners = true});
    case 7:
      return tutti::nn::interpolate(x, {2, 3}, {.mode = linear, .antialias = true});
    case 8:
      return tutti::nn::interpolate_by(
          x, {0.375, 0.5}, {.mode = cubic, .cubic_coefficient = -0.5, .antialias = true});
    default:
      return tutti::nn::interpolate(
          x, {3, 10},
          {.align_corners = true, .places = places::half_pixel, .rounding = rounding::ceil});
  }
}

array grid_sample(const operand_list& v, std::int64_t n) {
  using enum tutti::padding_mode;
  using mode = tutti::nn::resampling;
  const std::vector<tutti::nn::grid_sample_options> options = {
      {},
      {.beyond = replicate, .align_corners = true},
      {.mode = mode::nearest},
      {.mode = mode::cubic, .beyond = reflect, .align_corners = true},
      {.mode = mode::cubic},
      {.beyond = reflect},
      {}};
  return tutti::nn::grid_sample(v[0], v[1], options.at(static_cast<std::size_t>(n)));
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
  {"RoiAlign", TUTTI_CALL(tutti::nn::roi_align(v[0], v[1], v[2], {3, 2}, {.scale = 0.75, .half_pixel = n == 0}))},
  {"DeformConv", TUTTI_CALL(tutti::nn::deform_conv2d(v[0], v[1], v[2], {.stride = {2, 1}, .padding = 1, .groups = 2, .mask = v[4], .bias = v[3]}))},
  {"AveragePool", TUTTI_CALL(n == 0 ? tutti::avg_pool(v[0], {2, 3}, {.stride = 2, .padding = {{1, 1}, {0, 1}}, .dilation = 2, .count_padding = false})
                                    : tutti::avg_pool(v[0], {2, 3}, {.stride = tutti::per_axis{2, 3}, .padding = {{0, 1}, {1, 1}}, .ceil_mode = true}))},
  {"MaxPool", TUTTI_CALL(max_pool(v[0], n))},
  {"ConvTranspose", TUTTI_CALL(tutti::conv_transpose2d(v[0], v[1], v[2], {.stride = {2, 1}}))},
  {"Pad", TUTTI_CALL(n == 0 ? tutti::pad(v[0], {{1, 0}, {5, 6}}, tutti::pad_mode::wrap) : tutti::pad(v[0], {{-1, 1}, {2, -2}}, tutti::pad_mode::constant, 7))},
  {"Div", TUTTI_CALL(tutti::truncate_divide(v[0], v[1]))},
  {"Mod", TUTTI_CALL(v[0] - tutti::truncate_divide(v[0], v[1]) * v[1])},
  {"Unique", TUTTI_CALL(unique(v[0], n))},
  {"SoftmaxCrossEntropyLoss", TUTTI_CALL(nn::cross_entropy(tutti::moveaxis(v[0], 1, -1), v[1]))},
  {"Abs", TUTTI_CALL(abs(v[0]))},
  {"Neg", TUTTI_CALL(-v[0])},
  {"Sign", TUTTI_CALL(sign(v[0]))},
  {"Ceil", TUTTI_CALL(ceil(v[0]))},
  {"Floor", TUTTI_CALL(floor(v[0]))},
  {"Round", TUTTI_CALL(round(v[0]))},
  {"Exp", TUTTI_CALL(exp(v[0]))},
  {"Log", TUTTI_CALL(log(v[0]))},
  {"Sqrt", TUTTI_CALL(sqrt(v[0]))},
  {"Reciprocal", TUTTI_CALL(reciprocal(v[0]))},
  {"Sin", TUTTI_CALL(sin(v[0]))},
  {"Cos", TUTTI_CALL(cos(v[0]))},
  {"Tan", TUTTI_CALL(tan(v[0]))},
  {"Asin", TUTTI_CALL(asin(v[0]))},
  {"Acos", TUTTI_CALL(acos(v[0]))},
  {"Atan", TUTTI_CALL(atan(v[0]))},
  {"Sinh", TUTTI_CALL(sinh(v[0]))},
  {"Cosh", TUTTI_CALL(cosh(v[0]))},
  {"Tanh", TUTTI_CALL(tanh(v[0]))},
  {"Asinh", TUTTI_CALL(asinh(v[0]))},
  {"Acosh", TUTTI_CALL(acosh(v[0]))},
  {"Atanh", TUTTI_CALL(atanh(v[0]))},
  {"Relu", TUTTI_CALL(relu(v[0]))},
  {"Sigmoid", TUTTI_CALL(sigmoid(v[0]))},
  {"Softplus", TUTTI_CALL(nn::softplus(v[0]))},
  {"Softsign", TUTTI_CALL(v[0] / (1 + abs(v[0])))},
  {"Elu", TUTTI_CALL(nn::elu(v[0], 0.5))},
  {"Celu", TUTTI_CALL(nn::elu(v[0] / 0.5) * 0.5)},
  {"Selu", TUTTI_CALL(nn::selu(v[0]))},
  {"LeakyRelu", TUTTI_CALL(nn::leaky_relu(v[0], 0.25))},
  {"ThresholdedRelu", TUTTI_CALL(where(v[0] > 0.5, v[0], 0))},
  {"PRelu", TUTTI_CALL(where(v[0] < 0, v[0] * v[1], v[0]))},
  {"HardSigmoid", TUTTI_CALL(clip(v[0] * 0.25 + 0.5, 0, 1))},
  {"HardSwish", TUTTI_CALL(nn::hard_swish(v[0]))},
  {"Mish", TUTTI_CALL(nn::mish(v[0]))},
  {"Swish", TUTTI_CALL(nn::silu(v[0]))},
  {"Shrink", TUTTI_CALL(where(abs(v[0]) > 1, v[0] - sign(v[0]) * 0.5, 0))},
  {"IsNaN", TUTTI_CALL(isnan(v[0]))},
  {"IsInf", TUTTI_CALL(isinf(v[0]))},
  {"Not", TUTTI_CALL(!v[0])},
  {"And", TUTTI_CALL(logical_and(v[0], v[1]))},
  {"Or", TUTTI_CALL(logical_or(v[0], v[1]))},
  {"Xor", TUTTI_CALL(logical_xor(v[0], v[1]))},
  {"Add", TUTTI_CALL(v[0] + v[1])},
  {"Sub", TUTTI_CALL(v[0] - v[1])},
  {"Mul", TUTTI_CALL(v[0] * v[1])},
  {"Pow", TUTTI_CALL(power(v[0], v[1]))},
  {"Max", TUTTI_CALL(maximum(v[0], v[1]))},
  {"Min", TUTTI_CALL(minimum(v[0], v[1]))},
  {"Sum", TUTTI_CALL(v[0] + v[1])},
  {"Mean", TUTTI_CALL((v[0] + v[1]) / 2)},
  {"Equal", TUTTI_CALL(v[0] == v[1])},
  {"Greater", TUTTI_CALL(v[0] > v[1])},
  {"GreaterOrEqual", TUTTI_CALL(v[0] >= v[1])},
  {"Less", TUTTI_CALL(v[0] < v[1])},
  {"LessOrEqual", TUTTI_CALL(v[0] <= v[1])},
  {"BitwiseAnd", TUTTI_CALL(v[0] & v[1])},
  {"BitwiseOr", TUTTI_CALL(v[0] | v[1])},
  {"BitwiseXor", TUTTI_CALL(v[0] ^ v[1])},
  {"BitwiseNot", TUTTI_CALL(~v[0])},
  {"BitShift", TUTTI_CALL(left_shift(v[0], v[1]))},
  {"Where", TUTTI_CALL(where(v[0], v[1], v[2]))},
  {"Clip", TUTTI_CALL(clip(v[0], v[1], v[2]))},
  {"Erf", TUTTI_CALL(erf(v[0]))},
  {"ReduceSum", TUTTI_CALL(sum(v[0], {1, true}))},
  {"ReduceMean", TUTTI_CALL(mean(v[0], 1))},
  {"ReduceMax", TUTTI_CALL(max(v[0], {1, true}))},
  {"ReduceMin", TUTTI_CALL(min(v[0], {1, true}))},
  {"ReduceProd", TUTTI_CALL(prod(v[0], {1, true}))},
  {"ReduceL1", TUTTI_CALL(norm(v[0], 1, {1, true}))},
  {"ReduceL2", TUTTI_CALL(norm(v[0], 2, {1, true}))},
  {"ReduceSumSquare", TUTTI_CALL(sum(square(v[0]), {1, true}))},
  {"ReduceLogSum", TUTTI_CALL(log(sum(v[0], {1, true})))},
  {"ReduceLogSumExp", TUTTI_CALL(logsumexp(v[0], {1, true}))},
  {"ArgMax", TUTTI_CALL(argmax(v[0], 1))},
  {"ArgMin", TUTTI_CALL(argmin(v[0], {1, true}))},
  {"Softmax", TUTTI_CALL(softmax(v[0], 0))},
  {"LogSoftmax", TUTTI_CALL(log_softmax(v[0], 0))},
  {"Hardmax", TUTTI_CALL(one_hot(argmax(v[0], 1), 3, dtype::f64))},
  {"CumSum", TUTTI_CALL(cumsum(v[0], {1, true, true}))},
  {"MatMul", TUTTI_CALL(matmul(v[0], v[1]))},
  {"Gemm", TUTTI_CALL(0.5 * matmul(v[0], v[1].T()) + v[2])},
  {"Einsum", TUTTI_CALL(tutti::einsum("ij,kj->ik", {v[0], v[1]}))},
  {"Det", TUTTI_CALL(tutti::linalg::det(v[0]))},
  {"Conv", TUTTI_CALL(conv2d(v[0], v[1], v[2], {.stride = {2, 1}, .padding = {{1, 0}, {0, 1}}, .groups = 2}))},
  {"GlobalAveragePool", TUTTI_CALL(global_avg_pool(v[0]))},
  {"GlobalMaxPool", TUTTI_CALL(global_max_pool(v[0]))},
  {"Transpose", TUTTI_CALL(v[0].transpose({0, 2, 3, 1}))},
  {"Reshape", TUTTI_CALL(v[0].reshape({2, -1}))},
  {"Flatten", TUTTI_CALL(v[0].reshape({4, -1}))},
  {"Squeeze", TUTTI_CALL(squeeze(v[0], 0))},
  {"Unsqueeze", TUTTI_CALL(expand_dims(v[0], 1))},
  {"Expand", TUTTI_CALL(broadcast_to(v[0], {2, 2, 3}))},
  {"Tile", TUTTI_CALL(tile(v[0], {2, 1}))},
  {"Concat", TUTTI_CALL(tutti::concatenate({v[0], v[1]}, 1))},
  {"Split", TUTTI_CALL(split(v[0], 2, 1)[1])},
  {"Slice", TUTTI_CALL(v[0]({{}, {1, 4, 2}, {4, 0, -1}}))},
  {"Trilu", TUTTI_CALL(triu(v[0], 1))},
  {"EyeLike", TUTTI_CALL(tutti::eye(2, 3, 1, dtype::f64))},
  {"Gather", TUTTI_CALL(take(v[0], v[1], 1))},
  {"GatherElements", TUTTI_CALL(take_along_axis(v[0], v[1], 1))},
  {"GatherND", TUTTI_CALL(index_with(v[0], unstack(v[1], -1)))},
  {"ScatterElements", TUTTI_CALL(put_along_axis(v[0], v[1], v[2], 1, tutti::scatter_mode::add))},
  {"ScatterND", TUTTI_CALL(index_put(v[0], unstack(v[1], -1), v[2]))},
  {"Compress", TUTTI_CALL(mask_select(v[0].T(), v[1]).T())},
  {"NonZero", TUTTI_CALL(stack(nonzero(v[0])))},
  {"OneHot", TUTTI_CALL(one_hot(v[0], 4, dtype::f64) * (v[2][1] - v[2][0]) + v[2][0])},
  {"TopK", TUTTI_CALL(topk(v[0], 2).values)},
  {"Range", TUTTI_CALL(tutti::arange(1.0, 4.0, 0.5, dtype::f64))},
  {"DepthToSpace", TUTTI_CALL(v[0].reshape({1, 2, 2, 1, 2, 3}).transpose({0, 3, 4, 1, 5, 2}).reshape({1, 1, 4, 6}))},
  {"SpaceToDepth", TUTTI_CALL(v[0].reshape({1, 1, 2, 2, 3, 2}).transpose({0, 3, 5, 1, 2, 4}).reshape({1, 4, 2, 3}))},
  {"CenterCropPad", TUTTI_CALL(pad(v[0], {{0, 0}, {0, 0}, {-1, -1}, {1, 1}}))},
  {"NegativeLogLikelihoodLoss", TUTTI_CALL(nn::nll_loss(v[0], v[1], {.how = nn::reduction::sum}))},
  {"QuantizeLinear", TUTTI_CALL(clip(round(v[0] / v[1]) + v[2].astype(dtype::f32), 0, 255).astype(dtype::u8))},
};
#undef TUTTI_CALL
// clang-format on

}  // namespace

BOOST_AUTO_TEST_CASE(operators_of_onnx) {
  BOOST_TEST(check_vectors(paths::vectors, table) >= static_cast<int>(table.size()));
}
