// SPDX-License-Identifier: Apache-2.0
//
// Whether this process can still compute. Once exit() has begun, drivers lose their static objects
// in an unknown order; a fork has the memory of its parent, but none of the drivers' threads.
#pragma once

#include <string>
#include <string_view>

#include "tutti/export.hpp"

namespace tutti::base {

/// From now on a fork of this process cannot compute, because a plugin, and perhaps a driver, is
/// loaded.
TUTTI_INTERNAL_API void note_plugin_loaded();
/// exit() has begun: nothing new is computed, and drivers are not called to release objects.
void note_exit() noexcept;
/// The work for which exit() has to wait is done.
void note_exit_waited() noexcept;

bool is_exiting() noexcept;
bool is_fork() noexcept;

/// Throws device_error "OP: ..." if this process cannot compute any more, before it requests any
/// lock that a thread of the parent may hold.
TUTTI_INTERNAL_API void require_computing(std::string_view op);

/// Keeps `object` for the rest of the process, reachable for leak checkers.
void keep_for_ever(void* object) noexcept;

/// A copy of `text` that is kept for the rest of the process; one for equal texts.
const char* lasting(const std::string& text);

}  // namespace tutti::base
