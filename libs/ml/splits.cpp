// SPDX-License-Identifier: Apache-2.0
//
// Samples of splits.
#include "tutti/data/splits.hpp"

#include <fmt/format.h>

#include "base/named_errors.hpp"
#include "ml/samples.hpp"
#include "tutti/ml/preprocessing.hpp"
#include "tutti/ops.hpp"

namespace tutti::ml {

using base::named;

split_samples split_rows(const array& x, const array& y, const data::split& rows) {
  return named("split_rows", [&]() -> split_samples {
    if (x.ndim() < 1 || y.ndim() < 1 || x.dim(0) != y.dim(0))
      throw shape_error(
          fmt::format("split_rows: rows of {} and of {}", x.shape().str(), y.shape().str()));
    const auto at = [](const array& a, const std::vector<std::int64_t>& list) {
      return take(a, array::from(list, {list.size()}, a.device()));
    };
    return {at(x, rows.train), at(x, rows.test), at(y, rows.train), at(y, rows.test)};
  });
}

split_samples train_test_split(random::key key, const array& x, const array& y,
                               const split_options& options) {
  constexpr const char* op = "train_test_split";
  return named(op, [&] {
    if (x.ndim() < 1 || y.ndim() < 1 || x.dim(0) != y.dim(0))
      throw shape_error(
          fmt::format("{}: rows of {} and of {}", op, x.shape().str(), y.shape().str()));
    if (!options.stratify)
      return split_rows(x, y, data::train_test_split(x.dim(0), options.test_share, key));
    const array labels = as_labels(*options.stratify, x.dim(0), op);
    return split_rows(x, y,
                      data::stratified_train_test_split(labels.to_vector<std::int64_t>(),
                                                        options.test_share, key));
  });
}

}  // namespace tutti::ml
