// SPDX-License-Identifier: Apache-2.0
//
// Metrics of class scores and probabilities, of predicted numbers, and of predicted classes,
// computed from counts of label pairs.
#include "tutti/ml/metrics.hpp"

#include <cmath>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "ml/samples.hpp"
#include "tutti/analysis.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"
#include "tutti/statistics.hpp"

namespace tutti::ml {

using base::named;

namespace {

// [rows], as many as labels.
array as_scores(const array& given, const array& labels, const char* op) {
  const array scores = in_floats(given, op);
  if (scores.ndim() < 1 || scores.ndim() > 2 || scores.dim(0) != labels.size())
    base::fail<shape_error>("{}: scores {} for labels {}", op, scores.shape(), labels.shape());
  return scores;
}

}  // namespace

roc_result roc_curve(const array& truth, const array& given) {
  constexpr const char* op = "roc_curve";
  return named(op, [&]() -> roc_result {
    const array labels = as_labels(truth, -1, op);
    const array scores = stop_gradient(as_scores(given, labels, op));
    if (scores.ndim() != 1)
      base::fail<shape_error>("{}: scores {} must be [rows]", op, scores.shape());
    const std::int64_t rows = labels.size();
    const array known = all((labels == 0) | (labels == 1));
    const array positives = count_nonzero(labels);
    eval({known, positives});
    if (!known.item<bool>())
      base::fail<value_error>("{}: labels {} of other classes than 0 and 1", op, labels.shape());
    if (any(isnan(scores)).item<bool>())
      base::fail<value_error>("{}: scores {} have a NaN", op, scores.shape());
    const auto right = positives.item<std::int64_t>();
    if (right == 0 || right == rows)
      base::fail<value_error>("{}: all of {} rows are of one class", op, rows);
    const array order = argsort(scores, -1, order::descending);
    const array sorted = take(scores, order);
    const array hits = cumsum(take(labels, order));
    const array places = arange(rows, dtype::i64, scores.device());
    // The last row of each distinct score.
    const array is_last = concatenate({sorted({{0, rows - 1}}) != sorted({{1, rows}}),
                                       ones({1}, dtype::boolean, scores.device())});
    const array ends = nonzero(is_last)[0];
    const array true_positives = take(hits, ends);
    const array false_positives = take(places, ends) + 1 - true_positives;
    const auto share = [&](const array& counts, std::int64_t whole) {
      const array numbers = counts.astype(scores.dtype()) / static_cast<double>(whole);
      return concatenate({zeros({1}, scores.dtype(), scores.device()), numbers});
    };
    return {
        share(false_positives, rows - right), share(true_positives, right),
        concatenate({full({1}, INFINITY, scores.dtype(), scores.device()), take(sorted, ends)})};
  });
}

// Counts of ranks are integers, so only the final quotient is rounded.
array roc_auc_score(const array& truth, const array& given) {
  constexpr const char* op = "roc_auc_score";
  return named(op, [&] {
    const array labels = as_labels(truth, -1, op);
    const array scores = stop_gradient(as_scores(given, labels, op));
    const bool is_binary = scores.ndim() == 1;
    const array columns = is_binary ? expand_dims(scores, 1) : scores;
    if (columns.dim(1) == 0)
      base::fail<shape_error>("{}: scores {} of no classes", op, scores.shape());
    const array is_class =
        is_binary ? expand_dims(labels == 1, 1) : one_hot(labels, columns.dim(1), dtype::boolean);
    const array twice =
        rankdata(columns, rank_method::min, 0) + rankdata(columns, rank_method::max, 0);
    const array positives = sum(is_class.astype(dtype::i64), 0);
    const array negatives = labels.size() - positives;
    const array pairs = sum(where(is_class, twice, 0), 0) - positives * (positives + 1);
    const dtype type = scores.dtype();
    const array area = pairs.astype(type) / (2 * positives.astype(type) * negatives.astype(type));
    const array is_known = is_binary ? all((labels == 0) | (labels == 1))
                                     : all((labels >= 0) & (labels < columns.dim(1)));
    const array usable = is_known & !any(isnan(scores));
    return where(usable, tutti::mean(area), full({}, NAN, type, scores.device()));
  });
}

array log_loss(const array& truth, const array& given) {
  constexpr const char* op = "log_loss";
  return named(op, [&] {
    const array labels = as_labels(truth, -1, op);
    const array p = as_scores(given, labels, op);
    const double epsilon = finfo(p.dtype()).epsilon;
    const array kept = clip(p, epsilon, 1 - epsilon);
    // An unknown label makes its gradients NaN too.
    const auto mean_of = [](const array& losses, const array& sums, const array& is_known) {
      return tutti::mean(losses +
                         sums * where(is_known, 0, full({}, NAN, sums.dtype(), sums.device())));
    };
    if (p.ndim() == 1) {
      const array of_truth = where(labels == 1, kept, 1 - kept);
      return mean_of(-log(of_truth), p, (labels == 0) | (labels == 1));
    }
    if (p.dim(1) == 0) base::fail<shape_error>("{}: probabilities {} of no classes", op, p.shape());
    const array is_class = one_hot(labels, p.dim(1), dtype::boolean);
    const array losses = sum(where(is_class, -log(kept), 0), 1);
    return mean_of(losses, sum(p, 1), (labels >= 0) & (labels < p.dim(1)));
  });
}

namespace {

struct number_pair {
  array truth, predicted;  // of one floating dtype
};

number_pair numbers_pair_of(const array& truth, const array& predicted, const char* op) {
  if (truth.shape() != predicted.shape() || truth.ndim() < 1 || truth.ndim() > 2 ||
      truth.size() == 0)
    base::fail<shape_error>("{}: truth {} and predictions {}", op, truth.shape(),
                            predicted.shape());
  const array t = in_floats(truth, op), p = in_floats(predicted, op);
  const dtype type = promote(t.dtype(), p.dtype());
  return {t.astype(type), p.astype(type)};
}

}  // namespace

array mean_squared_error(const array& truth, const array& predicted) {
  return named("mean_squared_error", [&] {
    const number_pair n = numbers_pair_of(truth, predicted, "mean_squared_error");
    return tutti::mean(square(n.truth - n.predicted));
  });
}

array mean_absolute_error(const array& truth, const array& predicted) {
  return named("mean_absolute_error", [&] {
    const number_pair n = numbers_pair_of(truth, predicted, "mean_absolute_error");
    return tutti::mean(abs(n.truth - n.predicted));
  });
}

array r2_score(const array& truth, const array& predicted) {
  return named("r2_score", [&] {
    const number_pair n = numbers_pair_of(truth, predicted, "r2_score");
    const array errors = sum(square(n.truth - n.predicted), 0);
    const array middle = tutti::mean(n.truth, {0, keep_dims::yes});
    // The mean of equal numbers may be off by a rounding error.
    const array is_constant = max(n.truth, 0) == min(n.truth, 0);
    const array spread = sum(square(n.truth - middle), 0);
    const array is_zero = is_constant | (spread == 0);
    const array share = 1 - errors / where(is_zero, 1, spread);
    return tutti::mean(where(is_zero, (errors == 0).astype(share.dtype()), share));
  });
}

namespace {

struct label_pair {
  array truth, predicted;  // i64
};

label_pair label_pair_of(const array& truth, const array& predicted, const char* op) {
  const array t = as_labels(truth, -1, op);
  return {t, as_labels(predicted, t.size(), op)};
}

}  // namespace

array accuracy_score(const array& truth, const array& predicted) {
  return named("accuracy_score", [&] {
    const label_pair p = label_pair_of(truth, predicted, "accuracy_score");
    return count_nonzero(p.truth == p.predicted).astype(dtype::f32) /
           static_cast<double>(p.truth.size());
  });
}

array confusion_matrix(const array& truth, const array& predicted,
                       std::optional<std::int64_t> classes) {
  constexpr const char* op = "confusion_matrix";
  return named(op, [&] {
    const label_pair p = label_pair_of(truth, predicted, op);
    if (classes && *classes < 1) base::fail<value_error>("{}: {} classes", op, *classes);
    const array ends = stack({min(p.truth), min(p.predicted), max(p.truth), max(p.predicted)});
    const auto found = ends.to_vector<std::int64_t>();
    const std::int64_t least = std::min(found[0], found[1]), most = std::max(found[2], found[3]);
    if (least < 0 || (classes && most >= *classes))
      base::fail<index_error>("{}: class {} is not in [0, {})", op, least < 0 ? least : most,
                              classes ? std::to_string(*classes) : "classes");
    const auto wide = static_cast<std::uint64_t>(classes ? *classes - 1 : most) + 1;
    tutti::detail::require_host_memory(op, wide, sizeof(std::int64_t));
    tutti::detail::require_host_memory(op, wide, wide * sizeof(std::int64_t));
    const auto n = static_cast<std::int64_t>(wide);
    return reshape(bincount(p.truth * n + p.predicted, n * n), {n, n});
  });
}

namespace {

struct class_counts {
  array right, predicted, truth;  // f32 [classes]
};

// A quotient by 0 is 0 instead of NaN.
array ratio(const array& a, const array& b) {
  const array is_zero = b == 0;
  return where(is_zero, 0, a / where(is_zero, 1, b));
}

using class_score = array (*)(const class_counts&);

array averaged(const array& truth, const array& predicted, averaging average, class_score score,
               const char* op) {
  return named(op, [&] {
    base::require_known(op, "average", average, averaging::none);
    const array counts = confusion_matrix(truth, predicted);
    const bool is_binary = average == averaging::binary;
    if (is_binary && counts.dim(0) > 2)
      base::fail<value_error>("{}: averaging::binary of classes up to {}", op, counts.dim(0) - 1);
    // If class 1 does not occur, there is no column for it.
    if (is_binary && counts.dim(0) < 2) return zeros({}, dtype::f32, counts.device());
    const class_counts all{diagonal(counts).astype(dtype::f32), sum(counts, 0).astype(dtype::f32),
                           sum(counts, 1).astype(dtype::f32)};
    if (average == averaging::micro)
      return score({sum(all.right), sum(all.predicted), sum(all.truth)});
    const array each = score(all);
    switch (average) {
      case averaging::binary:
        return each[1];
      case averaging::macro:
        return sum(each) / sum((all.predicted + all.truth > 0).astype(dtype::f32));
      case averaging::weighted:
        return sum(each * all.truth) / sum(all.truth);
      default:
        return each;
    }
  });
}

}  // namespace

array precision_score(const array& truth, const array& predicted, averaging average) {
  return averaged(
      truth, predicted, average, [](const class_counts& c) { return ratio(c.right, c.predicted); },
      "precision_score");
}
array recall_score(const array& truth, const array& predicted, averaging average) {
  return averaged(
      truth, predicted, average, [](const class_counts& c) { return ratio(c.right, c.truth); },
      "recall_score");
}
array f1_score(const array& truth, const array& predicted, averaging average) {
  return averaged(
      truth, predicted, average,
      [](const class_counts& c) { return ratio(2 * c.right, c.predicted + c.truth); }, "f1_score");
}

}  // namespace tutti::ml
