// SPDX-License-Identifier: Apache-2.0
//
// Groups the instructions of a program into loops of machine code.
#include <algorithm>

#include "sdk/host_engine/block_program.hpp"

namespace tutti::sdk {
namespace {

bool contains(const std::vector<uint32_t>& values, uint32_t value) {
  return std::find(values.begin(), values.end(), value) != values.end();
}

}  // namespace

// Whether `next` may be added to a loop of `steps`.
bool block_program::fits(const std::vector<block_step>& steps, const block_step& next) const {
  if (!fused_loop::takes(next.what)) return false;
  for (uint32_t operand : next.operands)
    if (is_scalar(operand) && values_[operand].element < 4) return false;
  const uint32_t width = fused_loop::width(next.what);
  return std::all_of(steps.begin(), steps.end(), [&](const block_step& step) {
    const uint32_t other = fused_loop::width(step.what);
    return width == 0 || other == 0 || width == other;
  });
}

// `later`: the steps after the loop.
block_program::block_step block_program::loop_of(const std::vector<block_step>& steps,
                                                 const std::vector<block_step>& later,
                                                 uint32_t bits) const {
  fused_loop::description what;
  what.first_scalar = static_cast<uint32_t>(inputs_.size());
  what.scalars = scalars_;
  block_step loop;
  std::vector<uint32_t> made, wanted = results_;
  for (const block_step& step : later)
    wanted.insert(wanted.end(), step.operands.begin(), step.operands.end());
  for (const block_step& step : steps) {
    for (uint32_t operand : step.operands) {
      if (is_scalar(operand) || contains(made, operand) || contains(loop.operands, operand))
        continue;
      loop.operands.push_back(operand);
      what.inputs.push_back(
          {operand, values_[operand].dtype, is_single(operand), operand == totals_});
    }
    const uint32_t result = step.results[0];
    made.push_back(result);
    what.instructions.push_back(step.what);
    if (!contains(wanted, result)) continue;
    loop.results.push_back(result);
    what.results.push_back({result, values_[result].dtype, false, contains(step.operands, totals_),
                            fused_loop::widens(step.what)});
  }
  loop.loop = fused_loop::make(what, bits);
  return loop;
}

// Alternates between ready instructions that loops support and others, so that loops are few.
void block_program::fuse_steps(uint32_t loop_bits) {
  std::vector<block_step> left = std::move(steps_);
  steps_.clear();
  std::vector<bool> known(values_.size(), false);
  std::fill_n(known.begin(), inputs_.size() + scalars_, true);
  if (totals_ != no_value) known[totals_] = true;
  // Moves the ready steps that satisfy `chosen` out of `left`.
  const auto take = [&](const auto& chosen) {
    std::vector<block_step> taken, rest;
    for (block_step& step : left) {
      const bool ready = std::all_of(step.operands.begin(), step.operands.end(),
                                     [&](uint32_t value) { return known[value]; });
      const bool is = ready && chosen(taken, step);
      if (is) known[step.results[0]] = true;
      (is ? taken : rest).push_back(std::move(step));
    }
    left = std::move(rest);
    return taken;
  };
  while (!left.empty()) {
    auto steps = take([&](const auto& taken, const block_step& step) { return fits(taken, step); });
    block_step loop;
    while (!steps.empty() && (loop = loop_of(steps, left, loop_bits)).loop == nullptr &&
           steps.size() > 1) {
      // Too many live values: the second half goes into a later loop.
      const auto half = steps.begin() + static_cast<std::ptrdiff_t>(steps.size() / 2);
      for (auto step = half; step != steps.end(); ++step) known[step->results[0]] = false;
      left.insert(left.begin(), half, steps.end());
      steps.erase(half, steps.end());
    }
    if (loop.loop != nullptr) steps = {std::move(loop)};
    steps_.insert(steps_.end(), steps.begin(), steps.end());
    steps = take([&](const auto&, const block_step& step) { return !fits({}, step); });
    steps_.insert(steps_.end(), steps.begin(), steps.end());
  }
}

}  // namespace tutti::sdk
