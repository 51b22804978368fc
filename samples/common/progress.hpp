// SPDX-License-Identifier: Apache-2.0
//
// Progress of a long loop: a bar drawn in place on a terminal, plain lines elsewhere.
#pragma once

#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

namespace samples {

/// Whether standard output is a terminal.
bool output_is_terminal();
/// Its width in characters; 80 where unknown.
int terminal_columns();

class progress {
 public:
  /// `total` steps in all. A bar where `bar` is true, `columns` wide.
  progress(std::ostream& out, std::int64_t total, bool bar = output_is_terminal(),
           int columns = terminal_columns());
  /// The bar shows rate and remaining time, by the steps since now: each is `items` of these
  /// ("images").
  void show_rate(std::string unit, double items);
  /// Ends the bar's line.
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  /// So many more steps are done. Redraws the bar at most 20 times a second.
  void advance(std::int64_t steps = 1);
  /// Steps that were done before.
  void skip(std::int64_t steps);
  /// What stands beside the bar from now on; elsewhere, a line of its own.
  void report(std::string_view text);

 private:
  void draw();
  std::string rate() const;

  std::ostream& out_;
  std::int64_t total_;
  std::int64_t done_ = 0;
  bool bar_;
  int columns_;
  bool drawn_ = false;
  std::string text_;
  std::string unit_{};
  double items_ = 0;
  std::int64_t first_ = 0;
  std::chrono::steady_clock::time_point last_{}, begin_{};
};

}  // namespace samples
