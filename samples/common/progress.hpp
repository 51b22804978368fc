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

/// The width in characters of the terminal that standard output is; 0 if it is none, or one that
/// nobody looks at: mpirun gives ranks terminals without a width.
int terminal_columns();

class progress {
 public:
  /// `total`: the number of steps. Draws a bar of at most `columns` characters; none if that is 0.
  progress(std::ostream& out, std::int64_t total, int columns = terminal_columns());
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
  /// Prints a line, which takes the place of the bar.
  void report(std::string_view text);

 private:
  void draw();
  std::string rate() const;

  std::ostream& out_;
  std::int64_t total_;
  std::int64_t done_ = 0;
  int columns_;
  bool drawn_ = false;
  std::string unit_{};
  double items_ = 0;
  std::int64_t first_ = 0;
  std::chrono::steady_clock::time_point last_{}, begin_{};
};

}  // namespace samples
