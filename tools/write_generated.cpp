// SPDX-License-Identifier: Apache-2.0
//
// Writes a file that is generated from the tables of operators: write_generated operators.md FILE,
// write_generated elementwise.hpp FILE.
#include <fstream>
#include <iostream>
#include <string>

#include "elementwise_header.hpp"
#include "operators_document.hpp"

int main(int argc, char** argv) {
  const std::string what = argc == 3 ? argv[1] : "";
  if (what != "operators.md" && what != "elementwise.hpp") {
    std::cerr << "usage: write_generated operators.md|elementwise.hpp FILE\n";
    return 2;
  }
  std::ofstream out(argv[2], std::ios::binary);
  out << (what == "operators.md" ? tutti::tools::operators_document()
                                 : tutti::tools::elementwise_header());
  out.close();
  if (out) return 0;
  std::cerr << "write_generated: cannot write " << argv[2] << '\n';
  return 1;
}
