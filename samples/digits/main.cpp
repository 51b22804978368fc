// SPDX-License-Identifier: Apache-2.0
//
// Trains a perceptron on 1797 handwritten digits: reads and standardises them, trains with Adam,
// prints accuracy and confusion, writes a report, saves the weights and checks them.
#include <fmt/format.h>

#include <iostream>
#include <tutti/data.hpp>
#include <tutti/nn.hpp>
#include <tutti/report.hpp>
#include <tutti/tutti.hpp>

#include "common/command_line.hpp"
#include "common/data_files.hpp"
#include "common/fit.hpp"
#include "common/results.hpp"
#include "common/text_table.hpp"
#include "digits/data.hpp"

using tutti::array;
namespace fs = std::filesystem;
namespace nn = tutti::nn;

constexpr double test_share = 0.2;

samples::score score_of(const nn::sequential& model, const std::vector<array>& parameters,
                        const digits::part& test) {
  const array scores = model.apply(parameters, test.x);
  const array loss = nn::cross_entropy(scores, test.y), right = nn::accuracy(scores, test.y);
  tutti::eval({loss, right});
  return {loss.item(), right.item()};
}

/// An image of the file as grey pixels.
tutti::host_array picture(const digits::images& images, std::int64_t row) {
  std::vector<std::uint8_t> grey;
  for (std::int64_t i = 0; i < digits::pixels; ++i)
    grey.push_back(static_cast<std::uint8_t>(
        255 - 255 * images.pixels[static_cast<std::size_t>(row * digits::pixels + i)] / 16));
  return tutti::host_array::from(grey, {8, 8});
}

/// Prints the confusion matrix of the test part and adds it to the report, with examples.
void judge(const nn::sequential& model, const std::vector<array>& parameters,
           const digits::parts& data, const digits::images& images,
           tutti::report::training_report& report, std::ostream& out) {
  const array guesses = argmax(model.apply(parameters, data.test.x), 1);
  report.confusion =
      nn::confusion_matrix(data.test.y, guesses, digits::classes).to_vector<std::int64_t>();
  out << "\nconfusion on the test part (rows: truth, columns: answer)\n"
      << samples::confusion_table(report.confusion, report.classes);
  const auto answers = guesses.to_vector<std::int64_t>();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::int64_t row = data.test_rows[i];
    const std::int32_t truth = images.labels[static_cast<std::size_t>(row)];
    if (truth != answers[i] || i < 16) report.add_example(picture(images, row), truth, answers[i]);
  }
}

/// Saves the weights, reads them back and evaluates them. Throws unless both scores are equal.
void save_weights(const nn::sequential& model, const std::vector<array>& parameters,
                  const digits::part& test, const fs::path& path) {
  tutti::io::save_safetensors(path, model.named(parameters));
  const auto loaded = model.ordered(tutti::io::load_safetensors(path, test.x.device()));
  const double before = score_of(model, parameters, test).accuracy;
  const double again = score_of(model, loaded, test).accuracy;
  if (again != before) {
    throw tutti::io_error(fmt::format("digits: {}: accuracy {} after reading back, {} before",
                                      path.string(), again, before));
  }
}

void run(const samples::common_options& o) {
  const auto keys = tutti::random::split({o.seed}, 3);
  const tutti::device device = o.device();
  const digits::images images = digits::load(samples::find_data("digits.csv.gz", o.data));
  samples::make_folder(o.out);
  const digits::parts data = digits::split(images, test_share, keys[0], device);
  const nn::sequential model = nn::perceptron({digits::pixels, 256, 128, digits::classes}, keys[1],
                                              tutti::relu, {}, tutti::dtype::f32, device);
  nn::trainer trainer(model, nn::adam({.learning_rate = o.learning_rate, .weight_decay = 0.3}),
                      samples::cross_entropy, {.group = o.group()});
  const tutti::data::loader batches(
      tutti::data::rows_of(std::vector<array>{data.training.x, data.training.y}),
      {.batch_size = o.batch, .key = keys[2], .on = device, .job = o.job()});
  o.log() << fmt::format("{}\n{} images: {} for training, {} for the test; {} parameters\n\n",
                         samples::devices_text(trainer.group()), images.count(), batches.items(),
                         data.test.y.size(), model.parameter_count());

  const auto history =
      samples::fit(trainer, o, {.batches = batches, .test = [&] {
                                  return score_of(model, trainer.parameters(), data.test);
                                }});

  auto report = samples::report_of("Digits", trainer.group(), history);
  report.loss_name = "mean cross-entropy";
  for (int digit = 0; digit < digits::classes; ++digit)
    report.classes.push_back(std::to_string(digit));
  judge(model, trainer.parameters(), data, images, report, o.log());
  save_weights(model, trainer.parameters(), data.test, o.out / "weights.safetensors");
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
