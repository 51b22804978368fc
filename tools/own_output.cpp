// SPDX-License-Identifier: Apache-2.0
#include "own_output.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <stdexcept>
#include <system_error>

namespace tutti::tools {

own_output::own_output() {
  std::fflush(stdout);
  descriptor_ = ::fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
  ::dup2(STDERR_FILENO, STDOUT_FILENO);
}

own_output::~own_output() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

void own_output::print(std::string_view text) const {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor_, text.data(), text.size());
    if (written < 0 && errno == EINTR) continue;
    if (written < 0)
      throw std::runtime_error(fmt::format("cannot write to the standard output: {}",
                                           std::generic_category().message(errno)));
    text.remove_prefix(static_cast<size_t>(written));
  }
}

}  // namespace tutti::tools
