// SPDX-License-Identifier: Apache-2.0
//
// What the tests of parallel loops share: a body with an answer known on the host, and a sink that
// notes every index it gets.
#pragma once

#include <mutex>
#include <ostream>

#include "tutti_test/arrays.hpp"

namespace tutti {
inline std::ostream& operator<<(std::ostream& out, loop_policy p) { return out << to_string(p); }
}  // namespace tutti

namespace tutti_test {

inline constexpr tutti::loop_policy every_policy[] = {
    tutti::loop_policy::static_equal, tutti::loop_policy::weighted, tutti::loop_policy::dynamic,
    tutti::loop_policy::work_stealing};

/// i * i + 1 for the indices of the chunk, exact in f32 for |i| < 2896.
inline std::vector<tutti::array> squares(const tutti::chunk& c) {
  const tutti::array i = tutti::arange(static_cast<double>(c.begin), static_cast<double>(c.end), 1,
                                       tutti::dtype::f32, c.device);
  return {i * i + 1.f};
}

/// Sink of squares() over `range`: how often each index came, and how many values were wrong.
class collector {
 public:
  explicit collector(const tutti::index_range& range)
      : range_(range), seen_(static_cast<std::size_t>(range.size()), 0) {}

  tutti::chunk_sink sink() {
    return [this](const tutti::chunk& c, const tutti::chunk_results& r) { add(c, r); };
  }
  /// True where each index came once, with the right value.
  bool complete() const {
    for (const int n : seen_)
      if (n != 1) return false;
    return wrong_ == 0;
  }
  int wrong() const { return wrong_; }
  int calls() const { return calls_; }

 private:
  void add(const tutti::chunk& c, const tutti::chunk_results& r) {
    ++calls_;
    const std::span<const float> values = r.values<float>();
    if (static_cast<std::int64_t>(values.size()) != c.size()) ++wrong_;
    for (std::int64_t i = c.begin; i < c.end; ++i) {
      ++seen_[static_cast<std::size_t>(i - range_.begin)];
      const float expected = static_cast<float>(i * i + 1);
      if (values[static_cast<std::size_t>(i - c.begin)] != expected) ++wrong_;
    }
  }

  tutti::index_range range_;
  std::vector<int> seen_;
  int wrong_ = 0;
  int calls_ = 0;
};

}  // namespace tutti_test
