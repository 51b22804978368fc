// SPDX-License-Identifier: Apache-2.0
//
// Reporting faults, the seed, and what tests ask for.
#include "faults.hpp"

#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>

#include "control.hpp"
#include "streams.hpp"

namespace tutti_emulator {
namespace {
std::string the_last;

struct script {
  int calls = 0, code = 0, times = 0;
};
std::map<std::string, script>& scripts() {
  static auto* const all = new std::map<std::string, script>;
  return *all;
}

bool takes_notes = false;
std::string notes, taken;

}  // namespace

std::atomic<int> alive = 0;

CUresult called(const char* function) {
  script& s = scripts()[function];
  ++s.calls;
  if (s.times == 0) return CUDA_SUCCESS;
  if (s.times > 0) --s.times;
  return static_cast<CUresult>(s.code);
}

void note(const std::string& text) {
  if (takes_notes) notes += text + '\n';
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

using namespace tutti_emulator;

const char* emulator_last_fault() { return the_last.c_str(); }
void emulator_fail(const char* function, int code, int times) {
  const std::lock_guard held(lock());
  scripts()[function].code = code;
  scripts()[function].times = times;
}
int emulator_count(const char* function) {
  const std::lock_guard held(lock());
  return scripts()[function].calls;
}
int emulator_alive() { return alive; }
const char* emulator_notes() {
  const std::lock_guard held(lock());
  takes_notes = true;
  taken.swap(notes);
  notes.clear();
  return taken.c_str();
}
