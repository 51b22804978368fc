// SPDX-License-Identifier: Apache-2.0
<<<<<<< HEAD
=======
//
// POSIX modes, owners and groups. The path is followed step by step, as by the kernel, so that each
// link on it is checked.
>>>>>>> 8bbe4e8
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

<<<<<<< HEAD
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
=======
/// A folder or link on the path, or the file at its end.
struct step {
  fs::path path;  ///< without links before its last part
  struct stat info {};
};

constexpr int most_links = 40;  // as in the kernel
constexpr gid_t first_ordinary_group = 100;

void put_in_front(std::deque<fs::path>& rest, const fs::path& way) {
  const std::vector<fs::path> parts(way.begin(), way.end());
  rest.insert(rest.begin(), parts.begin(), parts.end());
>>>>>>> 8bbe4e8
}

bool is_above(const fs::path& folder, const fs::path& file) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first ==
         folder.end();
}

<<<<<<< HEAD
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
=======
/// From the root to the file.
std::vector<step> way_to(const fs::path& file) {
  std::vector<step> steps;
  std::deque<fs::path> rest;
  fs::path here;
  int links = 0;
  const auto look = [&](const fs::path& path) -> const struct stat& {
    step& next = steps.emplace_back();
    next.path = path;
    if (::lstat(path.c_str(), &next.info) != 0) unreachable(path, errno);
    return next.info;
  };
  for (put_in_front(rest, file); !rest.empty();) {
    const fs::path part = rest.front();
    rest.pop_front();
    if (part.is_absolute()) {
      look(here = part);
    } else if (part == "..") {
      here = here.parent_path();
    } else if (!part.empty() && part != ".") {
      const fs::path next = here / part;
      if (!S_ISLNK(look(next).st_mode)) {
        here = next;
      } else {
        if (++links > most_links) unreachable(file, ELOOP);
        put_in_front(rest, fs::read_symlink(next));
      }
    }
  }
  return steps;
}

bool is_same(const struct stat& a, const struct stat& b) {
  return a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

std::string user_text(uid_t user) {
  std::array<char, 4096> space{};
  passwd entry{}, *found = nullptr;
  ::getpwuid_r(user, &entry, space.data(), space.size(), &found);
  return found != nullptr ? fmt::format("{} (id {})", entry.pw_name, user)
                          : fmt::format("id {}", user);
}

/// Whether the file's group has no members but root and the file's owner.
bool is_group_closed(const struct stat& info) {
  std::array<char, 4096> user_space{}, group_space{};
  passwd user_entry{}, *user = nullptr;
  group group_entry{}, *of_file = nullptr;
  ::getpwuid_r(info.st_uid, &user_entry, user_space.data(), user_space.size(), &user);
  ::getgrgid_r(info.st_gid, &group_entry, group_space.data(), group_space.size(), &of_file);
  if (user == nullptr || of_file == nullptr) return false;
  const std::string owner = user->pw_name;
  for (char** member = of_file->gr_mem; *member != nullptr; ++member)
    if (*member != owner && *member != std::string("root")) return false;
  const bool is_private = user->pw_gid == info.st_gid && owner == of_file->gr_name;
  return is_private || info.st_gid < first_ordinary_group;
}

/// Whether users other than the owner may write, by the mode or by an access control list, of which
/// the mode's group bits show only the union.
bool is_open(const step& s) {
  if ((s.info.st_mode & S_IWOTH) != 0) return true;
  if ((s.info.st_mode & S_IWGRP) == 0) return false;
  return ::lgetxattr(s.path.c_str(), "system.posix_acl_access", nullptr, 0) > 0 ||
         !is_group_closed(s.info);
}

constexpr const char* other_way = "allow it by TUTTI_PLUGIN_OWNER=any";

}  // namespace

std::optional<objection> changeable_by_others(const fs::path& file, const fs::path& library) {
  const std::vector<step> steps = way_to(fs::absolute(file));
  const std::vector<step> trusted =
      library.empty() ? std::vector<step>() : way_to(fs::absolute(library));
  const fs::path folders[] = {fs::canonical(fs::absolute(file).parent_path()),
                              fs::canonical(file).parent_path()};
  const uid_t user = ::geteuid();
  for (const step& s : steps) {
    const bool is_folder = S_ISDIR(s.info.st_mode);
    const auto is_it = [&](const step& t) { return is_same(s.info, t.info); };
    if (is_folder && std::any_of(trusted.begin(), trusted.end(), is_it)) continue;
    const auto is_theirs = [&](const step& t) { return s.info.st_uid == t.info.st_uid; };
    if (s.info.st_uid != 0 && s.info.st_uid != user &&
        std::none_of(trusted.begin(), trusted.end(), is_theirs))
      return objection{
          fmt::format("{} belongs to another user, {}, who could change what runs here",
                      s.path.string(), user_text(s.info.st_uid)),
          fmt::format("chown it to root or to yourself, or {}", other_way)};
    if (S_ISLNK(s.info.st_mode)) continue;  // their mode is meaningless
    const bool is_sticky = is_folder && (s.info.st_mode & S_ISVTX) != 0;
    const bool holds_it = s.path == folders[0] || s.path == folders[1];
    if ((is_sticky && !holds_it) || !is_open(s)) continue;
    return objection{fmt::format("other users may write to {} (mode {:04o})", s.path.string(),
                                 s.info.st_mode & 07777),
                     is_sticky
                         ? fmt::format("move the file to a folder of your own, or {}", other_way)
                         : fmt::format("chmod go-w {}, or {}", s.path.string(), other_way)};
>>>>>>> 8bbe4e8
  }
}

fs::path own_library() {
  std::error_code error;
  const fs::path library = fs::canonical(boost::dll::this_line_location(), error);
  return error ? fs::path() : library;
}

}  // namespace tutti::detail
