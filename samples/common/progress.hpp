// SPDX-License-Identifier: Apache-2.0
//
// Progress of a long loop: a bar on a terminal, otherwise plain lines.
#pragma once

#include <chrono>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

namespace samples {

/// Whether standard output is a terminal.
bool output_is_terminal();
/// Its width in characters; 80 if unknown.
int terminal_columns();

class progress {
 public:
  /// `total`: the number of steps. Draws a bar of `columns` characters if `bar` is true.
  progress(std::ostream& out, std::int64_t total, bool bar = output_is_terminal(),
           int columns = terminal_columns());
  /// Shows rate and remaining time, computed from the following steps, each of which has `items`
  /// items of `unit` ("images").
  void show_rate(std::string unit, double items);
  /// Ends the line of the bar.
  ~progress();
  progress(const progress&) = delete;
  progress& operator=(const progress&) = delete;

  /// Adds completed steps. Redraws the bar at most 20 times a second.
  void advance(std::int64_t steps = 1);
  /// Steps that were done before.
  void skip(std::int64_t steps);
  /// Sets the text beside the bar; without a bar, prints it as a line.
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
