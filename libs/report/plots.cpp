// SPDX-License-Identifier: Apache-2.0
//
// Lines and points, bars, and cells whose colours are values.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

#include "base/fail.hpp"
#include "svg.hpp"
#include "text.hpp"

namespace tutti::report {

namespace {

constexpr std::size_t most_markers = 60;

/// Also false for NaN and infinity, and for numbers whose differences may overflow.
bool drawable(const series& s, std::size_t i, bool log_y) {
  constexpr double largest = 1e100;
  return std::abs(s.x[i]) < largest && std::abs(s.y[i]) < largest &&
         (!log_y || s.y[i] > 1 / largest);
}

struct bounds {
  double x_low = std::numeric_limits<double>::infinity(), x_high = -x_low;
  double y_low = x_low, y_high = -x_low;
};

bounds measure(std::string_view op, std::span<const series> all, bool log_y) {
  bounds b;
  for (const series& s : all) {
    if (s.x.size() != s.y.size())
      base::fail<value_error>("{}: series {} has {} x values for {} y values", op, s.name,
                              s.x.size(), s.y.size());
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      if (!drawable(s, i, log_y)) continue;
      b.x_low = std::min(b.x_low, s.x[i]);
      b.x_high = std::max(b.x_high, s.x[i]);
      b.y_low = std::min(b.y_low, s.y[i]);
      b.y_high = std::max(b.y_high, s.y[i]);
    }
  }
  if (!(b.x_low <= b.x_high)) base::fail<value_error>("{}: no point that can be drawn", op);
  return b;
}

struct shapes {
  std::string path, circles;
};

/// The line through the points, and the points as circles.
shapes shapes_of(const series& s, const axis& x, const axis& y, bool log_y, double radius) {
  shapes out;
  bool pen_down = false;
  for (std::size_t i = 0; i < s.x.size(); ++i) {
    if (!drawable(s, i, log_y)) {
      pen_down = false;
      continue;
    }
    const double px = x.at(s.x[i]), py = y.at(s.y[i]);
    out.path += fmt::format("{}{:.2f} {:.2f} ", pen_down ? 'L' : 'M', px, py);
    out.circles += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"{:g}\"/>", px, py, radius);
    pen_down = true;
  }
  if (!out.path.empty()) out.path.pop_back();
  return out;
}

std::string plot_of(std::string_view op, std::span<const series> all, const plot_options& options,
                    bool points) {
  svg out(op, options, around_legend(options, all));
  const bounds b = measure(op, all, options.log_y);
  const axis x(b.x_low, b.x_high, false, out.left(), out.right());
  const axis y(b.y_low, b.y_high, options.log_y, out.bottom(), out.top());
  out.vertical_axis(y);
  out.horizontal_axis(x);
  out.titles();
  for (std::size_t i = 0; i < all.size(); ++i) {
    const shapes drawn = shapes_of(all[i], x, y, options.log_y, points ? 3.2 : 2.6);
    if (drawn.path.empty()) continue;
    if (!points)
      out.add(
          fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" "
                      "stroke-linejoin=\"round\" stroke-linecap=\"round\"/>\n",
                      drawn.path, color_of(i)));
    if (points || all[i].x.size() <= most_markers)
      out.add(fmt::format("<g fill=\"{}\"{}>{}</g>\n", color_of(i),
                          points ? " fill-opacity=\"0.75\"" : "", drawn.circles));
  }
  out.legend(all, points);
  return out.finish();
}

}  // namespace

std::string line_plot(std::span<const series> lines, const plot_options& options) {
  return plot_of("line_plot", lines, options, false);
}

std::string scatter_plot(std::span<const series> points, const plot_options& options) {
  return plot_of("scatter_plot", points, options, true);
}

namespace {

constexpr std::int64_t most_cells = 65536;

bool drawable(double value) { return std::abs(value) < 1e100; }

using color = std::array<double, 3>;

/// From light to dark, 0 to 1: three of the "Blues" of C. Brewer, colorbrewer2.org.
color shade(double share) {
  constexpr color light{247, 251, 255}, middle{107, 174, 214}, dark{8, 48, 107};
  const bool upper = share > 0.5;
  const double t = std::clamp(upper ? 2 * share - 1 : 2 * share, 0.0, 1.0);
  color out{};
  for (std::size_t i = 0; i < 3; ++i)
    out[i] = upper ? middle[i] + t * (dark[i] - middle[i]) : light[i] + t * (middle[i] - light[i]);
  return out;
}

std::string text_of(const color& c) {
  return fmt::format("#{:02x}{:02x}{:02x}", static_cast<int>(c[0]), static_cast<int>(c[1]),
                     static_cast<int>(c[2]));
}

/// Cells of [rows, columns] with their contents.
struct cells {
  std::int64_t rows = 0, columns = 0;
  std::vector<double> shares;      // 0 to 1; NaN is drawn in grey
  std::vector<std::string> texts;  // shown if there is space, and as tooltip
};

void check_cells(std::string_view op, std::size_t values, std::int64_t rows, std::int64_t columns) {
  if (rows < 1 || columns < 1 || rows > most_cells / columns)
    base::fail<value_error>("{}: {} x {} cells, expected 1 to {}", op, rows, columns, most_cells);
  if (values != static_cast<std::size_t>(rows * columns))
    base::fail<shape_error>("{}: {} values for {} x {} cells", op, values, rows, columns);
}

void check_names(std::string_view op, std::string_view of, const std::vector<std::string>& names,
                 std::int64_t extent) {
  if (!names.empty() && names.size() != static_cast<std::size_t>(extent))
    base::fail<shape_error>("{}: {} names for {} {}", op, names.size(), extent, of);
}

void names_beside(svg& out, const std::vector<std::string>& names) {
  if (names.empty()) return;
  const double part = (out.bottom() - out.top()) / static_cast<double>(names.size());
  const auto most = static_cast<std::size_t>((out.left() - 42) / 7.2);
  const auto every = static_cast<std::size_t>(std::ceil(14 / part));
  for (std::size_t i = 0; i < names.size(); i += every)
    out.label(out.left() - 9, out.top() + (static_cast<double>(i) + 0.5) * part + 4.5, "end",
              shortened(names[i], std::max<std::size_t>(most, 1)));
}

void draw(svg& out, const cells& all) {
  const double width = (out.right() - out.left()) / static_cast<double>(all.columns);
  const double height = (out.bottom() - out.top()) / static_cast<double>(all.rows);
  const double gap = std::min(width, height) > 8 ? 1 : 0;
  std::size_t longest = 0;
  for (const std::string& text : all.texts) longest = std::max(longest, text.size());
  const bool has_room = height >= 15 && width >= 7.4 * static_cast<double>(longest) + 4;
  for (std::int64_t i = 0; i < all.rows * all.columns; ++i) {
    const auto at = static_cast<std::size_t>(i);
    const std::int64_t row = i / all.columns, column = i % all.columns;
    const double x = out.left() + static_cast<double>(column) * width;
    const double y = out.top() + static_cast<double>(row) * height;
    const double share = all.shares[at];
    out.rectangle(x, y, width - gap, height - gap,
                  std::isnan(share) ? "#cccccc" : text_of(shade(share)), all.texts[at]);
    if (has_room)
      out.label(x + width / 2, y + height / 2 + 4.5, "middle", all.texts[at],
                share > 0.55 ? " fill=\"#ffffff\"" : " fill=\"#222222\"");
  }
}

/// The colours from `low` to `high`, to the right of the plot.
void scale(svg& out, double low, double high) {
  constexpr int steps = 32;
  const double x = out.right() + 18, height = (out.bottom() - out.top()) / steps;
  for (int i = 0; i < steps; ++i)
    out.rectangle(x, out.top() + i * height, 14, height + 0.3,
                  text_of(shade(1 - (i + 0.5) / steps)));
  for (const double share : {0.0, 0.5, 1.0})
    out.label(x + 20, out.bottom() - share * (out.bottom() - out.top()) + 4.5, "start",
              fmt::format("{:.3g}", low + share * (high - low)));
}

}  // namespace

std::string bar_plot(const std::vector<std::string>& names, std::span<const double> values,
                     const plot_options& options) {
  if (names.size() != values.size())
    base::fail<shape_error>("bar_plot: {} names for {} values", names.size(), values.size());
  margins around = around_names(options, {}, names, 24);
  svg out("bar_plot", options, around);
  double low = 0, high = 0;
  bool any = false;
  for (const double value : values) {
    if (!drawable(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
    any = true;
  }
  if (!any) throw value_error("bar_plot: no bar that can be drawn");
  const axis y(low, high, false, out.bottom(), out.top());
  out.vertical_axis(y);
  const double part = (out.right() - out.left()) / static_cast<double>(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!drawable(values[i])) continue;
    const double from = y.at(std::max(values[i], 0.0)), to = y.at(std::min(values[i], 0.0));
    out.rectangle(out.left() + (static_cast<double>(i) + 0.14) * part, from, 0.72 * part, to - from,
                  color_of(0), fmt::format("{}: {:.6g}", names[i], values[i]));
  }
  out.line(out.left(), y.at(0), out.right(), y.at(0), "#333333", 1, "axis");
  out.names_below(names);
  out.titles();
  return out.finish();
}

std::string heat_map(std::span<const double> values, std::int64_t rows, std::int64_t columns,
                     const std::vector<std::string>& row_names,
                     const std::vector<std::string>& column_names, const plot_options& options) {
  check_cells("heat_map", values.size(), rows, columns);
  check_names("heat_map", "rows", row_names, rows);
  check_names("heat_map", "columns", column_names, columns);
  svg out("heat_map", options, around_names(options, row_names, column_names, 96));
  double low = std::numeric_limits<double>::infinity(), high = -low;
  for (const double value : values) {
    if (!drawable(value)) continue;
    low = std::min(low, value);
    high = std::max(high, value);
  }
  cells all{rows, columns, {}, {}};
  for (const double value : values) {
    const bool flat = !(high > low);
    all.shares.push_back(!drawable(value) ? NAN : flat ? 0.5 : (value - low) / (high - low));
    all.texts.push_back(fmt::format("{:.3g}", value));
  }
  draw(out, all);
  names_beside(out, row_names);
  out.names_below(column_names);
  if (low <= high) scale(out, low, high);
  out.titles();
  return out.finish();
}

std::string confusion_plot(std::span<const std::int64_t> counts,
                           const std::vector<std::string>& names, const plot_options& options) {
  const auto classes = static_cast<std::int64_t>(names.size());
  check_cells("confusion_plot", counts.size(), classes, classes);
  svg out("confusion_plot", options, around_names(options, names, names, 24));
  cells all{classes, classes, {}, {}};
  for (std::size_t row = 0; row < names.size(); ++row) {
    const auto of_row = counts.subspan(row * names.size(), names.size());
    double sum = 0;
    for (const std::int64_t count : of_row) {
      if (count < 0) base::fail<value_error>("confusion_plot: a count of {}", count);
      sum += static_cast<double>(count);
    }
    for (const std::int64_t count : of_row) {
      all.shares.push_back(sum > 0 ? static_cast<double>(count) / sum : 0);
      all.texts.push_back(count == 0 ? "" : std::to_string(count));
    }
  }
  draw(out, all);
  names_beside(out, names);
  out.names_below(names);
  out.titles();
  return out.finish();
}

}  // namespace tutti::report
