// SPDX-License-Identifier: Apache-2.0
//
// Losses and metrics.
#include <fmt/format.h>

#include <limits>

#include "base/named_errors.hpp"
#include "tutti/error.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/nn.hpp"
#include "tutti/ops.hpp"

namespace tutti::nn {

using detail::named;

namespace {

void require_labels(const char* op, const array& labels) {
  if (labels.ndim() != 1) {
    throw shape_error(fmt::format("{}: labels must be [N], got {}", op, labels.shape().str()));
  }
  if (!is_integral(labels.dtype())) {
    throw dtype_error(fmt::format("{}: labels must be integers, got {}", op, name(labels.dtype())));
  }
}

void require_scores(const char* op, const array& scores, const array& labels) {
  require_labels(op, labels);
  if (scores.ndim() != 2 || scores.dim(0) != labels.dim(0)) {
    throw shape_error(fmt::format("{}: needs scores [N,C] and labels [N], got {} and {}", op,
                                  scores.shape().str(), labels.shape().str()));
  }
  if (scores.size() == 0) {
    throw shape_error(fmt::format("{}: no elements in {}", op, scores.shape().str()));
  }
}

}  // namespace

array cross_entropy(const array& logits, const array& labels) {
  return named("cross_entropy", [&] {
    require_scores("cross_entropy", logits, labels);
    if (!is_floating(logits.dtype())) {
      throw dtype_error(
          fmt::format("cross_entropy: logits must be floating, got {}", name(logits.dtype())));
    }
    const std::int64_t classes = logits.dim(1);
    const array truth = one_hot(labels, classes, dtype::boolean);
    // Not logsumexp(logits) less the logit: their difference has few digits where both are large.
    const array loss = sum(where(truth, -log_softmax(logits, 1), 0.0f), 1);
    const array nan = std::numeric_limits<float>::quiet_NaN();
    const array known = (labels >= 0) & (labels < classes);
    return mean(where(known, loss, nan));
  });
}

array mse(const array& prediction, const array& target) {
  return named("mse", [&] {
    if (prediction.shape() != target.shape()) {
      throw shape_error(fmt::format("mse: shapes differ: {} and {}", prediction.shape().str(),
                                    target.shape().str()));
    }
    if (prediction.size() == 0) {
      throw shape_error(fmt::format("mse: no elements in {}", prediction.shape().str()));
    }
    // Differences of integers would wrap.
    const auto in_floats = [](const array& a) {
      return is_integral(a.dtype()) || a.dtype() == dtype::boolean ? a.astype(dtype::f32) : a;
    };
    return mean(square(in_floats(prediction) - in_floats(target)));
  });
}

array accuracy(const array& scores, const array& labels) {
  return named("accuracy", [&] {
    require_scores("accuracy", scores, labels);
    return mean((argmax(scores, 1) == labels.astype(dtype::i64)).astype(dtype::f32));
  });
}

array confusion_matrix(const array& truth, const array& predicted, std::int64_t classes) {
  return named("confusion_matrix", [&] {
    constexpr const char* op = "confusion_matrix";
    require_labels(op, truth);
    require_labels(op, predicted);
    if (truth.shape() != predicted.shape()) {
      throw shape_error(fmt::format("{}: shapes differ: {} and {}", op, truth.shape().str(),
                                    predicted.shape().str()));
    }
    if (classes < 1) throw value_error(fmt::format("{}: {} classes", op, classes));
    const auto count = static_cast<std::uint64_t>(classes);
    detail::require_host_memory(op, count, sizeof(std::int64_t));
    detail::require_host_memory(op, count, count * sizeof(std::int64_t));
    const auto rows = truth.astype(dtype::i64).to_vector<std::int64_t>();
    const auto columns = predicted.astype(dtype::i64).to_vector<std::int64_t>();
    auto counts = detail::host_vector<std::int64_t>(op, count * count);
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
