// SPDX-License-Identifier: Apache-2.0
//
// Texts between a process and the one beside it, over a stream socket: the length in 8 bytes,
// then the text. Both ends are of one build.
#pragma once

#include <chrono>
#include <string>
#include <string_view>

#include "tutti/export.hpp"

namespace tutti::detail {

enum class arrived { message, nothing_in_time, closed };

/// False where the other end is gone. No SIGPIPE comes of it.
TUTTI_INTERNAL_API bool send_message(int socket, std::string_view text) noexcept;
/// The next one, waited for until the deadline. What is no message counts as the end.
TUTTI_INTERNAL_API arrived receive_message(int socket, std::string& text,
                                           std::chrono::steady_clock::time_point deadline);

}  // namespace tutti::detail
