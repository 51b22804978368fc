// SPDX-License-Identifier: Apache-2.0
//
// Construction of SVG documents, and axes with round ticks.
#include "svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <utility>

#include "base/fail.hpp"
#include "text.hpp"

namespace tutti::report {

namespace {

// M. Okabe, K. Ito, "Color Universal Design", 2008: distinguishable for colour-blind readers.
constexpr const char* colors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};
constexpr const char* ink = "#333333";
constexpr double character_width = 7.2;
constexpr std::size_t longest_name = 24;

/// A round number near `span / 6`: 1, 2 or 5 times a power of ten.
double round_step(double span) {
  const double raw = span / 6;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (raw <= factor * power * 1.0001) return factor * power;
  }
  return 10 * power;
}

double widest(const std::vector<std::string>& names) {
  std::size_t most = 0;
  for (const std::string& name : names)
    most = std::max(most, std::min(length_of(name), longest_name));
  return character_width * static_cast<double>(most);
}

constexpr double legend_row = 20;

struct legend_place {
  double x = 0;
  int row = 0;
};

/// Positions of the names of a legend: side by side, in several rows if necessary, down to the
/// middle of the picture. Names without space are omitted.
std::vector<legend_place> legend_places(std::span<const series> all, const plot_options& options,
                                        const margins& around) {
  const int most_rows = std::max(1, static_cast<int>((options.height / 2 - 54) / legend_row));
  std::vector<legend_place> out;
  legend_place next{around.left, 0};
  for (const series& s : all) {
    const double width = 29 + widest({s.name});
    if (next.x > around.left && next.x + width > options.width - around.right)
      next = {around.left, next.row + 1};
    if (next.row == most_rows) break;
    out.push_back(next);
    next.x += width + 24;
  }
  return out;
}

}  // namespace

const char* color_of(std::size_t n) { return colors[n % std::size(colors)]; }

axis::axis(double low, double high, bool logarithmic, double from, double to)
    : low_(low), high_(high), log_(logarithmic), from_(from), to_(to) {
  if (log_)
    log_ticks();
  else
    linear_ticks();
}

double axis::scaled(double value) const { return log_ ? std::log10(value) : value; }

double axis::at(double value) const {
  const double a = scaled(low_), b = scaled(high_);
  return from_ + (scaled(value) - a) / (b - a) * (to_ - from_);
}

std::string axis::label(double tick) const {
  const double step = ticks_[1] - ticks_[0];
  return std::abs(tick) < step * 1e-6 ? "0" : fmt::format("{:.6g}", tick);
}

void axis::linear_ticks() {
  // A span within the rounding of the values has no separate ticks.
  if (high_ - low_ <= std::max(1e-12 * std::max(std::abs(low_), std::abs(high_)), 1e-100)) {
    const double margin = std::max(std::abs(low_) / 2, 0.5);
    low_ -= margin;
    high_ += margin;
  }
  const double step = round_step(high_ - low_);
  const double first = std::floor(low_ / step + 1e-9), last = std::ceil(high_ / step - 1e-9);
  for (double i = first; i <= last; ++i) ticks_.push_back(i * step);
  low_ = ticks_.front();
  high_ = ticks_.back();
}

void axis::log_ticks() {
  const double decades = std::log10(high_ / low_);
  const int first = static_cast<int>(std::floor(std::log10(low_)));
  const int last = static_cast<int>(std::ceil(std::log10(high_)));
  const int every = std::max(1, (last - first) / 8);
  std::vector<double> all;
  for (int power = first; power <= last; power += every) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      if (factor == 1.0 || decades <= 3) all.push_back(factor * std::pow(10, power));
    }
  }
  // The last tick below the data and the first one above bound the axis.
  auto begin = std::upper_bound(all.begin(), all.end(), low_ * 1.0001);
  if (begin != all.begin()) --begin;
  auto end = std::lower_bound(begin, all.end(), high_ * 0.9999);
  if (end != all.end()) ++end;
  if (end - begin < 2) {
    begin = all.begin();
    end = all.end();
  }
  ticks_.assign(begin, end);
  low_ = std::min(low_, ticks_.front());
  high_ = std::max(high_, ticks_.back());
}

svg::svg(std::string_view op, const plot_options& options, const margins& around)
    : options_(options), around_(around) {
  if (options.width < 240 || options.height < 200)
    base::fail<value_error>("{}: {}x{} is too small, at least 240x200", op, options.width,
                            options.height);
  text_ = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      "<svg xmlns=\"http://www.w3.org/2000/svg\" class=\"tutti-plot\" role=\"img\" width=\"{0}\" "
      "height=\"{1}\" viewBox=\"0 0 {0} {1}\" font-family=\"Helvetica, Arial, 'DejaVu Sans', "
      "sans-serif\" font-size=\"13\" fill=\"{2}\">\n<title>{3}</title>\n"
      "<rect class=\"paper\" width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
      options.width, options.height, ink, escaped(options.title));
}

void svg::line(double x1, double y1, double x2, double y2, std::string_view color, double width,
               std::string_view kind) {
  const std::string attribute = kind.empty() ? "" : fmt::format(" class=\"{}\"", kind);
  text_ += fmt::format(
      "<line{} x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" stroke=\"{}\" "
      "stroke-width=\"{:g}\"/>\n",
      attribute, x1, y1, x2, y2, color, width);
}

void svg::label(double x, double y, std::string_view anchor, std::string_view what,
                std::string_view more) {
  text_ += fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
                       anchor, more, escaped(what));
}

void svg::rectangle(double x, double y, double width, double height, std::string_view fill,
                    std::string_view tip) {
  text_ +=
      fmt::format("<rect x=\"{:.2f}\" y=\"{:.2f}\" width=\"{:.2f}\" height=\"{:.2f}\" fill=\"{}\"",
                  x, y, width, height, fill);
  text_ += tip.empty() ? "/>\n" : fmt::format("><title>{}</title></rect>\n", escaped(tip));
}

void svg::titles() {
  const double middle = (top() + bottom()) / 2;
  label((left() + right()) / 2, options_.height - 14, "middle", options_.x_label);
  label(20, middle, "middle", options_.y_label,
        fmt::format(" transform=\"rotate(-90 20 {:.2f})\"", middle));
  label(std::min(left(), 72.0), 30, "start", options_.title,
        " font-size=\"17\" font-weight=\"bold\"");
}

void svg::vertical_axis(const axis& y) {
  for (const double tick : y.ticks()) {
    line(left(), y.at(tick), right(), y.at(tick), "#e3e3e3", 1, "grid");
    label(left() - 9, y.at(tick) + 4.5, "end", y.label(tick));
  }
  line(left(), top(), left(), bottom(), ink, 1, "axis");
}

void svg::horizontal_axis(const axis& x) {
  for (const double tick : x.ticks()) {
    line(x.at(tick), bottom(), x.at(tick), bottom() + 5, ink, 1, "axis");
    label(x.at(tick), bottom() + 21, "middle", x.label(tick));
  }
  line(left(), bottom(), right(), bottom(), ink, 1, "axis");
}

void svg::names_below(const std::vector<std::string>& names) {
  if (names.empty()) return;
  const double part = (right() - left()) / static_cast<double>(names.size());
  const bool slanted = widest(names) + 6 > part;
  const auto every = static_cast<std::size_t>(std::ceil(15 / part));
  for (std::size_t i = 0; i < names.size(); i += every) {
    const double x = left() + (static_cast<double>(i) + 0.5) * part, y = bottom() + 19;
    const std::string name = shortened(names[i], longest_name);
    if (slanted)
      label(x + 5, y - 2, "end", name,
            fmt::format(" transform=\"rotate(-40 {:.2f} {:.2f})\"", x + 5, y - 2));
    else
      label(x, y, "middle", name);
  }
}

void svg::legend(std::span<const series> all, bool points) {
  const std::vector<legend_place> places = legend_places(all, options_, around_);
  for (std::size_t i = 0; i < places.size(); ++i) {
    const double x = places[i].x, y = 51 + legend_row * places[i].row;
    const std::size_t left_out = all.size() - places.size();
    if (left_out > 0 && i + 1 == places.size()) {
      label(x, y + 4.5, "start", fmt::format("and {} more", left_out + 1));
      break;
    }
    if (points)
      text_ += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:g}\" r=\"5\" fill=\"{}\"/>\n", x + 11, y,
                           color_of(i));
    else
      line(x, y, x + 22, y, color_of(i), 3);
    label(x + 29, y + 4.5, "start", shortened(all[i].name, longest_name));
  }
}

std::string svg::finish() { return std::move(text_) + "</svg>\n"; }

margins around_legend(const plot_options& options, std::span<const series> all) {
  margins out;
  const auto places = legend_places(all, options, out);
  if (!places.empty()) out.top += legend_row * places.back().row;
  return out;
}

margins around_names(const plot_options& options, const std::vector<std::string>& left,
                     const std::vector<std::string>& below, double right) {
  margins out;
  out.top = options.title.empty() ? 24 : 50;
  out.right = right;
  out.left = std::clamp(widest(left) + 50, 72.0, options.width / 3.0);
  const double room = options.width - out.left - right;
  const bool slanted =
      widest(below) + 6 > room / static_cast<double>(std::max<std::size_t>(below.size(), 1));
  if (slanted) out.bottom = std::clamp(0.65 * widest(below) + 44, 58.0, options.height / 3.0);
  return out;
}

}  // namespace tutti::report
