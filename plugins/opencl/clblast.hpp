// SPDX-License-Identifier: Apache-2.0
//
// Matrix products with CLBlast, if it is installed.
#pragma once

#include "opencl/objects.hpp"

namespace tutti::opencl {

// Whether CLBlast is present, correct on this device, selected and supports the product; then
// clblast_matmul runs it. clblast_matmul returns false if that fails, so that own kernels must be
// used.
bool clblast_serves(tutti_device& device, const sdk::operator_call& call);
bool clblast_matmul(tutti_stream& stream, const sdk::operator_call& call,
                    const sdk::operator_memory& memory, tutti_event** event);

}  // namespace tutti::opencl
