// SPDX-License-Identifier: Apache-2.0
#include "plugin/trial.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>

#include "base/env.hpp"
#include "base/signals.hpp"
#include "plugin/opened_device.hpp"
#include "plugin/proof/proof.hpp"
#include "plugin/registry.hpp"
#include "plugin/trust.hpp"
#include "safety/child_process.hpp"

namespace tutti::plugins {
namespace {

constinit bool is_trial = false;  // a trial starts no further trials

/// "" if the child succeeded within that many seconds, in which case it writes a byte.
std::string end_of(int socket, double seconds) {
  using clock = std::chrono::steady_clock;
  const std::chrono::duration<double> limit(std::min(seconds, 1e6));
  const auto deadline = clock::now() + std::chrono::duration_cast<clock::duration>(limit);
  pollfd waiting{socket, POLLIN, 0};
  int ready = 0;
  do {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(deadline - clock::now());
    ready = ::poll(&waiting, 1, static_cast<int>(std::max<std::int64_t>(left.count(), 0)));
  } while (ready < 0 && errno == EINTR);
  if (ready == 0) return fmt::format("no answer within {} s", seconds);
  char byte = 0;
  return ::read(socket, &byte, 1) == 1 ? "" : "the process ended";
}

void try_here(const std::string& name) {
  for (opened_device* device : registry().devices_of(name.substr(0, name.find(':')))) {
    if (name.find(':') == std::string::npos) {
      static_cast<void>(why_unusable(*device, true));
      continue;
    }
    if (device->name != name || device->proof == nullptr) continue;
    device->open();
    device->proof->ask_again();
  }
}

}  // namespace

found_helper find_helper(const std::filesystem::path& library) {
  if (library.empty()) return {{}, "the library does not know where it lies", "load it by a path"};
  const std::filesystem::path program = library.parent_path() / "tutti" / "tutti-trial";
  try {
    const auto objection = changeable_by_others(program, library);
    if (objection && trust_rules_from_environment().what != trust_rules::level::any)
      return {{}, objection->why, objection->advice};
  } catch (const std::exception& e) {
    return {{}, e.what(), "install it beside the library"};
  }
  return {program, {}, {}};
}

std::optional<std::string> try_in_child(const std::string& name) {
  const found_helper helper = find_helper();
  if (is_trial || helper.program.empty()) return std::nullopt;
  const safety::child_process child = safety::start_child(helper.program, {name});
  if (child.failed != 0) return std::nullopt;
  std::string end = end_of(child.socket, base::proof_time_limit());
  ::close(child.socket);  // which ends a child that hangs
  return end;
}

void be_a_trial(const std::string& name, int socket) {
  is_trial = true;
  ::setenv("TUTTI_PROOF", "1000000", 1);  // the process that waits has its own limit
  base::start_thread([name, socket] {
    try {
      try_here(name);
    } catch (const std::exception&) {  // reported again when it is needed
    }
    ::_exit(::write(socket, "", 1) == 1 ? 0 : 1);
  }).detach();
  // The parent does not wait any more.
  char nothing = 0;
  while (::read(socket, &nothing, 1) < 0 && errno == EINTR) {
  }
  ::_exit(1);
}

}  // namespace tutti::plugins
