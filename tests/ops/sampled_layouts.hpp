// SPDX-License-Identifier: Apache-2.0
//
// Layouts of an operand for tests of compositions: all where programs are interpreted, two where
// each is another program to compile (layouts in general are tested by the primitives).
#pragma once

#include "tutti_test/arrays.hpp"
#include "tutti_test/host_device.hpp"

namespace tutti_test {

template <class T = float>
std::vector<std::pair<std::string, tutti::array>> sampled_layouts(const dense& d) {
  auto all = layouts<T>(d);
  if (tutti_test::on_host() || all.size() < 4) return all;
  return {all[1], all[3]};
}

}  // namespace tutti_test
