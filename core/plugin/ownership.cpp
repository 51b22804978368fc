// SPDX-License-Identifier: Apache-2.0
#define BOOST_DLL_USE_STD_FS
#include "plugin/ownership.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/dll/runtime_symbol_info.hpp>
#include <cerrno>
#include <system_error>

#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

namespace fs = std::filesystem;

constexpr const char* other_way = "allow it by TUTTI_PLUGIN_TRUST=any";

fs::path resolved(const fs::path& file) {
  std::error_code error;
  fs::path found = fs::canonical(file, error);
  if (error)
    throw plugin_error(fmt::format("{} cannot be reached: {}", file.string(), error.message()));
  return found;
}

struct stat state_of(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0)
    throw plugin_error(fmt::format("{} cannot be reached: {}", path.string(),
                                   std::generic_category().message(errno)));
  return info;
}

bool is_above(const fs::path& folder, const fs::path& file) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first ==
         folder.end();
}

}  // namespace

std::optional<objection> changeable_by_others(const fs::path& file, const fs::path& library) {
  const fs::path start = resolved(file), code = library.empty() ? fs::path() : resolved(library);
  const uid_t user = ::geteuid(), owner = code.empty() ? user : state_of(code).st_uid;
  for (fs::path path = start;; path = path.parent_path()) {
    const struct stat info = state_of(path);
    const bool is_shared_with_code = path != start && is_above(path, code);
    if (!is_shared_with_code) {
      if (info.st_uid != 0 && info.st_uid != user && info.st_uid != owner)
        return objection{
            fmt::format("{} belongs to another user (id {}), who could change what runs here",
                        path.string(), info.st_uid),
            fmt::format("chown it to root or to yourself, or {}", other_way)};
      const bool is_sticky = path != start && (info.st_mode & S_ISVTX) != 0;
      const bool holds_it = path == start.parent_path();
      if ((info.st_mode & S_IWOTH) != 0 && (!is_sticky || holds_it))
        return objection{
            fmt::format("other users may write to {} (mode {:04o})", path.string(),
                        info.st_mode & 07777),
            is_sticky ? fmt::format("move the file to a folder of your own, or {}", other_way)
                      : fmt::format("chmod o-w {}, or {}", path.string(), other_way)};
    }
    if (path == path.root_path()) return std::nullopt;
  }
}

fs::path own_library() {
  std::error_code error;
  const fs::path library = fs::canonical(boost::dll::this_line_location(), error);
  return error ? fs::path() : library;
}

}  // namespace tutti::detail
