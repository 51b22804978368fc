// SPDX-License-Identifier: Apache-2.0
//
// Plots as SVG text: axes with round ticks, grid, legend, title. Each function returns a complete
// document, which can be used alone or in a page (page.hpp). Values that are NaN, infinite or
// beyond 1e100 are not drawn; text may contain any bytes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "tutti/export.hpp"

namespace tutti::report {

/// Points (x[i], y[i]) with a common name and colour.
struct series {
  std::string name;
  std::vector<double> x, y;
};

struct plot_options {
  std::string title{}, x_label{}, y_label{};
  bool log_y = false;  ///< for lines and points: values that are not positive are omitted
  int width = 720, height = 440;  ///< at least 240 x 200
};

/// One line per series. A point that cannot be drawn interrupts its line. Throws value_error for a
/// series whose x and y differ in length and if no point can be drawn.
TUTTI_API std::string line_plot(std::span<const series> lines, const plot_options& options = {});

/// The same as points without lines.
TUTTI_API std::string scatter_plot(std::span<const series> points,
                                   const plot_options& options = {});

/// A bar for each name, from 0. Throws shape_error if names and values differ in number,
/// value_error if no bar can be drawn.
TUTTI_API std::string bar_plot(const std::vector<std::string>& names,
                               std::span<const double> values, const plot_options& options = {});

/// Row-major values [rows, columns] as colours, with a colour scale; the first row is on top. Cells
/// that are large enough show their value. Names may be omitted. Throws shape_error if the sizes do
/// not match, value_error without cells and for more than 65536.
TUTTI_API std::string heat_map(std::span<const double> values, std::int64_t rows,
                               std::int64_t columns, const std::vector<std::string>& row_names = {},
                               const std::vector<std::string>& column_names = {},
                               const plot_options& options = {});

/// Counts [truth, prediction] of names.size() classes; the colour is the fraction of the row.
/// Throws as heat_map does, and value_error for negative counts.
TUTTI_API std::string confusion_plot(std::span<const std::int64_t> counts,
                                     const std::vector<std::string>& names,
                                     const plot_options& options = {});

}  // namespace tutti::report
