// SPDX-License-Identifier: Apache-2.0
//
// Whether this process can still compute. Once exit() has begun, drivers lose what they need in an
// order that nobody knows; a fork has the memory of its parent, but none of the drivers' threads.
#pragma once

#include <string_view>

#include "tutti/export.hpp"

namespace tutti::detail {

/// From now on a fork of this process cannot compute: a plugin, and perhaps a driver, is loaded.
TUTTI_INTERNAL_API void note_plugin_loaded();
/// exit() has begun: nothing new is computed, and nothing is released into a driver.
void note_exit() noexcept;
/// What exit() has to wait for is over.
void note_exit_waited() noexcept;

bool is_exiting() noexcept;
bool is_fork() noexcept;

/// Throws device_error "OP: ..." where this process cannot compute any more, before any lock is
/// asked for that a thread of the parent may hold.
TUTTI_INTERNAL_API void require_computing(std::string_view op);

/// Keeps `object` for the rest of the process, where leak checkers see it.
void keep_for_ever(void* object) noexcept;

}  // namespace tutti::detail
