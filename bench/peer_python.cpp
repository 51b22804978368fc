// SPDX-License-Identifier: Apache-2.0
#include "peer_python.hpp"

#include <csignal>
#include <cstdlib>
#include <memory>
#include <vector>

#include "child.hpp"

namespace tutti::bench {
namespace {

// One Python process for all cases; none if NumPy is missing.
companion* python() {
  static const std::unique_ptr<companion> instance = [] {
    std::signal(SIGPIPE, SIG_IGN);
    const char* named = std::getenv("TUTTI_BENCH_PYTHON");
    auto made = std::make_unique<companion>(named != nullptr ? named : "python3",
                                            std::vector<std::string>{beside("peer_python.py")});
    if (made->ask("open sum").empty()) made.reset();
    return made;
  }();
  return instance.get();
}

}  // namespace

std::function<double()> python_peer(const std::string& name) {
  companion* peers = python();
  if (peers == nullptr || peers->ask("open " + name) == "none") return {};
  return [peers] { return std::stod(peers->ask("run")); };
}

}  // namespace tutti::bench
