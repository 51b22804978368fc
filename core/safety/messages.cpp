// SPDX-License-Identifier: Apache-2.0
#include "safety/messages.hpp"

#include <poll.h>
#include <sys/socket.h>
#include <sys/types.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>

namespace tutti::detail {
namespace {

using std::chrono::steady_clock;

constexpr std::uint64_t longest = std::uint64_t{64} << 20;

bool send_bytes(int socket, const char* bytes, std::size_t count) noexcept {
  while (count > 0) {
    const ssize_t sent = ::send(socket, bytes, count, MSG_NOSIGNAL);
    if (sent < 0 && errno == EINTR) continue;
    if (sent <= 0) return false;
    bytes += sent;
    count -= static_cast<std::size_t>(sent);
  }
  return true;
}

// Rounded up, so that nobody asks again and again within a millisecond; a minute at a time.
int milliseconds_until(steady_clock::time_point deadline) {
  constexpr std::chrono::milliseconds most{60'000}, none{0};
  const auto now = steady_clock::now();
  if (deadline <= now) return 0;
  if (deadline - now > most) return static_cast<int>(most.count());
  const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - now);
  return static_cast<int>(std::clamp(left, none, most).count());
}

arrived receive_bytes(int socket, char* bytes, std::size_t count,
                      steady_clock::time_point deadline) {
  while (count > 0) {
    pollfd waiting{socket, POLLIN, 0};
    const int ready = ::poll(&waiting, 1, milliseconds_until(deadline));
    if (ready < 0 && errno != EINTR) return arrived::closed;
    if (ready <= 0) {
      if (steady_clock::now() >= deadline) return arrived::nothing_in_time;
      continue;
    }
    const ssize_t got = ::recv(socket, bytes, count, MSG_DONTWAIT);
    if (got < 0 && (errno == EINTR || errno == EAGAIN)) continue;
    if (got <= 0) return arrived::closed;
    bytes += got;
    count -= static_cast<std::size_t>(got);
  }
  return arrived::message;
}

}  // namespace

bool send_message(int socket, std::string_view text) noexcept {
  const std::uint64_t length = text.size();
  char head[sizeof length];
  std::memcpy(head, &length, sizeof length);
  return send_bytes(socket, head, sizeof head) && send_bytes(socket, text.data(), text.size());
}

arrived receive_message(int socket, std::string& text, steady_clock::time_point deadline) {
  char head[sizeof(std::uint64_t)];
  if (const arrived end = receive_bytes(socket, head, sizeof head, deadline);
      end != arrived::message)
    return end;
  std::uint64_t length = 0;
  std::memcpy(&length, head, sizeof length);
  if (length > longest) return arrived::closed;
  text.resize(length);
  return receive_bytes(socket, text.data(), text.size(), deadline);
}

}  // namespace tutti::detail
