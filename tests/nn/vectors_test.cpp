// SPDX-License-Identifier: Apache-2.0
//
// Results of PyTorch (vectors.txt, written by make_vectors.py) against the same calls, in f64:
// values, and gradients of all floating operands.
#include "tutti_test/vectors.hpp"

#include "tutti/nn.hpp"

namespace {

namespace nn = tutti::nn;
using called = std::function<array(const operand_list& v, std::int64_t n)>;

/// The value, and behind it the gradients of the sum of the value times cos(0), cos(1), ...
vector_call with_gradients(const called& f) {
  return [f](const operand_list& v, std::int64_t n) {
    std::vector<int> floating;
    for (std::size_t i = 0; i < v.size(); ++i)
      if (tutti::is_floating(v[i].dtype())) floating.push_back(static_cast<int>(i));
    const array y = f(v, n);
    const array weights = tutti::cos(tutti::arange(y.size()).astype(dtype::f64)).reshape(y.shape());
    operand_list all{y.flatten()};
    const auto slopes = tutti::grad(
        [&](const operand_list& p) { return tutti::sum(f(p, n) * weights); }, floating)(v);
    for (const array& s : slopes) all.push_back(s.flatten());
    return tutti::concatenate(all);
  };
}

/// A layer whose parameters are the operands behind the first one.
array with_parameters(const nn::layer& l, const operand_list& v) {
  return l.apply(std::span<const array>(v).subspan(1), v[0]);
}

/// Training of batch norm, from a state of zeros.
array batch_norm(const operand_list& v) {
  const nn::layer l = nn::batch_norm(3, {.epsilon = 1e-3}, dtype::f64);
  return l.apply(std::span<const array>(v).subspan(1), l.state(), v[0], nn::training({})).value;
}

array batch_norm_state(const operand_list& v) {
  const nn::layer l = nn::batch_norm(3, {.momentum = 0.3, .affine = false}, dtype::f64);
  return tutti::concatenate(
      l.apply({}, std::span<const array>(v).subspan(1), v[0], nn::training({})).state);
}

array batch_norm_eval(const operand_list& v) {
  const nn::layer l = nn::batch_norm(3, {.epsilon = 1e-3}, dtype::f64);
  // The state has no gradient in PyTorch.
  const operand_list state{tutti::stop_gradient(v[3]), tutti::stop_gradient(v[4])};
  return l.apply(std::span<const array>(v).subspan(1, 2), state, v[0]).value;
}

nn::layer lstm(bool reverse) { return nn::lstm(3, 5, {1}, {.reverse = reverse}, dtype::f64); }
nn::layer gru(bool reverse) { return nn::gru(3, 5, {1}, {.reverse = reverse}, dtype::f64); }

nn::reduction reduction_of(std::int64_t n) { return static_cast<nn::reduction>(n); }

nn::cross_entropy_options class_options(const operand_list& v, std::int64_t n, double smoothing) {
  return {.label_smoothing = smoothing,
          .weights = tutti::stop_gradient(v[2]),
          .ignore = 3,
          .how = reduction_of(n)};
}

array ctc(const operand_list& v, const nn::ctc_options& options) {
  return nn::ctc_loss(tutti::log_softmax(v[0], 2), v[1], v[2], v[3], options);
}

/// The parameter after one step for each row of gradients.
template <class Optimizer>
array trained(Optimizer optimizer, const operand_list& v) {
  operand_list p{v[0]};
  for (std::int64_t i = 0; i < v[1].dim(0); ++i) p = optimizer.step(p, {v[1][i]});
  return p[0];
}

nn::rmsprop rmsprop(std::int64_t n) {
  nn::rmsprop_options o{.learning_rate = 0.05};
  if (n > 0) o.decay = 0.8, o.momentum = 0.7;
  if (n > 1) o.centered = true, o.weight_decay = 0.2;
  return nn::rmsprop(o);
}

nn::adagrad adagrad(std::int64_t n) {
  nn::adagrad_options o{.learning_rate = 0.05};
  if (n > 0) o.initial = 0.1, o.weight_decay = 0.2;
  return nn::adagrad(o);
}

array clip_by_norm(const operand_list& v) {
  operand_list flat;
  for (const array& g : nn::clip_by_norm(v, 1.5).gradients) flat.push_back(g.flatten());
  return tutti::concatenate(flat);
}

// clang-format off
#define TUTTI_SLOPES(expression) with_gradients(TUTTI_CALL(expression))

const vector_calls table = {
  {"elu", TUTTI_SLOPES(nn::elu(v[0], 0.7))},
  {"selu", TUTTI_SLOPES(nn::selu(v[0]))},
  {"mish", TUTTI_SLOPES(nn::mish(v[0]))},
  {"hard_sigmoid", TUTTI_SLOPES(nn::hard_sigmoid(v[0]))},
  {"hard_swish", TUTTI_SLOPES(nn::hard_swish(v[0]))},
  {"glu", TUTTI_SLOPES(nn::glu(v[0]))},
  {"gelu", TUTTI_SLOPES(nn::gelu(v[0]))},
  {"silu", TUTTI_SLOPES(nn::silu(v[0]))},
  {"batch_norm", TUTTI_SLOPES(batch_norm(v))},
  {"batch_norm_eval", TUTTI_SLOPES(batch_norm_eval(v))},
  {"batch_norm_state", TUTTI_CALL(batch_norm_state(v))},
  {"layer_norm", TUTTI_SLOPES(with_parameters(nn::layer_norm({3, 5}, {}, dtype::f64), v))},
  {"group_norm", TUTTI_SLOPES(with_parameters(nn::group_norm(3, 6, {}, dtype::f64), v))},
  {"rms_norm", TUTTI_SLOPES(with_parameters(nn::rms_norm(7, 1e-6, dtype::f64), v))},
  {"lstm", TUTTI_SLOPES(with_parameters(lstm(false), v))},
  {"lstm_reverse", TUTTI_SLOPES(with_parameters(lstm(true), v))},
  {"gru", TUTTI_SLOPES(with_parameters(gru(false), v))},
  {"gru_reverse", TUTTI_SLOPES(with_parameters(gru(true), v))},
  {"attention", TUTTI_SLOPES(nn::scaled_dot_product_attention(v[0], v[1], v[2]))},
  {"attention_mask", TUTTI_SLOPES(nn::scaled_dot_product_attention(v[0], v[1], v[2], {.mask = v[3]}))},
  {"attention_bias", TUTTI_SLOPES(nn::scaled_dot_product_attention(v[0], v[1], v[2], {.mask = v[3], .scale = 0.3}))},
  {"attention_causal", TUTTI_SLOPES(nn::scaled_dot_product_attention(v[0], v[1], v[2], {.causal = true}))},
  {"heads", TUTTI_SLOPES(with_parameters(nn::multi_head_attention(6, 2, {1}, {.causal = true}, dtype::f64), v))},
  {"cross_entropy", TUTTI_SLOPES(nn::cross_entropy(v[0], v[1], {.how = reduction_of(n)}))},
  {"smoothed", TUTTI_SLOPES(nn::cross_entropy(v[0], v[1], class_options(v, n, 0.1)))},
  {"nll", TUTTI_SLOPES(nn::nll_loss(v[0], v[1], class_options(v, n, 0)))},
  {"l1", TUTTI_SLOPES(nn::l1_loss(v[0], v[1], reduction_of(n)))},
  {"huber", TUTTI_SLOPES(nn::huber_loss(v[0], v[1], {.delta = 1.3, .how = reduction_of(n)}))},
  {"binary", TUTTI_SLOPES(nn::binary_cross_entropy_with_logits(v[0], v[1], {.weight = v[2], .positive_weight = v[3], .how = reduction_of(n)}))},
  {"triplet", TUTTI_SLOPES(nn::triplet_loss(v[0], v[1], v[2], {.margin = 2, .how = reduction_of(n)}))},
  {"kl", TUTTI_SLOPES(nn::kl_divergence(v[0], v[1]))},
  {"kl_log", TUTTI_SLOPES(nn::kl_divergence(v[0], v[1], {.log_target = true}))},
  {"ctc", TUTTI_SLOPES(ctc(v, {.how = reduction_of(n)}))},
  {"ctc_zero", TUTTI_SLOPES(ctc(v, {.zero_infinity = true, .how = nn::reduction::none}))},
  {"adam", TUTTI_CALL(trained(nn::adam({.learning_rate = 0.05, .weight_decay = 0.3, .decoupled = n == 1}), v))},
  {"rmsprop", TUTTI_CALL(trained(rmsprop(n), v))},
  {"adagrad", TUTTI_CALL(trained(adagrad(n), v))},
  {"lion", TUTTI_CALL(trained(nn::lion({.learning_rate = 0.05, .weight_decay = 0.2}), v))},
  {"clip_by_norm", TUTTI_CALL(clip_by_norm(v))},
};
#undef TUTTI_SLOPES
// clang-format on

}  // namespace

BOOST_AUTO_TEST_CASE(vectors_of_pytorch) { BOOST_TEST(check_vectors(paths::vectors, table) > 55); }
