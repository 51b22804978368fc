// SPDX-License-Identifier: Apache-2.0
//
// The node of TUTTI_OPERATOR_FFT, for the public functions and for gradients.
#pragma once

#include <string_view>

#include "op/operands.hpp"

namespace tutti::op {

/// The transform of x [O,M,I] along its second axis, as defined in operator.def. `label` stays
/// valid.
array fourier3(const array& x, const tutti_fft_params& p, const char* label);

}  // namespace tutti::op
