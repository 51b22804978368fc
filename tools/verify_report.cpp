// SPDX-License-Identifier: Apache-2.0
#include "verify_report.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <set>

#include "base/one_line.hpp"
#include "text.hpp"

namespace tutti::tools {
namespace {

using nlohmann::json;

constexpr uint64_t outside = UINT64_MAX;  // not in any group
constexpr const char* opening = "the opening of the device";
constexpr const char* closing = "the end of the process";
constexpr const char* asking = "what the device can do";

std::string string_of(const json& object, const char* key) {
  return base::one_line(object.value(key, ""), 1000);
}

std::string joined(const json& names, const char* between) {
  return fmt::format("{}", fmt::join(names.get<std::vector<std::string>>(), between));
}

/// "all 84", "3 of 84", or the missing ones if they are few.
std::string share_text(size_t whole, const std::vector<std::string>& missing) {
  constexpr size_t few = 6;
  if (missing.empty()) return fmt::format("all {}", whole);
  const std::string some = fmt::format("{} of {}", whole - missing.size(), whole);
  if (missing.size() > few) return some;
  return fmt::format("{}, without {}", some, fmt::join(missing, ", "));
}

/// The number of rows for the dtypes in which the device computes: one line for equal ones.
void print_shares(const char* title, const json& rows, const json& dtypes) {
  std::vector<std::pair<std::string, std::string>> lines;  // the share, and its dtypes
  for (const json& dtype : dtypes) {
    size_t whole = 0;
    std::vector<std::string> missing;
    for (const json& row : rows) {
      const auto has = [&](const char* key) {
        return std::ranges::find(row[key], dtype) != row[key].end();
      };
      if (has("lacks")) missing.push_back(row["name"]);
      whole += has("dtypes") || has("lacks") ? 1 : 0;
    }
    if (whole == 0) continue;
    const std::string share = share_text(whole, missing), name = dtype.get<std::string>();
    const auto same = std::ranges::find(lines, share, [](const auto& line) { return line.first; });
    if (same == lines.end())
      lines.emplace_back(share, name);
    else
      same->second += " " + name;
  }
  for (const auto& [share, names] : lines) fmt::print("  {:<11} {} of {}\n", title, share, names);
}

void print_abilities(const json& can) {
  fmt::print("\nthe device\n  stores      {}\n  computes    {}\n",
             joined(can["stored_dtypes"], " "), joined(can["computed_dtypes"], " "));
  print_shares("operations", can["operations"], can["computed_dtypes"]);
  print_shares("reductions", can["reductions"], can["computed_dtypes"]);
  for (const json& row : can["operators"])
    fmt::print("  {:<11} {}\n", row["name"].get<std::string>(),
               row["dtypes"].empty() ? "-" : joined(row["dtypes"], " "));
  const auto list = [](const json& names) { return names.empty() ? "-" : joined(names, ", "); };
  fmt::print("  has         {}\n  lacks       {}\n", list(can["optional"]), list(can["lacks"]));
  if (!can["kernel_languages"].empty())
    fmt::print("  kernels of  {}\n", list(can["kernel_languages"]));
}

}  // namespace

void verify_report::take(const json& line) {
  if (line.contains("step")) step_ = line.value("step", "");
  if (line.contains("note")) note_ = line.value("note", "");
  if (line.contains("about") && about_.is_null()) {
    about_ = line["about"];
    print_header();
  }
  if (line.contains("groups") && !has_groups_) {
    names_ = line["groups"].get<std::vector<std::string>>();
    has_groups_ = true;
  }
  if (line.contains("group")) begin_group(line["group"].get<uint64_t>());
  if (line.contains("result")) {
    const json& result = line["result"];
    for (const json& error : result["errors"]) {
      auto& [worst, allowed] = errors_[{error.value("operation", ""), error.value("dtype", "")}];
      worst = std::max(worst, error.value("worst_ulps", uint64_t{0}));
      allowed = error.value("allowed_ulps", uint64_t{0});
    }
    end_group(result.value("outcome", ""), result.value("text", ""));
  }
  if (line.contains("can")) {
    can_ = line["can"];
    running_.reset();
  }
  if (line.contains("no_driver")) no_driver_ = line.value("no_driver", "");
  if (line.contains("problem")) {
    if (!running_) begin_group(outside);
    end_group("failed", line.value("problem", ""));
  }
  if (line.contains("done")) is_done_ = true;
}

void verify_report::begin_group(uint64_t number) {
  running_ = number;
  note_.clear();
  if (number != outside) next_ = number + 1;
  // A query is not a check: it is only reported if it fails.
  if (has_groups_ && number == names_.size()) return;
  add_row(number < names_.size() ? names_[number] : is_done_ ? closing : opening);
}

void verify_report::add_row(const std::string& name) {
  rows_.push_back({name, "", ""});
  if (options_.json || options_.quiet) return;
  fmt::print("{:<40} ", name);
  std::fflush(stdout);
}

std::string verify_report::told(const std::string& text) const {
  std::string all = text;
  if (!note_.empty()) all += "; asked was: " + note_;
  if (options_.fuzz.count > 0 && running_ && *running_ < names_.size()) {
    const std::string& name = names_[*running_];
    all += "; again: --fuzz 1 --fuzz-seed " + name.substr(name.rfind('/') + 1);
  }
  return all;
}

void verify_report::end_group(const std::string& outcome, const std::string& found) {
  const bool failed = outcome == "failed";
  const std::string text = failed ? told(found) : found;
  if (has_groups_ && running_ == names_.size()) add_row(asking);
  running_.reset();
  row& r = rows_.back();
  r.outcome = outcome;
  r.text = text;
  if (options_.json) return;
  if (options_.quiet && failed)
    fmt::print("FAIL  {}: {}\n", r.name, text);
  else if (!options_.quiet)
    fmt::print("{}\n", outcome == "passed" ? "ok" : failed ? "FAIL: " + text : "left out: " + text);
  std::fflush(stdout);
}

void verify_report::take_end(const std::string& how) {
  if (!running_) begin_group(outside);
  const bool is_opening = running_ == outside && !is_done_;
  end_group("failed", is_opening ? how + " within " + step_ : how);
}

void verify_report::give_up(const std::string& why) {
  for (; next_ < names_.size(); ++next_) rows_.push_back({names_[next_], "not run", why});
}

size_t verify_report::count(const char* outcome) const {
  return static_cast<size_t>(
      std::ranges::count_if(rows_, [&](const row& r) { return r.outcome == outcome; }));
}

void verify_report::require_groups() {
  for (const std::string& text : options_.required) {
    bool is_there = false;
    for (row& r : rows_) {
      if (r.name.find(text) == std::string::npos) continue;
      is_there = true;
      if (r.outcome != "left out") continue;
      r.outcome = "failed";
      r.text = "required, but left out: " + r.text;
      if (!options_.json) fmt::print("FAIL  {}: {}\n", r.name, r.text);
    }
    if (is_there) continue;
    rows_.push_back({text, "failed", "required, but the device has no such group"});
    if (!options_.json) fmt::print("FAIL  {}: {}\n", text, rows_.back().text);
  }
}

void verify_report::print_header() const {
  if (options_.json || options_.list) return;
  fmt::print("{} {}, device {}: {} ({}, schedule {}), seed {}\n", string_of(about_, "name"),
             string_of(about_, "version"), options_.device, string_of(about_, "device"),
             string_of(about_, "driver"), string_of(about_, "schedule"), options_.seed);
  std::fflush(stdout);
}

void verify_report::print_summary() const {
  std::map<std::string, size_t> reasons;
  for (const row& r : rows_)
    if (r.outcome == "left out") ++reasons[r.text];
  if (!reasons.empty()) fmt::print("\nleft out\n");
  for (const auto& [reason, groups] : reasons)
    fmt::print("  {:>5}  {}\n", groups, base::one_line(reason, 200));
  if (!errors_.empty()) {
    std::set<std::string> dtypes;
    for (const auto& [key, error] : errors_) dtypes.insert(key.second);
    std::vector<std::vector<std::string>> cells = {{"  ulps, worst (allowed)"}};
    for (const std::string& dtype : dtypes) cells[0].push_back(dtype);
    std::string last;
    for (const auto& [key, error] : errors_) {
      if (key.first != last) {
        cells.push_back(std::vector<std::string>(dtypes.size() + 1));
        cells.back()[0] = "  " + (last = key.first);
      }
      const auto column =
          static_cast<size_t>(std::distance(dtypes.begin(), dtypes.find(key.second)));
      cells.back()[column + 1] = fmt::format("{} ({})", error.first, error.second);
    }
    fmt::print("\n{}", table(cells));
  }
  if (!can_.is_null()) print_abilities(can_);
  fmt::print("\n");
}

void verify_report::print_json(int status) const {
  json out = {{"file", options_.plugin},
              {"device_index", options_.device},
              {"seed", options_.seed},
              {"status", status},
              {"plugin", about_},
              {"groups", json::array()},
              {"errors", json::array()},
              {"can", can_},
              {"passed", count("passed")},
              {"failed", count("failed")},
              {"left_out", count("left out")},
              {"not_run", count("not run")}};
  for (const row& r : rows_) {
    json group = {{"name", r.name}, {"outcome", r.outcome}};
    if (!r.text.empty()) group["text"] = r.text;
    out["groups"].push_back(group);
  }
  for (const auto& [key, error] : errors_)
    out["errors"].push_back({{"operation", key.first},
                             {"dtype", key.second},
                             {"worst_ulps", error.first},
                             {"allowed_ulps", error.second}});
  if (!no_driver_.empty()) out["no_driver"] = no_driver_;
  fmt::print("{}\n", out.dump(2, ' ', false, json::error_handler_t::replace));
}

int verify_report::finish() {
  const bool is_listed = options_.list && has_groups_ && count("failed") == 0;
  if (is_listed) {
    if (options_.json)
      fmt::print("{}\n", json(names_).dump(2));
    else
      for (const std::string& name : names_) fmt::print("{}\n", name);
    return 0;
  }
  if (!no_driver_.empty() && !options_.json)
    fmt::print(stderr, "tutti verify: no driver: {}\n", no_driver_);
  if (no_driver_.empty()) require_groups();
  const size_t passed = count("passed"), failed = count("failed"), rest = count("not run");
  int status = failed > 0 || passed == 0 ? 1 : 0;
  if (!no_driver_.empty() && std::getenv("TUTTI_TEST_SKIP_WITHOUT_DRIVER") != nullptr) status = 77;
  if (options_.json) {
    print_json(status);
    return status;
  }
  if (!options_.quiet) print_summary();
  fmt::print("{} passed, {} failed", passed, failed);
  if (const size_t left_out = count("left out"); left_out > 0)
    fmt::print(", {} left out", left_out);
  if (rest > 0) {
    const auto why =
        std::ranges::find_if(rows_, [](const row& r) { return r.outcome == "not run"; });
    fmt::print(", {} not run, since {}", rest, why->text);
  }
  fmt::print("\n");
  return status;
}

}  // namespace tutti::tools
