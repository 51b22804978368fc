// SPDX-License-Identifier: Apache-2.0
#include "plugin/trial.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <exception>

#include "base/env.hpp"
#include "base/signals.hpp"
#include "plugin/opened_device.hpp"
#include "plugin/proof/proof.hpp"
#include "plugin/registry.hpp"
#include "safety/child_process.hpp"
#include "safety/messages.hpp"

namespace tutti::detail {
namespace {

using std::chrono::steady_clock;

constexpr std::string_view well = "well";

constinit bool is_trial = false;  // which starts no other

std::optional<std::string> tried(std::vector<std::string> words) {
  const found_helper helper = find_helper();
  if (is_trial || helper.program.empty()) return std::nullopt;
  words.insert(words.begin(), std::string(trial_word));
  const child_process child = start_child(helper.program, words);
  if (child.failed != 0) return std::nullopt;
  const double seconds = proof_time_limit();
  std::string answer;
  const arrived end = receive_message(
      child.socket, answer,
      steady_clock::now() + std::chrono::duration_cast<steady_clock::duration>(
                                std::chrono::duration<double>(std::min(seconds, 1e6))));
  ::close(child.socket);  // which ends a child that hangs
  if (end == arrived::nothing_in_time) return fmt::format("no answer within {} s", seconds);
  return end == arrived::message && answer == well ? "" : "the process ended";
}

void try_here(const std::vector<std::string>& words) {
  const std::string& name = words.at(1);
  for (opened_device* device : registry().devices_of(name.substr(0, name.find(':')))) {
    if (name.find(':') == std::string::npos) {
      static_cast<void>(why_unusable(*device, true));
      continue;
    }
    if (device->name != name || device->proof == nullptr) continue;
    device->open();
    for (const question which : all_questions)
      if (name_of(which) == words.at(2)) device->proof->ask_again(which);
  }
}

}  // namespace

found_helper find_helper(const std::filesystem::path& library) {
  if (env_word("TUTTI_COMPILER_PROCESS", {"on", "off"}) == "off")
    return {{}, "TUTTI_COMPILER_PROCESS=off", "unset it"};
  if (library.empty()) return {{}, "the library does not know where it lies", "load it by a path"};
  const std::filesystem::path program = library.parent_path() / "tutti" / "tutti-compiler";
  try {
    const auto objection = changeable_by_others(program, library);
    if (objection && !env_word("TUTTI_PLUGIN_OWNER", {"any"}))
      return {{}, objection->why, objection->advice};
  } catch (const std::exception& e) {
    return {{}, e.what(), "install it beside the library"};
  }
  return {program, {}, {}};
}

std::optional<std::string> try_plugin(const std::string& name) { return tried({name}); }

std::optional<std::string> try_question(const std::string& device, question which) {
  return tried({device, name_of(which)});
}

void be_a_trial(const std::vector<std::string>& words, int socket) {
  is_trial = true;
  ::setenv("TUTTI_PROOF", "1000000", 1);  // the limit is that of whoever waits for the answer
  start_thread([words, socket] {
    try {
      try_here(words);
    } catch (const std::exception&) {  // whoever needs it will be told the same
    }
    send_message(socket, well);
    ::_exit(0);
  }).detach();
  // Nobody waits for the answer any more.
  std::string nothing;
  receive_message(socket, nothing, steady_clock::time_point::max());
  ::_exit(1);
}

}  // namespace tutti::detail
