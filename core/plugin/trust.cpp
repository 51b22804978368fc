// SPDX-License-Identifier: Apache-2.0
#define BOOST_DLL_USE_STD_FS
#include "plugin/trust.hpp"

#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <boost/dll/runtime_symbol_info.hpp>
#include <cerrno>
#include <iterator>
#include <system_error>

#include "base/disk_cache.hpp"
#include "base/env.hpp"
#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/one_line.hpp"
#include "base/private_folder.hpp"
#include "base/small_file.hpp"

namespace tutti::plugins {
namespace {

namespace fs = std::filesystem;
using level = trust_rules::level;

constexpr const char* default_keys = "/etc/tutti/keys";

constexpr const char* other_way = "allow it by TUTTI_PLUGIN_TRUST=any";

void require_reached(const fs::path& path, const std::error_code& error) {
  if (error) base::fail<plugin_error>("{} cannot be reached: {}", path.string(), error.message());
}

fs::path resolved(const fs::path& file) {
  std::error_code error;
  fs::path found = fs::canonical(file, error);
  require_reached(file, error);
  return found;
}

struct stat state_of(const fs::path& path) {
  struct stat info {};
  if (::stat(path.c_str(), &info) != 0) require_reached(path, {errno, std::generic_category()});
  return info;
}

bool is_above(const fs::path& folder, const fs::path& file) {
  return std::mismatch(folder.begin(), folder.end(), file.begin(), file.end()).first ==
         folder.end();
}

/// Of the last change of content, owner or mode (ctime), which cannot be set freely.
int64_t changed_ns(const struct stat& info) {
  return static_cast<int64_t>(info.st_ctim.tv_sec) * 1'000'000'000 + info.st_ctim.tv_nsec;
}

/// Changes whenever the content may have changed.
std::string state_text(const struct stat& info) {
  return fmt::format("{} {} {} {}", info.st_dev, info.st_ino, info.st_size, changed_ns(info));
}

std::vector<fs::path> usual_keys() {
  std::vector<fs::path> places = {default_keys};
  const auto config = base::env("XDG_CONFIG_HOME"), home = base::env("HOME");
  if (config || home)
    places.push_back((config ? fs::path(*config) : fs::path(*home) / ".config") / "tutti/keys");
  std::erase_if(places, [](const fs::path& place) {
    std::error_code ignored;
    return !place.is_absolute() || !fs::is_directory(place, ignored);
  });
  return places;
}

[[noreturn]] void refuse(const std::string& why, const std::string& advice) {
  throw untrusted_plugin({why, advice});
}

/// The problem of a plugin that would be loaded without the user's requirement.
[[noreturn]] void refuse(const trust_rules& rules, const std::string& why,
                         const std::string& advice) {
  refuse(rules.asked_by.empty() ? why : fmt::format("{}, and {}", rules.asked_by, why), advice);
}

void require_own(const fs::path& file, const trust_rules& rules) {
  if (rules.what == level::any || rules.any_owner) return;
  if (const auto found = changeable_by_others(file, own_library())) throw untrusted_plugin(*found);
}

constexpr const char* level_words[] = {"none", "any", "owner", "manifest", "signed"};
constexpr const char* install_again = "install plugin and manifest again";

}  // namespace

std::optional<objection> changeable_by_others(const fs::path& file, const fs::path& library) {
  const fs::path start = resolved(file), code = library.empty() ? fs::path() : resolved(library);
  const uid_t user = ::geteuid(), owner = code.empty() ? user : state_of(code).st_uid;
  for (fs::path path = start;; path = path.parent_path()) {
    const struct stat info = state_of(path);
    const bool is_file = path == start, is_root = path == path.root_path();
    if (is_file || !is_above(path, code)) {
      if (info.st_uid != 0 && info.st_uid != user && info.st_uid != owner)
        return objection{
            fmt::format("{} belongs to another user (id {}), who could change what runs here",
                        path.string(), info.st_uid),
            fmt::format("chown it to root or to yourself, or {}", other_way)};
      const bool is_sticky = !is_file && (info.st_mode & S_ISVTX) != 0;
      if ((info.st_mode & S_IWOTH) != 0 && (!is_sticky || path == start.parent_path()))
        return objection{
            fmt::format("other users may write to {} (mode {:04o})", path.string(),
                        info.st_mode & 07777),
            is_sticky ? fmt::format("move the file to a folder of your own, or {}", other_way)
                      : fmt::format("chmod o-w {}, or {}", path.string(), other_way)};
    }
    if (is_root) return std::nullopt;
  }
}

fs::path own_library() {
  std::error_code error;
  const fs::path library = fs::canonical(boost::dll::this_line_location(), error);
  return error ? fs::path() : library;
}

const char* to_string(level what) { return level_words[static_cast<int>(what)]; }

trust_rules trust_rules_from_environment() {
  const std::string text = base::env("TUTTI_PLUGIN_TRUST").value_or("owner");
  const bool names_keys = text.starts_with("signed:");
  const std::string word = names_keys ? "signed" : text;
  const auto* const found = std::find(std::begin(level_words) + 1, std::end(level_words), word);
  trust_rules rules;
  rules.what = static_cast<level>(found - std::begin(level_words));
  rules.asked_by = "TUTTI_PLUGIN_TRUST=" + word;
  rules.keys = names_keys ? base::split_paths(text.substr(text.find(':') + 1)) : usual_keys();
  if (found == std::end(level_words) ||
      !std::all_of(rules.keys.begin(), rules.keys.end(),
                   [](const fs::path& key) { return key.is_absolute(); }))
    base::fail<value_error>(
        "TUTTI_PLUGIN_TRUST={}: expected any, owner, manifest, signed, or "
        "signed: and absolute paths of keys, separated by colons",
        text);
  return rules;
}

std::string sha256_of(const fs::path& file, const struct stat& info) {
  const std::string key = "sha256 of " + file.string() + " " + state_text(info);
  if (auto known = base::program_cache().load(key)) return *known;
  std::string hash = sha256_of_file(file);
  // File times are coarse: a file that changed a moment ago may change again without a new time.
  if (base::file_clock_now_ns() - changed_ns(info) > 2'000'000'000)
    base::program_cache().store(key, hash);
  return hash;
}

trusted_file::trusted_file(fs::path plugin, const std::string& name, const trust_rules& rules)
    : path_(std::move(plugin)) {
  require_own(path_, rules);
  if (::stat(path_.c_str(), &info_) != 0)
    base::fail<plugin_error>("it cannot be reached: {}", std::generic_category().message(errno));
  if (rules.what != level::none) read_manifest(name, rules);
  if (manifest_) check_signature(rules);
}

void trusted_file::read_manifest(const std::string& name, const trust_rules& rules) {
  const fs::path place = manifest_path(path_);
  const std::string file = place.filename().string();
  try {
    if (const auto found = base::read_small_file(place, most_manifest_bytes))
      manifest_ = parse_manifest(found->content);
  } catch (const plugin_error& e) {
    refuse(fmt::format("its manifest {} cannot be used: {}", file, e.what()), install_again);
  }
  if (!manifest_) {
    if (rules.what < level::manifest) return;
    refuse(rules, fmt::format("there is no manifest {} beside it", file),
           "`tutti sign` makes one, if you know where the plugin is from");
  }
  require_own(place, rules);
  if (manifest_->name != name)
    refuse(fmt::format("its manifest is of a plugin {}", base::one_line(manifest_->name, 80)),
           install_again);
  const std::string hash = sha256_of(path_, info_);
  if (hash != manifest_->sha256)
    refuse(fmt::format("its manifest is of another file: SHA-256 {:.12}..., while this one has "
                       "{:.12}...",
                       manifest_->sha256, hash),
           "install both again; if you changed the file yourself (strip does), `tutti sign` makes "
           "a new manifest");
  summary_ = "manifest";
}

void trusted_file::check_signature(const trust_rules& rules) {
  const bool is_required = rules.what == level::signature;
  const std::string& id = manifest_->key;
  if (id.empty()) {
    if (!is_required) return;
    refuse(rules, "its manifest is not signed",
           "get a signed build, or sign it yourself: `tutti sign --key FILE`");
  }
  std::vector<public_key> keys;
  try {
    keys = read_public_keys(rules.keys);
  } catch (const std::exception& e) {
    if (is_required)
      refuse(rules, fmt::format("not all keys can be used: {}", e.what()),
             "mend that file, or name others: TUTTI_PLUGIN_TRUST=signed:KEYS");
    logging::debug("{}: its signature is not looked at: {}", path_.string(), e.what());
  }
  std::vector<std::string> known;
  for (const public_key& key : keys) {
    known.push_back(key.id);
    if (key.id != id) continue;
    const bool matches = is_signature(manifest_->signature, signed_text(*manifest_), key.bytes);
    if (is_required && !matches)
      refuse(fmt::format("its signature is not of the key {}, or not of this manifest", id),
             "do not use it; get the plugin again from where it is from");
    if (is_required) summary_ = "signed with the key " + id;
    if (!matches) summary_ = "manifest with a wrong signature";
    return;
  }
  if (is_required)
    refuse(
        rules,
        fmt::format("it is signed with the key {}, which is not among the trusted ones: {}", id,
                    known.empty() ? "there are none" : fmt::format("{}", fmt::join(known, ", "))),
        fmt::format("if you trust that key, put its file into {} or name it: "
                    "TUTTI_PLUGIN_TRUST=signed:KEY",
                    default_keys));
}

void trusted_file::require_same() const {
  struct stat now {};
  if (::stat(path_.c_str(), &now) != 0 || state_text(now) != state_text(info_))
    throw plugin_error("the file changed while it was being loaded; start the program again");
}

void trusted_file::require_stated(const std::string& version, uint32_t abi_major,
                                  uint32_t abi_minor) const {
  const std::string abi = fmt::format("{}.{}", abi_major, abi_minor);
  if (manifest_ && (manifest_->version != version || manifest_->abi != abi))
    refuse(fmt::format("its manifest says version {}, plugin ABI {}, the plugin itself version {}, "
                       "plugin ABI {}",
                       manifest_->version, manifest_->abi, version, abi),
           install_again);
}

}  // namespace tutti::plugins
