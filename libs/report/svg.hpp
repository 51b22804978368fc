// SPDX-License-Identifier: Apache-2.0
//
// Construction of SVG documents, and axes with round ticks. Every shape has its own colour, so that
// any viewer shows it; the classes paper, grid and axis let a dark page change them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/report/plots.hpp"

namespace tutti::report {

/// The n-th of six colours, repeated cyclically.
const char* color_of(std::size_t n);

/// One axis: data range, its ticks, and the mapping of values to pixels.
class axis {
 public:
  axis(double low, double high, bool logarithmic, double from, double to);
  double at(double value) const;
  const std::vector<double>& ticks() const { return ticks_; }
  /// What is left of zero after rounding is zero.
  std::string label(double tick) const;

 private:
  double scaled(double value) const;
  void linear_ticks();
  void log_ticks();

  double low_, high_;
  bool log_;
  double from_, to_;
  std::vector<double> ticks_;
};

/// Space around the plot, in pixels.
struct margins {
  double left = 72, top = 74, right = 24, bottom = 58;
};

class svg {
 public:
  /// Throws value_error, with `op`, for an extent that is too small.
  svg(std::string_view op, const plot_options& options, const margins& around = {});

  double left() const { return around_.left; }
  double right() const { return options_.width - around_.right; }
  double top() const { return around_.top; }
  double bottom() const { return options_.height - around_.bottom; }

  void line(double x1, double y1, double x2, double y2, std::string_view color, double width,
            std::string_view kind = {});
  /// `more` contains further attributes.
  void label(double x, double y, std::string_view anchor, std::string_view what,
             std::string_view more = {});
  void rectangle(double x, double y, double width, double height, std::string_view fill,
                 std::string_view tip = {});
  void add(std::string_view shapes) { text_ += shapes; }

  /// Title above, labels beside the axes.
  void titles();
  /// Ticks, grid and the line of an axis.
  void vertical_axis(const axis& y);
  void horizontal_axis(const axis& x);
  /// Names below the plot, as many as fit, centred in equal parts.
  void names_below(const std::vector<std::string>& names);
  /// Names with lines or points of their colours, in the space of around_legend().
  void legend(std::span<const series> all, bool points);

  std::string finish();

 private:
  const plot_options& options_;
  margins around_;
  std::string text_;
};

/// Margins with space for the rows of a legend above.
margins around_legend(const plot_options& options, std::span<const series> all);
/// Margins with space for names of cells: to the left, and below.
margins around_names(const plot_options& options, const std::vector<std::string>& left,
                     const std::vector<std::string>& below, double right);

}  // namespace tutti::report
