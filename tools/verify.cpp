// SPDX-License-Identifier: Apache-2.0
//
// The program tutti-verify: options, and the processes in which the checks run. A process is used
// until a group ends it or produces no output for too long, because opening a device costs more
// than most groups. The remaining groups run in a new process.
#include "verify.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>
#include <system_error>
#include <utility>

#include "child_process.hpp"
#include "option_range.hpp"
#include "program.hpp"
#include "verify_report.hpp"

namespace tutti::tools {
namespace {

using nlohmann::json;

// Stop if a plugin ends the process of this many groups.
constexpr int most_ends = 50, most_hangs = 5;
// Each has a name in memory.
constexpr uint64_t most_fuzzed = 100'000'000;

std::vector<std::string> child_arguments(const verify_options& o, uint64_t from) {
  const conformance::sampling& sample = o.chosen.sample;
  std::vector<std::string> words = {"--child",          o.plugin,
                                    "--device",         std::to_string(o.device),
                                    "--seed",           std::to_string(o.seed),
                                    "--every",          std::to_string(sample.every),
                                    "--every-operator", std::to_string(sample.every_operator),
                                    "--every-f32",      std::to_string(sample.every_f32),
                                    "--share",          std::to_string(sample.share),
                                    "--fuzz",           std::to_string(o.fuzz.count),
                                    "--fuzz-seed",      std::to_string(o.fuzz.first_seed),
                                    "--time-limit",     std::to_string(o.time_limit),
                                    "--from",           std::to_string(from)};
  for (const std::string& text : o.chosen.filters) words.insert(words.end(), {"--filter", text});
  for (const std::string& text : o.chosen.excluded) words.insert(words.end(), {"--exclude", text});
  if (o.list) words.emplace_back("--list");
  return words;
}

void run_in_children(const verify_options& options, verify_report& report) {
  const auto patience = [&] { return options.time_limit; };
  const auto on_line = [&](std::string_view text) {
    const json line = json::parse(text, nullptr, false);
    if (line.is_object()) report.take(line);
  };
  int ends = 0, hangs = 0;
  do {
    const uint64_t first = report.next();
    const child_end end = run_self(child_arguments(options, first), patience, on_line);
    if (!report.is_done() || end.how != child_end::kind::exited || end.number != 0)
      report.take_end(text_of(end, options.time_limit));
    (end.how == child_end::kind::silent ? hangs : ends) += 1;
    if (ends == most_ends || hangs == most_hangs || report.next() == first) break;
  } while (report.is_more());
  report.give_up(fmt::format("{} processes have ended and {} did not come back", ends, hangs));
}

int run_verify(const verify_options& options) {
  if (options.is_child) {
    be_a_child();
    run_checks(options, report_line);
    return 0;
  }
  verify_report report(options);
  if (options.in_process)
    run_checks(options, [&](const json& line) { report.take(line); });
  else
    run_in_children(options, report);
  return report.finish();
}

void add_options(CLI::App& parser, verify_options& o) {
  parser.add_option("plugin", o.plugin, "The plugin's file, libtutti_NAME.so")
      ->required()
      ->check([](const std::string& path) {
        return CLI::ExistingFile(path).empty()
                   ? ""
                   : "expected the path of a plugin, such as .../libtutti_cpu.so, got " + path;
      });
  parser.add_option("--device", o.device, "Index of the device (0)")
      ->check(whole_number(0, UINT32_MAX));
  parser.add_option("--filter", o.chosen.filters, "Run only groups whose name contains the text")
      ->allow_extra_args(false);
  parser.add_option("--exclude", o.chosen.excluded, "Skip groups whose name contains the text")
      ->allow_extra_args(false);
  conformance::sampling& sample = o.chosen.sample;
  parser
      .add_option("--every", sample.every,
                  "Run one of N families of programs of each dtype except f32: operations, casts, "
                  "layouts, reductions (1)")
      ->check(whole_number(1, UINT64_MAX));
  parser
      .add_option("--every-operator", sample.every_operator,
                  "Run one of N operators of each dtype except f32, and of random chains (1)")
      ->check(whole_number(1, UINT64_MAX));
  parser
      .add_option("--every-f32", sample.every_f32, "Run one of N programs and operators of f32 (1)")
      ->check(whole_number(1, UINT64_MAX));
  parser
      .add_option("--share", sample.share,
                  "Index of the family among N: shares 0 to N - 1 cover all of them (0)")
      ->check(whole_number(0, UINT64_MAX));
  parser
      .add_option("--require", o.required,
                  "Groups whose name contains the text fail if the plugin lacks a required feature")
      ->allow_extra_args(false);
  parser.add_option("--seed", o.seed, "Seed of the random operands and programs (1)")
      ->check(whole_number(0, UINT64_MAX));
  parser
      .add_option("--fuzz", o.fuzz.count,
                  "Test N random descriptions, most of them malformed, instead of the groups")
      ->check(whole_number(0, most_fuzzed));
  parser
      .add_option("--fuzz-seed", o.fuzz.first_seed,
                  "Seed of the first description (1), incremented for the others")
      ->check(whole_number(0, UINT64_MAX));
  parser
      .add_option("--time-limit", o.time_limit, "Seconds after which a group counts as hung (300)")
      ->check(seconds_between(0.1, 86400));
  parser.add_flag("--in-process", o.in_process,
                  "Run the plugin in this process, for debuggers and memory checkers");
  parser.add_flag("--list", o.list, "Print the names of the groups");
  parser.add_flag("--json", o.json, "Print JSON at the end");
  parser.add_flag("--quiet", o.quiet, "Print only failures");
  parser.add_option("--from", o.from)->group("");
  parser.add_flag("--child", o.is_child)->group("");
}

}  // namespace
}  // namespace tutti::tools

int main(int argc, char** argv) {
  using namespace tutti::tools;
  CLI::App app("Check a plugin against the specification in plugin.h", "tutti verify");
  verify_options options;
  add_options(app, options);
  return run_program(app, argc, argv, [&] { return run_verify(options); });
}
