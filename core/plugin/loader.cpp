// SPDX-License-Identifier: Apache-2.0
//
// Plugin discovery and loading through Boost.DLL, and the ABI negotiation.
#define BOOST_DLL_USE_STD_FS
#include "plugin/loader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/dll/runtime_symbol_info.hpp>
#include <boost/dll/shared_library.hpp>
#include <system_error>

#include "base/env.hpp"
#include "base/log.hpp"
#include "base/process.hpp"
#include "plugin/host.hpp"
#include "tutti/error.hpp"

namespace tutti::detail {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "libtutti_";
constexpr std::string_view suffix = ".so";
constexpr const char* entry_symbol = "tutti_plugin_entry";

/// NAME of libtutti_NAME.so where NAME can be written in TUTTI_DEVICE.
std::optional<std::string> plugin_name(const std::string& file) {
  if (file.size() <= prefix.size() + suffix.size() || !file.starts_with(prefix) ||
      !file.ends_with(suffix))
    return std::nullopt;
  std::string name = file.substr(prefix.size(), file.size() - prefix.size() - suffix.size());
  const auto letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const bool valid =
      letter(name.front()) && name != "auto" && std::all_of(name.begin(), name.end(), [&](char c) {
        return letter(c) || (c >= '0' && c <= '9') || c == '_';
      });
  if (!valid) return std::nullopt;
  return name;
}

/// Boost.DLL wraps the dynamic linker's text, which repeats the path; people want the reason alone.
std::string linker_message(const std::exception& e, const fs::path& path) {
  const std::string all = e.what();
  constexpr std::string_view mark = "dlerror system message: ";
  const size_t begin = all.find(mark);
  if (begin == std::string::npos) return all;
  std::string text = all.substr(begin + mark.size());
  if (text.ends_with(')')) text.pop_back();
  const std::string repeated = path.string() + ": ";
  return text.starts_with(repeated) ? text.substr(repeated.size()) : text;
}

std::string printable(const char* text) { return text != nullptr ? text : ""; }

/// Everything after the file is mapped: entry, versions, tables. Fills `failure` as it learns.
std::unique_ptr<plugin> negotiate(boost::dll::shared_library& library, load_failure& failure) {
  if (!library.has(entry_symbol))
    throw plugin_error(fmt::format("exports no symbol {}, so it is no Tutti plugin", entry_symbol));
  const auto entry = reinterpret_cast<tutti_plugin_entry_fn>(&library.get<void()>(entry_symbol));
  auto result = std::make_unique<plugin>();
  host_identity* identity = nullptr;
  const tutti_plugin_api* const api = entry(make_host(&identity));
  if (api == nullptr) throw plugin_error(fmt::format("{} returned NULL", entry_symbol));

  const tutti_plugin_api head = read_plugin_api(api);
  failure.abi_major = result->abi_major = head.abi_major;
  failure.abi_minor = result->abi_minor = head.abi_minor;
  if (head.abi_major != TUTTI_ABI_MAJOR)
    throw plugin_error(fmt::format(
        "built for plugin ABI {}.{}, but this library has {}.{} (the first numbers must agree)",
        head.abi_major, head.abi_minor, TUTTI_ABI_MAJOR, TUTTI_ABI_MINOR));
  result->name = printable(head.name);
  result->version = printable(head.version);
  result->build_id = printable(head.build_id);
  if (result->name != failure.name)
    throw plugin_error(fmt::format("the plugin calls itself \"{}\", not \"{}\" as its file does",
                                   result->name, failure.name));
  read_tables(api, *result);
  identify_host(*identity, *result);
  result->path = failure.path.string();
  return result;
}

/// Drivers do not survive being unloaded, so libraries are never destroyed.
boost::dll::shared_library& keep_forever(std::unique_ptr<boost::dll::shared_library> library) {
  static auto* const all = new std::vector<std::unique_ptr<boost::dll::shared_library>>();
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  return *all->emplace_back(std::move(library));
}

/// Maps the file of `failure` and negotiates; throws with the reason.
std::unique_ptr<plugin> load_file(load_failure& failure) {
  using boost::dll::load_mode::rtld_local;
  using boost::dll::load_mode::rtld_now;
  std::error_code code;
  const fs::file_status status = fs::status(failure.path, code);
  // The dynamic linker would wait for somebody to write to a pipe.
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw plugin_error("is not a regular file");
  auto library = std::make_unique<boost::dll::shared_library>();
  note_plugin_loaded();
  try {
    library->load(failure.path, rtld_now | rtld_local);
  } catch (const std::exception& e) {
    throw plugin_error(linker_message(e, failure.path));
  }
  return negotiate(keep_forever(std::move(library)), failure);
}

}  // namespace

search_path default_search_path() {
  search_path result;
  if (const auto value = env("TUTTI_PLUGIN_PATH")) {
    for (size_t begin = 0; begin <= value->size();) {
      const size_t end = std::min(value->find(':', begin), value->size());
      const fs::path entry = value->substr(begin, end - begin);
      std::error_code ignored;
      if (entry.empty())
        result.rejected.push_back("an empty entry (it would mean the current directory)");
      else if (entry.is_relative())
        result.rejected.push_back(fmt::format("\"{}\" (a relative path)", entry.string()));
      else if (!fs::is_directory(entry, ignored))
        result.rejected.push_back(fmt::format("\"{}\" (no such folder)", entry.string()));
      else
        result.folders.push_back(entry.lexically_normal());
      begin = end + 1;
    }
  }
  std::error_code error;
  const fs::path library = fs::canonical(boost::dll::this_line_location(), error);
  if (!error) result.folders.push_back(library.parent_path() / "tutti" / "plugins");
  return result;
}

plugin_loader::plugin_loader(std::vector<fs::path> folders) : folders_(std::move(folders)) {}

const std::vector<plugin_file>& plugin_loader::files_locked() {
  if (files_) return *files_;
  std::vector<plugin_file> found;
  for (const fs::path& folder : folders_) {
    if (!folder.is_absolute()) continue;
    std::vector<plugin_file> here;
    std::error_code error;
    for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error))
      if (auto name = plugin_name(i->path().filename().string()))
        here.push_back({std::move(*name), i->path()});
    std::sort(here.begin(), here.end(),
              [](const plugin_file& a, const plugin_file& b) { return a.name < b.name; });
    for (plugin_file& file : here) {
      const auto same = std::find_if(found.begin(), found.end(),
                                     [&](const plugin_file& f) { return f.name == file.name; });
      if (same == found.end())
        found.push_back(std::move(file));
      else
        logging::debug("plugin {}: {} comes first, {} is not used", file.name, same->path.string(),
                       file.path.string());
    }
  }
  return files_.emplace(std::move(found));
}

const std::vector<plugin_file>& plugin_loader::files() {
  const std::lock_guard lock(mutex_);
  return files_locked();
}

const plugin& plugin_loader::load(const std::string& name) {
  const std::lock_guard lock(mutex_);
  outcome& known = outcomes_[name];
  if (known.loaded != nullptr) return *known.loaded;
  if (!known.failure) {
    load_failure failure;
    failure.name = name;
    try {
      failure.path = find_locked(name);
      known.loaded = load_file(failure);
      logging::debug("plugin {} {} (plugin ABI {}.{}) loaded from {}", name, known.loaded->version,
                     failure.abi_major, failure.abi_minor, failure.path.string());
      return *known.loaded;
    } catch (const std::exception& e) {
      failure.message = e.what();
      known.failure = std::move(failure);
    }
  }
  const load_failure& f = *known.failure;
  throw plugin_error(f.path.empty() ? f.message
                                    : fmt::format("{}: {}", f.path.string(), f.message));
}

fs::path plugin_loader::find_locked(const std::string& name) {
  for (const plugin_file& file : files_locked())
    if (file.name == name) return file.path;
  std::vector<std::string> places;
  for (const fs::path& folder : folders_) places.push_back(folder.string());
  throw plugin_error(
      fmt::format("there is no {}{}{} in {}", prefix, name, suffix,
                  places.empty() ? "any folder" : fmt::format("{}", fmt::join(places, " or "))));
}

std::vector<load_failure> plugin_loader::failures() {
  const std::lock_guard lock(mutex_);
  std::vector<load_failure> all;
  for (const auto& [name, result] : outcomes_)
    if (result.failure) all.push_back(*result.failure);
  return all;
}

std::vector<const plugin*> plugin_loader::loaded() {
  const std::lock_guard lock(mutex_);
  std::vector<const plugin*> all;
  for (const auto& [name, result] : outcomes_)
    if (result.loaded != nullptr) all.push_back(result.loaded.get());
  return all;
}

}  // namespace tutti::detail
