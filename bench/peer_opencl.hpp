// SPDX-License-Identifier: Apache-2.0
//
// The minimum cost of a launch in OpenCL.
#pragma once

namespace tutti::bench::peer {

/// Whether an OpenCL device of that name exists and can build an empty kernel.
bool opencl_present(const char* device_name);

/// Enqueues an empty kernel of one work-item `count` times on that device, then waits.
void empty_launches(int count);

}  // namespace tutti::bench::peer
