// SPDX-License-Identifier: Apache-2.0
#include "new_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>

#include <cerrno>
#include <system_error>

#include "base/descriptor.hpp"
#include "tutti/error.hpp"

namespace tutti::tools {

void write_new_file(const std::filesystem::path& file, std::string_view text, mode_t mode) {
  const auto fail = [&](int number) {
    throw io_error(fmt::format("{}: {}", file.string(), std::generic_category().message(number)));
  };
  base::descriptor out(
      ::open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode));
  if (out.get() < 0) fail(errno);
  errno = 0;
  const ssize_t written = ::write(out.get(), text.data(), text.size());
  if (written == static_cast<ssize_t>(text.size()) && out.close()) return;
  const int number = errno != 0 ? errno : ENOSPC;
  ::unlink(file.c_str());
  fail(number);
}

}  // namespace tutti::tools
