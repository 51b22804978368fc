// SPDX-License-Identifier: Apache-2.0
//
// From a CSV file to a classifier: missing values, text columns, scaling, a stratified split, a
// model, its scores, and its predictions as CSV. Or clusters the rows and plots them.
#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <tutti/data.hpp>
#include <tutti/ml.hpp>
#include <tutti/report.hpp>
#include <tutti/tutti.hpp>

#include "common/command_line.hpp"
#include "common/data_files.hpp"
#include "common/facts.hpp"
#include "common/numbers.hpp"
#include "common/results.hpp"
#include "common/table_data.hpp"
#include "common/text_table.hpp"
#include "tabular/perceptron.hpp"

using samples::values_of;
using tutti::array;
namespace data = tutti::data;
namespace ml = tutti::ml;

struct options : samples::table_source {
  std::string model = "logistic", missing = "drop";
  std::int64_t clusters = 0;
};

template <class Model>
answers learn(Model model, const ml::split_samples& part) {
  model.fit(part.x_train, part.y_train);
  const std::string device = part.x_train.device().name();
  if constexpr (requires { model.predict_proba(part.x_test); })
    return {model.predict(part.x_test), model.predict_proba(part.x_test), device};
  else
    return {model.predict(part.x_test), model.decision_function(part.x_test), device};
}

void classify(const options& o, const samples::table_data& p,
              const samples::common_options& common) {
  const data::split rows =
      data::stratified_train_test_split(p.y.to_vector<std::int64_t>(), 0.25, {common.seed});
  ml::split_samples part = ml::split_rows(p.x, p.y, rows);
  ml::simple_imputer imputer;  // imputer and scaler are fitted to the training rows only
  ml::standard_scaler scaler;
  part.x_train = scaler.fit_transform(imputer.fit_transform(part.x_train));
  part.x_test = scaler.transform(imputer.transform(part.x_test));
  const auto count = std::ssize(p.classes);
  const answers found = o.model == "perceptron" ? learn_by_adam(part, p, common)
                        : o.model == "trees" ? learn(ml::hist_gradient_boosting_classifier(), part)
                        : o.model == "knn"   ? learn(ml::k_neighbors_classifier(), part)
                        : o.model == "svm"   ? learn(ml::linear_svc(), part)
                                             : learn(ml::logistic_regression(), part);
  if (!common.leads()) return;
  const auto confusion =
      ml::confusion_matrix(part.y_test, found.labels, count).to_vector<std::int64_t>();
  const auto path = common.out / "predictions.csv";
  samples::write_answers(path, p.classes, part.y_test, found.labels, rows.test);
  samples::facts facts;
  facts.say(fmt::format("{} on {}: {} rows to learn from, {} to test with, {} features\n\n{}\n",
                        o.model, found.devices, part.x_train.dim(0), part.x_test.dim(0), p.x.dim(1),
                        samples::confusion_table(confusion, p.classes)));
  facts.add("model", o.model);
  facts.add("features", p.x.dim(1));
  facts.list("confusion", {confusion.begin(), confusion.end()});
  facts.add("answers", path.string(), "answers: {}");
  const double area = ml::roc_auc_score(part.y_test, found.scores).item();
  facts.add(
      "roc_auc", area,
      std::isnan(area) ? "ROC AUC: undefined: the test part lacks a class" : "ROC AUC: {:.4f}");
  facts.add("accuracy", ml::accuracy_score(part.y_test, found.labels).item(), "accuracy: {:.4f}");
  facts.print(std::cout, common.json);
}

void cluster(const options& o, const samples::table_data& p,
             const samples::common_options& common) {
  const array x = ml::standard_scaler().fit_transform(ml::simple_imputer().fit_transform(p.x));
  ml::k_means groups({common.seed}, {.clusters = o.clusters});
  groups.fit(x);
  ml::pca plane({.components = 2});
  const array points = plane.fit_transform(x);
  std::vector<tutti::report::series> drawn;
  for (std::int64_t k = 0; k < o.clusters; ++k) {
    const array own = take(points, nonzero(groups.labels() == k)[0], 0).transpose();
    if (own.size() == 0) continue;  // fewer different rows than clusters
    drawn.push_back({fmt::format("cluster {}", k), values_of(own[0]), values_of(own[1])});
  }
  const auto path = common.out / "clusters.svg";
  tutti::io::write_file(path, tutti::report::scatter_plot(drawn, {.title = "Clusters"}));
  samples::facts facts;
  facts.add("silhouette", ml::silhouette_score(x, groups.labels()).item(), "silhouette {:.4f}");
  facts.add("variance", sum(plane.explained_variance_ratio()).item(),
            "share of the variance drawn {:.4f}");
  facts.add("clusters", path.string(), "clusters: {}");
  facts.print(std::cout, common.json);
}

int main(int argc, char** argv) {
  CLI::App app("Classifies or clusters the rows of a table.", "tabular");
  samples::common_options common(app, "random seed for split and clusters");
  common.with_data("directory of the data sets").with_out("tabular-results").with_json();
  common.with_epochs(30, "the rows, by Adam").with_batch(32, "rows").with_learning_rate(0.002);
  common.with_parallel().with_resume();
  options o;
  auto* file = app.add_option("file", o.file, "CSV file with a header, instead of a data set");
  file->check(samples::not_empty)->transform(samples::below_data_folder);
  app.add_option("--target", o.target, "column of classes, to predict from the others")
      ->needs(file);
  app.add_option("--set", o.set, "included data set")->check(CLI::IsMember(samples::table_sets));
  file->excludes("--data", "--set");
  samples::choice_option(app, "--model", o.model, {"logistic", "trees", "knn", "svm", "perceptron"},
                         "kind of classifier");
  const auto digits = [&] { o.set = "digits", o.model = "perceptron"; };
  app.add_flag_callback("--digits", digits, "train a perceptron with Adam on the data set digits")
      ->excludes(file)
      ->excludes("--set", "--model");
  samples::choice_option(app, "--missing", o.missing, {"drop", "mean"},
                         "rows with missing values: drop them, or use means");
  app.add_option("--cluster", o.clusters, "cluster into K groups with k-means instead")
      ->check(CLI::Range(2, 100))
      ->excludes("--model", "--digits");
  return samples::run(app, argc, argv, [&] {
    if (!o.file.empty() && o.target.empty() && o.clusters == 0)
      throw CLI::ValidationError("--target", "a file needs the name of the column to predict");
    if (o.model != "perceptron")
      samples::refuse(app, {"--epochs", "--batch", "--learning-rate", "--parallel", "--resume"},
                      "has an effect only with --model perceptron");
    if (common.leads()) samples::make_folder(common.out);
    o.drop_missing = o.missing == "drop";
    const samples::table_data p = samples::load_table(o, common.data, common.device());
    o.clusters > 0 ? cluster(o, p, common) : classify(o, p, common);
  });
}
