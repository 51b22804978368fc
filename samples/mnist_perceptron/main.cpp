// SPDX-License-Identifier: Apache-2.0
//
// Trains a perceptron with one hidden layer and tanh on handwritten digits: on one device, or
// data-parallel on all devices of TUTTI_DEVICE.
#include <fmt/format.h>

#include <tutti/data.hpp>
#include <tutti/nn.hpp>
#include <tutti/report.hpp>
#include <tutti/tutti.hpp>

#include "common/command_line.hpp"
#include "common/data_files.hpp"
#include "common/fit.hpp"
#include "common/mnist.hpp"
#include "common/numbers.hpp"
#include "common/results.hpp"

using tutti::array;
namespace nn = tutti::nn;

constexpr std::int64_t digits = 10;

struct settings {
  std::int64_t hidden = 500;
  std::string loss = "squared_error";
};

/// Mean over rows of the sum of (output - target)^2, target 1 for the digit and 0 for the others.
array squared_error(const array& output, const std::vector<array>& batch) {
  const array target = one_hot(batch[1], digits).astype(output.dtype());
  return nn::mse(output, target) * static_cast<double>(digits);
}

nn::sequential perceptron(const tutti::shape& picture, std::int64_t hidden, tutti::random::key key,
                          const tutti::device& on) {
  const auto keys = tutti::random::split(key, 2);
  const std::int64_t pixels = picture[0] * picture[1];
  const nn::linear_options scaled{.weight = nn::glorot_uniform};
  return nn::sequential({
      nn::activate([](const array& x) { return x.astype(tutti::dtype::f32) / 255; }),
      nn::flatten(),
      nn::linear(pixels, hidden, keys[0], scaled, tutti::dtype::f32, on),
      nn::activate(tutti::tanh),
      nn::linear(hidden, digits, keys[1], scaled, tutti::dtype::f32, on),
  });
}

void run(const samples::common_options& o, const settings& s) {
  const tutti::device device = o.device();
  const samples::digit_pictures data = samples::load_digit_pictures(o.data);
  samples::make_folder(o.out);
  tutti::shape picture = data.training.pictures.shape();
  picture.erase(0);
  const auto keys = tutti::random::split({o.seed}, 3);
  const nn::sequential model = perceptron(picture, s.hidden, keys[0], device);
  const bool squares = s.loss == "squared_error";
  const nn::batch_loss loss = squares ? squared_error : samples::cross_entropy;
  nn::trainer trainer(model, nn::adam(), loss, {.key = keys[1], .group = o.group()});

  const tutti::data::loader batches(
      tutti::data::rows_of({data.training.pictures, data.training.labels}),
      {.batch_size = o.batch, .key = keys[2], .on = device, .job = o.job()});
  o.log() << fmt::format("{}\n{}\n{} pictures for training, {} for the test; {} parameters\n\n",
                         samples::devices_text(trainer.group()), data.source, batches.items(),
                         data.test.labels.size(), model.parameter_count())
          << std::flush;
  const auto history = samples::fit(
      trainer, o,
      {.batches = batches,
       .rate = nn::one_cycle_schedule(o.learning_rate, o.epochs * batches.batches()),
       .test =
           [&] { return samples::evaluate(trainer, data.test.pictures, data.test.labels, loss); },
       .settings = {
           {"loss", s.loss},
           {"checksum of the pictures", samples::checksum(data.training.pictures.bytes())}}});

  auto report = samples::report_of("Perceptron on handwritten digits", trainer.group(), history);
  report.settings = {{"pictures", data.source}, {"loss", s.loss}, {"hidden", s.hidden}};
  samples::add_answers(report, trainer, data.test.pictures, data.test.labels,
                       {"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"},
                       [&](std::int64_t i) { return samples::row_of(data.test.pictures, i); });
  if (o.parallel && o.job()->size() == 1) {  // of other ranks the speed is not known
    auto epoch = batches.start(0);
    const double seconds = history.back().seconds / static_cast<double>(batches.batches());
    samples::report_group_use(o.log(), report, model, loss, trainer.group(), epoch.next()->arrays,
                              seconds);
  }
  tutti::io::save_safetensors(o.out / "weights.safetensors", model.named(trainer.parameters()));
  samples::finish(report, o);
}

int main(int argc, char** argv) {
  CLI::App app("Trains a perceptron on handwritten digits.", "mnist_perceptron");
  samples::common_options o(app, "random seed for initial weights and shuffling");
  o.with_data("directory with MNIST as IDX files or CSV (default: TUTTI_DATA, else 8 x 8 digits)")
      .with_epochs(10, "the training pictures")
      .with_batch(50, "pictures")
      .with_learning_rate(0.004)
      .with_out("mnist-results");
  o.with_parallel().with_resume().with_json();
  settings s;
  samples::choice_option(app, "--loss", s.loss, {"squared_error", "cross_entropy"},
                         "loss function");
  samples::count_option(app, "--hidden", s.hidden, 1, 100000, "units of the hidden layer");
  return samples::run(app, argc, argv, [&] { run(o, s); });
}
