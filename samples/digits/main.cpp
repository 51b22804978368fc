// SPDX-License-Identifier: Apache-2.0
//
// Trains a perceptron on 1797 handwritten digits: reads and standardises them, trains with Adam,
// prints accuracy and confusion, leaves a report, saves the weights and checks them.
#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <tutti/report.hpp>
#include <tutti/tutti.hpp>

#include "common/command_line.hpp"
#include "common/data_files.hpp"
#include "common/progress.hpp"
#include "common/text_table.hpp"
#include "digits/training.hpp"

namespace {

using tutti::array;
namespace fs = std::filesystem;
namespace nn = tutti::nn;

constexpr double test_share = 0.2;

struct options {
  digits::settings training;
  std::uint64_t seed = 1;
  fs::path data;
  fs::path out = "digits-results";
  bool parallel = false;
};

void add_options(CLI::App& app, options& o) {
  app.add_option("--epochs", o.training.epochs, "passes over the training images")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--batch", o.training.batch, "images a step")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  app.add_option("--seed", o.seed, "of split, initial weights and shuffling")
      ->capture_default_str();
  app.add_option("--out", o.out, "folder for the plot and the weights")->capture_default_str();
  app.add_flag("--parallel", o.parallel, "train on all devices of TUTTI_DEVICE")
      ->excludes("--device");
  app.add_option("--data", o.data,
                 "folder with digits.csv.gz (default: TUTTI_DATA, or the one "
                 "that comes with the program)");
}

std::vector<array> train(const nn::sequential& model, const digits::parts& data, const options& o,
                         tutti::random::key key, tutti::report::training_report& report) {
  const std::int64_t steps = digits::steps_per_epoch(data.training, o.training);
  samples::progress progress(std::cout, o.training.epochs * steps);
  return digits::train(
      model, data, o.training, key, [&] { progress.advance(); },
      [&](const digits::epoch_result& r) {
        report.history.push_back({r.training.loss, r.training.accuracy, r.test.loss,
                                  r.test.accuracy, r.milliseconds / 1000});
        progress.report(
            fmt::format("epoch {:>{}}/{}  loss {:.4f}  accuracy {:.4f}  test {:.4f}  {:.1f} ms",
                        r.epoch, std::to_string(o.training.epochs).size(), o.training.epochs,
                        r.training.loss, r.training.accuracy, r.test.accuracy, r.milliseconds));
      });
}

/// An image of the file as grey pixels.
tutti::host_array picture(const digits::images& images, std::int64_t row) {
  std::vector<std::uint8_t> grey;
  for (std::int64_t i = 0; i < digits::pixels; ++i)
    grey.push_back(static_cast<std::uint8_t>(
        255 - 255 * images.pixels[static_cast<std::size_t>(row * digits::pixels + i)] / 16));
  return tutti::host_array::from(grey, {8, 8});
}

/// Prints the confusion of the test part; the report gets it too, with mistakes and other examples.
void judge(const nn::sequential& model, const std::vector<array>& parameters,
           const digits::parts& data, const digits::images& images,
           tutti::report::training_report& report) {
  const array guesses = argmax(model.apply(parameters, data.test.x), 1);
  report.confusion =
      nn::confusion_matrix(data.test.y, guesses, digits::classes).to_vector<std::int64_t>();
  std::cout << "\nconfusion on the test part (rows: truth, columns: answer)\n"
            << samples::confusion_table(report.confusion, report.classes);
  const auto answers = guesses.to_vector<std::int64_t>();
  for (std::size_t i = 0; i < answers.size(); ++i) {
    const std::int64_t row = data.test_rows[i];
    const std::int32_t truth = images.labels[static_cast<std::size_t>(row)];
    if (truth != answers[i] || i < 16) report.add_example(picture(images, row), truth, answers[i]);
  }
}

/// Saves the weights, reads them back and scores them. Throws unless both scores are the same.
void save_weights(const nn::sequential& model, const std::vector<array>& parameters,
                  const digits::part& test, double accuracy, const fs::path& path) {
  tutti::io::save_safetensors(path, model.named(parameters));
  const auto loaded = model.ordered(tutti::io::load_safetensors(path, test.x.device()));
  const double again = digits::evaluate(model, loaded, test).accuracy;
  if (again != accuracy) {
    throw tutti::io_error(fmt::format("digits: {}: accuracy {} after reading back, {} before",
                                      path.string(), again, accuracy));
  }
}

tutti::report::training_report begin_report(const options& o, const tutti::device& device) {
  tutti::report::training_report report{.title = "Digits", .loss_name = "mean cross-entropy"};
  if (!o.training.parallel)
    report.add_device(device);
  else
    for (const tutti::device& d : *o.training.parallel) report.add_device(d);
  report.settings = {{"epochs", o.training.epochs},
                     {"batch", o.training.batch},
                     {"learning rate", o.training.learning_rate},
                     {"seed", o.seed}};
  for (int digit = 0; digit < digits::classes; ++digit)
    report.classes.push_back(std::to_string(digit));
  return report;
}

/// "devices opencl:0 (AMD EPYC), reference:0 (host)".
std::string devices_text(const tutti::report::training_report& report, bool parallel) {
  std::string text;
  for (const auto& [name, description] : report.devices)
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", name, description);
  return (parallel ? "devices " : "device ") + text;
}

void run(const options& o, const tutti::device& device) {
  const auto keys = tutti::random::split({o.seed}, 3);
  const digits::images images = digits::load(samples::find_data("digits.csv.gz", o.data));
  samples::make_folder(o.out);
  const digits::parts data = digits::split(images, test_share, keys[0], device);
  const nn::sequential model = nn::perceptron({digits::pixels, 256, 128, digits::classes}, keys[1],
                                              tutti::relu, {}, tutti::dtype::f32, device);
  tutti::report::training_report report = begin_report(o, device);
  std::cout << fmt::format("{}\n{} images: {} for training, {} for the test; {} parameters\n\n",
                           devices_text(report, o.parallel), images.count(), data.training.y.size(),
                           data.test.y.size(), model.parameter_count());

  const std::vector<array> parameters = train(model, data, o, keys[2], report);

  judge(model, parameters, data, images, report);
  const double accuracy = report.history.back().test_accuracy;
  report.results = {{"test_accuracy", accuracy}, {"parameters", model.parameter_count()}};
  report.save(o.out);
  save_weights(model, parameters, data.test, accuracy, o.out / "weights.safetensors");
  std::cout << fmt::format("\nloss curves: {}\nreport: {}\nweights, read back and checked: {}\n",
                           (o.out / "loss.svg").string(), (o.out / "report.html").string(),
                           (o.out / "weights.safetensors").string());
  std::cout << fmt::format("test accuracy: {:.4f}\n", accuracy);
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Trains a perceptron on handwritten digits.", "digits");
  const samples::device_option device(app);
  options o;
  add_options(app, o);
  return samples::run(app, argc, argv, [&] {
    if (o.parallel) o.training.parallel.emplace();
    run(o, device.get());
  });
}
