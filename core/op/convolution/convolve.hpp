// SPDX-License-Identifier: Apache-2.0
//
// TUTTI_OPERATOR_CONVOLUTION, on which convolutions, their gradients and sums over windows are
// based.
#pragma once

#include <array>

#include "op/operands.hpp"

namespace tutti::op {

using axis_numbers = std::array<std::int64_t, 3>;

/// [N,G,O,P0,P1,P2] with P `to` from x [N,G,C,S0,S1,S2] and w [G,O,C,K0,K1,K2], of one dtype in
/// which devices compute; plugin.h defines it. A view if p specifies channels-last.
array convolve(const array& x, const array& w, const graph::operator_params& p,
               const axis_numbers& to);

/// a [N, C, spatial...] (or with channels last) as [N,G,C/G,S0,S1,S2], and back: a result of
/// convolve as [N, C, spatial...] in that order.
array as_groups(const array& a, std::int64_t groups, bool channels_last);
array from_groups(const array& a, int spatial, bool channels_last);

/// The three numbers of a list for `spatial` axes; the leading ones are `missing`.
axis_numbers spatial_numbers(const shape& values, int spatial, std::int64_t missing);

}  // namespace tutti::op
