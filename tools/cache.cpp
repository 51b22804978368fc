// SPDX-License-Identifier: Apache-2.0
//
// `tutti cache info`, `clear` and `warm`: show the cache, clear it, and fill it by running
// programs. Loads no plugin.
#include <fmt/format.h>
#include <sys/wait.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>

#include "base/disk_cache.hpp"
#include "base/env.hpp"
#include "base/one_line.hpp"
#include "cache_contents.hpp"
#include "child_process.hpp"
#include "command.hpp"
#include "text.hpp"

namespace tutti::tools {
namespace {

namespace fs = std::filesystem;

struct cache_choice {
  CLI::App *info, *clear, *warm;
  std::vector<std::string> programs;
};

/// The folder in use; reports why there is none.
fs::path folder_in_use(const base::cache_options& cache) {
  if (!cache.enabled)
    fmt::print("nothing is kept: TUTTI_CACHE_MB=0\n");
  else if (cache.folder.empty())
    fmt::print("nothing is kept: neither TUTTI_CACHE_DIR, XDG_CACHE_HOME nor HOME is set\n");
  return cache.used_folder();
}

std::string count_text(uint64_t count, const char* what) {
  return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
}

uint64_t print_shares(const cache_contents& contents) {
  std::vector<std::vector<std::string>> rows{{"entries", "size", "kind", "device"}};
  uint64_t bytes = 0;
  for (const cache_share& s : contents.shares) {
    rows.push_back(
        {std::to_string(s.entries), size_text(s.bytes), s.use.kind, base::one_line(s.use.device)});
    bytes += s.bytes;
  }
  if (rows.size() > 1) fmt::print("{}", table(rows));
  return bytes;
}

int info() {
  const base::cache_options cache = base::cache_options_from_environment();
  const fs::path folder = folder_in_use(cache);
  if (folder.empty()) return 0;
  fmt::print("{}\n", folder.string());
  const auto contents = contents_of_cache(folder);
  if (!contents) {
    fmt::print("not there yet\n");
    return 0;
  }
  const uint64_t bytes = print_shares(*contents);
  fmt::print("{} of at most {}\n", size_text(bytes), size_text(cache.limit_bytes));
  for (const base::driver_files& d : contents->drivers)
    fmt::print("{}: {} in {}, of at most {}{}\n", d.folder.string(), size_text(d.bytes),
               count_text(d.files, "file"), size_text(cache.limit_bytes),
               d.in_use ? "; in use" : "");
  if (const auto users = base::env("POCL_CACHE_DIR"))
    fmt::print("{}: PoCL's by POCL_CACHE_DIR, which is not looked after here\n", *users);
  return 0;
}

int clear() {
  const fs::path folder = folder_in_use(base::cache_options_from_environment());
  if (folder.empty()) return 0;
  const cache_removal gone = clear_cache(folder);
  fmt::print("{}: {}, {} removed\n", folder.string(), count_text(gone.files, "file"),
             size_text(gone.bytes));
  if (gone.held > 0) fmt::print("{} of running processes stayed\n", count_text(gone.held, "mark"));
  for (const fs::path& driver : gone.drivers_in_use)
    fmt::print("{}: in use; what was used in the last hour stayed\n", driver.string());
  return 0;
}

uint64_t kept_bytes(const fs::path& folder, uint64_t& entries) {
  uint64_t bytes = 0;
  entries = 0;
  const auto contents = contents_of_cache(folder);
  if (!contents) return 0;
  for (const cache_share& s : contents->shares) {
    entries += s.entries;
    bytes += s.bytes;
  }
  for (const base::driver_files& d : contents->drivers) bytes += d.bytes;
  return bytes;
}

/// Runs each as the shell does.
int warm(const std::vector<std::string>& programs) {
  const fs::path folder = folder_in_use(base::cache_options_from_environment());
  if (folder.empty()) return 1;
  int status = 0;
  for (const std::string& program : programs) {
    uint64_t before = 0, after = 0;
    const uint64_t bytes_before = kept_bytes(folder, before);
    const int raw = std::system(program.c_str());
    const uint64_t bytes_after = kept_bytes(folder, after);
    const int code = raw == -1 ? -1 : WIFEXITED(raw) ? WEXITSTATUS(raw) : -1;
    if (code != 0) {
      status = 1;
      fmt::print(stderr, "{}: ended with {}\n", program,
                 raw != -1 && WIFSIGNALED(raw) ? signal_text(WTERMSIG(raw))
                                               : fmt::format("exit status {}", code));
    }
    const auto more = [](uint64_t now, uint64_t then) { return now > then ? now - then : 0; };
    fmt::print(
        "{}: {} and {} more are kept\n", program,
        more(after, before) == 1 ? "1 entry" : fmt::format("{} entries", more(after, before)),
        size_text(more(bytes_after, bytes_before)));
  }
  return status;
}

}  // namespace

command add_cache(CLI::App& app) {
  const auto o = std::make_shared<cache_choice>();
  CLI::App* const parser = app.add_subcommand("cache", "Show, clear or fill the cache");
  parser->require_subcommand(1);
  o->info = parser->add_subcommand(
      "info", "show the directory, its entries by kind and device, and the caches of drivers");
  o->clear = parser->add_subcommand(
      "clear",
      "remove everything that `info` counts; running processes continue, and entries\n"
      "that their drivers used in the last hour are kept");
  o->warm = parser->add_subcommand(
      "warm",
      "run programs, so that the kernels they use are compiled and stored; each\n"
      "is a shell command: 'TUTTI_DEVICE=opencl digits --epochs 1'");
  o->warm->add_option("programs", o->programs, "programs to run in sequence")->required();
  return {parser, [o] {
            if (o->info->parsed()) return info();
            return o->clear->parsed() ? clear() : warm(o->programs);
          }};
}

}  // namespace tutti::tools
