// SPDX-License-Identifier: Apache-2.0
//
// Gradient-boosted trees by histograms. What holds for all of tutti::ml stands in ml.hpp.
//
// Features are cut into bins at quantiles; trees are complete binary ones, so that a tree is an
// array (G. Ke et al., "LightGBM", NIPS 2017; T. Chen, C. Guestrin, "XGBoost", KDD 2016, eq. 5 and
// 7). For CPUs they are grown on the host, node by node, with sums in f64; for others on the
// device, level by level, where no level is waited for. What scikit-learn's HistGradientBoosting...
// does with max_leaf_nodes=None and max_depth is the same, but for rounding in f32 and f64, and for
// bins of features of more than max_bins distinct values: those end at quantiles (NumPy's method
// "midpoint") of all rows or of each nth, of 200,000 at most. On the host a level takes 24 features
// bins bytes, and the samples rows features; on a device level l takes in f32 12 features bins 2^l
// bytes, and the samples 12 rows features, twice that in f64.
#pragma once

#include <cstdint>

#include "tutti/array.hpp"
#include "tutti/named_arrays.hpp"

namespace tutti::ml {

struct boosting_options {
  int iterations = 100;        ///< trees, of each class where there are more than two
  double learning_rate = 0.1;  ///< positive
  int max_depth = 5;           ///< levels of splits, 1 to 12
  std::int64_t min_samples_leaf = 20;
  double l2_regularization = 0;  ///< added to the second derivatives of a leaf; not negative
  int max_bins = 255;            ///< of each feature, 2 to 255
};

/// Trees over features. NaN in samples counts as larger than all numbers, in fit() and after it.
/// Predictions have no gradient. Parameters "features" i64 and "thresholds" [trees, 2^depth - 1],
/// of the node at each place of a heap, "values" [trees, 2^depth] of the leaves, "baseline"
/// [outputs], "feature_count" [] and of classifiers "classes". Tree t belongs to output t mod
/// outputs; rows that are not <= the threshold of a node go right, and all go left where it is
/// infinite.
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

/// Log loss: of two classes one tree an iteration, of more one for each class.
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
