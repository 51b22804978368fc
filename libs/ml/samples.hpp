// SPDX-License-Identifier: Apache-2.0
//
// Checks and conversions for all models: samples, labels, parameters.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/named_arrays.hpp"
#include "tutti/sorting.hpp"

namespace tutti::ml {

/// a in f32 or f64. Throws dtype_error for complex numbers.
array in_floats(const array& a, const char* op);
/// The same for [rows, features] with at least one row and one feature. Throws shape_error.
array as_samples(const array& x, const char* op);
/// The same with the given number of features.
array as_samples(const array& x, std::int64_t features, const char* op);
/// The same with as many features as the last axis of what a model has learned; as
/// require_fitted().
array as_samples(const array& x, const array& learned, const char* op);
/// The same, but detached from the gradient graph, contiguous and evaluated: for training samples,
/// and for predictions that cannot be NaN. Throws value_error if an element is not finite.
array as_finite_samples(const array& x, const char* op);
array as_finite_samples(const array& x, std::int64_t features, const char* op);
array as_finite_samples(const array& x, const array& learned, const char* op);
/// Throws value_error naming the first element that is not finite. Evaluates.
void require_finite(const array& a, const char* what, const char* op);

/// The values of an array of f32 or f64.
std::vector<double> host_values(const array& a);
/// Numbers in the dtype of `like`, f32 or f64, on its device, which may lack f64 support.
array numbers_like(const array& like, std::span<const double> values, const shape& extents);

/// Labels [rows] as i64. Throws shape_error for other shapes (`rows` < 0 allows any positive
/// number), dtype_error unless y is integer or bool.
array as_labels(const array& y, std::int64_t rows, const char* op);
/// Targets [rows] or [rows, targets] in the dtype of x. Throws shape_error.
array as_targets(const array& y, const array& x, const char* op);
/// Classes and class indices of labels. Throws value_error for fewer than two classes.
unique_result classes_of(const array& y, const array& x, const char* op);

/// Throws value_error if the model has not been fitted.
void require_fitted(const array& learned, const char* op);

/// Checks parameters to be loaded.
class parameter_reader {
 public:
  /// Throws value_error unless `arrays` has these names and no others.
  parameter_reader(const io::named_arrays& arrays, std::initializer_list<const char*> names,
                   const char* op);
  /// The array `name`. Throws shape_error for another rank, dtype_error unless f32 or f64 (or i64).
  array floats(const char* name, int rank) const;
  array integers(const char* name, int rank) const;
  /// Throws shape_error unless `a`, named `name`, has these extents; -1 allows any.
  void require_shape(const char* name, const array& a, const shape& expected) const;

 private:
  const array& ranked(const char* name, int rank) const;

  const io::named_arrays& arrays_;
  const char* op_;
};

}  // namespace tutti::ml
