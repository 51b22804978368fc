// SPDX-License-Identifier: Apache-2.0
//
// The child reports JSON, a line each: {"call": function}, {"step": what for}, {"finding": ...}
// and, when all is done, {"done": true}. What was called last tells where it ended.
#include "probe.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>

#include "child_process.hpp"
#include "option_range.hpp"
#include "plugin/guarded.hpp"
#include "plugin/records.hpp"
#include "plugin/registry.hpp"

namespace tutti::tools {
namespace {

using nlohmann::json;

std::atomic<int> report_descriptor = 1;

void report(const json& line) {
  report_line(report_descriptor, line.dump(-1, ' ', false, json::error_handler_t::replace));
}

/// What the lines of a child tell.
struct progress {
  std::string call = "its start";
  std::string step;
  bool is_done = false;

  void take(std::string_view text, const std::function<void(finding)>& on_finding) {
    const json line = json::parse(text, nullptr, false);
    if (!line.is_object()) return;
    if (line.contains("call")) call = line.value("call", "");
    if (line.contains("step")) step = line.value("step", "");
    if (line.contains("finding")) on_finding(finding_of(line["finding"]));
    if (line.contains("done")) is_done = true;
  }

  std::string place() const {
    if (is_done) return "the end of the process";
    return step.empty() ? call : fmt::format("{} ({})", call, step);
  }
};

/// The child.
int run_probe(const std::string& path, depth how, int report_to) {
  be_a_child(report_to);
  report_descriptor = report_to;
  detail::watcher_of_calls = [](const char* function) { report({{"call", function}}); };
  const std::filesystem::path file(path);
  // Never destroyed, as devices are never released.
  static auto* const made =
      new detail::device_registry(detail::search_path{{file.parent_path()}, {}});
  detail::device_registry& registry = *made;
  for (const detail::plugin_file& found : registry.loader().files()) {
    if (found.path != file) continue;
    if (how == depth::devices)
      registry.left_out(found.name);
    else
      examine_plugin_file(
          registry, found,
          [](const std::string& step) {
            report({{"step", step}});
          },
          [](const finding& f) {
            report({{"finding", to_json(f)}});
          });
  }
  report({{"done", true}});
  return 0;
}

}  // namespace

probe_result probe(const detail::plugin_file& file, depth how, const time_limits& limits,
                   const std::function<void(finding)>& on_finding) {
  std::vector<std::string> arguments = {"probe", file.path.string()};
  if (how == depth::known_answers) arguments.emplace_back("--known-answers");
  progress seen;
  const auto patience = [&] { return seen.step.empty() ? limits.listing : limits.computing; };
  const child_end end =
      run_self(arguments, patience, [&](std::string_view line) { seen.take(line, on_finding); });
  probe_result result;
  result.is_lasting = !seen.is_done;
  switch (end.how) {
    case child_end::kind::exited:
      if (!seen.is_done || end.number != 0)
        result.failure = fmt::format("ended its process with exit status {} within {}", end.number,
                                     seen.place());
      break;
    case child_end::kind::signalled:
      result.failure =
          fmt::format("ended its process by {} within {}", signal_text(end.number), seen.place());
      break;
    case child_end::kind::silent:
      result.failure =
          fmt::format("did not come back from {} within {} s", seen.place(), patience());
      // A compiler on a busy machine looks like that, too.
      result.is_lasting = seen.step.empty();
      break;
    case child_end::kind::not_started:
      result.failure = fmt::format("was not looked at: no process could be started for it: {}",
                                   std::generic_category().message(end.number));
      result.is_lasting = false;
      break;
  }
  return result;
}

void shut_out(const detail::plugin_file& file, const probe_result& result) {
  detail::registry().loader().exclude(file.name, result.failure);
  if (result.is_lasting)
    detail::known_plugins().fail(file.path, "the `tutti` command saw that it " + result.failure);
}

void add_time_limit(CLI::App& parser, time_limits& limits) {
  parser
      .add_option_function<double>(
          "--time-limit",
          [&limits](double seconds) {
            limits = {seconds, seconds};
          },
          "Seconds that a single function of a plugin may take before it counts as hung (20, and "
          "120 where kernels are compiled)")
      ->check(seconds_between(0.1, 86400));
}

command add_probe(CLI::App& app) {
  struct chosen {
    std::string path;
    bool with_answers = false;
    int report_to = 1;
  };
  const auto options = std::make_shared<chosen>();
  CLI::App* const parser = app.add_subcommand("probe", "")->group("");
  parser->add_option("path", options->path)->required();
  parser->add_flag("--known-answers", options->with_answers);
  parser->add_option("--report-to", options->report_to);
  return {parser, [options] {
            const depth how = options->with_answers ? depth::known_answers : depth::devices;
            return run_probe(options->path, how, options->report_to);
          }};
}

}  // namespace tutti::tools
