// SPDX-License-Identifier: Apache-2.0
//
// Reporting faults, and the seed.
#include "faults.hpp"

#include <cstdio>
#include <cstdlib>
#include <random>

namespace tutti_emulator {
namespace {
std::string the_last;
}

unsigned seed() {
  static const unsigned chosen = [] {
    const char* text = std::getenv("TUTTI_EMULATOR_SEED");
    return text != nullptr ? static_cast<unsigned>(std::atoll(text)) : std::random_device{}();
  }();
  return chosen;
}

CUresult report(const fault& what) {
  the_last = what.text;
  std::fprintf(stderr, "CUDA emulator: %s (TUTTI_EMULATOR_SEED=%u)\n", what.text.c_str(), seed());
  return what.code;
}

}  // namespace tutti_emulator

extern "C" const char* emulator_last_fault() { return tutti_emulator::the_last.c_str(); }
