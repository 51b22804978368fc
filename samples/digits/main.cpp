// SPDX-License-Identifier: Apache-2.0
//
// Trains a perceptron on 1797 handwritten digits: reads and standardises them, trains with Adam,
// reports accuracy and confusion, draws the loss, saves the weights and checks them.
#include <fmt/format.h>

#include <cmath>
#include <iostream>
#include <tutti/tutti.hpp>

#include "common/command_line.hpp"
#include "common/data_files.hpp"
#include "common/progress.hpp"
#include "common/svg_plot.hpp"
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
                         tutti::random::key key, std::vector<digits::epoch_result>& history) {
  const std::int64_t steps = digits::steps_per_epoch(data.training, o.training);
  samples::progress progress(std::cout, o.training.epochs * steps);
  return digits::train(
      model, data, o.training, key, [&] { progress.advance(); },
      [&](const digits::epoch_result& r) {
        history.push_back(r);
        progress.report(
            fmt::format("epoch {:>{}}/{}  loss {:.4f}  accuracy {:.4f}  test {:.4f}  {:.1f} ms",
                        r.epoch, std::to_string(o.training.epochs).size(), o.training.epochs,
                        r.training.loss, r.training.accuracy, r.test.accuracy, r.milliseconds));
      });
}

void print_confusion(const nn::sequential& model, const std::vector<array>& parameters,
                     const digits::part& test) {
  const array guesses = argmax(model.apply(parameters, test.x), 1);
  const array counts = nn::confusion_matrix(test.y, guesses, digits::classes);
  std::vector<std::string> names;
  for (int digit = 0; digit < digits::classes; ++digit) names.push_back(std::to_string(digit));
  std::cout << "\nconfusion on the test part (rows: truth, columns: answer)\n"
            << samples::confusion_table(counts.to_vector<std::int64_t>(), names);
}

void draw_loss(const std::vector<digits::epoch_result>& history, const fs::path& path) {
  std::vector<samples::plot_series> lines = {{"training", {}, {}}, {"test", {}, {}}};
  for (const digits::epoch_result& r : history) {
    lines[0].x.push_back(static_cast<double>(r.epoch));
    lines[0].y.push_back(r.training.loss);
    lines[1].x.push_back(static_cast<double>(r.epoch));
    lines[1].y.push_back(r.test.loss);
  }
  tutti::io::write_file(path, samples::svg_line_plot(lines, {.title = "Digits: loss by epoch",
                                                             .x_label = "epoch",
                                                             .y_label = "mean cross-entropy",
                                                             .log_y = true}));
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

/// "opencl:0 (AMD EPYC), reference:0 (host)".
std::string devices_text(const tutti::device& device, const digits::settings& how) {
  const auto described = [](const tutti::device& d) {
    return fmt::format("{} ({})", d.name(), d.properties().description);
  };
  if (!how.parallel) return "device " + described(device);
  std::string text;
  for (const tutti::device& d : *how.parallel)
    text += (text.empty() ? "devices " : ", ") + described(d);
  return text;
}

void run(const options& o, const tutti::device& device) {
  const auto keys = tutti::random::split({o.seed}, 3);
  const digits::images images = digits::load(samples::find_data("digits.csv.gz", o.data));
  samples::make_folder(o.out);
  const digits::parts data = digits::split(images, test_share, keys[0], device);
  const nn::sequential model = nn::perceptron({digits::pixels, 256, 128, digits::classes}, keys[1],
                                              tutti::relu, {}, tutti::dtype::f32, device);
  std::cout << fmt::format("{}\n{} images: {} for training, {} for the test; {} parameters\n\n",
                           devices_text(device, o.training), images.count(), data.training.y.size(),
                           data.test.y.size(), model.parameter_count());

  std::vector<digits::epoch_result> history;
  const std::vector<array> parameters = train(model, data, o, keys[2], history);

  print_confusion(model, parameters, data.test);
  const double accuracy = history.back().test.accuracy;
  draw_loss(history, o.out / "loss.svg");
  save_weights(model, parameters, data.test, accuracy, o.out / "weights.safetensors");
  std::cout << fmt::format("\nloss curves: {}\nweights, read back and checked: {}\n",
                           (o.out / "loss.svg").string(), (o.out / "weights.safetensors").string());
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
