// SPDX-License-Identifier: Apache-2.0
//
// A program with a kernel; processes_test.cpp runs it.
//   kernel_process cached   prints how many programs were compiled, and how many came from the disk
//   kernel_process exit     ends while kernels are in flight
//   kernel_process host     launches one that only the reference device takes
#include <iostream>
#include <string>
#include <tutti/tutti.hpp>

#include "sources.hpp"

int main(int, char** argv) {
  const std::string what = argv[1];
  const tutti::kernel saxpy = tutti_test::saxpy();
  std::vector<float> ones(what == "exit" ? 1 << 20 : 10, 1.f);
  tutti::array x = tutti::array::from(ones);
  if (what == "exit") {
    static tutti::array kept;  // outlives the device's work
    for (int round = 0; round < 20; ++round)
      x = saxpy({x, x}, {.outputs = {{x.shape()}}, .scalars = {0.5f}})[0];
    kept = x;
    return 0;
  }
  if (what == "host") {
    const tutti::kernel unit({.name = "unit", .host = [](const tutti::kernel_host_call& c) {
                                for (float& v : c.output<float>(0)) v = 1;
                              }});
    try {
      std::cout << unit({}, {.outputs = {{{3}}}})[0].to_vector<float>()[2] << std::endl;
    } catch (const tutti::device_error& e) {
      std::cout << e.what() << std::endl;
    }
    return 0;
  }
  x = saxpy({x, x}, {.outputs = {{x.shape()}}, .scalars = {2.f}})[0];
  std::cout << x.to_vector<float>()[9] << ", compiled " << tutti::stats().compiles
            << ", from the disk " << tutti::stats().disk_cache_hits << std::endl;
}
