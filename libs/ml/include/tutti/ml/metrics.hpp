// SPDX-License-Identifier: Apache-2.0
//
// Quality metrics of predictions. See ml.hpp for common rules. Results are one element, unless
// stated otherwise: f64 if an operand is f64, else f32.
#pragma once

#include <cstdint>
#include <optional>

#include "tutti/array.hpp"

namespace tutti::ml {

// ---- classes: `truth` and `predicted` are integers or bool [rows]. Throw shape_error for other
// shapes and for no rows.

/// The fraction of equal rows.
TUTTI_API array accuracy_score(const array& truth, const array& predicted);
/// i64 [classes, classes]: the number of rows of class `truth` (row) predicted as `predicted`
/// (column). Labels are 0 ... classes - 1; by default up to the largest one. Evaluates. Throws
/// index_error for a class out of range.
TUTTI_API array confusion_matrix(const array& truth, const array& predicted,
                                 std::optional<std::int64_t> classes = {});

enum class averaging : std::uint8_t {
  binary,    ///< of class 1; value_error for classes other than 0 and 1
  micro,     ///< over all rows
  macro,     ///< the mean over classes that occur in truth or predicted
  weighted,  ///< weighted by the frequency of the classes in truth
  none       ///< of each class 0 ... largest: [classes]
};
/// For labels 0, 1, ...: the fraction of a class among rows predicted as it (precision), the
/// fraction of a class predicted as it (recall), and their harmonic mean (F1). A quotient by 0 is
/// 0. Evaluation and exceptions as for confusion_matrix().
TUTTI_API array precision_score(const array& truth, const array& predicted,
                                averaging average = averaging::binary);
TUTTI_API array recall_score(const array& truth, const array& predicted,
                             averaging average = averaging::binary);
TUTTI_API array f1_score(const array& truth, const array& predicted,
                         averaging average = averaging::binary);

struct roc_result {
  array false_positive_rate;  ///< [points], ascending from 0 to 1
  array true_positive_rate;   ///< [points]
  array thresholds;           ///< [points], descending from infinity: scores >= it are positive
};
/// The receiver operating characteristic of scores [rows] for truth with classes 0 and 1: a point
/// for each distinct score. Evaluates. Throws value_error if a score is NaN or a class is missing.
TUTTI_API roc_result roc_curve(const array& truth, const array& scores);
/// The area under that curve; pairs of equal scores count half (T. Fawcett, "An introduction to ROC
/// analysis", 2006). For scores [rows, classes] and labels 0 ... classes - 1 the mean over classes,
/// each against all others. NaN if a class is missing.
TUTTI_API array roc_auc_score(const array& truth, const array& scores);
/// The mean of -log p of the true class, for probabilities [rows, classes] and labels 0 ... classes
/// - 1, or [rows] of class 1. Probabilities are clipped to [epsilon, 1 - epsilon] of their dtype. A
/// label out of range gives NaN.
TUTTI_API array log_loss(const array& truth, const array& probabilities);

// ---- numbers: `truth` and `predicted` are [rows] or [rows, outputs], averaged over outputs. Lazy,
// with gradients. Throw shape_error for other or different shapes and for no elements.

TUTTI_API array mean_squared_error(const array& truth, const array& predicted);
TUTTI_API array mean_absolute_error(const array& truth, const array& predicted);
/// The coefficient of determination, 1 - sum (truth - predicted)^2 / sum (truth - mean)^2. For
/// constant truth it is 1 if the predictions are exact, else 0.
TUTTI_API array r2_score(const array& truth, const array& predicted);

// ---- clusters

/// For each row of x [rows, features], with labels of any values: (b - a) / max(a, b), where a is
/// the mean distance to the other rows of its cluster and b the smallest mean distance to the rows
/// of another cluster; 0 for a single row (P. Rousseeuw, "Silhouettes", 1987). [rows]. Evaluates,
/// in blocks of rows. Throws value_error for fewer than 2 clusters or as many as rows.
TUTTI_API array silhouette_samples(const array& x, const array& labels);
/// The mean of silhouette_samples().
TUTTI_API array silhouette_score(const array& x, const array& labels);

}  // namespace tutti::ml
