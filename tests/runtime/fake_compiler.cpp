// SPDX-License-Identifier: Apache-2.0
//
// In the place of tutti-compiler, without the library's plugins. TUTTI_TEST_COMPILER says what it
// does: "answers", with the device's name; "refuses"; "ends" at the first request; "recovers", ends
// at the first request of the first process, which leaves the file TUTTI_TEST_FILE; "hangs" within
// a request; "mute", it says nothing; "stranger", it greets as another version does; "nonsense", it
// answers with what is no answer.
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include "runtime/promote/compile_process.hpp"
#include "runtime/promote/compile_service.hpp"
#include "safety/messages.hpp"

using namespace tutti::detail;
using namespace tutti::runtime;

int main() {
  if (::fork() != 0) return 0;
  const std::string does = std::getenv("TUTTI_TEST_COMPILER");
  const auto never = std::chrono::steady_clock::time_point::max();
  if (does == "mute") return 0;
  send_message(STDIN_FILENO, does == "stranger" ? "tutti-compiler 0" : service_greeting());
  for (std::string text;;) {
    if (receive_message(STDIN_FILENO, text, never) != arrived::message) return 0;
    compile_request request;
    if (!request.read(text)) return 1;
    if (does == "ends") return 0;
    if (const char* file = std::getenv("TUTTI_TEST_FILE");
        does == "recovers" && !std::filesystem::exists(file))
      return std::ofstream(file) << "once", 0;
    if (does == "hangs") receive_message(STDIN_FILENO, text, never);  // until nobody listens
    if (does == "hangs") return 0;
    send_message(STDIN_FILENO, does == "nonsense"  ? "?"
                               : does == "refuses" ? "rno such luck"
                                                   : "c" + request.device);
  }
}
