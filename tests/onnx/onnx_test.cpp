// SPDX-License-Identifier: Apache-2.0
//
// ONNX's operators said with the public API, against its reference implementation (vectors.txt,
// written by make_vectors.py). A row is what a user writes for the operator: one that grows long,
// or that needs loops, shows what the API does not say.
#include "tutti/image.hpp"
#include "tutti/nn.hpp"
#include "tutti/signal.hpp"
#include "tutti_test/vectors.hpp"

namespace {

namespace nn = tutti::nn;
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

array complex_of(const array& pairs) {
  const operand_list parts = tutti::unstack(pairs, -1);
  return complex(parts[0], parts[1]);
}

array dft(const array& x, std::int64_t n) {
  switch (n) {
    case 0:
      return parts_of(tutti::fft::fft(squeeze(x, -1), 8, 1));
    case 1:
      return parts_of(tutti::fft::rfft(squeeze(x, -1), 4, 1));
    case 2:
      return parts_of(tutti::fft::ifft(complex_of(x), {}, 2));
    default:
      return expand_dims(tutti::fft::irfft(complex_of(x), 8, 1), -1);
  }
}

array stft(const operand_list& v, std::int64_t n) {
  namespace signal = tutti::signal;
  const array z =
      n == 0 ? signal::stft(squeeze(v[0], -1), 8, {.hop = 3, .window = v[2], .center = false})
             : signal::stft(complex_of(v[0]), 6,
                            {.hop = 4, .window = signal::boxcar(6), .center = false});
  return parts_of(swapaxes(z, 1, 2));
}

/// Triangles between whole numbers of frequencies, which signal::mel_filter_bank does not round.
array mel_weights(const operand_list& v) {
  const std::int64_t bands = v[0].item<std::int64_t>(), points = v[1].item<std::int64_t>();
  const double unit = 2595 / std::log(10.0);
  const array low = unit * log1p(v[3] / 700), high = unit * log1p(v[4] / 700);
  const array mel = low + tutti::arange(bands + 2) * ((high - low) / (bands + 2));
  const array ends = floor((points + 1) * (700 * expm1(mel / unit)) / v[2]);
  const array left = ends({{0, -2}}), centre = ends({{1, -1}}), right = ends({{2, {}}});
  const array at = expand_dims(tutti::arange(points / 2 + 1), 1) - centre;
  return clip(1 - maximum(-at / maximum(centre - left, 1), at / maximum(right - centre, 1)), 0);
}

array reverse_sequence(const array& x, const array& lengths, int time) {
  const array row = expand_dims(tutti::arange(x.dim(1 - time)), time);
  const array step = expand_dims(tutti::arange(x.dim(time)), 1 - time);
  const array length = expand_dims(lengths, time);
  const array from = where(step < length, length - 1 - step, step);
  return time == 0 ? index_with(x, {from, row}) : index_with(x, {row, from});
}

array tensor_scatter(const array& cache, const array& update, const array& starts) {
  const array places = (expand_dims(starts, 1) + tutti::arange(update.dim(-2))) % cache.dim(-2);
  return put_along_axis(cache, broadcast_to(expand_dims(places, {1, 3}), update.shape()), update,
                        -2);
}

array lp_pool(const array& x, const tutti::pooling_options& options) {
  return cbrt(6 * avg_pool(power(abs(x), 3), {2, 3}, options));
}

/// Which of `extent` elements are in each of `count` bins from start to end: [regions, count,
/// extent].
array bins(const array& start, const array& end, std::int64_t count, std::int64_t extent) {
  const array first = expand_dims(start, 1), at = tutti::arange(extent);
  const array step = maximum(expand_dims(end, 1) - first + 1, 1) / count;
  const array bin = tutti::arange(count);
  return logical_and(at >= expand_dims(first + floor(bin * step), -1),
                     at < expand_dims(first + ceil((bin + 1) * step), -1));
}

array max_roi_pool(const array& x, const array& regions) {
  const operand_list corners = tutti::unstack(floor(regions * 0.5 + 0.5), 1);
  const array rows = bins(corners[2], corners[4], 2, x.dim(2));
  const array columns = bins(corners[1], corners[3], 3, x.dim(3));
  const array inside = logical_and(expand_dims(rows, {1, 3, 5}), expand_dims(columns, {1, 2, 4}));
  const array planes = take(x, regions({tutti::all(), 0}).astype(dtype::i64));
  const array largest =
      max(where(inside, expand_dims(planes, {2, 3}), -std::numeric_limits<double>::infinity()),
          {-2, -1});
  return where(any(inside, {-2, -1}), largest, 0);
}

array affine_grid(const array& theta, const array& size, bool align_corners) {
  operand_list places;
  for (const std::int64_t n : size({{2, {}}}).to_vector<std::int64_t>())
    places.push_back(align_corners ? tutti::linspace(-1, 1, n)
                                   : (2 * tutti::arange(n) + 1) / n - 1);
  operand_list grid = tutti::meshgrid(places, tutti::mesh_order::ij);
  std::reverse(grid.begin(), grid.end());
  grid.push_back(ones_like(grid[0]));
  return tutti::einsum("...k,nck->n...c", {tutti::stack(grid, -1), theta});
}

array non_max_suppression(const operand_list& v, bool centres) {
  const operand_list halves = tutti::split(v[0], 2, -1);
  const array low = centres ? halves[0] - halves[1] / 2 : minimum(halves[0], halves[1]);
  const array high = centres ? halves[0] + halves[1] / 2 : maximum(halves[0], halves[1]);
  const array boxes = tutti::concatenate({low, high}, -1);
  operand_list out;
  for (std::int64_t image = 0; image < v[1].dim(0); ++image)
    for (std::int64_t label = 0; label < v[1].dim(1); ++label) {
      const array scores = v[1]({image, label});
      array kept = tutti::image::non_maximum_suppression(boxes[image], scores, v[3].item());
      kept = mask_select(kept, take(scores, kept) > v[4])({{0, v[2].item<std::int64_t>()}});
      out.push_back(tutti::stack({full_like(kept, image), full_like(kept, label), kept}, -1));
    }
  return tutti::concatenate(out);
}

array dequantized(const operand_list& v, std::int64_t n) {
  const auto along = [n](const array& a) {
    return n == 0 ? a : n == 1 ? expand_dims(a, 1) : repeat(a, 2, 0);
  };
  return (v[0].astype(dtype::f32) - along(v[2])) * along(v[1]);
}

array quantized(const array& x, const array& scale, const array& zero) {
  return (round(x / scale) + zero).astype(dtype::u8);
}

array dynamic_quantized(const array& x, std::int64_t n) {
  const array least = minimum(min(x), 0), most = maximum(max(x), 0);
  const array scale = where(most == least, 1, most - least) / 255;
  const array zero = round(clip(-least / scale, 0, 255)).astype(dtype::u8);
  return n == 0 ? quantized(x, scale, zero) : n == 1 ? scale : zero;
}

array integer_matmul(const array& a, const array& a_zero, const array& b, const array& b_zero) {
  return matmul(a.astype(dtype::i32) - a_zero, b.astype(dtype::i32) - b_zero);
}

/// Convolutions have no integers; sums of products of bytes are exact in f64.
array integer_conv(const array& x, const array& x_zero, const array& w, const array& w_zero) {
  return conv2d(x.astype(dtype::f64) - x_zero, w.astype(dtype::f64) - w_zero.reshape({-1, 1, 1, 1}),
                {.stride = {2, 1}, .padding = {{1, 0}, {0, 1}}})
      .astype(dtype::i32);
}

array causal_conv(const operand_list& v, std::int64_t n) {
  const array x = tutti::concatenate({v[3], v[0]}, -1);
  return n == 1 ? x({tutti::ellipsis(), {-2, {}}}) : nn::silu(conv1d(x, v[1], v[2], {.groups = 3}));
}

/// One step at a time, of linear, gated, delta and gated delta rules.
array linear_attention(const operand_list& v, std::int64_t n) {
  const auto steps = [](const array& x, std::int64_t heads) {
    return tutti::unstack(x.reshape({x.dim(0), x.dim(1), heads, -1}), 1);
  };
  const operand_list query = steps(v[0], 4), key = steps(v[1], 2), value = steps(v[2], 2);
  array state = v[3];
  operand_list out;
  for (std::size_t t = 0; t < query.size(); ++t) {
    array added = value[t];
    if (n % 2 == 1) state *= exp(expand_dims(steps(v[4], 2)[t], -1));
    if (n >= 2)
      added = steps(v.back(), 2)[t] * (added - tutti::einsum("bhkv,bhk->bhv", {state, key[t]}));
    state += tutti::einsum("bhk,bhv->bhkv", {key[t], added});
    out.push_back(tutti::einsum("bhk,bhkv->bhv", {query[t], repeat(state, 2, 1)}) / std::sqrt(3.0));
  }
  return n == 3 ? state : tutti::stack(out, 1).reshape({1, 4, -1});
}

// Operators without a row are one elementwise function, for which tests/ops has values, or compute
// no array from arrays: control flow (If, Loop, Scan), sequences, optionals, strings and counts of
// words (TfIdfVectorizer), the decoder of images, and random numbers, which have no values to
// compare with.
// clang-format off
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
  {"Mean", TUTTI_CALL((v[0] + v[1]) / 2)},
  {"Clip", TUTTI_CALL(clip(v[0], v[1], v[2]))},
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
  {"Cast", TUTTI_CALL(v[0].astype(n == 0 ? dtype::i32 : n == 1 ? dtype::boolean : dtype::f32))},
  {"CastLike", TUTTI_CALL(v[0].astype(v[1].dtype()))},
  {"BitCast", TUTTI_CALL(bit_cast(v[0], dtype::i32))},
  {"Identity", TUTTI_CALL(v[0])},
  {"Dropout", TUTTI_CALL(nn::dropout(0.5).apply(operand_list{}, v[0]))},
  {"Shape", TUTTI_CALL(array::from(std::span<const std::int64_t>(v[0].shape()), {v[0].ndim()}))},
  {"Size", TUTTI_CALL(array(v[0].size()))},
  {"Constant", TUTTI_CALL(array::from({0.5f, -1.25f, 3.0f}))},
  {"ConstantOfShape", TUTTI_CALL(tutti::full(tutti::shape(v[0].to_vector<std::int64_t>()), 7, dtype::i32))},
  {"CumProd", TUTTI_CALL(n == 0 ? cumprod(v[0], {1, true, true}) : cumprod(v[0], {0, false, false, dtype::i32}))},
  {"SwiGLU", TUTTI_CALL(v[0] * sigmoid(0.5 * v[0]) * v[1])},
  {"ReverseSequence", TUTTI_CALL(reverse_sequence(v[0], v[1], static_cast<int>(n)))},
  {"TensorScatter", TUTTI_CALL(tensor_scatter(v[0], v[1], v[2]))},
  {"HannWindow", TUTTI_CALL(tutti::signal::hann(10, tutti::signal::symmetry::periodic, dtype::f64))},
  {"HammingWindow", TUTTI_CALL((2 + 21 * tutti::signal::hann(10, tutti::signal::symmetry::symmetric, dtype::f64)) / 23)},
  {"BlackmanWindow", TUTTI_CALL(tutti::signal::blackman(10, tutti::signal::symmetry::periodic, dtype::f64))},
  {"DFT", TUTTI_CALL(dft(v[0], n))},
  {"STFT", TUTTI_CALL(stft(v, n))},
  {"MelWeightMatrix", TUTTI_CALL(mel_weights(v))},
  {"LRN", TUTTI_CALL(v[0] / power(2 + 0.5 / 4 * sum(sliding_window_view(pad(square(v[0]), {{0, 0}, {1, 2}}), {4}, 1), -1), 0.75))},
  {"LpPool", TUTTI_CALL(n == 0 ? lp_pool(v[0], {.stride = tutti::per_axis{2, 1}}) : lp_pool(v[0], {.stride = tutti::per_axis{2, 1}, .padding = {{1, 1}, {1, 0}}}))},
  {"GlobalLpPool", TUTTI_CALL(norm(v[0], 3, {{2, 3}, true}))},
  {"MaxUnpool", TUTTI_CALL(put(tutti::zeros({1, 2, 4, 4}, dtype::f64), v[1], v[0]))},
  {"MaxRoiPool", TUTTI_CALL(max_roi_pool(v[0], v[1]))},
  {"Col2Im", TUTTI_CALL(conv_transpose2d(v[0].reshape({1, 8, 3, 3}), tile(tutti::eye(4, dtype::f64).reshape({4, 1, 2, 2}), {2, 1, 1, 1}), {.stride = {2, 1}, .padding = {{1, 1}, {0, 1}}, .groups = 2}))},
  {"AffineGrid", TUTTI_CALL(affine_grid(v[0], v[1], n == 1))},
  {"NonMaxSuppression", TUTTI_CALL(non_max_suppression(v, n == 1))},
  {"DequantizeLinear", TUTTI_CALL(dequantized(v, n))},
  {"DynamicQuantizeLinear", TUTTI_CALL(dynamic_quantized(v[0], n))},
  {"MatMulInteger", TUTTI_CALL(integer_matmul(v[0], v[2], v[1], v[3]))},
  {"QLinearMatMul", TUTTI_CALL(quantized(integer_matmul(v[0], v[2], v[3], v[5]), v[6] / (v[1] * v[4]), v[7]))},
  {"ConvInteger", TUTTI_CALL(integer_conv(v[0], v[2], v[1], v[3]))},
  {"QLinearConv", TUTTI_CALL(quantized(integer_conv(v[0], v[2], v[3], v[5]) + v[8].reshape({-1, 1, 1}), v[6] / (v[1] * v[4].reshape({-1, 1, 1})), v[7]))},
  {"CausalConvWithState", TUTTI_CALL(causal_conv(v, n))},
  {"LinearAttention", TUTTI_CALL(linear_attention(v, n))},
};
// clang-format on

}  // namespace

BOOST_AUTO_TEST_CASE(operators_of_onnx) {
  BOOST_TEST(check_vectors(paths::vectors, table) >= static_cast<int>(table.size()));
}
