// SPDX-License-Identifier: Apache-2.0
//
// Plugin discovery and loading through Boost.DLL, and the ABI negotiation.
#define BOOST_DLL_USE_STD_FS
#include "plugin/loader.hpp"

#include <dlfcn.h>

#include <algorithm>
#include <boost/dll/shared_library.hpp>
#include <exception>
#include <system_error>

#include "base/env.hpp"
#include "base/fail.hpp"
#include "base/log.hpp"
#include "base/one_line.hpp"
#include "base/process.hpp"
#include "plugin/elf_file.hpp"
#include "plugin/host.hpp"
#include "plugin/trial.hpp"
#include "tutti/error.hpp"

namespace tutti::plugins {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view prefix = "libtutti_";
constexpr std::string_view suffix = ".so";
constexpr const char* entry_symbol = "tutti_plugin_entry";

/// NAME of libtutti_NAME.so if NAME can be written in TUTTI_DEVICE.
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

bool is_manifest(const std::string& file) {
  return file.ends_with(".json") && plugin_name(fs::path(file).stem().string()).has_value();
}

/// `text` without the path at its beginning.
std::string without(const fs::path& path, const std::string& text) {
  const std::string repeated = path.string() + ": ";
  return text.starts_with(repeated) ? text.substr(repeated.size()) : text;
}

/// The dynamic linker's message, without the path at its beginning, because our message begins with
/// it.
std::string linker_message(const fs::path& path) {
  const char* const said = ::dlerror();
  return without(path, said != nullptr ? said : "the dynamic linker does not say why");
}

/// The plugin's table; exceptions of the entry point are caught.
const tutti_plugin_api* call_entry(tutti_plugin_entry_fn entry, const tutti_host* host) {
  try {
    return entry(host);
  } catch (const std::exception& e) {
    base::fail<plugin_error>("{} threw an exception: {}", entry_symbol,
                             base::one_line(e.what(), 1000));
  } catch (...) {
    base::fail<plugin_error>("{} threw an exception", entry_symbol);
  }
}

/// Everything after mapping the file: entry point, versions, tables. Fills `failure` as it
/// proceeds.
std::unique_ptr<plugin> negotiate(boost::dll::shared_library& library, load_failure& failure) {
  if (!library.has(entry_symbol))
    base::fail<plugin_error>("exports no symbol {}, so it is no Tutti plugin", entry_symbol);
  const auto entry = reinterpret_cast<tutti_plugin_entry_fn>(&library.get<void()>(entry_symbol));
  auto result = std::make_unique<plugin>();
  host_identity* identity = nullptr;
  const tutti_host* const host = make_host(&identity);
  identity->name = failure.name;  // from its file name, until the plugin provides more
  const tutti_plugin_api* const api = call_entry(entry, host);
  if (api == nullptr) base::fail<plugin_error>("{} returned NULL", entry_symbol);

  const tutti_plugin_api head = read_plugin_api(api);
  failure.abi_major = result->abi_major = head.abi_major;
  failure.abi_minor = result->abi_minor = head.abi_minor;
  if (head.abi_major != TUTTI_ABI_MAJOR)
    base::fail<plugin_error>(
        "built for plugin ABI {}.{}, but this library has {}.{} (the first numbers must agree)",
        head.abi_major, head.abi_minor, TUTTI_ABI_MAJOR, TUTTI_ABI_MINOR);
  result->name = base::one_line(head.name);
  result->version = base::one_line(head.version);
  result->build_id = head.build_id != nullptr ? head.build_id : "";
  if (result->name != failure.name)
    base::fail<plugin_error>("the plugin calls itself \"{}\", not \"{}\" as its file does",
                             result->name, failure.name);
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

/// If a constructor of the file throws, the process ends here: the dynamic linker's lock would stay
/// locked.
void map_file(boost::dll::shared_library& library, const fs::path& path,
              std::error_code& code) noexcept {
  using boost::dll::load_mode::rtld_local;
  using boost::dll::load_mode::rtld_now;
  library.load(path, code, rtld_now | rtld_local);
}

/// Maps the file, which has been checked, permanently.
boost::dll::shared_library& map_trusted(const fs::path& path, const trusted_file& trusted) {
  std::error_code code;
  auto library = std::make_unique<boost::dll::shared_library>();
  base::note_plugin_loaded();
  logging::info("loading {}", path.string());
  trusted.require_same();
  map_file(*library, path, code);
  if (code) throw plugin_error(linker_message(path));
  boost::dll::shared_library& mapped = keep_forever(std::move(library));
  trusted.require_same();
  return mapped;
}

/// Checks the file of `failure`, maps it and negotiates; throws with the reason.
std::unique_ptr<plugin> load_file(load_failure& failure, const trust_rules& rules) {
  const trusted_file trusted = check_plugin_file(failure.path, failure.name, rules);
  auto result = negotiate(map_trusted(failure.path, trusted), failure);
  trusted.require_stated(result->version, result->abi_major, result->abi_minor);
  result->trust = trusted.summary();
  return result;
}

}  // namespace

trusted_file check_plugin_file(const fs::path& path, const std::string& name,
                               const trust_rules& rules) {
  std::error_code code;
  const fs::file_status status = fs::status(path, code);
  if (!fs::exists(status) && fs::is_symlink(path, code))
    base::fail<plugin_error>("is a link to {}, which cannot be reached",
                             fs::read_symlink(path, code).string());
  // The dynamic linker would wait for a writer of a pipe.
  if (fs::exists(status) && !fs::is_regular_file(status))
    throw plugin_error("is not a regular file");
  trusted_file trusted(path, name, rules);
  if (const std::string problem = elf_problem(path); !problem.empty()) throw plugin_error(problem);
  return trusted;
}

const tutti_communication_api& load_communication(const fs::path& path, const std::string& name,
                                                  const trust_rules& rules) {
  const trusted_file trusted = check_plugin_file(path, name, rules);
  boost::dll::shared_library& library = map_trusted(path, trusted);
  const char* const symbol = TUTTI_COMMUNICATION_ENTRY;
  if (!library.has(symbol)) base::fail<plugin_error>("exports no symbol {}", symbol);
  const auto* const api =
      library.get<std::remove_pointer_t<tutti_communication_entry_fn>>(symbol)();
  if (api == nullptr) throw plugin_error("it returns no table");
  if (api->abi_major != TUTTI_COMMUNICATION_MAJOR ||
      api->struct_size < offsetof(tutti_communication_api, takes_cuda_memory))
    base::fail<plugin_error>("built for communication ABI {}.{}, this library has {}.{}",
                             api->abi_major, api->abi_minor, TUTTI_COMMUNICATION_MAJOR,
                             TUTTI_COMMUNICATION_MINOR);
  return *api;
}

search_path default_search_path() {
  search_path result;
  if (const auto value = base::env("TUTTI_PLUGIN_PATH")) {
    for (const fs::path& entry : base::split_paths(*value)) {
      std::error_code ignored;
      if (entry.empty())
        result.rejected.push_back("an empty entry (it would mean the current directory)");
      else if (entry.is_relative())
        result.rejected.push_back(fmt::format("\"{}\" (a relative path)", entry.string()));
      else if (!fs::is_directory(entry, ignored))
        result.rejected.push_back(fmt::format("\"{}\" (no such folder)", entry.string()));
      else
        result.folders.push_back(entry.lexically_normal());
    }
  }
  const fs::path library = own_library();
  if (!library.empty()) result.folders.push_back(library.parent_path() / "tutti" / "plugins");
  return result;
}

plugin_loader::plugin_loader(std::vector<fs::path> folders, safety::journal* notes,
                             trust_rules rules)
    : folders_(std::move(folders)), notes_(notes), rules_(std::move(rules)) {}

void plugin_loader::add_folder(const fs::path& folder, std::vector<plugin_file>& found) {
  std::vector<plugin_file> here;
  std::error_code error;
  for (fs::directory_iterator i(folder, error), end; !error && i != end; i.increment(error)) {
    const std::string file = i->path().filename().string();
    if (auto name = plugin_name(file))
      here.push_back({std::move(*name), i->path()});
    else if (!is_manifest(file) &&
             (file.starts_with("libtutti") || file.find(suffix) != std::string::npos))
      overlooked_.push_back(
          {i->path(), fmt::format("plugins are called {}NAME{}, where NAME is a lower-case letter "
                                  "followed by lower-case letters, digits and _, and not auto",
                                  prefix, suffix)});
  }
  std::sort(here.begin(), here.end(),
            [](const plugin_file& a, const plugin_file& b) { return a.name < b.name; });
  for (plugin_file& file : here) {
    const auto same = std::find_if(found.begin(), found.end(),
                                   [&](const plugin_file& f) { return f.name == file.name; });
    if (same == found.end())
      found.push_back(std::move(file));
    else
      overlooked_.push_back({file.path, fmt::format("{} comes first", same->path.string())});
  }
}

const std::vector<plugin_file>& plugin_loader::files_locked() {
  if (files_) return *files_;
  std::vector<plugin_file> found;
  for (const fs::path& folder : folders_)
    if (folder.is_absolute()) add_folder(folder, found);
  for (const overlooked_file& file : overlooked_)
    logging::debug("{} is not used: {}", base::one_line(file.path.string(), 4096), file.reason);
  return files_.emplace(std::move(found));
}

std::vector<overlooked_file> plugin_loader::overlooked() {
  const std::lock_guard lock(mutex_);
  files_locked();
  return overlooked_;
}

const std::vector<plugin_file>& plugin_loader::files() {
  const std::lock_guard lock(mutex_);
  return files_locked();
}

const plugin& plugin_loader::load(const std::string& name, wanted why,
                                  std::optional<plugin_visit>* visit) {
  const std::lock_guard lock(mutex_);
  outcome& known = outcomes_[name];
  if (known.is_passed_over && why == wanted::by_name) {
    known.failure.reset();
    known.is_passed_over = false;
  }
  std::optional<plugin_visit> own;
  if (known.loaded == nullptr && !known.failure)
    try_to_load(known, name, why, visit != nullptr ? *visit : own);
  if (known.loaded != nullptr) return *known.loaded;
  const load_failure& f = *known.failure;
  const std::string reason = f.advice.empty() ? f.message : f.message + "; " + f.advice;
  throw plugin_error(f.path.empty() ? reason : fmt::format("{}: {}", f.path.string(), reason));
}

/// Empty if it can be used: there is no entry against it, a child process succeeded, or the user
/// named it.
std::string plugin_loader::why_passed_over(const plugin_file& file, wanted why) {
  const auto before = notes_ != nullptr ? trace_of(*notes_, file.path) : std::nullopt;
  if (!before) return {};
  if (why == wanted::by_name) {
    logging::warn("{}: {}; it was asked for by name, and is tried again", file.path.string(),
                  before->text);
    return {};
  }
  if (before->is_verdict) return before->text;
  logging::warn("{}: {}; a process beside this one tries it", file.path.string(), before->text);
  const auto failure = try_in_child(file.name);
  if (!failure) return before->text;
  if (failure->empty()) return {};
  // The child has written an entry of its own, which is more detailed.
  const auto after = trace_of(*notes_, file.path);
  const std::string verdict =
      fmt::format("{}, and one beside this did: {}", (after ? *after : *before).text, *failure);
  fail_plugin(*notes_, file.path, verdict);
  return verdict;
}

void plugin_loader::try_to_load(outcome& known, const std::string& name, wanted why,
                                std::optional<plugin_visit>& visit) {
  load_failure failure;
  failure.name = name;
  try {
    failure.path = find_locked(name);
    if (const std::string before = why_passed_over({name, failure.path}, why); !before.empty()) {
      known.is_passed_over = true;
      base::fail<plugin_error>(
          "passed over: {}; `tutti doctor` tries it again, and so does naming it in TUTTI_DEVICE",
          before);
    }
    visit.emplace(notes_, failure.path, "the loading");
    auto loaded = load_file(failure, rules_);
    loaded->notes = notes_;
    known.loaded = std::move(loaded);
    logging::debug("plugin {} {} (plugin ABI {}.{}) loaded from {}", name, known.loaded->version,
                   failure.abi_major, failure.abi_minor, failure.path.string());
  } catch (const untrusted_plugin& e) {
    failure.message = e.found.why;
    failure.advice = e.found.advice;
    if (why == wanted::with_others) logging::warn("{}: {}", failure.path.string(), e.what());
    known.failure = std::move(failure);
  } catch (const std::exception& e) {
    failure.message = without(failure.path, e.what());
    if (known.is_passed_over) logging::warn("{}: {}", failure.path.string(), failure.message);
    known.failure = std::move(failure);
  }
}

void plugin_loader::exclude(const std::string& name, const std::string& reason) {
  const std::lock_guard lock(mutex_);
  outcome& known = outcomes_[name];
  if (known.loaded != nullptr) return;
  load_failure failure;
  failure.name = name;
  failure.message = reason;
  for (const plugin_file& file : files_locked())
    if (file.name == name) failure.path = file.path;
  known.failure = std::move(failure);
  known.is_passed_over = false;
}

fs::path plugin_loader::find_locked(const std::string& name) {
  for (const plugin_file& file : files_locked())
    if (file.name == name) return file.path;
  base::fail<plugin_error>("there is no {}{}{} in {}", prefix, name, suffix, places());
}

std::string plugin_loader::places() const {
  std::string text;
  for (const fs::path& folder : folders_) text += (text.empty() ? "" : " or ") + folder.string();
  return text.empty() ? "any folder" : text;
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

}  // namespace tutti::plugins
