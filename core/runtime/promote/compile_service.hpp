// SPDX-License-Identifier: Apache-2.0
//
// The other end of compile_process.
#pragma once

#include <string>

#include "tutti/export.hpp"

namespace tutti::runtime {

/// The one argument of the program.
inline constexpr const char* serve_word = "--serve";
/// The first message from it: both ends must be of one build.
TUTTI_INTERNAL_API std::string service_greeting();

/// Compiles what arrives through the socket, and ends the process when nothing will any more: at
/// the end of the connection, whatever is under way, and after some idle minutes.
[[noreturn]] TUTTI_INTERNAL_API void serve_compilations(int socket);

}  // namespace tutti::runtime
