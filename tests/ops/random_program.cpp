// SPDX-License-Identifier: Apache-2.0
//
// Random programs: drawing them. Deep rather than wide, and no array beyond 4000 elements.
#include <algorithm>

#include "expression.hpp"

namespace tutti_test {
namespace {

using tutti::shape;

constexpr int real_unary_count = 11;
constexpr int binary_count = 5;

// ---- shapes

bool broadcast_of(step& s, const program& steps) {
  shape to;
  try {
    for (int f : s.from) to = tutti::broadcast_shapes(to, steps[std::size_t(f)].shape);
  } catch (const tutti::error&) {
    return false;
  }
  s.shape = to;
  return true;
}

bool slice_of(step& s, const shape& from) {
  const auto axis = static_cast<int>(s.numbers[0]);
  const std::int64_t start = s.numbers[1], by = s.numbers[2];
  if (axis >= from.rank() || start >= from[axis]) return false;
  s.shape = from;
  s.shape[axis] = by > 0 ? (from[axis] - start + by - 1) / by : start / -by + 1;
  return true;
}

// The shape that it has, as far as the operand can still be stretched to it.
bool stretched(step& s, const shape& from) {
  const int added = s.shape.rank() - from.rank();
  if (added < 0) return false;
  for (int i = 0; i < from.rank(); ++i)
    if (from[i] != 1) s.shape[added + i] = from[i];
  return true;
}

bool joined_of(step& s, const shape& a, const shape& b) {
  shape other = b;
  if (a.rank() != b.rank() || s.choice >= a.rank()) return false;
  other[s.choice] = a[s.choice];
  if (other != a) return false;
  other[s.choice] += b[s.choice];
  s.shape = other;
  return true;
}

bool without_axes(step& s, const shape& from) {
  shape to;
  for (int i = 0; i < from.rank(); ++i)
    if (std::find(s.numbers.begin(), s.numbers.end(), i) == s.numbers.end()) to.push_back(from[i]);
  const bool fits = to.rank() + s.numbers.rank() == from.rank();
  s.shape = to;
  return fits;
}

// The shape of a step whose operands fit; false where they do not.
bool infer_shape(step& s, const program& steps) {
  const auto from = [&](std::size_t k) -> const shape& {
    return steps[static_cast<std::size_t>(s.from[k])].shape;
  };
  switch (s.what) {
    case operation::input:
      return true;
    case operation::binary:
    case operation::compare:
    case operation::where:
    case operation::to_complex:
      return broadcast_of(s, steps);
    case operation::reshape:
      if (s.shape.size() != from(0).size()) s.shape = {from(0).size()};
      return true;
    case operation::transpose:
      if (s.numbers.rank() != from(0).rank()) return false;
      s.shape = from(0);
      for (int i = 0; i < s.shape.rank(); ++i) s.shape[i] = from(0)[static_cast<int>(s.numbers[i])];
      return true;
    case operation::slice:
      return slice_of(s, from(0));
    case operation::broadcast:
      return stretched(s, from(0));
    case operation::reduce:
      return without_axes(s, from(0));
    case operation::concatenate:
      return joined_of(s, from(0), from(1));
    case operation::product:
      if (from(0).rank() != 2 || from(1).rank() != 2 || from(0)[1] != from(1)[0]) return false;
      s.shape = {from(0)[0], from(1)[1]};
      return true;
    case operation::take:
      s.shape = from(0);
      if (s.shape.rank() == 0) return false;
      for (std::int64_t place : s.numbers)
        if (place < -s.shape[0] || place >= s.shape[0]) return false;
      s.shape[0] = s.numbers.rank();
      return true;
    case operation::scan:
    case operation::sort:
    case operation::argsort:
      s.shape = from(0);
      return s.numbers[0] < s.shape.rank();
    default:
      s.shape = from(0);
      return true;
  }
}

// ---- drawing

class generator {
 public:
  explicit generator(std::uint64_t seed) : engine_(seed) {}

  program draw(int length) {
    for (int i = 0; i < 4; ++i) input(i % 2 == 1 ? value_kind::integer : value_kind::real);
    input(below(2) == 0 ? value_kind::truth : value_kind::complex);
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

  void input(value_kind kind) {
    step s{operation::input, 0, {}, {}, {}, kind, {}};
    const int rank = below(4);
    for (int i = 0; i < rank; ++i) s.shape.push_back(1 + below(6));
    const std::uint64_t salt = engine_();
    shape drawn = s.shape;
    if (kind == value_kind::complex) drawn.push_back(2);
    if (kind == value_kind::integer)
      s.values = random_integers(drawn, -48, 48, salt);
    else if (kind == value_kind::truth)
      s.values = random_integers(drawn, 0, 1, salt);
    else
      s.values = random_dense(drawn, -2, 2, salt);
    s.values.extents = s.shape;
    steps_.push_back(std::move(s));
  }

  // Adds the step where its operands fit.
  bool push(operation what, std::vector<int> from, value_kind kind, int choice = 0,
            const shape& numbers = {}, const shape& to = {}) {
    step s{what, choice, std::move(from), to, numbers, kind, {}};
    if (!infer_shape(s, steps_) || s.shape.size() > 4000) return false;
    steps_.push_back(std::move(s));
    return true;
  }

  void next() {
    const int a = any();
    const value_kind kind = at(a).kind;
    switch (below(15)) {
      case 0:
      case 1:
        push(operation::unary, {a}, kind, below(real_unary_count));
        return;
      case 2:
      case 3:
        return pair(operation::binary, a, kind, below(binary_count));
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
      case 12:
        return along_axis(a);
      default:
        return converted(a);
    }
  }

  // With another array of the same kind that broadcasts.
  void pair(operation what, int a, value_kind to, int choice) {
    for (int attempt = 0; attempt < 8; ++attempt) {
      const int b = any();
      if (at(b).kind == at(a).kind && push(what, {a, b}, to, choice)) return;
    }
  }

  void choose(int a) {
    for (int attempt = 0; attempt < 20; ++attempt) {
      const int b = any(), c = any();
      if (at(b).kind == at(a).kind && at(c).kind == value_kind::truth &&
          push(operation::where, {c, a, b}, at(a).kind))
        return;
    }
  }

  void converted(int a) {
    switch (at(a).kind) {
      case value_kind::integer:
        if (below(2) == 0) return pair(operation::compare, a, value_kind::truth, below(4));
        push(operation::to_real, {a}, value_kind::real);
        return;
      case value_kind::truth:
        push(operation::to_integer, {a}, value_kind::integer);
        return;
      case value_kind::complex:
        push(operation::part, {a}, value_kind::real, below(3));
        return;
      default:
        return pair(operation::to_complex, a, value_kind::complex, 0);
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
    push(operation::reshape, {a}, at(a).kind, 0, {}, to);
  }

  void transposed(int a) {
    shape axes = at(a).shape;
    for (int i = 0; i < axes.rank(); ++i) axes[i] = i;
    std::shuffle(axes.begin(), axes.end(), engine_);
    push(operation::transpose, {a}, at(a).kind, 0, axes);
  }

  // One axis at a time: numbers holds axis, start, step.
  void sliced(int a) {
    const shape& from = at(a).shape;
    if (from.rank() == 0) return;
    const int axis = below(from.rank());
    const std::int64_t start = below(from[axis]);
    const std::int64_t steps[] = {1, 2, -1, -2};
    push(operation::slice, {a}, at(a).kind, 0, {axis, start, steps[below(4)]});
  }

  void broadcast(int a) {
    shape to = at(a).shape;
    if (to.rank() > 4) return;
    for (int i = 0; i < to.rank(); ++i)
      if (to[i] == 1) to[i] = 1 + below(3);
    to.insert(0, 1 + below(3));
    push(operation::broadcast, {a}, at(a).kind, 0, {}, to);
  }

  void reduced(int a) {
    shape axes;
    for (int i = 0; i < at(a).shape.rank(); ++i)
      if (below(2) == 0) axes.push_back(i);
    push(operation::reduce, {a}, at(a).kind, below(3), axes);
  }

  void along_axis(int a) {
    const int rank = at(a).shape.rank();
    const value_kind kind = at(a).kind;
    if (rank == 0 || kind == value_kind::truth || kind == value_kind::complex) return;
    const shape axis = {below(rank)};
    if (below(2) == 0) {
      push(operation::scan, {a}, kind, below(3), axis);
    } else {
      // Positions are continuous in nothing.
      const bool positions = kind == value_kind::integer && below(2) == 0;
      push(positions ? operation::argsort : operation::sort, {a}, kind, below(2), axis);
    }
  }

  void joined(int a) {
    const int rank = at(a).shape.rank();
    if (rank == 0 || at(a).shape.size() > 1000) return;
    const int axis = below(rank);
    for (int attempt = 0; attempt < 8; ++attempt) {
      const int b = attempt < 7 ? any() : a;
      if (at(b).kind == at(a).kind && push(operation::concatenate, {a, b}, at(a).kind, axis))
        return;
    }
  }

  void multiplied(int a) {
    const value_kind kind = at(a).kind;
    if (kind != value_kind::real && kind != value_kind::complex) return;
    for (int b = 0; b < static_cast<int>(steps_.size()); ++b)
      if (at(b).kind == kind && push(operation::product, {a, b}, kind)) return;
  }

  void taken(int a) {
    const shape& from = at(a).shape;
    if (from.rank() == 0 || from.size() > 1000) return;
    shape places;
    for (int n = 1 + below(5); n > 0; --n) places.push_back(below(2 * from[0]) - from[0]);
    push(operation::take, {a}, at(a).kind, 0, places);
  }

  std::mt19937_64 engine_;
  program steps_;
};

}  // namespace

program random_program(std::uint64_t seed, int length) { return generator(seed).draw(length); }

}  // namespace tutti_test
