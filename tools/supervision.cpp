// SPDX-License-Identifier: Apache-2.0
//
// The child reports JSON, a line each: {"call": function of a plugin}, {"alive": true}, and at the
// end {"print": bytes in hexadecimal} and {"status": exit status}.
#include "supervision.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <charconv>
#include <chrono>
#include <map>
#include <nlohmann/json.hpp>
#include <system_error>

#include "base/log.hpp"
#include "child_process.hpp"
#include "own_output.hpp"
#include "plugin/guarded.hpp"
#include "plugin/records.hpp"
#include "plugin/registry.hpp"

namespace tutti::tools {
namespace {

using nlohmann::json;

/// Lines of up to so many bytes are written at once.
constexpr size_t piece = 1500;

/// Beyond what it grants a plugin.
constexpr double more_patience = 60;  // seconds

bool is_child = false;

std::map<std::string, std::string, std::less<>>& left_out() {
  static auto* const made = new std::map<std::string, std::string, std::less<>>;
  return *made;
}

std::string in_hexadecimal(std::string_view bytes) {
  std::string text;
  for (const char c : bytes) text += fmt::format("{:02x}", static_cast<unsigned char>(c));
  return text;
}

std::string from_hexadecimal(std::string_view text) {
  std::string bytes;
  for (size_t i = 0; i + 1 < text.size(); i += 2) {
    unsigned char c = 0;
    std::from_chars(text.data() + i, text.data() + i + 2, c, 16);
    bytes += static_cast<char>(c);
  }
  return bytes;
}

int be_the_child(const supervision& options, const std::function<int(const printer&)>& work) {
  be_a_child(options.report_to);
  is_child = true;
  detail::watcher_of_calls = [](const char* function) {
    report_line(json{{"call", function}}.dump());
  };
  for (const std::string& text : options.left_out) {
    const size_t end = std::min(text.find('='), text.size());
    const std::string name = text.substr(0, end), why = text.substr(std::min(end + 1, text.size()));
    left_out()[name] = why;
    detail::registry().loader().exclude(name, why);
  }
  const int status = work([](const std::string& text) {
    for (size_t at = 0; at < text.size(); at += piece)
      report_line(json{{"print", in_hexadecimal(text.substr(at, piece))}}.dump());
  });
  report_line(json{{"status", status}}.dump());
  return 0;
}

struct told {
  std::string call = "its start", output;
  std::optional<int> status;

  void take(std::string_view text) {
    const json line = json::parse(text, nullptr, false);
    if (!line.is_object()) return;
    if (line.contains("call")) call = line.value("call", "");
    if (line.contains("print")) output += from_hexadecimal(line.value("print", ""));
    if (line.contains("status")) status = line.value("status", 1);
  }
};

std::string text_of(const child_end& end, const std::string& place, double patience) {
  switch (end.how) {
    case child_end::kind::exited:
      return fmt::format("has ended with exit status {} within {}", end.number, place);
    case child_end::kind::signalled:
      return fmt::format("was ended by {} within {}", signal_text(end.number), place);
    case child_end::kind::silent:
      return fmt::format("did not come back from {} within {} s", place, patience);
    case child_end::kind::not_started:
      break;
  }
  return "could not be started: " + std::generic_category().message(end.number);
}

/// "NAME=why" of those that end a process in which nothing else happens.
std::vector<std::string> find_culprits(const time_limits& limits, double linger) {
  std::vector<std::string> found;
  for (const detail::plugin_file& file : detail::registry().loader().files()) {
    const probe_result result = probe(
        file, depth::devices, limits, [](const finding&) {}, 0, linger);
    if (result.failure.empty()) continue;
    shut_out(file, result);
    found.push_back(fmt::format("{}={}", file.name, result.failure));
  }
  return found;
}

std::string names_of_all() {
  std::string names;
  for (const detail::plugin_file& file : detail::registry().loader().files())
    names += (names.empty() ? "" : ", ") + file.path.string();
  return names;
}

}  // namespace

void add_supervision(CLI::App& parser, supervision& options) {
  parser.add_option("--left-out", options.left_out)->group("")->allow_extra_args(false);
  parser.add_option("--report-to", options.report_to)->group("");
}

int supervised(const supervision& options, std::vector<std::string> arguments,
               const time_limits& limits, const std::function<int(const printer&)>& work) {
  if (!options.report_to.empty()) return be_the_child(options, work);
  const double patience = std::max(limits.listing, limits.computing) + more_patience;
  for (bool is_first = true;; is_first = false) {
    told seen;
    const auto start = std::chrono::steady_clock::now();
    const child_end end = run_self(
        arguments, [patience] { return patience; },
        [&](std::string_view line) { seen.take(line); });
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    const bool is_well = end.how == child_end::kind::exited && end.number == 0;
    if (seen.status) own_output().print(seen.output);
    if (seen.status && !is_well)
      fmt::print(stderr, "tutti: the process that did this {}; plugins: {}\n",
                 text_of(end, "its end", patience), names_of_all());
    if (seen.status) return *seen.status;
    const std::string what = text_of(end, seen.call, patience);
    const std::vector<std::string> culprits =
        is_first ? find_culprits(limits, std::clamp(2 * took.count(), 1.0, 5.0))
                 : std::vector<std::string>();
    if (culprits.empty()) {
      fmt::print(stderr,
                 "tutti: the process that does this {}, and no plugin does that where it is alone; "
                 "one of these: {}\n",
                 what, names_of_all());
      return 1;
    }
    logging::warn("the process that does this {}; it begins anew without the plugin that did it",
                  what);
    for (const std::string& text : culprits)
      arguments.insert(arguments.end(), {"--left-out", text});
  }
}

std::optional<std::string> why_left_out(std::string_view plugin) {
  const auto found = left_out().find(plugin);
  return found != left_out().end() ? std::optional(found->second) : std::nullopt;
}

void tell_alive() {
  if (is_child) report_line(json{{"alive", true}}.dump());
}

void add_words(std::vector<std::string>& arguments, const time_limits& limits) {
  if (limits.listing == limits.computing)  // which they are not where none was given
    arguments.insert(arguments.end(), {"--time-limit", fmt::format("{}", limits.listing)});
}

}  // namespace tutti::tools
