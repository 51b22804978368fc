// SPDX-License-Identifier: Apache-2.0
#include "base/small_file.hpp"

#include <fcntl.h>

#include <cerrno>
#include <system_error>

#include "base/descriptor.hpp"
#include "base/fail.hpp"
#include "tutti/error.hpp"

namespace tutti::base {

std::optional<small_file> read_small_file(const std::filesystem::path& path, std::size_t most) {
  const descriptor file(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (file.get() < 0 && (errno == ENOENT || errno == ENOTDIR)) return std::nullopt;
  if (file.get() < 0 && (errno == EMFILE || errno == ENFILE || errno == ENOMEM))
    base::fail<io_error>("{}: cannot be read now: {}", path.string(),
                         std::generic_category().message(errno));
  small_file result;
  if (file.get() < 0 || ::fstat(file.get(), &result.info) != 0)
    base::fail<plugin_error>("{}: cannot be read: {}", path.string(),
                             std::generic_category().message(errno));
  if (!S_ISREG(result.info.st_mode))
    base::fail<plugin_error>("{}: is not a regular file", path.string());
  const auto bytes = static_cast<std::size_t>(result.info.st_size);
  if (bytes > most)
    base::fail<plugin_error>("{}: has {} bytes, at most {} are expected", path.string(), bytes,
                             most);
  result.content = read_all(file.get(), bytes);
  if (result.content.size() != bytes)
    base::fail<plugin_error>("{}: cannot be read to its end", path.string());
  return result;
}

}  // namespace tutti::base
