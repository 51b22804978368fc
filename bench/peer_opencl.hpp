// SPDX-License-Identifier: Apache-2.0
//
// The least that a launch costs through OpenCL itself.
#pragma once

namespace tutti::bench::peer {

/// True where an OpenCL device of that name exists and an empty kernel builds for it.
bool opencl_present(const char* device_name);

/// Enqueues an empty kernel of one work-item `count` times on that device, then waits.
void empty_launches(int count);

}  // namespace tutti::bench::peer
