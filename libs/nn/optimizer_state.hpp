// SPDX-License-Identifier: Apache-2.0
//
// Checks of options and state for all optimisers.
#pragma once

#include <cmath>
#include <span>
#include <vector>

#include "nn/checks.hpp"
#include "tutti/array.hpp"

namespace tutti::nn::detail {

inline bool is_rate(double value) { return std::isfinite(value) && value >= 0; }
inline bool is_decay(double value) { return value >= 0 && value < 1; }

std::vector<array> all_widened(const std::vector<array>& arrays);

/// Throws unless each array of `state` can belong to a parameter. Computes no array.
void check_loaded(const char* op, std::span<const array> state);

/// Checks that parameters, gradients and state match. `slots`: state arrays per parameter; an empty
/// state is filled with `initial`.
void prepare_state(const char* op, const std::vector<array>& parameters,
                   const std::vector<array>& gradients, std::size_t slots,
                   std::vector<array>& state, double initial = 0);

/// After prepare_state(), next(i, parameter, gradient) of each parameter. f16 and bf16 are computed
/// in f32, because f16 can represent neither epsilon nor the squares of small gradients.
template <class F>
std::vector<array> stepped(const char* op, const std::vector<array>& parameters,
                           const std::vector<array>& gradients, std::size_t slots,
                           std::vector<array>& state, double initial, F next) {
  const std::vector<array> wide = all_widened(parameters), slopes = all_widened(gradients);
  prepare_state(op, wide, slopes, slots, state, initial);
  std::vector<array> updated;
  for (std::size_t i = 0; i < parameters.size(); ++i)
    updated.push_back(narrowed(next(i, wide[i], slopes[i]), parameters[i].dtype()));
  return updated;
}

}  // namespace tutti::nn::detail
