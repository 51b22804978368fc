// SPDX-License-Identifier: Apache-2.0
//
// Entry of the tests that run on a device: opens the one that TUTTI_DEVICE names, says which it is,
// then runs the cases. Exit status 77 (skipped) where TUTTI_TEST_SKIP_WITHOUT_DRIVER is set and the
// device cannot be opened.
#include <boost/test/unit_test.hpp>
#include <cstdlib>
#include <exception>
#include <iostream>

#include "tutti/device.hpp"
#include "tutti_test/random.hpp"

int main(int argc, char** argv) {
  tutti_test::print_seed();
  try {
    const tutti::device device = tutti::default_device();
    const tutti::device_properties& properties = device.properties();
    std::cout << "device: " << device.name() << ", " << properties.description << ", "
              << properties.driver << ", schedule " << properties.schedule << std::endl;
  } catch (const std::exception& error) {
    const bool optional = std::getenv("TUTTI_TEST_SKIP_WITHOUT_DRIVER") != nullptr;
    std::cerr << (optional ? "skipped: " : "error: ") << error.what() << std::endl;
    return optional ? 77 : 2;
  }
  return boost::unit_test::unit_test_main([] { return true; }, argc, argv);
}
