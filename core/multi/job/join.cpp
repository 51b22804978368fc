// SPDX-License-Identifier: Apache-2.0
//
// Whether this process was started as one of several, and the communication plugin with which it
// joins them.
#include <fmt/ranges.h>

#include <cstdlib>
#include <filesystem>
#include <optional>

#include "base/env.hpp"
#include "base/fail.hpp"
#include "base/launcher.hpp"
#include "base/log.hpp"
#include "base/trace.hpp"
#include "multi/job/job_state.hpp"
#include "plugin/loader.hpp"
#include "tutti/error.hpp"

namespace tutti::multi {
namespace {

namespace fs = std::filesystem;

// The file's bytes distinguish builds of a program.
std::string own_program() {
  std::error_code failed;
  const fs::path file = fs::read_symlink("/proc/self/exe", failed);
  const auto bytes = fs::file_size("/proc/self/exe", failed);
  return fmt::format("{} ({} bytes) with Tutti {}", file.filename().string(), failed ? 0 : bytes,
                     TUTTI_VERSION);
}

const tutti_communication_api& find_communication(const std::string& name) {
  const std::vector<fs::path> folders = plugins::default_search_path().folders;
  std::vector<std::string> tried;
  for (const fs::path& folder : folders) {
    const fs::path file = folder / "communication" / fmt::format("libtutti_{}.so", name);
    tried.push_back(file.string());
    if (!fs::exists(file)) continue;
    logging::info("communication by {}", name);
    try {
      return plugins::load_communication(file, name, plugins::trust_rules_from_environment());
    } catch (const plugin_error& e) {
      base::fail<plugin_error>("{}: {}", file.string(), e.what());
    }
  }
  throw plugin_error(fmt::format("there is no {}, which a build with MPI (libopenmpi-dev) makes",
                                 fmt::join(tried, " and no ")));
}

std::shared_ptr<job_state> join() {
  const std::optional<std::string> wish = base::env("TUTTI_COMM");
  const auto launched = base::launched_as();
  if (wish == "none" || (!wish && !launched)) return std::make_shared<job_state>();
  const std::string reason = wish ? "TUTTI_COMM=" + *wish : launched->sign;
  try {
    auto joined = std::make_shared<job_state>(find_communication(wish.value_or("mpi")),
                                              base::time_limit(10), own_program());
    if (launched && joined->size() == 1) {
      joined->finish();
      throw plugin_error(
          "several processes were started, but the communication plugin finds this one alone; use "
          "the launcher of its library, or with Slurm srun --mpi=pmix");
    }
    return joined;
  } catch (const plugin_error& e) {
    base::fail<plugin_error>("job ({}): {}; TUTTI_COMM=none runs each process alone", reason,
                             e.what());
  }
}

}  // namespace

std::shared_ptr<job_state> job_of_process() {
  static auto* const joined = [] {
    auto* const made = new std::shared_ptr<job_state>(join());
    base::trace_enabled();  // a rank that traces nothing has a file, too
    std::atexit([] { job_of_process()->finish(); });
    return made;
  }();
  return *joined;
}

}  // namespace tutti::multi
