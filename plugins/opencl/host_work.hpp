// SPDX-License-Identifier: Apache-2.0
//
// Functions of the host in the order of a stream: LAPACK's, on CPU devices.
#pragma once

#include <functional>

#include "opencl/objects.hpp"

namespace tutti::opencl {

/// Runs `work` in the stream's worker thread, behind all that the stream has; what is enqueued
/// afterwards waits for it. What it throws fails its event or, where `event` is NULL, what comes
/// after it.
void run_on_host(tutti_stream& stream, std::function<void()> work, tutti_event** event);

}  // namespace tutti::opencl
