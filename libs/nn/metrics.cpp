// SPDX-License-Identifier: Apache-2.0
//
// Metrics.
#include <fmt/format.h>

#include "base/named_errors.hpp"
#include "tutti/error.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/nn/losses.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn {

using tutti::base::named;

namespace {

void require_label_list(const char* op, const array& labels) {
  if (labels.ndim() != 1) {
    throw shape_error(fmt::format("{}: labels must be [N], got {}", op, labels.shape().str()));
  }
  if (!is_integral(labels.dtype())) {
    throw dtype_error(fmt::format("{}: labels must be integers, got {}", op, name(labels.dtype())));
  }
}

void require_scores(const char* op, const array& scores, const array& labels) {
  require_label_list(op, labels);
  if (scores.ndim() != 2 || scores.dim(0) != labels.dim(0)) {
    throw shape_error(fmt::format("{}: needs scores [N,C] and labels [N], got {} and {}", op,
                                  scores.shape().str(), labels.shape().str()));
  }
  if (scores.size() == 0) {
    throw shape_error(fmt::format("{}: no elements in {}", op, scores.shape().str()));
  }
}

}  // namespace

array accuracy(const array& scores, const array& labels) {
  return named("accuracy", [&] {
    require_scores("accuracy", scores, labels);
    return mean((argmax(scores, 1) == labels.astype(dtype::i64)).astype(dtype::f32));
  });
}

array confusion_matrix(const array& truth, const array& predicted, std::int64_t classes) {
  return named("confusion_matrix", [&] {
    constexpr const char* op = "confusion_matrix";
    require_label_list(op, truth);
    require_label_list(op, predicted);
    if (truth.shape() != predicted.shape()) {
      throw shape_error(fmt::format("{}: shapes differ: {} and {}", op, truth.shape().str(),
                                    predicted.shape().str()));
    }
    if (classes < 1) throw value_error(fmt::format("{}: {} classes", op, classes));
    const auto count = static_cast<std::uint64_t>(classes);
    tutti::detail::require_host_memory(op, count, sizeof(std::int64_t));
    tutti::detail::require_host_memory(op, count, count * sizeof(std::int64_t));
    const auto rows = truth.astype(dtype::i64).to_vector<std::int64_t>();
    const auto columns = predicted.astype(dtype::i64).to_vector<std::int64_t>();
    auto counts = tutti::detail::host_vector<std::int64_t>(op, count * count);
    for (std::size_t i = 0; i < rows.size(); ++i) {
      for (const std::int64_t c : {rows[i], columns[i]}) {
        if (c < 0 || c >= classes) {
          throw index_error(fmt::format("{}: class {} at {} is not below {}", op, c, i, classes));
        }
      }
      ++counts[static_cast<std::size_t>(rows[i] * classes + columns[i])];
    }
    return array::from(counts, {classes, classes}, truth.device());
  });
}

}  // namespace tutti::nn
