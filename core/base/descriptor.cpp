// SPDX-License-Identifier: Apache-2.0
#include "base/descriptor.hpp"

#include <cerrno>

namespace tutti::base {

std::string read_all(int fd, std::size_t bytes) {
  std::string content(bytes, '\0');
  std::size_t have = 0;
  while (have < content.size()) {
    const ssize_t got = ::read(fd, content.data() + have, content.size() - have);
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) break;
    have += static_cast<std::size_t>(got);
  }
  content.resize(have);
  return content;
}

}  // namespace tutti::base
