// SPDX-License-Identifier: Apache-2.0
//
// The node of TUTTI_OPERATOR_FFT, for the public functions and for gradients.
#pragma once

#include <string_view>

#include "op/operands.hpp"

namespace tutti::op {

/// The transform of x [O,M,I] along its second axis, as plugin.h tells. `label` stays valid.
array fourier3(const array& x, graph::fft_params p);

/// Extents [outer, length, inner] of a with `length` elements along the second axis: cut, or with
/// zeros behind.
array fitted3(const array& a, std::int64_t length);

}  // namespace tutti::op
