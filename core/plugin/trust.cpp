// SPDX-License-Identifier: Apache-2.0
#include "plugin/trust.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cerrno>
#include <system_error>

#include "base/descriptor.hpp"
#include "base/disk_cache.hpp"
#include "base/env.hpp"
#include "base/log.hpp"
#include "base/one_line.hpp"
#include "base/private_folder.hpp"
#include "base/small_file.hpp"
#include "plugin/ownership.hpp"
#include "plugin/plugin.hpp"
#include "plugin/signature.hpp"
#include "tutti/plugin.h"

namespace tutti::detail {
namespace {

namespace fs = std::filesystem;
using level = trust_rules::level;

constexpr const char* default_keys = "/etc/tutti/keys";

int64_t nanoseconds(const timespec& t) {
  return static_cast<int64_t>(t.tv_sec) * 1'000'000'000 + t.tv_nsec;
}

/// Changes whenever the content may have changed. The time of the last status change (ctime) cannot
/// be set freely.
std::string state_text(const struct stat& info) {
  return fmt::format("{} {} {} {} {}", info.st_dev, info.st_ino, info.st_size,
                     nanoseconds(info.st_mtim), nanoseconds(info.st_ctim));
}

/// File times are coarse: a file that was written a moment ago may change without a new time.
bool is_settled(const struct stat& info) {
  constexpr int64_t moment = 2'000'000'000;
  const int64_t now = file_clock_now_ns();
  return now - nanoseconds(info.st_mtim) > moment && now - nanoseconds(info.st_ctim) > moment;
}

std::string beginning(const std::string& hash) { return hash.substr(0, 12) + "..."; }

std::vector<fs::path> listed_keys(const std::string& value) {
  std::vector<fs::path> keys;
  for (size_t begin = 0; begin <= value.size();) {
    const size_t end = std::min(value.find(':', begin), value.size());
    const fs::path entry = value.substr(begin, end - begin);
    if (!entry.is_absolute())
      throw value_error(
          fmt::format("TUTTI_PLUGIN_KEYS={}: expected absolute paths separated by colons", value));
    keys.push_back(entry);
    begin = end + 1;
  }
  return keys;
}

std::vector<fs::path> usual_keys() {
  std::vector<fs::path> places = {default_keys};
  if (const auto folder = env("XDG_CONFIG_HOME"))
    places.push_back(fs::path(*folder) / "tutti" / "keys");
  else if (const auto home = env("HOME"))
    places.push_back(fs::path(*home) / ".config" / "tutti" / "keys");
  std::erase_if(places, [](const fs::path& place) {
    std::error_code ignored;
    return !place.is_absolute() || !fs::is_directory(place, ignored);
  });
  return places;
}

/// `problem` for a plugin that would be loaded without the user's requirement.
std::string against(const trust_rules& rules, const std::string& problem) {
  return rules.asked_by.empty() ? problem : fmt::format("{}, and {}", rules.asked_by, problem);
}

bool checks_owner(const trust_rules& rules) { return rules.what != level::any && !rules.any_owner; }

void require_own(const fs::path& file) {
  if (const auto found = changeable_by_others(file, own_library()))
    throw distrust(found->why, found->advice);
}

}  // namespace

const char* to_string(level what) {
  switch (what) {
    case level::none:
      return "none";
    case level::any:
      return "any";
    case level::owner:
      return "owner";
    case level::manifest:
      return "manifest";
    case level::signature:
      break;
  }
  return "signed";
}

trust_rules trust_rules_from_environment() {
  trust_rules rules;
  const std::string word =
      env_word("TUTTI_PLUGIN_TRUST", {"any", "owner", "manifest", "signed"}).value_or("owner");
  for (const level what : {level::any, level::owner, level::manifest, level::signature})
    if (word == to_string(what)) rules.what = what;
  rules.asked_by = "TUTTI_PLUGIN_TRUST=" + word;
  const auto keys = env("TUTTI_PLUGIN_KEYS");
  rules.keys = keys ? listed_keys(*keys) : usual_keys();
  return rules;
}

std::string trust_text(const plugin& of) {
  if (!of.signed_by.empty()) return "signed with the key " + of.signed_by;
  if (of.has_wrong_signature) return "manifest with a wrong signature";
  return of.has_manifest ? "manifest" : "no manifest";
}

std::string sha256_of(const fs::path& file, struct stat& info) {
  const descriptor opened(::open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC));
  if (opened.get() < 0 || ::fstat(opened.get(), &info) != 0)
    throw plugin_error("it cannot be read: " + std::generic_category().message(errno));
  if (!S_ISREG(info.st_mode)) throw plugin_error("is not a regular file");
  const std::string key = "sha256 of " + file.string() + " " + state_text(info);
  if (auto known = program_cache().load(key)) return *known;
  std::string hash = sha256_of_file(opened.get());
  if (is_settled(info)) program_cache().store(key, hash);
  return hash;
}

trusted_file::trusted_file(fs::path plugin, const std::string& name, const trust_rules& rules)
    : path_(std::move(plugin)) {
  if (checks_owner(rules)) require_own(path_);
  if (::stat(path_.c_str(), &info_) != 0)
    throw plugin_error("it cannot be reached: " + std::generic_category().message(errno));
  if (rules.what != level::none) read_manifest(name, rules);
  if (rules.what == level::signature)
    require_signature(rules);
  else if (manifest_ && !manifest_->key.empty())
    look_at_signature(rules);
}

bool trusted_file::is_signed_with(const public_key& key) const {
  return is_signature(manifest_->signature, signed_text(*manifest_), key.bytes);
}

// No signature was required, so keys that cannot be read are not an error.
void trusted_file::look_at_signature(const trust_rules& rules) {
  try {
    for (const public_key& key : read_public_keys(rules.keys))
      if (key.id == manifest_->key && !is_signed_with(key)) has_wrong_signature_ = true;
  } catch (const std::exception& e) {
    logging::debug("{}: its signature is not looked at: {}", path_.string(), e.what());
  }
}

void trusted_file::read_manifest(const std::string& name, const trust_rules& rules) {
  const fs::path place = manifest_path(path_);
  const std::string file = place.filename().string();
  std::optional<small_file> found;
  try {
    found = read_small_file(place, most_manifest_bytes);
    if (found) manifest_ = parse_manifest(found->content);
  } catch (const plugin_error& e) {
    throw distrust(fmt::format("its manifest {} cannot be used: {}", file, e.what()),
                   "install plugin and manifest again");
  }
  if (!manifest_) {
    if (rules.what < level::manifest) return;
    throw distrust(against(rules, fmt::format("there is no manifest {} beside it", file)),
                   "`tutti sign` makes one, if you know where the plugin is from");
  }
  if (checks_owner(rules)) require_own(place);
  if (manifest_->name != name)
    throw distrust(fmt::format("its manifest is of a plugin {}", one_line(manifest_->name, 80)),
                   "install plugin and manifest again");
  if (manifest_->abi_major != TUTTI_ABI_MAJOR)
    throw distrust(
        fmt::format("its manifest says plugin ABI {}.{}, but this library has {}.{}",
                    manifest_->abi_major, manifest_->abi_minor, TUTTI_ABI_MAJOR, TUTTI_ABI_MINOR),
        "install the plugin that belongs to this version of the library");
  const std::string hash = sha256_of(path_, info_);
  if (hash != manifest_->sha256)
    throw distrust(fmt::format("its manifest is of another file: SHA-256 {}, while this one has {}",
                               beginning(manifest_->sha256), beginning(hash)),
                   "install both again; if you changed the file yourself (strip does), "
                   "`tutti sign` makes a new manifest");
}

void trusted_file::require_signature(const trust_rules& rules) {
  if (manifest_->key.empty())
    throw distrust(against(rules, "its manifest is not signed"),
                   "get a signed build, or sign it yourself: `tutti sign --key FILE`");
  std::vector<public_key> keys;
  try {
    keys = read_public_keys(rules.keys);
  } catch (const std::exception& e) {
    throw distrust(against(rules, fmt::format("not all keys can be used: {}", e.what())),
                   "mend that file, or name the keys in TUTTI_PLUGIN_KEYS");
  }
  std::vector<std::string> known;
  for (const public_key& key : keys) {
    known.push_back(key.id);
    if (key.id != manifest_->key) continue;
    if (!is_signed_with(key))
      throw distrust(
          fmt::format("its signature is not of the key {}, or not of this manifest", key.id),
          "do not use it; get the plugin again from where it is from");
    signed_by_ = key.id;
    return;
  }
  const std::string all =
      known.empty() ? "there are none" : fmt::format("{}", fmt::join(known, ", "));
  throw distrust(
      against(rules,
              fmt::format("it is signed with the key {}, which is not among the trusted ones: {}",
                          manifest_->key, all)),
      fmt::format("if you trust that key, put its file into {} or name it in TUTTI_PLUGIN_KEYS",
                  default_keys));
}

void trusted_file::require_same() const {
  struct stat now {};
  if (::stat(path_.c_str(), &now) != 0 || state_text(now) != state_text(info_))
    throw plugin_error("the file changed while it was being loaded; start the program again");
}

void trusted_file::require_stated(const std::string& version, uint32_t abi_major,
                                  uint32_t abi_minor) const {
  if (!manifest_) return;
  if (manifest_->version != version || manifest_->abi_major != abi_major ||
      manifest_->abi_minor != abi_minor)
    throw distrust(fmt::format("its manifest says version {}, plugin ABI {}.{}, the plugin itself "
                               "version {}, plugin ABI {}.{}",
                               manifest_->version, manifest_->abi_major, manifest_->abi_minor,
                               version, abi_major, abi_minor),
                   "install plugin and manifest again");
}

}  // namespace tutti::detail
