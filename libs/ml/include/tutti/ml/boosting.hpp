// SPDX-License-Identifier: Apache-2.0
//
// Histogram-based gradient-boosted trees. See ml.hpp for common rules.
//
// Features are divided into bins at quantiles; trees are complete binary trees, stored as arrays
// (G. Ke et al., "LightGBM", NIPS 2017; T. Chen, C. Guestrin, "XGBoost", KDD 2016, eq. 5 and 7). On
// CPUs trees are grown on the host, node by node, with sums in f64; on other devices level by
// level, without waiting for a level. The results are those of scikit-learn's
// HistGradientBoosting... with max_leaf_nodes=None and max_depth, except for rounding in f32 and
// f64, and for features with more than max_bins distinct values: their bins end at quantiles
// (NumPy's method "midpoint") of all rows or of every nth, at most 200,000. Memory on the host: 24
// features bins bytes per level, and rows features bytes for the samples; on a device in f32: 12
// features bins 2^l bytes for level l, and 12 rows features bytes for the samples, in f64 twice
// that.
#pragma once

#include <cstdint>

#include "tutti/array.hpp"
#include "tutti/named_arrays.hpp"

namespace tutti::ml {

struct boosting_options {
  int iterations = 100;        ///< trees; per class if there are more than two
  double learning_rate = 0.1;  ///< positive
  int max_depth = 5;           ///< levels of splits, 1 to 12
  std::int64_t min_samples_leaf = 20;
  double l2_regularization = 0;  ///< added to the second derivatives of a leaf; not negative
  int max_bins = 255;            ///< of each feature, 2 to 255
};

/// Tree ensembles. NaN in samples counts as larger than all numbers, in fit() and in predictions.
/// Predictions have no gradient. Parameters: "features" i64 and "thresholds" [trees, 2^depth - 1],
/// nodes in heap order; "values" [trees, 2^depth] of the leaves; "baseline" [outputs];
/// "feature_count" []; classifiers also "classes". Tree t belongs to output t mod outputs. Rows
/// that are not <= the threshold of a node go right; all go left if it is infinite.
class TUTTI_API boosted_trees {
 public:
  std::int64_t tree_count() const;
  io::named_arrays parameters() const;
  void load_parameters(const io::named_arrays& arrays);

 protected:
  explicit boosted_trees(const boosting_options& options);
  array raw_predictions(const array& x, const char* op) const;  // [rows, outputs]

  boosting_options options_;
  bool classifies_ = false;
  std::int64_t feature_count_ = 0;
  array features_, thresholds_, values_, baseline_, classes_;
};

/// Squared error. y is [rows].
class TUTTI_API hist_gradient_boosting_regressor : public boosted_trees {
 public:
  explicit hist_gradient_boosting_regressor(const boosting_options& options = {});
  hist_gradient_boosting_regressor& fit(const array& x, const array& y);
  array predict(const array& x) const;
  double score(const array& x, const array& y) const;
};

/// Log loss: one tree per iteration for two classes, else one per class.
class TUTTI_API hist_gradient_boosting_classifier : public boosted_trees {
 public:
  explicit hist_gradient_boosting_classifier(const boosting_options& options = {});
  hist_gradient_boosting_classifier& fit(const array& x, const array& y);
  array predict(const array& x) const;
  array predict_proba(const array& x) const;      ///< [rows, classes]
  array decision_function(const array& x) const;  ///< [rows], [rows, classes]
  double score(const array& x, const array& y) const;
  const array& classes() const { return classes_; }
};

}  // namespace tutti::ml
