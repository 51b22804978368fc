// SPDX-License-Identifier: Apache-2.0
//
// Line plots as SVG text: axes with round ticks, grid, legend, title.
#pragma once

#include <span>
#include <string>
#include <vector>

namespace samples {

struct plot_series {
  std::string name;
  std::vector<double> x, y;
};

struct plot_options {
  std::string title{}, x_label{}, y_label{};
  bool log_y = false;  ///< values that are not positive are left out, as NaN and infinity are
  int width = 720, height = 440;
};

/// A complete SVG document. A point that cannot be drawn interrupts its line. Throws
/// tutti::value_error for a series whose x and y differ in length and where no point can be drawn.
std::string svg_line_plot(std::span<const plot_series> series, const plot_options& options);

}  // namespace samples
