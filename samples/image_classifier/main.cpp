// SPDX-License-Identifier: Apache-2.0
//
// Trains a convolutional network on images, MNIST or a directory with one subdirectory per class,
// and classifies other images: `image_classifier predict FILE...`.
#include <fmt/format.h>

#include <algorithm>
#include <tutti/data.hpp>
#include <tutti/nn.hpp>
#include <tutti/tutti.hpp>

#include "common/command_line.hpp"
#include "common/data_files.hpp"
#include "common/fit.hpp"
#include "common/model_file.hpp"
#include "common/networks.hpp"
#include "common/numbers.hpp"
#include "common/picture_data.hpp"
#include "common/results.hpp"

using tutti::array;
namespace data = tutti::data;
namespace nn = tutti::nn;

struct settings {
  std::string model = "small";
  std::int64_t size = 0;
};

/// Images u8 [n, height, width, channels] to f32 [n, channels, height, width] around 0. In training
/// they are shifted by up to a twelfth of their side, and with `mirror` flipped at random.
nn::layer input(std::int64_t height, std::int64_t width, bool mirror) {
  return nn::layer(nn::layer_parts{
      .kind = "input",
      .apply = [=](std::span<const array>, std::span<const array>, const array& x,
                   const nn::pass& how) -> nn::applied {
        array pixels = x;
        if (how.training) {
          const auto keys = tutti::random::split(*how.key, 2);
          const std::int64_t most = std::max<std::int64_t>(height / 12, 1);
          pixels = data::random_crop(keys[0], pixels, height, width, most);
          if (mirror) pixels = data::random_flip(keys[1], pixels);
        }
        return {pixels.transpose({0, 3, 1, 2}).astype(tutti::dtype::f32) / 127.5 - 1, {}};
      }});
}

nn::sequential network(const std::string& name, const tutti::shape& picture, std::int64_t classes,
                       tutti::random::key key, const tutti::device& on) {
  const auto keys = tutti::random::split(key, 3);
  const bool color = picture[2] == 3;
  const nn::layer first = input(picture[0], picture[1], color);
  const auto linear = [&](std::int64_t in, std::int64_t out, tutti::random::key own) {
    return nn::linear(in, out, own, {}, tutti::dtype::f32, on);
  };
  if (name == "resnet")
    return nn::sequential({first, nn::sequential(samples::residual_blocks(picture[2], keys[0], on)),
                           linear(64, classes, keys[1])});
  const std::vector<std::int64_t> widths =
      color ? std::vector<std::int64_t>{32, 64, 128} : std::vector<std::int64_t>{16, 32};
  if (std::min(picture[0], picture[1]) >> widths.size() == 0)
    throw tutti::value_error(
        fmt::format("pictures of {} are too small for this network: {} pixels "
                    "each way are the least (--size)",
                    picture.str(), 1 << widths.size()));
  const std::int64_t places = (picture[0] >> widths.size()) * (picture[1] >> widths.size());
  return nn::sequential(
      {first, nn::sequential(samples::convolutions(picture[2], widths, keys[0], on)), nn::flatten(),
       nn::dropout(0.25), linear(widths.back() * places, 128, keys[1]), nn::activate(tutti::relu),
       nn::dropout(0.25), linear(128, classes, keys[2])});
}

void train(const samples::common_options& o, const settings& s) {
  const auto keys = tutti::random::split({o.seed}, 4);
  const tutti::device device = o.device();
  const samples::picture_data pictures = samples::load_pictures(o.data, s.size, keys[0]);
  samples::make_folder(o.out);
  tutti::shape picture = pictures.training.x.shape();
  picture.erase(0);
  const auto classes = static_cast<std::int64_t>(pictures.classes.size());
  const nn::sequential model = network(s.model, picture, classes, keys[1], device);
  nn::trainer trainer(model, nn::adam({.weight_decay = 0.01}), samples::cross_entropy,
                      {.key = keys[2], .group = o.group()});
  const data::loader batches(data::rows_of({pictures.training.x, pictures.training.labels}),
                             {.batch_size = o.batch, .key = keys[3], .on = device, .job = o.job()});
  o.log() << fmt::format(
                 "{}\n{}\n{} pictures of {} for training, {} for the test; {} classes, {} "
                 "parameters\n\n",
                 samples::devices_text(trainer.group()), pictures.source, batches.items(),
                 picture.str(), pictures.test.labels.size(), classes, model.parameter_count())
          << std::flush;
  const samples::texts about = {{"model", s.model},
                                {"height", std::to_string(picture[0])},
                                {"width", std::to_string(picture[1])},
                                {"channels", std::to_string(picture[2])},
                                {"classes", fmt::format("{}", fmt::join(pictures.classes, "/"))}};
  const auto rate = nn::one_cycle_schedule(o.learning_rate, o.epochs * batches.batches());
  const auto test = [&] {
    return samples::evaluate(trainer, pictures.test.x, pictures.test.labels,
                             samples::cross_entropy);
  };
  samples::texts run = about;
  run["checksum of the pictures"] = samples::checksum(pictures.training.x.bytes());
  const auto history = samples::fit(trainer, o, {batches, rate, test, "images", run});
  auto report = samples::report_of("Pictures, " + s.model + " network", trainer.group(), history);
  report.settings = {{"model", s.model}};
  samples::add_answers(report, trainer, pictures.test.x, pictures.test.labels, pictures.classes,
                       [&](std::int64_t i) { return samples::row_of(pictures.test.x, i); });
  samples::model_file::save(o.out / "weights.safetensors", model, trainer.parameters(),
                            trainer.state(), pictures.classes, about);
  samples::finish(report, o);
}

/// Prints the class of each image, resized to the size of the training images.
void predict(const samples::common_options& o) {
  const tutti::device device = o.device();
  const samples::model_file file(o.out / "weights.safetensors", device);
  const tutti::shape picture{std::stoll(file.about("height")), std::stoll(file.about("width")),
                             std::stoll(file.about("channels"))};
  const auto classes = static_cast<std::int64_t>(file.classes().size());
  const nn::sequential model = network(file.about("model"), picture, classes, {1}, device);
  const auto answer = file.classifier(model);
  o.predict_each([&](const std::filesystem::path& path) {
    const data::dataset one =
        data::pictures_of({{""}, {path}, {0}}, {.channels = static_cast<int>(picture[2])});
    const array x = samples::resized(one.get(0, {})[0], picture[0], picture[1], device).to(device);
    return answer(expand_dims(x, 0));
  });
}

int main(int argc, char** argv) {
  CLI::App app("Trains an image classifier and classifies images.", "image_classifier");
  samples::common_options o(app,
                            "random seed for split, initial weights, shuffling and augmentation");
  o.with_data(
       "directory with MNIST, or with a subdirectory of images per class, resized to one size "
       "(default: TUTTI_DATA, else 8 x 8 digits)")
      .with_epochs(5, "the training pictures")
      .with_batch(64, "pictures")
      .with_learning_rate(0.003)
      .with_out("image-results");
  o.with_parallel().with_resume().with_json();
  o.with_predict("Prints the class of each image", "images: PNG, JPEG, PGM or PPM");
  settings s;
  samples::choice_option(app, "--model", s.model, {"small", "resnet"}, "the network");
  app.add_option("--size", s.size,
                 "width and height of a directory's images (default: those of the first)")
      ->check(CLI::Range(8, 1024));
  return samples::run(app, argc, argv, [&] { o.predict.empty() ? train(o, s) : predict(o); });
}
