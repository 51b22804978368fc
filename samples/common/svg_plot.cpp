// SPDX-License-Identifier: Apache-2.0
//
// Line plots as SVG text.
#include "common/svg_plot.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <tutti/error.hpp>

namespace samples {

namespace {

// M. Okabe, K. Ito, "Color Universal Design", 2008: told apart by colour-blind readers.
constexpr const char* colors[] = {"#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#56b4e9"};
constexpr const char* ink = "#333333";
constexpr std::size_t most_markers = 60;

std::string escaped(const std::string& text) {
  std::string out;
  for (char c : text) {
    if (c == '&')
      out += "&amp;";
    else if (c == '<')
      out += "&lt;";
    else if (c == '>')
      out += "&gt;";
    else if (c == '"')
      out += "&quot;";
    else if (static_cast<unsigned char>(c) >= 0x20)
      out += c;
  }
  return out;
}

/// A round number near `span / 6`: 1, 2 or 5 times a power of ten.
double round_step(double span) {
  const double raw = span / 6;
  const double power = std::pow(10, std::floor(std::log10(raw)));
  for (const double factor : {1.0, 2.0, 5.0}) {
    if (raw <= factor * power * 1.0001) return factor * power;
  }
  return 10 * power;
}

/// One axis: data range, its ticks, and where values fall between two pixel positions.
class axis {
 public:
  axis(double low, double high, bool logarithmic, double from, double to)
      : low_(low), high_(high), log_(logarithmic), from_(from), to_(to) {
    if (log_)
      log_ticks();
    else
      linear_ticks();
  }
  double at(double value) const {
    const double a = scaled(low_), b = scaled(high_);
    return from_ + (scaled(value) - a) / (b - a) * (to_ - from_);
  }
  const std::vector<double>& ticks() const { return ticks_; }

 private:
  double scaled(double value) const { return log_ ? std::log10(value) : value; }

  void linear_ticks() {
    // A span within rounding of the values themselves has no ticks of its own.
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
  void log_ticks() {
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

  double low_, high_;
  bool log_;
  double from_, to_;
  std::vector<double> ticks_;
};

/// False for NaN and infinity as well, and for numbers whose differences may overflow.
bool drawable(const plot_series& s, std::size_t i, bool log_y) {
  constexpr double largest = 1e100;
  return std::abs(s.x[i]) < largest && std::abs(s.y[i]) < largest &&
         (!log_y || s.y[i] > 1 / largest);
}

struct bounds {
  double x_low = std::numeric_limits<double>::infinity(), x_high = -x_low;
  double y_low = x_low, y_high = -x_low;
};

bounds measure(std::span<const plot_series> series, bool log_y) {
  bounds b;
  for (const plot_series& s : series) {
    if (s.x.size() != s.y.size()) {
      throw tutti::value_error(
          fmt::format("svg_line_plot: series {} has {} x values for {} y values", s.name,
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
  if (!(b.x_low <= b.x_high)) {
    throw tutti::value_error("svg_line_plot: no point that can be drawn");
  }
  return b;
}

/// Ticks lie on multiples of a step; what is left of zero after rounding is zero.
std::string tick_label(double value, double step) {
  return std::abs(value) < step * 1e-6 ? "0" : fmt::format("{:.6g}", value);
}

class document {
 public:
  explicit document(const plot_options& o) : options_(o) {
    text_ = fmt::format(
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0}\" height=\"{1}\" "
        "viewBox=\"0 0 {0} {1}\" font-family=\"Helvetica, Arial, 'DejaVu Sans', sans-serif\" "
        "font-size=\"13\" fill=\"{2}\">\n<title>{3}</title>\n"
        "<rect width=\"{0}\" height=\"{1}\" fill=\"#ffffff\"/>\n",
        o.width, o.height, ink, escaped(o.title));
  }

  void line(double x1, double y1, double x2, double y2, const char* color, double width) {
    text_ += fmt::format(
        "<line x1=\"{:.2f}\" y1=\"{:.2f}\" x2=\"{:.2f}\" y2=\"{:.2f}\" stroke=\"{}\" "
        "stroke-width=\"{:g}\"/>\n",
        x1, y1, x2, y2, color, width);
  }
  void label(double x, double y, const char* anchor, const std::string& what,
             const std::string& more = {}) {
    text_ += fmt::format("<text x=\"{:.2f}\" y=\"{:.2f}\" text-anchor=\"{}\"{}>{}</text>\n", x, y,
                         anchor, more, escaped(what));
  }

  void axes(const axis& x, const axis& y) {
    const double x_step = x.ticks()[1] - x.ticks()[0], y_step = y.ticks()[1] - y.ticks()[0];
    for (const double tick : y.ticks()) {
      line(left(), y.at(tick), right(), y.at(tick), "#e3e3e3", 1);
      label(left() - 9, y.at(tick) + 4.5, "end", tick_label(tick, y_step));
    }
    for (const double tick : x.ticks()) {
      line(x.at(tick), bottom(), x.at(tick), bottom() + 5, ink, 1);
      label(x.at(tick), bottom() + 21, "middle", tick_label(tick, x_step));
    }
    line(left(), bottom(), right(), bottom(), ink, 1);
    line(left(), top(), left(), bottom(), ink, 1);
    const double middle = (top() + bottom()) / 2;
    label((left() + right()) / 2, bottom() + 44, "middle", options_.x_label);
    label(20, middle, "middle", options_.y_label,
          fmt::format(" transform=\"rotate(-90 20 {:.2f})\"", middle));
    label(left(), 30, "start", options_.title, " font-size=\"17\" font-weight=\"bold\"");
  }

  void curve(const plot_series& s, const axis& x, const axis& y, const char* color) {
    std::string path, markers;
    bool pen_down = false;
    for (std::size_t i = 0; i < s.x.size(); ++i) {
      if (!drawable(s, i, options_.log_y)) {
        pen_down = false;
        continue;
      }
      const double px = x.at(s.x[i]), py = y.at(s.y[i]);
      path += fmt::format("{}{:.2f} {:.2f} ", pen_down ? 'L' : 'M', px, py);
      pen_down = true;
      if (s.x.size() <= most_markers) {
        markers += fmt::format("<circle cx=\"{:.2f}\" cy=\"{:.2f}\" r=\"2.6\"/>", px, py);
      }
    }
    if (path.empty()) return;
    path.pop_back();
    text_ += fmt::format(
        "<path d=\"{}\" fill=\"none\" stroke=\"{}\" stroke-width=\"2\" stroke-linejoin=\"round\" "
        "stroke-linecap=\"round\"/>\n",
        path, color);
    if (!markers.empty()) text_ += fmt::format("<g fill=\"{}\">{}</g>\n", color, markers);
  }

  void legend(std::span<const plot_series> series) {
    double x = left();
    for (std::size_t i = 0; i < series.size(); ++i) {
      line(x, 51, x + 22, 51, colors[i % std::size(colors)], 3);
      label(x + 29, 55.5, "start", series[i].name);
      x += 29 + 7.2 * static_cast<double>(series[i].name.size()) + 24;
    }
  }

  double left() const { return 72; }
  double right() const { return options_.width - 24; }
  double top() const { return 74; }
  double bottom() const { return options_.height - 58; }
  std::string finish() { return std::move(text_) + "</svg>\n"; }

 private:
  const plot_options& options_;
  std::string text_;
};

}  // namespace

std::string svg_line_plot(std::span<const plot_series> series, const plot_options& options) {
  if (options.width < 240 || options.height < 200) {
    throw tutti::value_error(fmt::format("svg_line_plot: {}x{} is too small, at least 240x200",
                                         options.width, options.height));
  }
  const bounds b = measure(series, options.log_y);
  document out(options);
  const axis x(b.x_low, b.x_high, false, out.left(), out.right());
  const axis y(b.y_low, b.y_high, options.log_y, out.bottom(), out.top());
  out.axes(x, y);
  for (std::size_t i = 0; i < series.size(); ++i) {
    out.curve(series[i], x, y, colors[i % std::size(colors)]);
  }
  out.legend(series);
  return out.finish();
}

}  // namespace samples
