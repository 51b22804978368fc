// SPDX-License-Identifier: Apache-2.0
//
// What models check and convert before they compute: samples, labels, what was learned.
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
/// The same for [rows, features], at least one row and one feature. Throws shape_error.
array as_samples(const array& x, const char* op);
/// The same with that number of features.
array as_samples(const array& x, std::int64_t features, const char* op);
/// The same, both, without history for gradients, contiguous and evaluated: of what learns from
/// samples, and of predictions that have no NaN to give. Throws value_error where elements are not
/// finite.
array as_finite_samples(const array& x, const char* op);
array as_finite_samples(const array& x, std::int64_t features, const char* op);
/// Throws value_error naming the first element that is not finite. Evaluates.
void require_finite(const array& a, const char* what, const char* op);

/// The values of an array of f32 or f64.
std::vector<double> host_values(const array& a);
/// Numbers in the dtype of `like`, f32 or f64, on its device, which need not have f64 otherwise.
array numbers_like(const array& like, std::span<const double> values, const shape& extents);

/// Labels [rows] as i64. Throws shape_error for other shapes (any number of rows where `rows` is
/// negative, but 0), dtype_error for what is neither integer nor bool.
array as_labels(const array& y, std::int64_t rows, const char* op);
/// Targets [rows] or [rows, targets] in the dtype of x. Throws shape_error.
array as_targets(const array& y, const array& x, const char* op);
/// Classes and numbers of labels. Throws value_error for fewer than two.
unique_result classes_of(const array& y, const array& x, const char* op);

/// Throws value_error where a model has not been fitted.
void require_fitted(const array& learned, const char* op);

/// Parameters that are about to be loaded.
class parameter_reader {
 public:
  /// Throws value_error unless `arrays` has these names and no others.
  parameter_reader(const io::named_arrays& arrays, std::initializer_list<const char*> names,
                   const char* op);
  /// The array of that name. Throws shape_error for another rank, dtype_error unless it is f32 or
  /// f64 (integers: i64).
  array floats(const char* name, int rank) const;
  array integers(const char* name, int rank) const;
  /// Throws shape_error unless `a`, of that name, has these extents; -1 stands for any.
  void require_shape(const char* name, const array& a, const shape& expected) const;

 private:
  const array& ranked(const char* name, int rank) const;

  const io::named_arrays& arrays_;
  const char* op_;
};

}  // namespace tutti::ml
