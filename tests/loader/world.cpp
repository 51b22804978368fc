// SPDX-License-Identifier: Apache-2.0
//
// Prints what TUTTI_DEVICE selects and which plugin files this process has mapped, for
// process_test.cpp. With the argument "default" it asks for the default device alone; with any
// other argument for that device.
#include <fstream>
#include <iostream>
#include <set>
#include <string>

#include "tutti/device.hpp"
#include "tutti/error.hpp"

int main(int argc, char** argv) {
  try {
    const std::string what = argc > 1 ? argv[1] : "";
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
