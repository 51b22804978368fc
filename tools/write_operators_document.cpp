// SPDX-License-Identifier: Apache-2.0
//
// Writes docs/operators.md from the tables of operators: write_operators_document FILE.
#include <fstream>
#include <iostream>

#include "operators_document.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::cerr << "usage: write_operators_document FILE\n";
    return 2;
  }
  std::ofstream out(argv[1], std::ios::binary);
  out << tutti::tools::operators_document();
  out.close();
  if (out) return 0;
  std::cerr << "write_operators_document: cannot write " << argv[1] << '\n';
  return 1;
}
