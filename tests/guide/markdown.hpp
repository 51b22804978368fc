// SPDX-License-Identifier: Apache-2.0
//
// What the tests take from a page of docs/guide: snippets and files with the output that the page
// shows for them, and the expressions in the tables' columns "Tutti".
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti_test::guide {

enum class part_kind {
  section,     ///< a heading "## ..."; snippets of one section share their variables
  snippet,     ///< ```cpp
  output,      ///< ```text, of the snippet before it
  file,        ///< ```cpp file=NAME or ```cmake file=NAME: a whole file
  command,     ///< a line "$ ./build/PROGRAM" of ```console, with the lines below it
  expression,  ///< in the column "Tutti" of a table
};

struct part {
  part_kind kind = part_kind::section;
  int line = 0;  ///< of the page, from 1; of blocks their first line
  std::string text;
  std::string file;         ///< of a file its name, of a command what is to be run
  double tolerance = 1e-3;  ///< of outputs and commands, relative; infinite: any number will do
};

/// "<!-- numbers within 0.02 -->" and "<!-- numbers vary -->" before a block say how numbers in
/// outputs are compared. Throws std::runtime_error naming the line for blocks of other kinds, which
/// nothing would check, for an output without a snippet and a block without an end.
std::vector<part> parse_page(std::string_view markdown);

/// The whole files of a page whose other blocks nothing checks.
std::vector<part> parse_files(std::string_view markdown);

}  // namespace tutti_test::guide
