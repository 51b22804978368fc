// SPDX-License-Identifier: Apache-2.0
//
// From a CSV file to a classifier: missing values, text columns, scaling, a stratified split, a
// model, its scores, and its predictions as CSV. Or clusters the rows and plots them.
#include <fmt/format.h>

#include <iostream>
#include <tutti/data.hpp>
#include <tutti/ml.hpp>
#include <tutti/nn.hpp>
#include <tutti/report.hpp>
#include <tutti/tutti.hpp>

#include "common/command_line.hpp"
#include "common/data_files.hpp"
#include "common/facts.hpp"
#include "common/fit.hpp"
#include "common/results.hpp"
#include "common/text_table.hpp"

using tutti::array;
namespace data = tutti::data;
namespace ml = tutti::ml;
namespace nn = tutti::nn;

/// The data sets included with the samples. Their files start with a description line, except for
/// the digits, and have no header; the last column is the class number.
const std::map<std::string, std::vector<std::string>> sets{
    {"breast_cancer", {"malignant", "benign"}},
    {"digits", {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"}},
    {"iris", {"setosa", "versicolor", "virginica"}},
    {"wine_data", {"class 0", "class 1", "class 2"}}};

struct options {
  std::string file, target, set = "breast_cancer", model = "logistic", missing = "drop";
  std::int64_t clusters = 0;
};

struct problem {
  array x{}, y{};  ///< [rows, features] with NaN for missing values; [rows]
  std::vector<std::string> classes{};
};

problem load(const options& o, const samples::common_options& common) {
  data::table t;
  std::string target = o.target;
  if (o.file.empty()) {
    const bool digits = o.set == "digits";
    const auto path = samples::find_data(o.set + (digits ? ".csv.gz" : ".csv"), common.data);
    t = data::read_table(path, {.skip_lines = digits ? 0 : 1, .has_header = false});
    target = t.names().back();
  } else {
    t = data::read_table(o.file);
    if (target.empty() && o.clusters == 0)
      throw CLI::ValidationError("--target", "a file needs the name of the column to predict");
    try {
      if (!target.empty()) t[target];
    } catch (const tutti::index_error& e) {  // from another table
      throw CLI::ValidationError("--target", e.what());
    }
  }
  if (o.missing == "drop") t = t.drop_missing();
  if (!target.empty()) t = t.as_category(target);
  for (const std::string& name : t.names())
    if (t[name].kind == data::column_kind::text) t = t.as_category(name).as_indicators(name);
  if (target.empty()) return {t.to_array({}, tutti::dtype::f32, common.device())};
  problem out{t.drop({target}).to_array({}, tutti::dtype::f32, common.device()),
              t.to_array(target, tutti::dtype::i64, common.device()), t[target].categories};
  if (o.file.empty()) out.classes = sets.at(o.set);
  const auto count = static_cast<std::int64_t>(t[target].categories.size());
  if (out.x.dim(1) == 0)
    throw tutti::value_error(fmt::format("there is no column other than {}", target));
  if (count < 2 || 8 * count > t.rows())
    throw tutti::value_error(fmt::format(
        "column {} has {} different values in {} rows; a column of classes needs two or "
        "more, and 8 rows for each",
        target, count, t.rows()));
  return out;
}

struct answers {
  array labels, scores;  ///< [rows]; [rows] or [rows, classes]
};
template <class Model>
answers learn(Model model, const ml::split_samples& part) {
  model.fit(part.x_train, part.y_train);
  if constexpr (requires { model.predict_proba(part.x_test); })
    return {model.predict(part.x_test), model.predict_proba(part.x_test)};
  else
    return {model.predict(part.x_test), model.decision_function(part.x_test)};
}

/// A perceptron trained with Adam; plots its losses by epoch.
answers learn_by_adam(const ml::split_samples& part, std::int64_t classes,
                      const samples::common_options& common) {
  const auto keys = tutti::random::split({common.seed}, 2);
  const tutti::device on = part.x_train.device();
  const nn::sequential model = nn::perceptron({part.x_train.dim(1), 64, classes}, keys[0],
                                              tutti::relu, {}, tutti::dtype::f32, on);
  nn::trainer trainer(model, nn::adam({.learning_rate = common.learning_rate}),
                      samples::cross_entropy);
  const data::loader batches(data::rows_of(std::vector{part.x_train, part.y_train}),
                             {.key = keys[1], .on = on});
  const auto test = [&] {
    const array scores = trainer(part.x_test);
    return samples::score{nn::cross_entropy(scores, part.y_test).item(),
                          nn::accuracy(scores, part.y_test).item()};
  };
  const auto history = samples::fit(trainer, common, {batches, {}, test, "rows"});
  samples::report_of("A table, by a perceptron", trainer.group(), history).save(common.out);
  const array scores = trainer(part.x_test);
  return {argmax(scores, 1), softmax(scores, 1)};
}

void classify(const options& o, const problem& p, const samples::common_options& common) {
  const data::split rows =
      data::stratified_train_test_split(p.y.to_vector<std::int64_t>(), 0.25, {common.seed});
  ml::split_samples part = ml::split_rows(p.x, p.y, rows);
  ml::simple_imputer imputer;  // imputer and scaler are fitted to the training rows only
  ml::standard_scaler scaler;
  part.x_train = scaler.fit_transform(imputer.fit_transform(part.x_train));
  part.x_test = scaler.transform(imputer.transform(part.x_test));
  const auto count = static_cast<std::int64_t>(p.classes.size());
  const answers found = o.model == "perceptron" ? learn_by_adam(part, count, common)
                        : o.model == "trees" ? learn(ml::hist_gradient_boosting_classifier(), part)
                        : o.model == "knn"   ? learn(ml::k_neighbors_classifier(), part)
                        : o.model == "svm"   ? learn(ml::linear_svc(), part)
                                             : learn(ml::logistic_regression(), part);
  const auto confusion =
      ml::confusion_matrix(part.y_test, found.labels, count).to_vector<std::int64_t>();
  const auto column = [&](const char* name, const array& codes) {
    return data::column::of_categories(name, codes.to_vector<std::int64_t>(), p.classes);
  };
  data::table answered({column("truth", part.y_test), column("predicted", found.labels)});
  answered.add(data::column::of_numbers("row", {rows.test.begin(), rows.test.end()}));
  const auto path = common.out / "predictions.csv";
  data::write_table(path, answered);
  samples::facts facts;
  facts.say(fmt::format("{} on {}: {} rows to learn from, {} to test with, {} features\n\n{}\n",
                        o.model, p.x.device().name(), part.x_train.dim(0), part.x_test.dim(0),
                        p.x.dim(1), samples::confusion_table(confusion, p.classes)));
  facts.add("model", o.model);
  facts.add("features", p.x.dim(1));
  facts.list("confusion", {confusion.begin(), confusion.end()});
  facts.add("answers", path.string(), "answers: {}");
  facts.add("roc_auc", ml::roc_auc_score(part.y_test, found.scores).item(),  // NaN: lacks a class
            "ROC AUC: {:.4f}");
  facts.add("accuracy", ml::accuracy_score(part.y_test, found.labels).item(), "accuracy: {:.4f}");
  facts.print(std::cout, common.json);
}

void cluster(const options& o, const problem& p, const samples::common_options& common) {
  const array x = ml::standard_scaler().fit_transform(ml::simple_imputer().fit_transform(p.x));
  ml::k_means groups({common.seed}, {.clusters = o.clusters});
  groups.fit(x);
  ml::pca plane({.components = 2});
  const auto points = plane.fit_transform(x).to_vector<float>();
  const auto labels = groups.labels().to_vector<std::int64_t>();
  std::vector<tutti::report::series> drawn(static_cast<std::size_t>(o.clusters));
  for (std::size_t i = 0; i < labels.size(); ++i) {
    tutti::report::series& one = drawn[static_cast<std::size_t>(labels[i])];
    one.name = fmt::format("cluster {}", labels[i]);
    one.x.push_back(points[2 * i]);
    one.y.push_back(points[2 * i + 1]);
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
  common.with_data("directory of the data sets")
      .with_out("tabular-results")
      .with_json()
      .with_resume();
  common.with_epochs(30, "the rows, by Adam").with_learning_rate(0.002);
  options o;
  auto* file = app.add_option("file", o.file, "CSV file with a header, instead of a data set");
  file->check(samples::not_empty)->transform(samples::below_data_folder);
  app.add_option("--target", o.target, "column of classes, to predict from the others")
      ->needs(file);
  app.add_option("--set", o.set, "included data set")->check(CLI::IsMember(sets));
  app.add_option("--model", o.model, "kind of classifier")
      ->check(CLI::IsMember({"logistic", "trees", "knn", "svm", "perceptron"}))
      ->capture_default_str();
  const auto digits = [&] { o.set = "digits", o.model = "perceptron"; };
  app.add_flag_callback("--digits", digits, "train a perceptron with Adam on the data set digits");
  app.add_option("--missing", o.missing, "rows with missing values: drop them, or use means")
      ->check(CLI::IsMember({"drop", "mean"}))
      ->capture_default_str();
  app.add_option("--cluster", o.clusters, "cluster into K groups with k-means instead")
      ->check(CLI::Range(2, 100));
  return samples::run(app, argc, argv, [&] {
    samples::make_folder(common.out);
    const problem p = load(o, common);
    o.clusters > 0 ? cluster(o, p, common) : classify(o, p, common);
  });
}
