// SPDX-License-Identifier: Apache-2.0
//
// The results of a sample's training.
#include "common/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <tutti/data.hpp>
#include <tutti/nn.hpp>
#include <tutti/tutti.hpp>

#include "common/text_table.hpp"

namespace samples {

using tutti::array;
using tutti::host_array;
namespace report = tutti::report;

std::string devices_text(const tutti::device_group& group) {
  if (group.ranks() != nullptr) return "devices " + group.names();
  std::string text = group.size() > 1 ? "devices " : "device ";
  for (const tutti::device& d : group)
    text +=
        fmt::format("{}{} ({})", d == group[0] ? "" : ", ", d.name(), d.properties().description);
  return text;
}

report::training_report report_of(const std::string& title, const tutti::device_group& group,
                                  const std::vector<epoch_result>& history) {
  report::training_report out{.title = title};
  out.add_devices(group);
  double seconds = 0;
  for (const epoch_result& r : history) {
    out.history.push_back({.training_loss = r.loss,
                           .test_loss = r.test.loss,
                           .test_accuracy = r.test.accuracy,
                           .seconds = r.seconds});
    seconds += r.seconds;
  }
  if (history.empty()) return out;
  const epoch_result& last = history.back();
  out.results = {{"epochs", last.epoch}, {"training_loss", last.loss}};
  if (!std::isnan(last.test.loss)) out.results.set("test_loss", last.test.loss);
  if (!std::isnan(last.test.accuracy)) out.results.set("test_accuracy", last.test.accuracy);
  out.results.set("seconds_per_epoch", seconds / static_cast<double>(history.size()));
  return out;
}

host_array row_of(const host_array& pictures, std::int64_t row) {
  const auto rows = tutti::data::rows_of(std::vector{pictures}).get_batch(std::vector{row});
  host_array one = rows[0];
  tutti::shape extents = one.shape();
  extents.erase(0);
  return std::move(one).reshape(extents);
}

void add_answers(report::training_report& out, const std::function<array(const array& x)>& model,
                 const host_array& x, const host_array& labels,
                 const std::vector<std::string>& classes,
                 const std::function<host_array(std::int64_t row)>& picture) {
  const tutti::data::loader rows(tutti::data::rows_of(std::vector{x}),
                                 {.batch_size = 500, .shuffle = false, .workers = 0});
  const auto truth = labels.values<std::int64_t>();
  out.classes = classes;
  out.confusion.assign(classes.size() * classes.size(), 0);
  std::vector<std::int64_t> answers;
  for (tutti::data::batch& b : rows.start(0))
    for (const std::int32_t answer :
         argmax(model(b.arrays[0]), 1).astype(tutti::dtype::i32).to_vector<std::int32_t>())
      answers.push_back(answer);
  for (std::size_t i = 0; i < answers.size(); ++i)
    ++out.confusion[static_cast<std::size_t>(truth[i]) * classes.size() +
                    static_cast<std::size_t>(answers[i])];
  if (!picture) return;
  constexpr std::size_t most = 32, most_wrong = 20;
  for (const bool right : {false, true})
    for (std::size_t i = 0; i < answers.size(); ++i) {
      if (out.examples.size() >= (right ? most : most_wrong)) break;
      if ((answers[i] == truth[i]) != right) continue;
      out.add_example(picture(static_cast<std::int64_t>(i)), truth[i], answers[i]);
    }
}

void report_group_use(std::ostream& out, report::training_report& report,
                      const tutti::nn::layer& model, const tutti::nn::batch_loss& loss,
                      const tutti::device_group& group, const std::vector<array>& batch,
                      double seconds_per_step) {
  constexpr int steps = 5;
  const std::int64_t rows = batch[0].shape()[0];
  const auto cuts = tutti::shares::by_throughput().boundaries(rows, group);
  std::vector<std::vector<std::string>> table = {{"device", "rows", "ms alone", "busy"}};
  double speed = 0;
  for (std::size_t m = 0; m < group.size(); ++m) {
    const std::int64_t own = cuts[m + 1] - cuts[m];
    if (own == 0) continue;
    std::vector<array> part;
    for (const array& a : batch) part.push_back(a({{cuts[m], cuts[m + 1]}}).to(group[m]));
    tutti::nn::trainer alone(model, tutti::nn::adam(), loss,
                             {.group = tutti::device_group(std::vector{group[m]}), .ahead = 0});
    for (int warm = 0; warm < 2; ++warm) alone.step(part);
    const auto begin = std::chrono::steady_clock::now();
    for (int i = 0; i < steps; ++i) alone.step(part);
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    const double seconds = taken.count() / steps;
    speed += static_cast<double>(own) / seconds;
    table.push_back({group[m].name(), std::to_string(own), fmt::format("{:.2f}", seconds * 1e3),
                     fmt::format("{:.0f} %", 100 * seconds / seconds_per_step)});
  }
  const double bound = static_cast<double>(rows) / speed;
  out << fmt::format(
      "\n{}a step of {} rows: {:.2f} ms; {:.2f} ms if all devices were busy all the "
      "time at the speed that each has alone\n",
      text_table(table), rows, seconds_per_step * 1e3, bound * 1e3);
  report.results.set("seconds_per_step", seconds_per_step).set("seconds_per_step_bound", bound);
}

void write_answers(const std::filesystem::path& path, const std::vector<std::string>& classes,
                   const array& truth, const array& answers,
                   const std::vector<std::int64_t>& rows) {
  namespace data = tutti::data;
  const auto column = [&](const char* name, const array& codes) {
    return data::column::of_categories(name, codes.to_vector<std::int64_t>(), classes);
  };
  data::table t({column("truth", truth), column("answer", answers)});
  t.add(data::column::of_numbers("row", {rows.begin(), rows.end()}));
  data::write_table(path, t);
}

void save_report(report::training_report& report, const common_options& options) {
  report.settings.set("batch", options.batch)
      .set("learning_rate", options.learning_rate)
      .set("seed", options.seed);
  report.save(options.out);
}

void finish(report::training_report report, const common_options& options) {
  save_report(report, options);
  if (options.json) {
    std::cout << report.results.json();
    return;
  }
  std::cout << fmt::format("\nreport: {}\n", (options.out / "report.html").string());
  if (!report.history.empty() && !std::isnan(report.history.back().test_accuracy))
    std::cout << fmt::format("test accuracy: {:.4f}\n", report.history.back().test_accuracy);
}

}  // namespace samples
