// SPDX-License-Identifier: Apache-2.0
//
// Classification metrics, computed from counts of label pairs.
#include <fmt/format.h>

#include "base/named_errors.hpp"
#include "ml/samples.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/ml/metrics.hpp"
#include "tutti/movement.hpp"
#include "tutti/ops.hpp"
#include "tutti/statistics.hpp"

namespace tutti::ml {

using base::named;

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
    if (classes && *classes < 1) throw value_error(fmt::format("{}: {} classes", op, *classes));
    const array ends = stack({min(p.truth), min(p.predicted), max(p.truth), max(p.predicted)});
    const auto found = ends.to_vector<std::int64_t>();
    const std::int64_t least = std::min(found[0], found[1]), most = std::max(found[2], found[3]);
    if (least < 0 || (classes && most >= *classes))
      throw index_error(fmt::format("{}: class {} is not in [0, {})", op, least < 0 ? least : most,
                                    classes ? std::to_string(*classes) : "classes"));
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

enum class class_score : std::uint8_t { precision, recall, f1 };

array score_of(const class_counts& c, class_score score) {
  switch (score) {
    case class_score::precision:
      return ratio(c.right, c.predicted);
    case class_score::recall:
      return ratio(c.right, c.truth);
    default:
      return ratio(2 * c.right, c.predicted + c.truth);
  }
}

array averaged(const array& truth, const array& predicted, averaging average, class_score score,
               const char* op) {
  return named(op, [&] {
    if (average > averaging::none)
      throw value_error(fmt::format("{}: no average of number {}", op, static_cast<int>(average)));
    const array counts = confusion_matrix(truth, predicted);
    const bool is_binary = average == averaging::binary;
    if (is_binary && counts.dim(0) > 2)
      throw value_error(
          fmt::format("{}: averaging::binary of classes up to {}", op, counts.dim(0) - 1));
    // If class 1 does not occur, there is no column for it.
    if (is_binary && counts.dim(0) < 2) return zeros({}, dtype::f32, counts.device());
    const class_counts all{diagonal(counts).astype(dtype::f32), sum(counts, 0).astype(dtype::f32),
                           sum(counts, 1).astype(dtype::f32)};
    if (average == averaging::micro)
      return score_of({sum(all.right), sum(all.predicted), sum(all.truth)}, score);
    const array each = score_of(all, score);
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
  return averaged(truth, predicted, average, class_score::precision, "precision_score");
}
array recall_score(const array& truth, const array& predicted, averaging average) {
  return averaged(truth, predicted, average, class_score::recall, "recall_score");
}
array f1_score(const array& truth, const array& predicted, averaging average) {
  return averaged(truth, predicted, average, class_score::f1, "f1_score");
}

}  // namespace tutti::ml
