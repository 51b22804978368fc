// SPDX-License-Identifier: Apache-2.0
//
// The child reports JSON, a line each: {"call": function}, {"step": what for}, {"finding": ...}
// and, when all is done, {"done": true}. What was called last tells where it ended.
#include "probe.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>
#include <thread>

#include "child_process.hpp"
#include "option_range.hpp"
#include "plugin/guarded.hpp"
#include "plugin/proof/proof.hpp"
#include "plugin/records.hpp"
#include "plugin/registry.hpp"
#include "supervision.hpp"

namespace tutti::tools {
namespace {

using nlohmann::json;

void report(const json& line) {
  report_line(line.dump(-1, ' ', false, json::error_handler_t::replace));
}

std::string how_it_failed(const probe_result& result) {
  return "the `tutti` command saw that it " + result.failure;
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

/// The options of the child.
struct probe_options {
  std::string path;
  bool with_answers = false, with_first_use = false;
  uint32_t device = 0;
  double linger = 0;  // seconds
  std::string report_to;
};

void report_step(const std::string& step) { report({{"step", step}}); }
void report_finding(const finding& f) { report({{"finding", to_json(f)}}); }

void use_first(detail::device_registry& registry, const detail::plugin_file& file,
               uint32_t device) {
  for (detail::opened_device* d : registry.devices_of(file.name)) {
    if (d->index != device) continue;
    report_step("the first use of " + d->name);
    const std::string why = detail::why_unusable(*d);
    report_step("");
    if (!why.empty()) report_finding({finding::grade::problem, "devices", d->name, why, {}});
  }
}

/// The child.
int run_probe(const probe_options& options) {
  be_a_child(options.report_to);
  detail::watcher_of_calls = [](const char* function) { report({{"call", function}}); };
  const std::filesystem::path file(options.path);
  const bool computes = options.with_answers || options.with_first_use;
  // Never destroyed, as devices are never released. Whoever interrupts a child that hangs leaves a
  // record of it, too.
  static auto* const made = new detail::device_registry(
      detail::search_path{{file.parent_path()}, {}}, computes ? &detail::known_plugins() : nullptr);
  detail::device_registry& registry = *made;
  for (const detail::plugin_file& found : registry.loader().files()) {
    if (found.path != file) continue;
    if (options.with_first_use)
      use_first(registry, found, options.device);
    else if (options.with_answers)
      examine_plugin_file(registry, found, report_step, report_finding);
    else
      registry.left_out(found.name);
  }
  if (options.linger > 0) {
    report({{"call", "what it leaves running"}});
    std::this_thread::sleep_for(std::chrono::duration<double>(options.linger));
  }
  report({{"done", true}});
  return 0;
}

}  // namespace

probe_result probe(const detail::plugin_file& file, depth how, const time_limits& limits,
                   const std::function<void(finding)>& on_finding, uint32_t device, double linger) {
  std::vector<std::string> arguments = {"probe", file.path.string()};
  if (how == depth::known_answers) arguments.emplace_back("--known-answers");
  if (how == depth::first_use)
    arguments.insert(arguments.end(), {"--first-use", "--device", std::to_string(device)});
  if (linger > 0) arguments.insert(arguments.end(), {"--linger", std::to_string(linger)});
  progress seen;
  const auto patience = [&] { return seen.step.empty() ? limits.listing : limits.computing; };
  const child_end end = run_self(arguments, patience, [&](std::string_view line) {
    seen.take(line, on_finding);
    tell_alive();
  });
  probe_result result;
  if (end.is_disturbed)
    result.remark =
        "writes to a file descriptor that is not its own, or has a process of its own "
        "do so";
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
  if (result.is_lasting) detail::known_plugins().fail(file.path, how_it_failed(result));
}

choice_in_children::choice_in_children(const time_limits& limits) : limits_(limits) {
  detail::registry().judge_by([this](detail::opened_device& d) { return judge(d); });
}

choice_in_children::~choice_in_children() {
  detail::registry().judge_by({});
  for (const auto& [device, why] : passed_over_) detail::registry().pass_over(device, why);
  for (const auto& [plugin, failure] : failures_) detail::registry().withdraw(plugin, failure);
}

std::string choice_in_children::judge(detail::opened_device& d) {
  const std::string& plugin = d.plugin->name;
  if (const auto known = failures_.find(plugin); known != failures_.end()) return known->second;
  if (d.proof == nullptr) return {};
  bool is_known = false;
  std::string why;
  if (const detail::family_fault* fault = d.proof->known_basic_fault(is_known); is_known) {
    if (fault != nullptr) passed_over_[d.name] = why = detail::why_unusable(d);
    return why;
  }
  const detail::plugin_file file{plugin, d.plugin->path};
  const probe_result result = probe(
      file, depth::first_use, limits_, [&](const finding& f) { why = f.text; }, d.index);
  if (!why.empty()) passed_over_[d.name] = why;
  if (result.failure.empty() || !result.is_lasting) return why;
  detail::known_plugins().fail(file.path, how_it_failed(result));
  return failures_[plugin] = fmt::format("{}: {}", file.path.string(), result.failure);
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
  const auto options = std::make_shared<probe_options>();
  CLI::App* const parser = app.add_subcommand("probe", "")->group("");
  parser->add_option("path", options->path)->required();
  parser->add_flag("--known-answers", options->with_answers);
  parser->add_flag("--first-use", options->with_first_use);
  parser->add_option("--device", options->device);
  parser->add_option("--linger", options->linger);
  parser->add_option("--report-to", options->report_to);
  return {parser, [options] { return run_probe(*options); }};
}

}  // namespace tutti::tools
