// SPDX-License-Identifier: Apache-2.0
//
// Random programs: drawing them. Deep rather than wide, and no array beyond 4000 elements.
#include <algorithm>

#include "expression.hpp"

namespace tutti_test {
namespace {

using tutti::shape;

constexpr int unary_count = 11;
constexpr int binary_count = 5;

class generator {
 public:
  explicit generator(std::uint64_t seed) : engine_(seed) {}

  program draw(int length) {
    for (int i = 0; i < 4; ++i) input(i % 2 == 1);
    while (static_cast<int>(steps_.size()) < length) next();
    return std::move(steps_);
  }

 private:
  int below(std::int64_t n) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(n)); }
  // Later steps are likelier, so that programs grow deep.
  int any() {
    const int n = static_cast<int>(steps_.size());
    return std::max(below(n), below(n));
  }
  const step& at(int i) const { return steps_[static_cast<std::size_t>(i)]; }

  void input(bool integer) {
    step s{operation::input, 0, {}, {}, {}, integer, {}};
    const int rank = below(4);
    for (int i = 0; i < rank; ++i) s.shape.push_back(1 + below(6));
    const std::uint64_t salt = engine_();
    s.values =
        integer ? random_integers(s.shape, -48, 48, salt) : random_dense(s.shape, -2, 2, salt);
    steps_.push_back(std::move(s));
  }

  void push(operation what, std::vector<int> from, const shape& to, int choice = 0,
            const shape& numbers = {}) {
    const bool integer = at(from.back()).integer && what != operation::to_real;
    steps_.push_back({what, choice, std::move(from), to, numbers, integer, {}});
  }

  void next() {
    const int a = any();
    const shape from = at(a).shape;
    switch (below(13)) {
      case 0:
      case 1:
        return push(operation::unary, {a}, from, below(unary_count));
      case 2:
      case 3:
        return pair(a, operation::binary, below(binary_count));
      case 4:
        return choose(a);
      case 5:
        return reshaped(a);
      case 6:
        return transposed(a);
      case 7:
        return sliced(a);
      case 8:
        return broadcast(a);
      case 9:
        return reduced(a);
      case 10:
        return joined(a);
      case 11:
        return below(2) == 0 ? multiplied(a) : taken(a);
      default:
        if (at(a).integer) push(operation::to_real, {a}, from);
    }
  }

  static bool joinable(const shape& a, const shape& b, shape& to) {
    try {
      to = tutti::broadcast_shapes(a, b);
    } catch (const tutti::error&) {
      return false;
    }
    return to.size() <= 4000;
  }

  void pair(int a, operation what, int choice) {
    for (int attempt = 0; attempt < 8; ++attempt) {
      const int b = any();
      shape to;
      if (at(b).integer != at(a).integer || !joinable(at(a).shape, at(b).shape, to)) continue;
      return push(what, {a, b}, to, choice);
    }
  }

  void choose(int a) {
    for (int attempt = 0; attempt < 20; ++attempt) {
      const int b = any(), x = any(), y = any();
      shape to;
      if (at(b).integer != at(a).integer || !at(x).integer || !at(y).integer) continue;
      if (!joinable(at(a).shape, at(b).shape, to) || !joinable(to, at(x).shape, to) ||
          !joinable(to, at(y).shape, to))
        continue;
      return push(operation::where_less, {x, y, a, b}, to);
    }
  }

  void reshaped(int a) {
    std::int64_t left = at(a).shape.size();
    shape to;
    while (left > 1 && to.rank() < 4) {
      std::int64_t part = 1 + below(left);
      while (left % part != 0) --part;
      to.push_back(part);
      left /= part;
    }
    if (left > 1) to.push_back(left);
    push(operation::reshape, {a}, to);
  }

  void transposed(int a) {
    const shape& from = at(a).shape;
    shape axes = from, to = from;
    for (int i = 0; i < axes.rank(); ++i) axes[i] = i;
    std::shuffle(axes.begin(), axes.end(), engine_);
    for (int i = 0; i < axes.rank(); ++i) to[i] = from[static_cast<int>(axes[i])];
    push(operation::transpose, {a}, to, 0, axes);
  }

  // One axis at a time: numbers holds axis, start, step.
  void sliced(int a) {
    const shape& from = at(a).shape;
    if (from.rank() == 0) return;
    const int axis = below(from.rank());
    const std::int64_t start = below(from[axis]);
    const std::int64_t steps[] = {1, -1, 2, -2};
    const std::int64_t by = steps[below(4)];
    shape to = from;
    to[axis] = by > 0 ? (from[axis] - start + by - 1) / by : start / -by + 1;
    push(operation::slice, {a}, to, 0, {axis, start, by});
  }

  void broadcast(int a) {
    shape to = at(a).shape;
    if (to.rank() >= 5 || to.size() > 1000) return;
    for (int i = 0; i < to.rank(); ++i)
      if (to[i] == 1) to[i] = 1 + below(3);
    to.insert(0, 1 + below(3));
    push(operation::broadcast, {a}, to);
  }

  void reduced(int a) {
    const shape& from = at(a).shape;
    shape axes, to;
    for (int i = 0; i < from.rank(); ++i) (below(2) == 0 ? axes : to).push_back(below(1) + i);
    for (int i = 0; i < to.rank(); ++i) to[i] = from[static_cast<int>(to[i])];
    push(operation::reduce, {a}, to, below(3), axes);
  }

  void joined(int a) {
    const shape& from = at(a).shape;
    if (from.rank() == 0 || from.size() > 1000) return;
    const int axis = below(from.rank());
    for (int attempt = 0; attempt < 8; ++attempt) {
      const int b = attempt < 7 ? any() : a;
      shape other = at(b).shape;
      if (at(b).integer != at(a).integer || other.rank() != from.rank()) continue;
      other[axis] = from[axis];
      if (other != from) continue;
      other[axis] += at(b).shape[axis];
      return push(operation::concatenate, {a, b}, other, axis);
    }
  }

  void multiplied(int a) {
    if (at(a).integer || at(a).shape.rank() != 2) return;
    for (int b = 0; b < static_cast<int>(steps_.size()); ++b) {
      const step& other = at(b);
      if (other.integer || other.shape.rank() != 2 || other.shape[0] != at(a).shape[1]) continue;
      return push(operation::product, {a, b}, {at(a).shape[0], other.shape[1]});
    }
  }

  void taken(int a) {
    const shape& from = at(a).shape;
    if (from.rank() == 0 || from.size() > 1000) return;
    shape places;
    for (int n = 1 + below(5); n > 0; --n) places.push_back(below(2 * from[0]) - from[0]);
    shape to = from;
    to[0] = places.rank();
    push(operation::take, {a}, to, 0, places);
  }

  std::mt19937_64 engine_;
  program steps_;
};

}  // namespace

program random_program(std::uint64_t seed, int length) { return generator(seed).draw(length); }

}  // namespace tutti_test
