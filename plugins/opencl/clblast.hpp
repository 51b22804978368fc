// SPDX-License-Identifier: Apache-2.0
//
// Matrix products by CLBlast, where it is installed.
#pragma once

#include "opencl/objects.hpp"

namespace tutti::opencl {

// Takes the product to CLBlast where it is present, right on this device and wanted; else false.
// clblast_serves tells beforehand, from views that may lack buffers.
bool clblast_serves(tutti_device& device, const tutti_operator_launch& launch);
bool clblast_matmul(tutti_stream& stream, const tutti_operator_launch& launch, tutti_event** event);

}  // namespace tutti::opencl
