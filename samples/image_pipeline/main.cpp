// SPDX-License-Identifier: Apache-2.0
//
// Decodes, scales and filters images and extracts features on all devices at once, with dynamic
// load balancing, and optionally with a simulated device failure; then trains a classifier.
#include <fmt/format.h>
#include <tutti/plugin.h>

#include <algorithm>
#include <iostream>
#include <tutti/data.hpp>
#include <tutti/image.hpp>
#include <tutti/ml.hpp>
#include <tutti/tutti.hpp>

#include "common/command_line.hpp"
#include "common/data_files.hpp"
#include "common/numbers.hpp"
#include "common/pictures.hpp"
#include "common/results.hpp"

using tutti::array;
using tutti::dtype;
namespace data = tutti::data;
namespace image = tutti::image;

struct options {
  std::string folder, fail;
  std::int64_t count = 400, size = 32;
};

struct source {
  data::dataset pictures;
  std::vector<std::string> classes;
  std::vector<std::int64_t> labels;
};

/// At most `count` images of the directory, spread over its classes, or drawn ones.
source find_pictures(const options& o, const samples::common_options& common) {
  if (o.folder.empty()) {
    source drawn{
        samples::drawn_shapes(o.count, common.seed), {"disc", "square", "triangle", "cross"}, {}};
    for (std::int64_t i = 0; i < o.count; ++i) drawn.labels.push_back(i % 4);
    return drawn;
  }
  const data::file_list all = data::list_images(o.folder);
  data::file_list some{all.classes, {}, {}};
  const std::int64_t total = std::ssize(all.files), count = std::min(total, o.count);
  for (std::int64_t i = 0; i < count; ++i) {
    some.files.push_back(all.files[static_cast<std::size_t>(i * total / count)]);
    some.labels.push_back(all.labels[static_cast<std::size_t>(i * total / count)]);
  }
  return {data::pictures_of(some, {.channels = 3}), some.classes, some.labels};
}

/// The results for the images of a chunk, all u8: scaled [n, size, size, 3], edges [n, size, size,
/// 1], features [n, rows, columns, 2, 2, 9]. The first two are exact on any device.
std::vector<array> process(const data::dataset& pictures, const tutti::chunk& c,
                           std::int64_t size) {
  std::vector<array> scaled;
  for (std::int64_t i = c.begin; i < c.end; ++i) {
    const array picture = pictures.get(i, {}).front().to(c.device);
    scaled.push_back(image::resize(image::to_float(picture), size, size));
  }
  // Avoids exact halves, which devices may round differently because of the last bit.
  const array small = image::to_u8(stack(scaled) + 1e-5);
  const array light = sum(small.astype(dtype::f32), {-1, true});
  const array slope = abs(image::sobel(light, image::direction::horizontal)) +
                      abs(image::sobel(light, image::direction::vertical));
  const array edges = tutti::clip(slope / 16, 0, 255).astype(dtype::u8);
  const array middle = light - mean(light, {{1, 2, 3}, true});
  const array normal = middle / (stddev(light, {{1, 2, 3}, true}) + 1);
  const array features = image::hog(image::gaussian_blur(normal, 0.7), {.block = {2, 2}});
  return {small, edges, image::to_u8(features)};
}

void classify(const source& from, const array& features, const samples::common_options& common) {
  const data::split rows = data::stratified_train_test_split(from.labels, 0.25, {common.seed});
  const array x = features.reshape({features.dim(0), -1}).astype(dtype::f32) / 255;
  const auto part = tutti::ml::split_rows(x, array::from(from.labels, x.device()), rows);
  tutti::ml::logistic_regression model({.c = 0.3});
  const array found = model.fit(part.x_train, part.y_train).predict(part.x_test);
  samples::write_answers(common.out / "answers.csv", from.classes, part.y_test, found, rows.test);
  const double accuracy = tutti::ml::accuracy_score(part.y_test, found).item();
  std::cout << fmt::format("{} classes, accuracy on {} pictures: {:.4f}\n", from.classes.size(),
                           found.size(), accuracy);
}

void run(const options& o, const samples::common_options& common) {
  const source from = find_pictures(o, common);
  if (common.leads()) samples::make_folder(common.out);
  const auto group = common.group().value_or(tutti::device_group({common.device()}));
  const auto is_told_to_fail = [&](const tutti::device& d) { return d.name() == o.fail; };
  if (!o.fail.empty() && std::none_of(group.begin(), group.end(), is_told_to_fail))
    throw tutti::value_error(fmt::format("--fail: {} takes no part", o.fail));
  std::vector<std::uint8_t> kept[3];
  const tutti::loop_report report = tutti::parallel_for(
      group, {0, from.pictures.size},
      [&](const tutti::chunk& c) {
        if (is_told_to_fail(c.device))
          throw tutti::device_error("told to fail", TUTTI_ERROR_DEVICE_LOST, 0, false, o.fail);
        return process(from.pictures, c, o.size);
      },
      [&](const tutti::chunk& c, const tutti::chunk_results& results) {
        for (std::size_t i = 0; i < 3; ++i) {
          const auto values = results.values<std::uint8_t>(i);
          const std::int64_t each = std::ssize(values) / c.size();
          kept[i].resize(static_cast<std::size_t>(each * from.pictures.size));
          std::copy(values.begin(), values.end(), kept[i].begin() + c.begin * each);
        }
      },
      {.policy = tutti::loop_policy::dynamic, .grain = 8, .label = "image_pipeline"});
  if (!common.leads()) return;
  std::cout << to_string(report);

  const std::int64_t n = from.pictures.size, cells = o.size / 8 - 1;
  const array small = array::from(kept[0], {n, o.size, o.size, 3});
  const array edges = array::from(kept[1], {n, o.size, o.size, 1});
  const array features = array::from(kept[2], {n, cells, cells, 2, 2, 9});
  const tutti::slice some{0, n, std::max<std::int64_t>(1, n / 64)};  // of all classes
  image::write_image(common.out / "contact.png", samples::contact_sheet(small(some), 8, 8));
  image::write_image(common.out / "edges.png", samples::contact_sheet(edges(some), 8, 8));
  const array strokes = samples::hog_strokes(features(some));
  image::write_image(common.out / "hog.png", samples::contact_sheet(strokes, 8, 8));
  std::cout << fmt::format("{}: contact.png, edges.png, hog.png\n", common.out.string());
  if (from.classes.size() > 1) classify(from, features, common);
}

int main(int argc, char** argv) {
  CLI::App app("Scales, filters and classifies images on all devices.", "image_pipeline");
  samples::common_options common(app, "random seed for drawn images and the split");
  common.with_out("pipeline-results").with_parallel();
  options o;
  app.add_option(
         "folder", o.folder,
         "directory of images, preferably with one subdirectory per class (default: drawn shapes)")
      ->check(samples::not_empty)
      ->transform(samples::below_data_folder);
  samples::count_option(app, "--count", o.count, 8, 10000000, "maximum number of images");
  samples::count_option(app, "--size", o.size, 16, 1024, "width and height in pixels");
  app.add_option("--fail", o.fail,
                 "simulate a failure of this device at its first chunk, e.g. opencl:1");
  return samples::run(app, argc, argv, [&] { run(o, common); });
}
