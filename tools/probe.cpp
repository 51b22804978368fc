// SPDX-License-Identifier: Apache-2.0
//
// The child reports JSON, one object per line: {"step": description}, {"finding": ...} and, at the
// end, {"done": true}. Within loading, enumerating and opening the journal shows where it ended.
#include "probe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "child_process.hpp"
#include "option_range.hpp"
#include "plugin/proof/proof.hpp"
#include "plugin/registry.hpp"
#include "plugin/visit.hpp"
#include "safety/journal.hpp"

namespace tutti::tools {
namespace {

using nlohmann::json;

/// The data in the lines from a child.
struct progress {
  std::string step;
  bool is_done = false;

  void take(std::string_view text, const std::function<void(finding)>& on_finding) {
    const json line = json::parse(text, nullptr, false);
    if (!line.is_object()) return;
    if (line.contains("step")) step = line.value("step", "");
    if (line.contains("finding")) on_finding(finding_of(line["finding"]));
    if (line.contains("done")) is_done = true;
  }
};

/// The options of the child.
struct probe_options {
  std::string path;
  bool with_answers = false;
};

void report_step(const std::string& step) { report_line({{"step", step}}); }
void report_finding(const finding& f) { report_line({{"finding", to_json(f)}}); }

void use_first(plugins::device_registry& registry, const plugins::plugin_file& file) {
  registry.left_out(file.name);  // which loads and lists
  for (detail::opened_device* d : registry.devices_of(file.name)) {
    report_step("the first use of " + d->name);
    const std::string why = plugins::why_unusable(*d);
    if (!why.empty()) report_finding({finding::grade::problem, "devices", d->name, why, {}});
  }
}

/// The child.
int run_probe(const probe_options& options) {
  be_a_child();
  const std::filesystem::path file(options.path);
  // Never destroyed, because devices are never released.
  static auto* const made = new plugins::device_registry(
      plugins::search_path{{file.parent_path()}, {}}, &safety::process_journal());
  for (const plugins::plugin_file& found : made->loader().files()) {
    if (found.path != file) continue;
    try {
      if (options.with_answers)
        examine_plugin_file(*made, found, report_step, report_finding);
      else
        use_first(*made, found);
    } catch (const std::exception&) {  // the parent receives the same
    }
  }
  report_line({{"done", true}});
  return 0;
}

}  // namespace

std::string probe(const plugins::plugin_file& file, depth how, const time_limits& limits,
                  const std::function<void(finding)>& on_finding) {
  std::vector<std::string> arguments = {"probe", file.path.string()};
  if (how == depth::known_answers) arguments.emplace_back("--known-answers");
  progress seen;
  const auto patience = [&] { return seen.step.empty() ? limits.listing : limits.computing; };
  const child_end end =
      run_self(arguments, patience, [&](std::string_view line) { seen.take(line, on_finding); });
  if (seen.is_done && end.how == child_end::kind::exited && end.number == 0) return {};
  std::string failure = text_of(end, patience());
  const auto trace = plugins::trace_of(safety::process_journal(), file.path);
  if (end.how != child_end::kind::not_started) {
    if (seen.is_done)
      failure += " at the end of the process";
    else if (trace)
      failure += ": " + trace->text;
    else if (!seen.step.empty())
      failure += " within " + seen.step;
  }
  plugins::registry().loader().exclude(file.name, failure);
  if (trace)
    plugins::fail_plugin(safety::process_journal(), file.path,
                         "the `tutti` command saw that it " + failure);
  return failure;
}

command add_report(CLI::App& app, const char* name, const char* description,
                   int (*print)(bool json, const time_limits& limits)) {
  struct chosen {
    bool json = false;
    time_limits limits;
  };
  const auto options = std::make_shared<chosen>();
  CLI::App* const parser = app.add_subcommand(name, description);
  parser->add_flag("--json", options->json, "Print JSON");
  parser
      ->add_option_function<double>(
          "--time-limit",
          [options](double seconds) {
            options->limits = {seconds, seconds};
          },
          "Seconds after which a plugin counts as hung (20, or 120 while compiling kernels)")
      ->check(seconds_between(0.1, 86400));
  return {parser, [options, print] { return print(options->json, options->limits); }};
}

command add_probe(CLI::App& app) {
  const auto options = std::make_shared<probe_options>();
  CLI::App* const parser = app.add_subcommand("probe", "")->group("");
  parser->add_option("path", options->path)->required();
  parser->add_flag("--known-answers", options->with_answers);
  return {parser, [options] { return run_probe(*options); }};
}

namespace {

/// The groups of `tutti verify` in `tutti doctor`: one for each kind of kernel.
constexpr const char* kinds[] = {
    "memory/copy",  "stream/order", "op/divide/f32/special", "op/add/i64/bits",
    "cast/f32/f16", "philox",       "reduce/sum/inner/f32",  "matmul/f32/sizes",
    "scan/sum/f32", "sort/f32",     "take/f32/i64",          "convolution/f32"};

/// The lines from the child (verify.hpp).
struct heard {
  std::vector<std::string> names;
  std::string running = "the opening of the device";
  std::vector<std::string> failures;
  int passed = 0;

  void take(const json& line) {
    if (line.contains("groups")) names = line["groups"].get<std::vector<std::string>>();
    if (line.contains("group")) {
      const auto number = line["group"].get<std::size_t>();
      if (number < names.size()) running = names[number];
    }
    if (line.contains("problem")) failures.push_back(running + ": " + line.value("problem", ""));
    if (!line.contains("result")) return;
    const std::string outcome = line["result"].value("outcome", "");
    passed += outcome == "passed" ? 1 : 0;
    if (outcome == "failed") failures.push_back(running + ": " + line["result"].value("text", ""));
  }
};

}  // namespace

finding verify_device(const plugins::plugin_file& file, const std::string& device,
                      const time_limits& limits) {
  std::vector<std::string> words = {"verify", "--child", file.path.string(), "--device",
                                    device.substr(device.find(':') + 1)};
  for (const char* kind : kinds) words.insert(words.end(), {"--filter", kind});
  heard all;
  const child_end end = run_self(
      words, [&] { return limits.computing; },
      [&](std::string_view text) {
        const json line = json::parse(text, nullptr, false);
        if (line.is_object()) all.take(line);
      });
  if (end.how != child_end::kind::exited || end.number != 0)
    all.failures.push_back(all.running + ": " + text_of(end, limits.computing));
  finding f{finding::grade::good,
            "known answers",
            device,
            fmt::format("{} groups of `tutti verify` are right", all.passed),
            {}};
  if (all.failures.empty()) return f;
  f.how = finding::grade::problem;
  f.text = fmt::format("{}", fmt::join(all.failures, "\n"));
  f.advice = fmt::format(
      "update the driver, or choose another device by TUTTI_DEVICE; `tutti verify "
      "{}` tells more",
      file.path.string());
  return f;
}

}  // namespace tutti::tools
