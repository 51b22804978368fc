// SPDX-License-Identifier: Apache-2.0
//
// Entry of the tests that need no device.
#include <boost/test/unit_test.hpp>

#include "tutti_test/random.hpp"

int main(int argc, char** argv) {
  tutti_test::print_seed();
  return boost::unit_test::unit_test_main([] { return true; }, argc, argv);
}
