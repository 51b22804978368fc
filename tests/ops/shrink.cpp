// SPDX-License-Identifier: Apache-2.0
//
// Shrinking of programs: every change is kept that leaves the program failing.
#include "shrink.hpp"

#include <algorithm>
#include <set>

namespace tutti_test {
namespace {

using tutti::shape;

// Without the steps that the last one does not depend on.
program needed(const program& steps) {
  std::vector<bool> used(steps.size(), false);
  used.back() = true;
  for (std::size_t i = steps.size(); i-- > 0;)
    if (used[i])
      for (int f : steps[i].from) used[static_cast<std::size_t>(f)] = true;
  program out;
  std::vector<int> place(steps.size());
  for (std::size_t i = 0; i < steps.size(); ++i) {
    place[i] = static_cast<int>(out.size());
    if (!used[i]) continue;
    out.push_back(steps[i]);
    for (int& f : out.back().from) f = place[static_cast<std::size_t>(f)];
  }
  return out;
}

// An input that holds the value of a step.
step held(const step& s, const host_array& value, dtypes types) {
  step out{operation::input, 0, {}, s.shape, {}, s.kind, {s.shape, {}}};
  const bool shifted = s.kind == value_kind::integer && tutti::is_unsigned(types.integer);
  for (const auto& v : value.values) {
    out.values.values.push_back(v.real() - (shifted ? 48 : 0));
    if (s.kind == value_kind::complex) out.values.values.push_back(v.imag());
  }
  return out;
}

// The first `extent` elements along an axis of an input.
void crop(step& input, int axis, std::int64_t extent) {
  const std::size_t parts = input.kind == value_kind::complex ? 2 : 1;
  std::int64_t inner = static_cast<std::int64_t>(parts);
  for (int i = axis + 1; i < input.shape.rank(); ++i) inner *= input.shape[i];
  const std::int64_t row = inner * input.shape[axis];
  std::vector<double> kept;
  for (std::size_t i = 0; i < input.values.values.size(); ++i)
    if (static_cast<std::int64_t>(i) % row < extent * inner) kept.push_back(input.values.values[i]);
  input.shape[axis] = extent;
  input.values = {input.shape, kept};
}

class shrinker {
 public:
  shrinker(const program& steps, dtypes types, const std::function<bool(const program&)>& fails)
      : best_(steps), types_(types), fails_(fails) {}

  program run() {
    for (std::size_t n = 1; n < best_.size(); ++n)
      if (attempt(program(best_.begin(), best_.begin() + static_cast<std::ptrdiff_t>(n)))) break;
    attempt(needed(best_));
    while (cut() || leave_out() || make_smaller()) {
    }
    return best_;
  }

 private:
  bool attempt(program candidate) {
    for (step& s : candidate)
      if (!infer_shape(s, candidate)) return false;
    if (!fails_(candidate)) return false;
    best_ = std::move(candidate);
    return true;
  }

  // Puts an input in a step's place; what only led there goes.
  bool cut() {
    const std::vector<host_array> values = on_host(best_, types_);
    for (std::size_t i = best_.size() - 1; i-- > 0;) {
      if (best_[i].what == operation::input) continue;
      program candidate = best_;
      candidate[i] = held(best_[i], values[i], types_);
      if (attempt(needed(candidate))) return true;
    }
    return false;
  }

  // Lets those who read a step read one of its operands, or another array like it.
  bool leave_out() {
    for (std::size_t i = best_.size() - 1; i-- > 0;) {
      for (std::size_t other = 0; other < i; ++other) {
        if (best_[other].kind != best_[i].kind || best_[other].shape != best_[i].shape) continue;
        program candidate = best_;
        for (step& s : candidate)
          std::replace(s.from.begin(), s.from.end(), static_cast<int>(i), static_cast<int>(other));
        candidate = needed(candidate);
        if (candidate.size() < best_.size() && attempt(candidate)) return true;
      }
    }
    return false;
  }

  // One axis of one input; or all axes of an extent, since operands have to fit each other.
  bool make_smaller() {
    std::set<std::int64_t> extents;
    for (std::size_t i = 0; i < best_.size(); ++i) {
      if (best_[i].what != operation::input) continue;
      for (int axis = 0; axis < best_[i].shape.rank(); ++axis) {
        const std::int64_t extent = best_[i].shape[axis];
        extents.insert(extent);
        for (const std::int64_t smaller : smaller_than(extent)) {
          program candidate = best_;
          crop(candidate[i], axis, smaller);
          if (attempt(candidate)) return true;
        }
      }
    }
    for (const std::int64_t extent : extents) {
      for (const std::int64_t smaller : smaller_than(extent)) {
        program candidate = best_;
        for (step& s : candidate)
          for (int axis = 0; s.what == operation::input && axis < s.shape.rank(); ++axis)
            if (s.shape[axis] == extent) crop(s, axis, smaller);
        if (attempt(candidate)) return true;
      }
    }
    return false;
  }

  static std::set<std::int64_t> smaller_than(std::int64_t extent) {
    if (extent <= 1) return {};
    return {1, extent / 2, extent - 1};
  }

  program best_;
  dtypes types_;
  const std::function<bool(const program&)>& fails_;
};

}  // namespace

program shrink(const program& steps, dtypes types,
               const std::function<bool(const program&)>& fails) {
  return shrinker(steps, types, fails).run();
}

}  // namespace tutti_test
