// SPDX-License-Identifier: Apache-2.0
//
// Matrix products by CLBlast, where it is installed.
#pragma once

#include "opencl/objects.hpp"

namespace tutti::opencl {

// Whether CLBlast is present, right on this device, wanted and takes the product; clblast_matmul
// then hands it over. False where it fails after all, so that own kernels have to do it.
bool clblast_serves(tutti_device& device, const sdk::operator_call& call);
bool clblast_matmul(tutti_stream& stream, const sdk::operator_call& call,
                    const sdk::operator_memory& memory, tutti_event** event);

}  // namespace tutti::opencl
