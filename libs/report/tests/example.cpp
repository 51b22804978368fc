// SPDX-License-Identifier: Apache-2.0
//
// report_example FOLDER: a report with everything that a page can have, for a browser to read.
#include <cmath>
#include <exception>
#include <iostream>
#include <tutti/report.hpp>

using namespace tutti::report;

namespace {

tutti::host_array gradient(std::uint8_t turn) {
  std::vector<std::uint8_t> pixels;
  for (int y = 0; y < 12; ++y)
    for (int x = 0; x < 12; ++x)
      for (int channel = 0; channel < 3; ++channel)
        pixels.push_back(static_cast<std::uint8_t>((x * 20 * channel + y * 15 + turn) % 256));
  return tutti::host_array::from(pixels, {12, 12, 3});
}

training_report example() {
  training_report r;
  r.title = "Three <kinds> of \"things\" & more";
  r.devices = {{"opencl:0", "a device <script>alert(1)</script>"}, {"reference:0", "host"}};
  r.settings = {{"epochs", 20}, {"batch", 64}, {"learning rate", 0.002}};
  for (int epoch = 1; epoch <= 20; ++epoch)
    r.history.push_back({.training_loss = 2.0 * std::exp(-0.2 * epoch),
                         .training_accuracy = 1 - 0.6 * std::exp(-0.25 * epoch),
                         .test_loss = 2.1 * std::exp(-0.17 * epoch) + 0.05,
                         .test_accuracy = epoch == 7 ? NAN : 0.97 - 0.6 * std::exp(-0.22 * epoch),
                         .seconds = 0.031});
  r.classes = {"apples", "pears", "quinces, which are long in name"};
  r.confusion = {48, 2, 0, 3, 45, 2, 0, 1, 49};
  r.results = {{"test accuracy", 0.9467}, {"parameters", 51'210}, {"resumed", false}};
  for (int i = 0; i < 14; ++i)
    r.add_example(gradient(static_cast<std::uint8_t>(i * 17)), i % 3,
                  i % 4 == 0 ? (i + 1) % 3 : i % 3);
  const std::vector<series> clouds{{"apples", {1, 2, 2.5, 3}, {2, 1, 3, 2}},
                                   {"pears", {4, 5, 6, 5.5}, {5, 4, 6, 5.2}}};
  const std::vector<double> heat{0.1, 0.4, NAN, 0.9, -0.3, 0.2}, bars{3, -1, 2};
  r.figures = {
      {scatter_plot(clouds, {.title = "Weights", .x_label = "g", .y_label = "cm"}), "Points"},
      {bar_plot({"one", "two", "three"}, bars, {.title = "Bars"}), "Bars"},
      {heat_map(heat, 2, 3, {"a", "b"}, {"x", "y", "z"}, {.title = "Heat"}), "Heat"}};
  return r;
}

}  // namespace

int main(int argc, char** argv) try {
  if (argc != 2) return 2;
  example().save(argv[1]);
} catch (const std::exception& e) {
  std::cerr << e.what() << '\n';
  return 1;
}
