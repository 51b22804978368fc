// SPDX-License-Identifier: Apache-2.0
//
// Host functions in stream order: LAPACK, on CPU devices.
#pragma once

#include <functional>

#include "opencl/objects.hpp"

namespace tutti::opencl {

/// Runs `work` in the stream's worker thread, after all work of the stream; work that is enqueued
/// afterwards waits for it. An exception fails its event or, if `event` is NULL, later work.
void run_on_host(tutti_stream& stream, std::function<void()> work, tutti_event** event);

}  // namespace tutti::opencl
