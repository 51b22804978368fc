// SPDX-License-Identifier: Apache-2.0
//
// Preprocessing: scalers, encoders, training and test samples. See ml.hpp for common rules.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/data/splits.hpp"
#include "tutti/named_arrays.hpp"
#include "tutti/random.hpp"

namespace tutti::ml {

// ---- missing values

/// Replaces NaN by the mean of the feature over the elements of fit() that are not NaN, or by 0 if
/// there are none. Lazy, with gradients.
class TUTTI_API simple_imputer {
 public:
  simple_imputer& fit(const array& x);
  array transform(const array& x) const;
  array fit_transform(const array& x) { return fit(x).transform(x); }

  const array& statistics() const { return statistics_; }  ///< [features]
  io::named_arrays parameters() const;                     ///< "statistics"
  void load_parameters(const io::named_arrays& arrays);

 private:
  array statistics_;
};

// ---- scalers: lazy, with gradients. NaN propagates within its feature.

struct standard_scaler_options {
  bool with_mean = true;
  bool with_std = true;
};

/// (x - mean) / deviation of each feature, with divisor rows. Constant features are not divided.
class TUTTI_API standard_scaler {
 public:
  explicit standard_scaler(const standard_scaler_options& options = {}) : options_(options) {}
  standard_scaler& fit(const array& x);
  array transform(const array& x) const;
  array fit_transform(const array& x) { return fit(x).transform(x); }
  array inverse_transform(const array& x) const;

  const array& mean() const { return mean_; }    ///< [features]; 0 without with_mean
  const array& scale() const { return scale_; }  ///< [features]: the divisors
  io::named_arrays parameters() const;           ///< "mean", "scale"
  void load_parameters(const io::named_arrays& arrays);

 private:
  standard_scaler_options options_;
  array mean_, scale_;
};

struct min_max_scaler_options {
  double low = 0;
  double high = 1;
  bool clip = false;  ///< clip to [low, high] outside the range of the fit() samples
};

/// Maps the smallest element of each feature to `low`, the largest to `high`. Constant features
/// become `low`. Throws value_error unless low < high, both finite.
class TUTTI_API min_max_scaler {
 public:
  explicit min_max_scaler(const min_max_scaler_options& options = {});
  min_max_scaler& fit(const array& x);
  array transform(const array& x) const;
  array fit_transform(const array& x) { return fit(x).transform(x); }
  array inverse_transform(const array& x) const;

  const array& data_min() const { return min_; }  ///< [features]
  const array& data_max() const { return max_; }  ///< [features]
  io::named_arrays parameters() const;            ///< "data_min", "data_max"
  void load_parameters(const io::named_arrays& arrays);

 private:
  array range() const;

  min_max_scaler_options options_;
  array min_, max_;
};

// ---- encoders. They evaluate, because shapes and errors depend on values.

enum class unknown_category : bool {
  error,  ///< transform() throws value_error
  ignore  ///< becomes zeros
};
struct one_hot_encoder_options {
  unknown_category unknown = unknown_category::error;
  dtype type = dtype::f32;  ///< of the result
};

/// Columns of integers or bool [rows, features] as zeros and ones: one column per category of each
/// feature, in ascending order.
class TUTTI_API one_hot_encoder {
 public:
  explicit one_hot_encoder(const one_hot_encoder_options& options = {}) : options_(options) {}
  one_hot_encoder& fit(const array& x);
  array transform(const array& x) const;  ///< [rows, total number of categories]
  array fit_transform(const array& x) { return fit(x).transform(x); }
  /// i64 [rows, features]: the category of the largest column, the first one if several are equal.
  array inverse_transform(const array& x) const;

  const std::vector<array>& categories() const { return categories_; }  ///< of each feature, i64
  io::named_arrays parameters() const;  ///< "categories", "counts": of each feature
  void load_parameters(const io::named_arrays& arrays);

 private:
  one_hot_encoder_options options_;
  std::vector<array> categories_;
};

/// Classes, integers or words, as 0 ... number of classes - 1 in ascending order (words by their
/// bytes). transform() throws value_error for an unknown class, inverse_transform() and names()
/// index_error for a number out of range.
class TUTTI_API label_encoder {
 public:
  label_encoder& fit(const array& labels);
  label_encoder& fit(std::span<const std::string> labels);
  label_encoder& fit(const std::vector<std::string>& labels) {
    return fit(std::span<const std::string>(labels));
  }
  array transform(const array& labels) const;  ///< i64, of that shape
  array transform(std::span<const std::string> labels, const device& on = default_device()) const;
  array transform(const std::vector<std::string>& labels,
                  const device& on = default_device()) const {
    return transform(std::span<const std::string>(labels), on);
  }
  array inverse_transform(const array& numbers) const;         ///< i64, of that shape
  std::vector<std::string> names(const array& numbers) const;  ///< for words
  std::int64_t class_count() const;
  const array& classes() const { return classes_; }                 ///< i64; invalid for words
  const std::vector<std::string>& words() const { return words_; }  ///< empty for integers
  /// "classes", or for words "text", their bytes, and "ends", the end of each.
  io::named_arrays parameters() const;
  void load_parameters(const io::named_arrays& arrays);

 private:
  array classes_;
  std::vector<std::string> words_;
};

// ---- training and test samples. splits.hpp creates the row numbers that grid_search() uses.

struct split_samples {
  array x_train, x_test, y_train, y_test;
};
/// The rows of x and of y in a split, on their devices. Throws shape_error if x and y differ in
/// rows, index_error for a row out of range.
TUTTI_API split_samples split_rows(const array& x, const array& y, const data::split& rows);

struct split_options {
  double test_share = 0.25;  ///< of the rows, rounded up
  /// Labels [rows]: each class has that share of the test rows, to within one row.
  std::optional<array> stratify{};
};
/// Splits with data::train_test_split(), or, with labels, stratified. Throws the same exceptions.
TUTTI_API split_samples train_test_split(random::key key, const array& x, const array& y,
                                         const split_options& options = {});

}  // namespace tutti::ml
