// SPDX-License-Identifier: Apache-2.0
//
// Files of the source tree that tests read.
#pragma once

#include <cstdlib>
#include <filesystem>

namespace tutti_test {

/// Where a file or folder of the tree lies: there, or in the folder TUTTI_TEST_DATA by its own name
/// where the tree is on another machine (scripts/gpu-check).
inline std::filesystem::path data(const std::filesystem::path& in_the_tree) {
  const char* const moved = std::getenv("TUTTI_TEST_DATA");
  return moved != nullptr ? moved / in_the_tree.filename() : in_the_tree;
}

}  // namespace tutti_test
