// SPDX-License-Identifier: Apache-2.0
//
// Recognises spoken digits: converts recordings to mel spectra and trains a convolutional or a
// recurrent network; `spoken_digits predict FILE.wav` prints the digit.
#include <fmt/format.h>

#include <tutti/data.hpp>
#include <tutti/nn.hpp>
#include <tutti/report.hpp>
#include <tutti/tutti.hpp>

#include "common/command_line.hpp"
#include "common/data_files.hpp"
#include "common/fit.hpp"
#include "common/model_file.hpp"
#include "common/networks.hpp"
#include "common/numbers.hpp"
#include "common/results.hpp"
#include "common/spoken_digits.hpp"

using tutti::array;
namespace nn = tutti::nn;

struct settings {
  std::string model = "convolutional";
  int test_indices = 5;
};

/// In training, masks some bands and some frames (SpecAugment).
nn::layer hide_parts() {
  const tutti::data::spec_augment_options masks{
      .frequency_masks = 1, .time_masks = 1, .time_width = 12};
  return nn::layer(
      nn::layer_parts{.kind = "hide_parts",
                      .apply = [masks](std::span<const array>, std::span<const array>,
                                       const array& x, const nn::pass& how) -> nn::applied {
                        if (!how.training) return {x, {}};
                        return {tutti::data::spec_augment(*how.key, x, masks), {}};
                      }});
}

nn::layer reordered(std::function<array(const array& x)> f) { return nn::activate(std::move(f)); }

/// Spectra [n, bands, frames] to scores [n, 10].
nn::sequential network(const std::string& name, tutti::random::key key, const tutti::device& on) {
  const auto keys = tutti::random::split(key, 2);
  const auto f32 = tutti::dtype::f32;
  if (name == "gru")
    return nn::sequential({hide_parts(), reordered([](const array& x) {
                             return x.transpose({0, 2, 1});
                           }),
                           nn::gru(samples::mel_bands, 96, keys[0], {}, f32, on),
                           reordered([](const array& x) { return mean(x, 1); }), nn::dropout(0.2),
                           nn::linear(96, 10, keys[1], {}, f32, on)});
  std::vector<nn::layer> layers = {
      hide_parts(), reordered([](const array& x) {
        return x.reshape({x.shape()[0], 1, x.shape()[1], x.shape()[2]});
      })};
  const std::vector<nn::layer> convolutions = samples::convolutions(1, {16, 32, 64}, keys[0], on);
  layers.insert(layers.end(), convolutions.begin(), convolutions.end());
  // 64 channels of 5 x 7 positions remain.
  layers.insert(layers.end(), {nn::flatten(), nn::dropout(0.3),
                               nn::linear(64 * 5 * 7, 10, keys[1], {}, f32, on)});
  return nn::sequential(layers);
}

void train(const samples::common_options& o, const settings& s) {
  const auto keys = tutti::random::split({o.seed}, 3);
  const tutti::device device = o.device();
  const samples::spoken_digits data = samples::load_spoken_digits(o.data, s.test_indices, device);
  samples::make_folder(o.out);
  const nn::sequential model = network(s.model, keys[0], device);
  nn::trainer trainer(model, nn::adam(), samples::cross_entropy,
                      {.key = keys[1], .group = o.group()});
  const tutti::data::loader batches(
      tutti::data::rows_of({data.training.x, data.training.labels}),
      {.batch_size = o.batch, .key = keys[2], .on = device, .job = o.job()});
  o.log() << fmt::format("{}\n{}\n{} recordings for training, {} for the test; {} parameters\n\n",
                         samples::devices_text(trainer.group()), data.source, batches.items(),
                         data.test.labels.size(), model.parameter_count())
          << std::flush;
  const auto history =
      samples::fit(trainer, o,
                   {.batches = batches,
                    .rate = nn::one_cycle_schedule(o.learning_rate, o.epochs * batches.batches()),
                    .test =
                        [&] {
                          return samples::evaluate(trainer, data.test.x, data.test.labels,
                                                   samples::cross_entropy);
                        },
                    .unit = "recordings",
                    .settings = {{"model", s.model},
                                 {"checksum of the recordings",
                                  samples::checksum(std::as_bytes(std::span(data.contents)))}}});
  auto report =
      samples::report_of("Spoken digits, " + s.model + " network", trainer.group(), history);
  report.settings = {{"recordings", data.source}, {"model", s.model}};
  samples::add_answers(report, trainer, data.test.x, data.test.labels, data.classes);
  samples::model_file::save(o.out / "weights.safetensors", model, trainer.parameters(),
                            trainer.state(), data.classes, {{"model", s.model}});
  samples::finish(report, o);
}

void predict(const samples::common_options& o) {
  const tutti::device device = o.device();
  const samples::model_file file(o.out / "weights.safetensors", device);
  const nn::sequential model = network(file.about("model"), {1}, device);
  const auto answer = file.classifier(model);
  o.predict_each([&](const std::filesystem::path& sound) {
    return answer(samples::spectrum_of(sound, device));
  });
}

int main(int argc, char** argv) {
  CLI::App app("Recognises spoken digits.", "spoken_digits");
  samples::common_options o(app, "random seed for initial weights, shuffling and augmentation");
  o.with_data(
       "directory with recordings DIGIT_SPEAKER_INDEX.wav at 8 kHz, of which the first second is "
       "used (default: TUTTI_DATA, else generated tones)")
      .with_epochs(20, "the recordings")
      .with_batch(64, "recordings")
      .with_learning_rate(0.004)
      .with_out("speech-results");
  o.with_parallel().with_resume().with_json();
  o.with_predict("Prints the digit in each sound file", "WAV or FLAC files");
  settings s;
  samples::choice_option(app, "--model", s.model, {"convolutional", "gru"}, "the network");
  app.add_option("--test-indices", s.test_indices,
                 "recordings with a smaller index are the test part")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  return samples::run(app, argc, argv, [&] { o.predict.empty() ? train(o, s) : predict(o); });
}
