// SPDX-License-Identifier: Apache-2.0
//
// The report of `tutti verify`: receives the output of the checks, from any number of processes,
// and prints it as it arrives, or as JSON at the end.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "verify.hpp"

namespace tutti::tools {

class verify_report {
 public:
  explicit verify_report(const verify_options& options) : options_(options) {}

  /// The output of run_checks.
  void take(const nlohmann::json& line);
  /// The process of the checks has ended, as described by `how`; the current group has failed.
  void take_end(const std::string& how);
  /// Nothing more is run, and why: "since ...".
  void give_up(const std::string& why);

  bool is_done() const { return is_done_; }
  /// The first group that has not run; one beyond the last represents the capabilities.
  uint64_t next() const { return next_; }
  bool is_more() const { return has_groups_ && !is_done_ && next_ <= names_.size(); }

  /// Prints the rest. Returns the exit status.
  int finish();

 private:
  struct row {
    std::string name, outcome, text;
  };

  void begin_group(uint64_t number);
  void add_row(const std::string& name);
  void end_group(const std::string& outcome, const std::string& found);
  /// The finding, the check, and how to repeat it.
  std::string told(const std::string& text) const;
  void require_groups();
  void print_header() const;
  void print_summary() const;
  void print_json(int status) const;
  size_t count(const char* outcome) const;

  const verify_options& options_;
  nlohmann::json about_, can_;
  std::vector<std::string> names_;
  std::vector<row> rows_;
  // By operation and dtype: the largest error and its bound.
  std::map<std::pair<std::string, std::string>, std::pair<uint64_t, uint64_t>> errors_;
  std::optional<uint64_t> running_;
  std::string step_ = "the start of its process", note_, no_driver_;
  uint64_t next_ = 0;
  bool has_groups_ = false, is_done_ = false;
};

}  // namespace tutti::tools
