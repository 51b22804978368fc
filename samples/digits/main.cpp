// SPDX-License-Identifier: Apache-2.0
//
// Trains a perceptron on 1797 handwritten digits: reads and standardises them, trains with Adam,
// prints accuracy and confusion, writes a report, saves the weights and checks them.
#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <tutti/data.hpp>
#include <tutti/ml.hpp>
#include <tutti/nn.hpp>
#include <tutti/report.hpp>
#include <tutti/tutti.hpp>

#include "common/command_line.hpp"
#include "common/data_files.hpp"
#include "common/fit.hpp"
#include "common/results.hpp"
#include "common/text_table.hpp"

using tutti::array;
using tutti::io::table;
namespace fs = std::filesystem;
namespace nn = tutti::nn;

constexpr std::int64_t pixels = 64, classes = 10;
constexpr double test_share = 0.2;

/// Reads lines of 64 pixels, 0 to 16, and a digit.
table load(const fs::path& path) {
  table images = tutti::io::read_csv(path);
  if (images.columns != pixels + 1)
    throw tutti::io_error(fmt::format("digits: {}: {} columns, expected {} pixels and a label",
                                      path.string(), images.columns, pixels));
  for (std::int64_t row = 0; row < images.rows; ++row) {
    for (std::int64_t column = 0; column < pixels; ++column)
      if (const double value = images(row, column); !(value >= 0 && value <= 16))
        throw tutti::io_error(fmt::format("digits: {}: row {}: pixel {} is {}, not in 0 to 16",
                                          path.string(), row + 1, column + 1, value));
    if (const double label = images(row, pixels);
        !(label >= 0 && label < classes) || label != std::floor(label))
      throw tutti::io_error(fmt::format("digits: {}: row {}: label {} is not a digit",
                                        path.string(), row + 1, label));
  }
  return images;
}

/// Training and test parts, standardised with mean and deviation of the training part.
struct parts : tutti::ml::split_samples {
  std::vector<std::int64_t> test_rows;
};

parts split(const table& images, tutti::random::key key, const tutti::device& on) {
  const std::vector<std::int64_t> order = tutti::random::permutation(key, images.rows);
  const auto training = order.begin() + std::llround(test_share * double(images.rows));
  const tutti::data::split rows{{training, order.end()}, {order.begin(), training}};
  const std::vector<float> values(images.values.begin(), images.values.end());
  const array all = array::from(values, {images.rows, images.columns}, on);
  const array x = all({{}, {0, pixels}}), y = all(tutti::all(), pixels).astype(tutti::dtype::i64);
  parts out{tutti::ml::split_rows(x, y, rows), rows.test};
  tutti::ml::standard_scaler scaler;
  out.x_train = scaler.fit_transform(out.x_train);
  out.x_test = scaler.transform(out.x_test);
  tutti::eval({out.x_train, out.x_test, out.y_train, out.y_test});
  return out;
}

samples::score score_of(const nn::sequential& model, const std::vector<array>& parameters,
                        const parts& data) {
  const array scores = model.apply(parameters, data.x_test);
  const array loss = nn::cross_entropy(scores, data.y_test),
              right = nn::accuracy(scores, data.y_test);
  tutti::eval({loss, right});
  return {loss.item(), right.item()};
}

/// An image of the file as grey pixels.
tutti::host_array picture(const table& images, std::int64_t row) {
  std::vector<std::uint8_t> grey;
  for (std::int64_t i = 0; i < pixels; ++i)
    grey.push_back(static_cast<std::uint8_t>(255 - 255 * images(row, i) / 16));
  return tutti::host_array::from(grey, {8, 8});
}

/// Prints the confusion matrix of the test part and adds it to the report, with examples.
void judge(const nn::sequential& model, const std::vector<array>& parameters, const parts& data,
           const table& images, tutti::report::training_report& report, std::ostream& out) {
  const array guesses = argmax(model.apply(parameters, data.x_test), 1);
  report.confusion = nn::confusion_matrix(data.y_test, guesses, classes).to_vector<std::int64_t>();
  out << "\nconfusion on the test part (rows: truth, columns: answer)\n"
      << samples::confusion_table(report.confusion, report.classes);
  const auto answers = guesses.to_vector<std::int64_t>();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::int64_t row = data.test_rows[i];
    const auto truth = static_cast<std::int64_t>(images(row, pixels));
    if (truth != answers[i] || i < 16) report.add_example(picture(images, row), truth, answers[i]);
  }
}

/// Saves the weights, reads them back and evaluates them. Throws unless both scores are equal.
void save_weights(const nn::sequential& model, const std::vector<array>& parameters,
                  const parts& data, const fs::path& path) {
  tutti::io::save_safetensors(path, model.named(parameters));
  const auto loaded = model.ordered(tutti::io::load_safetensors(path, data.x_test.device()));
  const double before = score_of(model, parameters, data).accuracy;
  const double again = score_of(model, loaded, data).accuracy;
  if (again != before) {
    throw tutti::io_error(fmt::format("digits: {}: accuracy {} after reading back, {} before",
                                      path.string(), again, before));
  }
}

void run(const samples::common_options& o) {
  const auto keys = tutti::random::split({o.seed}, 3);
  const tutti::device device = o.device();
  const table images = load(samples::find_data("digits.csv.gz", o.data));
  samples::make_folder(o.out);
  const parts data = split(images, keys[0], device);
  const nn::sequential model = nn::perceptron({pixels, 256, 128, classes}, keys[1], tutti::relu, {},
                                              tutti::dtype::f32, device);
  nn::trainer trainer(model, nn::adam({.learning_rate = o.learning_rate, .weight_decay = 0.3}),
                      samples::cross_entropy, {.group = o.group()});
  const tutti::data::loader batches(
      tutti::data::rows_of(std::vector<array>{data.x_train, data.y_train}),
      {.batch_size = o.batch, .key = keys[2], .on = device, .job = o.job()});
  o.log() << fmt::format("{}\n{} images: {} for training, {} for the test; {} parameters\n\n",
                         samples::devices_text(trainer.group()), images.rows, batches.items(),
                         data.y_test.size(), model.parameter_count());

  const auto history =
      samples::fit(trainer, o,
                   {.batches = batches,
                    .test = [&] { return score_of(model, trainer.parameters(), data); },
                    .settings = {{"checksum of the images",
                                  samples::checksum(std::as_bytes(std::span(images.values)))}}});

  auto report = samples::report_of("Digits", trainer.group(), history);
  report.loss_name = "mean cross-entropy";
  for (int digit = 0; digit < classes; ++digit) report.classes.push_back(std::to_string(digit));
  judge(model, trainer.parameters(), data, images, report, o.log());
  save_weights(model, trainer.parameters(), data, o.out / "weights.safetensors");
  samples::finish(report, o);
}

int main(int argc, char** argv) {
  CLI::App app("Trains a perceptron on handwritten digits.", "digits");
  samples::common_options o(app, "random seed for split, initial weights and shuffling");
  o.with_data("directory with digits.csv.gz (default: TUTTI_DATA, or the included one)")
      .with_epochs(30, "the training images")
      .with_batch(64, "images")
      .with_learning_rate(2e-3)
      .with_out("digits-results");
  o.with_parallel().with_resume().with_json();
  return samples::run(app, argc, argv, [&] { run(o); });
}
