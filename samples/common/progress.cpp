// SPDX-License-Identifier: Apache-2.0
//
// Progress of a long loop. The only file of the samples that uses POSIX terminal functions.
#include "common/progress.hpp"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>

namespace samples {

int terminal_columns() {
  winsize size{};
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

progress::progress(std::ostream& out, std::int64_t total, int columns)
    : out_(out), total_(std::max<std::int64_t>(total, 1)), columns_(columns) {}

progress::~progress() {
  if (drawn_) out_ << '\n' << std::flush;
}

void progress::show_rate(std::string unit, double items) {
  unit_ = std::move(unit);
  items_ = items;
  first_ = done_;
  begin_ = std::chrono::steady_clock::now();
}

void progress::skip(std::int64_t steps) {
  done_ = std::min(done_ + steps, total_);
  first_ = done_;
}

void progress::advance(std::int64_t steps) {
  done_ = std::min(done_ + steps, total_);
  if (columns_ == 0) return;
  const auto now = std::chrono::steady_clock::now();
  if (done_ < total_ && now - last_ < std::chrono::milliseconds(50)) return;
  last_ = now;
  draw();
}

void progress::report(std::string_view text) {
  if (drawn_) out_ << "\r\x1b[K";
  drawn_ = false;
  out_ << text << '\n' << std::flush;
}

std::string progress::rate() const {
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - begin_;
  if (unit_.empty() || done_ == first_ || passed.count() <= 0) return {};
  const double steps = static_cast<double>(done_ - first_) / passed.count();
  const auto left = static_cast<std::int64_t>(static_cast<double>(total_ - done_) / steps);
  return fmt::format("{:.0f} {}/s {}:{:02} left  ", steps * items_, unit_, left / 60, left % 60);
}

void progress::draw() {
  constexpr int longest_bar = 32, percent = 7;  // "[] 100% "
  const std::string beside = rate();
  const int text = static_cast<int>(beside.size());
  // Leave one column free: a full line would wrap on some terminals.
  const int cells = std::clamp(columns_ - 1 - percent - 1 - text, 4, longest_bar);
  const auto full = static_cast<int>(done_ * cells / total_);
  std::string line = fmt::format("[{:#<{}}{:.<{}}] {:3}% {}", "", full, "", cells - full,
                                 done_ * 100 / total_, beside);
  const auto visible = static_cast<std::size_t>(std::max(columns_ - 1, 1));
  if (line.size() > visible) line.resize(visible);
  out_ << '\r' << line << "\x1b[K" << std::flush;
  drawn_ = true;
}

}  // namespace samples
