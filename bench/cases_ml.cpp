// SPDX-License-Identifier: Apache-2.0
//
// Fit and prediction of models of tables, compared with scikit-learn on equally many rows of the
// same kind in the Python of TUTTI_BENCH_PYTHON (python3).
#include <fmt/format.h>

#include <memory>

#include "harness.hpp"
#include "operands.hpp"
#include "tutti/ml.hpp"
#include "tutti/ops.hpp"

namespace tutti::bench {
namespace {

constexpr std::int64_t rows = 20000, features = 32, classes = 5;

// Rows around one centre per class, uniform within 2 of it along each axis.
struct table_of_classes {
  array x, labels, targets;
  double score = 0;
};

std::shared_ptr<table_of_classes> make_table() {
  auto t = std::make_shared<table_of_classes>();
  const array noise = array::from(operand<float>(rows * features, 11), {rows, features});
  const array centers = array::from(operand<float>(classes * features, 12), {classes, features});
  t->labels = arange(rows).astype(dtype::i64) % classes;
  t->x = take(centers, t->labels) + 2 * noise;
  t->targets = sin(2 * t->x(all(), 0)) + t->x(all(), 1) * t->x(all(), 2);
  eval({t->x, t->labels, t->targets});
  return t;
}

void add_fit(std::vector<bench_case>& cases, const char* name, const char* peer, double least,
             const std::function<double(const table_of_classes&)>& fit_and_score) {
  const auto make = [least, fit_and_score] {
    const auto t = make_table();
    return workload{
        .ours = [t, fit_and_score] { t->score = fit_and_score(*t); },
        .check =
            [t, least] { return t->score > least ? "" : fmt::format("a score of {}", t->score); }};
  };
  cases.push_back(milliseconds(name, "scikit-learn", make, 1, peer));
}

}  // namespace

void add_ml_cases(std::vector<bench_case>& cases) {
  add_fit(cases, "logistic regression, 20k x 32, 5 classes, fit and score", "logistic", 0.5,
          [](const table_of_classes& t) {
            return ml::logistic_regression().fit(t.x, t.labels).score(t.x, t.labels);
          });
  add_fit(cases, "ridge, 20k x 32, fit and score", "ridge", -1, [](const table_of_classes& t) {
    return ml::ridge().fit(t.x, t.targets).score(t.x, t.targets);
  });
  add_fit(cases, "naive Bayes, 20k x 32, 5 classes, fit and score", "naive bayes", 0.5,
          [](const table_of_classes& t) {
            return ml::gaussian_nb().fit(t.x, t.labels).score(t.x, t.labels);
          });
  add_fit(cases, "k-means, 20k x 32, 8 clusters, one start of 20 steps", "k-means", -1e9,
          [](const table_of_classes& t) {
            return ml::k_means(random::key{1}, {.starts = 1, .iterations = 20, .tolerance = 0})
                .fit(t.x)
                .score(t.x);
          });
  add_fit(
      cases, "5 nearest of 20k x 32, 2000 queries", "nearest", 0.5, [](const table_of_classes& t) {
        const auto some = slice{0, 2000, 1};
        return ml::k_neighbors_classifier().fit(t.x, t.labels).score(t.x({some}), t.labels({some}));
      });
  add_fit(cases, "boosted trees, 20k x 32, 20 trees of depth 5, fit and score", "boosting", 0.3,
          [](const table_of_classes& t) {
            return ml::hist_gradient_boosting_regressor({.iterations = 20})
                .fit(t.x, t.targets)
                .score(t.x, t.targets);
          });
}

}  // namespace tutti::bench
