// SPDX-License-Identifier: Apache-2.0
//
// Prints what TUTTI_DEVICE selects and which plugin files this process has mapped, for
// process_test.cpp. With the argument "default" it asks for the default device alone; with
// "compute" it computes on it, and says whether any signal has another handler than before; with
// "exit FILE" it exits when there is that file, while another thread computes; with any other
// argument it asks for that device.
#include <signal.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/counters.hpp"
#include "tutti/device.hpp"
#include "tutti/error.hpp"
#include "tutti/ops.hpp"

namespace {

using handler = void (*)(int);

std::array<handler, 32> handlers() {
  std::array<handler, 32> all{};
  for (int number = 1; number < 32; ++number) {
    struct sigaction now {};
    ::sigaction(number, nullptr, &now);
    all[static_cast<size_t>(number)] = now.sa_handler;
  }
  return all;
}

int compute() {
  const auto before = handlers();
  const tutti::array a = tutti::array::from(std::vector<float>(100, 1.5f), {100});
  std::cout << "sum: " << (a * a + a).to_vector<float>().at(7) << std::endl;
  std::cout << "signals: " << (handlers() == before ? "as before" : "changed") << "\n";
  std::cout << "fallbacks: " << tutti::stats().fallbacks << "\n";
  return 0;
}

[[noreturn]] void exit_while_another_thread_computes(const char* file) {
  std::thread([] {
    try {
      compute();
    } catch (const tutti::error&) {  // nothing is computed any more
    }
  }).detach();
  while (!std::filesystem::exists(file)) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  std::exit(0);
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const std::string what = argc > 1 ? argv[1] : "";
    if (what == "compute") return compute();
    if (what == "exit") exit_while_another_thread_computes(argv[2]);
    std::cout << "devices:";
    if (what.empty())
      for (const tutti::device& d : tutti::devices()) std::cout << " " << d.name();
    else
      std::cout << " "
                << (what == "default" ? tutti::default_device() : tutti::device(what)).name();
    std::cout << "\n";
  } catch (const tutti::error& e) {
    std::cout << "\nerror: " << e.what() << "\n";
  }
  std::ifstream maps("/proc/self/maps");
  std::set<std::string> plugins;
  for (std::string line; std::getline(maps, line);)
    if (const auto at = line.find("libtutti_"); at != std::string::npos)
      plugins.insert(line.substr(at));
  std::cout << "mapped:";
  for (const std::string& name : plugins) std::cout << " " << name;
  std::cout << "\n";
}
