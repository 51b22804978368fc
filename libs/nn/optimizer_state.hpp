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

/// f16 and bf16 as f32: most optimisers compute in f32, because f16 can represent neither their
/// epsilon nor the squares of small gradients.
std::vector<array> all_widened(const std::vector<array>& arrays);

/// Throws unless each array of `state` can belong to a parameter. Computes no array.
void check_loaded(const char* op, std::span<const array> state);

/// Checks that parameters, gradients and state match. `slots`: state arrays per parameter; an empty
/// state is filled with `initial`.
void prepare_state(const char* op, const std::vector<array>& parameters,
                   const std::vector<array>& gradients, std::size_t slots,
                   std::vector<array>& state, double initial = 0);

}  // namespace tutti::nn::detail
