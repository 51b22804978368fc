// SPDX-License-Identifier: Apache-2.0
//
// Checks and conversions of samples, labels and parameters.
#include "ml/samples.hpp"

#include <fmt/format.h>

#include "base/fail.hpp"
#include "tutti/extension.hpp"
#include "tutti/ops.hpp"

namespace tutti::ml {

array in_floats(const array& a, const char* op) {
  const dtype type = op::real_floating_type_of(a, op);
  return op::cast(a, size_of(type) == 2 ? dtype::f32 : type, op);
}

array as_samples(const array& given, const char* op) {
  const array x = in_floats(given, op);
  if (x.ndim() != 2 || x.size() == 0)
    base::fail<shape_error>("{}: samples {}, must be [rows, features] with elements", op,
                            x.shape());
  return x;
}

array as_samples(const array& given, std::int64_t features, const char* op) {
  const array x = as_samples(given, op);
  if (x.dim(1) != features)
    base::fail<shape_error>("{}: samples {} for a model of {} features", op, x.shape(), features);
  return x;
}

array as_samples(const array& given, const array& learned, const char* op) {
  require_fitted(learned, op);
  return as_samples(given, learned.dim(-1), op);
}

void require_finite(const array& a, const char* what, const char* op) {
  if (all(isfinite(a)).item<bool>()) return;
  const array flat = reshape(a, {-1});
  const auto place = argmax(logical_not(isfinite(flat)).astype(dtype::u8)).item<std::int64_t>();
  const std::int64_t width = a.ndim() == 2 ? a.dim(1) : 1;
  const std::string column = a.ndim() == 2 ? fmt::format(" of column {}", place % width) : "";
  base::fail<value_error>("{}: {} {} have elements that are not finite: {} in row {}{}", op, what,
                          a.shape(), flat[place].item(), place / width, column);
}

namespace {

array evaluated(const array& samples, const char* op) {
  array x = contiguous(stop_gradient(samples));
  x.eval();
  require_finite(x, "samples", op);
  return x;
}

}  // namespace

array as_finite_samples(const array& given, const char* op) {
  return evaluated(as_samples(given, op), op);
}

array as_finite_samples(const array& given, std::int64_t features, const char* op) {
  return evaluated(as_samples(given, features, op), op);
}

array as_finite_samples(const array& given, const array& learned, const char* op) {
  return evaluated(as_samples(given, learned, op), op);
}

std::vector<double> host_values(const array& a) {
  if (a.dtype() == dtype::f64) return a.to_vector<double>();
  const std::vector<float> values = a.to_vector<float>();
  return {values.begin(), values.end()};
}

array numbers_like(const array& like, std::span<const double> values, const shape& extents) {
  return op::numbers_on(like.device(), {values.begin(), values.end()}, extents, like.dtype());
}

array as_labels(const array& y, std::int64_t rows, const char* op) {
  if (y.ndim() != 1 || y.size() == 0 || (rows >= 0 && y.size() != rows)) {
    const std::string wanted = rows >= 0 ? std::to_string(rows) : "rows";
    base::fail<shape_error>("{}: labels {}, must be [{}]", op, y.shape(), wanted);
  }
  if (!is_integral(y.dtype()) && !is_bool(y.dtype()))
    base::fail<dtype_error>("{}: labels must be integers or bool, got {}", op, y.dtype());
  return op::cast(y, dtype::i64, op);
}

array as_targets(const array& given, const array& x, const char* op) {
  const array y = op::cast(in_floats(given, op), x.dtype(), op);
  if (y.ndim() < 1 || y.ndim() > 2 || y.dim(0) != x.dim(0) || y.size() == 0)
    base::fail<shape_error>("{}: targets {} for samples {}", op, y.shape(), x.shape());
  return y;
}

unique_result classes_of(const array& y, const array& x, const char* op) {
  unique_result found = unique(as_labels(y, x.dim(0), op));
  if (found.values.size() < 2)
    base::fail<value_error>("{}: {} class in {} labels, must be 2 at least", op,
                            found.values.size(), y.size());
  return found;
}

void require_fitted(const array& learned, const char* op) {
  if (!learned.valid()) base::fail<value_error>("{}: nothing has been fitted yet", op);
}

parameter_reader::parameter_reader(const io::named_arrays& arrays,
                                   std::initializer_list<const char*> names, const char* op)
    : arrays_(arrays), op_(op) {
  for (const char* wanted : names) {
    const auto found = arrays.find(wanted);
    if (found == arrays.end() || !found->second.valid())
      base::fail<value_error>("{}: no parameter {}", op, wanted);
  }
  if (arrays.size() == names.size()) return;
  for (const auto& [known, values] : arrays) {
    bool is_wanted = false;
    for (const char* wanted : names) is_wanted = is_wanted || known == wanted;
    if (!is_wanted) base::fail<value_error>("{}: unknown parameter {}", op, known);
  }
}

const array& parameter_reader::ranked(const char* wanted, int rank) const {
  const array& a = arrays_.at(wanted);
  if (rank >= 0 && a.ndim() != rank)
    base::fail<shape_error>("{}: parameter {} is {}, must have {} axes", op_, wanted, a.shape(),
                            rank);
  return a;
}

array parameter_reader::floats(const char* wanted, int rank) const {
  const array& a = ranked(wanted, rank);
  if (a.dtype() != dtype::f32 && a.dtype() != dtype::f64)
    base::fail<dtype_error>("{}: parameter {} is {}, must be f32 or f64", op_, wanted, a.dtype());
  return a;
}

array parameter_reader::integers(const char* wanted, int rank) const {
  const array& a = ranked(wanted, rank);
  if (!is_integral(a.dtype()))
    base::fail<dtype_error>("{}: parameter {} is {}, must be integers", op_, wanted, a.dtype());
  return a.astype(dtype::i64);
}

void parameter_reader::require_shape(const char* wanted, const array& a,
                                     const shape& expected) const {
  bool same = a.ndim() == expected.rank();
  for (int i = 0; same && i < expected.rank(); ++i)
    same = expected[i] < 0 || expected[i] == a.dim(i);
  if (!same)
    base::fail<shape_error>("{}: parameter {} is {}, expected {}", op_, wanted, a.shape(),
                            expected);
}

}  // namespace tutti::ml
