// SPDX-License-Identifier: Apache-2.0
//
// Lines and points.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "svg.hpp"
#include "tutti/error.hpp"

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
    if (s.x.size() != s.y.size()) {
      throw value_error(fmt::format("{}: series {} has {} x values for {} y values", op, s.name,
                                    s.x.size(), s.y.size()));
    }
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      if (!drawable(s, i, log_y)) continue;
      b.x_low = std::min(b.x_low, s.x[i]);
      b.x_high = std::max(b.x_high, s.x[i]);
      b.y_low = std::min(b.y_low, s.y[i]);
      b.y_high = std::max(b.y_high, s.y[i]);
    }
  }
  if (!(b.x_low <= b.x_high)) throw value_error(fmt::format("{}: no point that can be drawn", op));
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
    if (!points) {
      out.add(
          fmt::format("<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" "
                      "stroke-linejoin=\"round\" stroke-linecap=\"round\"/>\n",
                      drawn.path, color_of(i)));
    }
    if (points || all[i].x.size() <= most_markers) {
      out.add(fmt::format("<g fill=\"{}\"{}>{}</g>\n", color_of(i),
                          points ? " fill-opacity=\"0.75\"" : "", drawn.circles));
    }
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

}  // namespace tutti::report
