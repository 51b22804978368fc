// SPDX-License-Identifier: Apache-2.0
//
// Losses, except for sequences (ctc.cpp), and metrics.
#include "tutti/nn/losses.hpp"

#include <cmath>
#include <limits>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "nn/checks.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/nn/activations.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn {

using tutti::base::named;

namespace {

void require_equal_shapes(const char* op, const array& a, const array& b) {
  if (a.shape() != b.shape())
    base::fail<shape_error>("{}: shapes differ: {} and {}", op, a.shape(), b.shape());
}

/// The dtype of a loss of these operands: bool and integers count as f32.
dtype loss_type(std::initializer_list<array> operands) {
  std::optional<dtype> type;
  for (const array& a : operands) {
    const dtype own = is_integral(a.dtype()) || is_bool(a.dtype()) ? dtype::f32 : a.dtype();
    type = type ? promote(*type, own) : own;
  }
  return *type;
}

/// `loss` of each pair of elements, computed in the dtype of losses.
template <class F>
array elementwise_loss(const char* op, const array& prediction, const array& target, reduction how,
                       F loss) {
  return named(op, [&] {
    require_equal_shapes(op, prediction, target);
    const dtype type = loss_type({prediction, target});
    const array y = loss(detail::in_floats(prediction), detail::in_floats(target));
    return detail::narrowed(detail::reduced(op, y, how), type);
  });
}

void check_labels(const char* op, const array& scores, const array& labels) {
  if (!is_integral(labels.dtype()) && labels.ndim() + 1 == scores.ndim())
    base::fail<dtype_error>("{}: labels must be integers, got {}", op, labels.dtype());
  bool fits = scores.ndim() == labels.ndim() + 1;
  for (int i = 0; fits && i < labels.ndim(); ++i) fits = scores.dim(i) == labels.dim(i);
  if (!fits)
    base::fail<shape_error>("{}: needs scores [...,C] and labels [...], got {} and {}", op,
                            scores.shape(), labels.shape());
  if (!is_floating(scores.dtype()))
    base::fail<dtype_error>("{}: logits must be floating, got {}", op, scores.dtype());
}

void check_class_options(const char* op, const array& scores, const cross_entropy_options& o) {
  detail::require_option(o.label_smoothing >= 0 && o.label_smoothing <= 1, op, "label_smoothing",
                         o.label_smoothing);
  if (scores.dim(-1) == 0 || (o.how == reduction::mean && scores.size() == 0))
    base::fail<shape_error>("{}: no elements in {}", op, scores.shape());
  if (o.weights && o.weights->shape() != shape{scores.dim(-1)})
    base::fail<shape_error>("{}: weights are {}, scores {}", op, o.weights->shape(),
                            scores.shape());
  if (o.weights) detail::require_floating(op, "weights", o.weights->dtype());
}

/// For log probabilities; used by cross_entropy and nll_loss.
array label_loss(const char* op, const array& log_p, const array& labels,
                 const cross_entropy_options& o) {
  const std::int64_t classes = log_p.dim(-1);
  const array truth = one_hot(labels, classes, dtype::boolean);
  const dtype type = log_p.dtype();
  const array none = zeros({}, type, log_p.device());
  array costs = -log_p;
  array of_label = o.weights ? sum(where(truth, o.weights->astype(type), none), -1) : none;
  if (o.weights) {
    const array weights = o.weights->astype(type);
    costs = where(weights == 0, none, costs * weights);
  }
  // A factor, so that the gradients of rows without a valid label are NaN as well.
  array usable = (labels >= 0) & (labels < classes), ignored;
  if (o.ignore) {
    ignored = labels.astype(dtype::i64) == *o.ignore;
    usable = usable | ignored;
  }
  const array nan = full({}, std::numeric_limits<float>::quiet_NaN(), type, log_p.device());
  costs = costs * expand_dims(where(usable, ones({}, type, log_p.device()), nan), -1);
  // Not logsumexp(logits) - logit, which loses digits if both are large.
  array loss = sum(where(truth | expand_dims(logical_not(usable), -1), costs, none), -1);
  if (o.label_smoothing > 0) {
    const double share = o.label_smoothing / static_cast<double>(classes);
    loss = loss * (1 - o.label_smoothing) + sum(costs, -1) * share;
  }
  if (o.ignore) {
    loss = where(ignored, none, loss);
    of_label = where(ignored, none, o.weights ? of_label : ones({}, type, log_p.device()));
  }
  if (o.how != reduction::mean || (!o.weights && !o.ignore))
    return detail::reduced(op, loss, o.how);
  return sum(loss) / sum(of_label);
}

}  // namespace

array mse(const array& prediction, const array& target) {
  return elementwise_loss("mse", prediction, target, reduction::mean,
                          [](const array& p, const array& t) { return square(p - t); });
}

array l1_loss(const array& prediction, const array& target, reduction how) {
  return elementwise_loss("l1_loss", prediction, target, how,
                          [](const array& p, const array& t) { return abs(p - t); });
}

array huber_loss(const array& prediction, const array& target, const huber_options& options) {
  detail::require_option(std::isfinite(options.delta) && options.delta > 0, "huber_loss", "delta",
                         options.delta);
  return elementwise_loss("huber_loss", prediction, target, options.how,
                          [&](const array& p, const array& t) {
                            const array e = p - t, size = abs(e);
                            // An unselected square must not overflow: its slope times 0 would be
                            // NaN.
                            const array within = clip(e, -options.delta, options.delta);
                            return where(size <= options.delta, square(within) * 0.5,
                                         (size - options.delta / 2) * options.delta);
                          });
}

array binary_cross_entropy_with_logits(const array& logits, const array& target,
                                       const binary_cross_entropy_options& options) {
  constexpr const char* op = "binary_cross_entropy_with_logits";
  return elementwise_loss(op, logits, target, options.how, [&](const array& x, const array& t) {
    // (1 - t) x + (1 + (p - 1) t) log(1 + exp(-x)), without cancellation.
    array loss = softplus(-x);
    if (options.positive_weight)
      loss = loss * ((options.positive_weight->astype(x.dtype()) - 1) * t + 1);
    loss = loss + x * (1 - t);
    if (options.weight) loss = loss * options.weight->astype(x.dtype());
    if (loss.shape() != x.shape())
      base::fail<shape_error>("{}: weights do not broadcast to {}", op, x.shape());
    return loss;
  });
}

array cross_entropy(const array& logits, const array& labels,
                    const cross_entropy_options& options) {
  return named("cross_entropy", [&] {
    check_labels("cross_entropy", logits, labels);
    check_class_options("cross_entropy", logits, options);
    const array log_p = log_softmax(detail::widened(logits), -1);
    return detail::narrowed(label_loss("cross_entropy", log_p, labels, options), logits.dtype());
  });
}

array nll_loss(const array& log_probabilities, const array& labels,
               const cross_entropy_options& options) {
  return named("nll_loss", [&] {
    check_labels("nll_loss", log_probabilities, labels);
    check_class_options("nll_loss", log_probabilities, options);
    if (options.label_smoothing != 0)
      throw value_error("nll_loss: label_smoothing is for cross_entropy");
    return detail::narrowed(
        label_loss("nll_loss", detail::widened(log_probabilities), labels, options),
        log_probabilities.dtype());
  });
}

array kl_divergence(const array& input, const array& target, const kl_divergence_options& options) {
  constexpr const char* op = "kl_divergence";
  return named(op, [&] {
    require_equal_shapes(op, input, target);
    if (input.ndim() < 1) throw shape_error("kl_divergence: needs [..., C], got []");
    detail::require_floating(op, "input", input.dtype());
    detail::require_floating(op, "target", target.dtype());
    const dtype type = loss_type({input, target});
    const array log_q = detail::widened(input), t = detail::widened(target);
    const array p = options.log_target ? exp(t) : t;
    const array is_none = p == 0, none = zeros({}, p.dtype(), p.device());
    const array log_p = options.log_target ? t : log(where(is_none, ones_like(p), p));
    // Masks both factors: 0 times minus infinity is NaN, and so is the slope of unselected values.
    const array excess = where(is_none, none, log_p) - where(is_none, none, log_q);
    const array of_rows = sum(p * excess, -1);
    return detail::narrowed(detail::reduced(op, of_rows, options.how), type);
  });
}

array triplet_loss(const array& anchor, const array& positive, const array& negative,
                   const triplet_options& options) {
  constexpr const char* op = "triplet_loss";
  detail::require_option(std::isfinite(options.margin), op, "margin", options.margin);
  detail::require_option(options.epsilon >= 0, op, "epsilon", options.epsilon);
  return named(op, [&] {
    require_equal_shapes(op, anchor, positive);
    require_equal_shapes(op, anchor, negative);
    if (anchor.ndim() < 1) throw shape_error("triplet_loss: needs [..., C], got []");
    const dtype type = loss_type({anchor, positive, negative});
    const array a = detail::in_floats(anchor);
    const auto distance = [&](const array& other) {
      return sqrt(sum(square(a - detail::in_floats(other) + options.epsilon), -1));
    };
    const array loss = relu(distance(positive) - distance(negative) + options.margin);
    return detail::narrowed(detail::reduced(op, loss, options.how), type);
  });
}

namespace {

void require_label_list(const char* op, const array& labels) {
  if (labels.ndim() != 1)
    base::fail<shape_error>("{}: labels must be [N], got {}", op, labels.shape());
  if (!is_integral(labels.dtype()))
    base::fail<dtype_error>("{}: labels must be integers, got {}", op, labels.dtype());
}

void require_scores(const char* op, const array& scores, const array& labels) {
  require_label_list(op, labels);
  if (scores.ndim() != 2 || scores.dim(0) != labels.dim(0))
    base::fail<shape_error>("{}: needs scores [N,C] and labels [N], got {} and {}", op,
                            scores.shape(), labels.shape());
  if (scores.size() == 0) base::fail<shape_error>("{}: no elements in {}", op, scores.shape());
}

}  // namespace

array accuracy(const array& scores, const array& labels) {
  return named("accuracy", [&] {
    require_scores("accuracy", scores, labels);
    return mean((argmax(scores, 1) == labels.astype(dtype::i64)).astype(dtype::f32));
  });
}

array confusion_matrix(const array& truth, const array& predicted, std::int64_t classes) {
  return named("confusion_matrix", [&] {
    constexpr const char* op = "confusion_matrix";
    require_label_list(op, truth);
    require_label_list(op, predicted);
    require_equal_shapes(op, truth, predicted);
    if (classes < 1) base::fail<value_error>("{}: {} classes", op, classes);
    const auto count = static_cast<std::uint64_t>(classes);
    tutti::detail::require_host_memory(op, count, sizeof(std::int64_t));
    tutti::detail::require_host_memory(op, count, count * sizeof(std::int64_t));
    const auto rows = truth.astype(dtype::i64).to_vector<std::int64_t>();
    const auto columns = predicted.astype(dtype::i64).to_vector<std::int64_t>();
    auto counts = tutti::detail::host_vector<std::int64_t>(op, count * count);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (const std::int64_t c : {rows[i], columns[i]}) {
        if (c < 0 || c >= classes)
          base::fail<index_error>("{}: class {} at {} is not below {}", op, c, i, classes);
      }
      ++counts[static_cast<std::size_t>(rows[i] * classes + columns[i])];
    }
    return array::from(counts, {classes, classes}, truth.device());
  });
}

}  // namespace tutti::nn
