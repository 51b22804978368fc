// SPDX-License-Identifier: Apache-2.0
//
// The report of a training run, composed of plots, metrics and a page.
#include "tutti/report/training.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <sstream>
#include <system_error>

#include "base/fail.hpp"
#include "tutti/data/io.hpp"
#include "tutti/job.hpp"
#include "tutti/report/plots.hpp"

namespace tutti::report {
namespace {

namespace fs = std::filesystem;
using column = double epoch_scores::*;
using text_rows = std::vector<std::vector<std::string>>;

std::vector<double> values_of(const std::vector<epoch_scores>& history, column which) {
  std::vector<double> out;
  out.reserve(history.size());
  for (const epoch_scores& epoch : history) out.push_back(epoch.*which);
  return out;
}

bool any_finite(const std::vector<double>& values) {
  return std::any_of(values.begin(), values.end(), [](double v) { return std::abs(v) < 1e100; });
}

/// The rows in which both columns have a value.
std::vector<series> curves(const std::vector<epoch_scores>& history, column training, column test) {
  std::vector<double> epochs(history.size());
  std::iota(epochs.begin(), epochs.end(), 1.0);
  std::vector<series> out;
  for (const auto& [name, which] : {std::pair{"training", training}, {"test", test}}) {
    std::vector<double> values = values_of(history, which);
    if (any_finite(values)) out.push_back({name, epochs, std::move(values)});
  }
  return out;
}

/// True for values that are positive and differ by more than a factor of 10.
bool wants_logarithm(const std::vector<series>& lines) {
  double low = INFINITY, high = 0;
  for (const series& line : lines) {
    for (const double y : line.y) {
      if (!std::isfinite(y)) continue;
      low = std::min(low, y);
      high = std::max(high, y);
    }
  }
  return low > 0 && high > 10 * low;
}

struct plots {
  std::string loss, accuracy, confusion;  // empty if there is no data
};

plots plots_of(const training_report& r) {
  plots out;
  const auto loss = curves(r.history, &epoch_scores::training_loss, &epoch_scores::test_loss);
  if (!loss.empty())
    out.loss = line_plot(loss, {.title = r.title + ": loss",
                                .x_label = "epoch",
                                .y_label = r.loss_name,
                                .log_y = wants_logarithm(loss)});
  const auto accuracy =
      curves(r.history, &epoch_scores::training_accuracy, &epoch_scores::test_accuracy);
  if (!accuracy.empty())
    out.accuracy = line_plot(
        accuracy,
        {.title = r.title + ": accuracy", .x_label = "epoch", .y_label = "share of right answers"});
  if (!r.confusion.empty())
    out.confusion = confusion_plot(r.confusion, r.classes,
                                   {.title = r.title + ": confusion",
                                    .x_label = "answer",
                                    .y_label = "truth",
                                    .width = 620,
                                    .height = 560});
  return out;
}

metrics object_of(const std::vector<std::pair<std::string, std::string>>& pairs) {
  metrics out;
  for (const auto& [name, value] : pairs) out.set(name, value);
  return out;
}

metrics metrics_of(const training_report& r) {
  metrics history;
  for (const auto& [name, which] : {std::pair{"training_loss", &epoch_scores::training_loss},
                                    {"training_accuracy", &epoch_scores::training_accuracy},
                                    {"test_loss", &epoch_scores::test_loss},
                                    {"test_accuracy", &epoch_scores::test_accuracy},
                                    {"seconds", &epoch_scores::seconds}}) {
    std::vector<double> values = values_of(r.history, which);
    if (any_finite(values)) history.set(name, std::move(values));
  }
  metrics confusion;
  for (std::size_t row = 0; row < (r.confusion.empty() ? 0 : r.classes.size()); ++row) {
    const auto begin = r.confusion.begin() + static_cast<std::ptrdiff_t>(row * r.classes.size());
    const auto end = begin + static_cast<std::ptrdiff_t>(r.classes.size());
    confusion.set(r.classes[row], std::vector<double>(begin, end));
  }
  metrics out{
      {"title", r.title},       {"results", r.results},       {"devices", object_of(r.devices)},
      {"settings", r.settings}, {"epochs", r.history.size()}, {"history", history}};
  if (!confusion.empty()) out.set("confusion", confusion);
  return out;
}

/// A table with these two column titles.
text_rows rows_of(const metrics& values, const char* name, const char* value) {
  text_rows out{{name, value}};
  for (auto& row : values.rows()) out.push_back(std::move(row));
  return out;
}

text_rows epoch_rows(const std::vector<epoch_scores>& history) {
  text_rows rows{{"epoch"}};
  for (std::size_t i = 0; i < history.size(); ++i) rows.push_back({std::to_string(i + 1)});
  const auto add = [&](const char* name, column which, const char* format) {
    const std::vector<double> values = values_of(history, which);
    if (!any_finite(values)) return;
    rows[0].emplace_back(name);
    for (std::size_t i = 0; i < values.size(); ++i)
      rows[i + 1].push_back(std::isfinite(values[i]) ? fmt::format(fmt::runtime(format), values[i])
                                                     : "-");
  };
  add("training loss", &epoch_scores::training_loss, "{:.5g}");
  add("training accuracy", &epoch_scores::training_accuracy, "{:.4f}");
  add("test loss", &epoch_scores::test_loss, "{:.5g}");
  add("test accuracy", &epoch_scores::test_accuracy, "{:.4f}");
  add("seconds", &epoch_scores::seconds, "{:.3f}");
  return rows;
}

void add_examples(page& out, const std::vector<picture>& all) {
  for (const auto& [heading, kind] : {std::pair{"Wrong answers", mark::wrong},
                                      {"Right answers", mark::right},
                                      {"Examples", mark::none}}) {
    std::vector<picture> of_kind;
    for (const picture& one : all)
      if (one.mark == kind) of_kind.push_back(one);
    if (!of_kind.empty()) out.heading(heading).pictures(of_kind);
  }
}

page page_of(const training_report& r, const plots& drawn) {
  page out(r.title);
  if (!r.results.empty()) out.table(rows_of(r.results, "result", "value"));
  if (!drawn.loss.empty() || !drawn.accuracy.empty()) out.heading("Curves");
  if (!drawn.loss.empty()) out.figure(drawn.loss);
  if (!drawn.accuracy.empty()) out.figure(drawn.accuracy);
  if (!drawn.confusion.empty())
    out.heading("Confusion")
        .figure(drawn.confusion,
                "Counts; the colour is the share of those that truly are of the class.");
  add_examples(out, r.examples);
  if (!r.figures.empty()) out.heading("Figures");
  for (const titled_figure& one : r.figures) out.figure(one.svg, one.caption);
  if (!r.devices.empty())
    out.heading("Devices").table(rows_of(object_of(r.devices), "device", "description"));
  if (!r.settings.empty()) out.heading("Settings").table(rows_of(r.settings, "setting", "value"));
  if (!r.history.empty()) out.heading("Epochs").table(epoch_rows(r.history));
  return out;
}

}  // namespace

void training_report::add_devices(const device_group& used) {
  const job* const ranks = used.ranks();
  if (ranks == nullptr) {
    for (const device& d : used) add_device(d);
    return;
  }
  std::string text;
  for (const device& d : used)
    text += fmt::format("rank {} {}\n{}\n", ranks->rank(), d.name(), d.properties().description);
  const std::vector<std::uint8_t> own(text.begin(), text.end());
  const auto all = ranks->all_gather(array::from(own, used[0])).to_vector<std::uint8_t>();
  std::istringstream lines(std::string(all.begin(), all.end()));
  for (std::string name, description;
       std::getline(lines, name) && std::getline(lines, description);)
    devices.emplace_back(name, description);
}

void training_report::add_device(const device& used) {
  devices.emplace_back(used.name(), used.properties().description);
}

void training_report::add_example(host_array pixels, std::int64_t truth, std::int64_t answer) {
  const auto name = [&](std::int64_t number) {
    if (number < 0 || number >= static_cast<std::int64_t>(classes.size()))
      base::fail<index_error>("training_report: class {} of {}", number, classes.size());
    return classes[static_cast<std::size_t>(number)];
  };
  const bool is_right = truth == answer;
  std::string caption =
      is_right ? name(truth) : fmt::format("{}, taken for {}", name(truth), name(answer));
  examples.push_back({std::move(pixels), std::move(caption), is_right ? mark::right : mark::wrong});
}

void training_report::save(const fs::path& folder) const {
  if (!confusion.empty() && confusion.size() != classes.size() * classes.size())
    base::fail<shape_error>("training_report: {} counts for {} classes", confusion.size(),
                            classes.size());
  const plots drawn = plots_of(*this);
  const std::string html = page_of(*this, drawn).html(), json = metrics_of(*this).json();
  std::error_code code;
  fs::create_directories(folder, code);
  if (code || !fs::is_directory(folder, code))
    base::fail<io_error>("training_report: cannot make the folder {}: {}", folder.string(),
                         code ? code.message() : "a file has that name");
  for (const auto& [name, text] :
       {std::pair<const char*, const std::string&>{"loss.svg", drawn.loss},
        {"accuracy.svg", drawn.accuracy},
        {"confusion.svg", drawn.confusion},
        {"metrics.json", json},
        {"report.html", html}}) {
    if (!text.empty()) io::write_file(folder / name, text);
  }
}

}  // namespace tutti::report
