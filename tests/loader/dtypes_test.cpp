// SPDX-License-Identifier: Apache-2.0
//
// A device that cannot store a dtype says so, naming both, when such an array is made: not when it
// is read. The device is a fake one that stores f32 only.
#include "support.hpp"
#include "tutti_test/arrays.hpp"

namespace {

using namespace loader_test;

// Before the first use of a device in this process.
struct world {
  world() {
    ::setenv("TUTTI_PLUGIN_PATH", (std::string(tutti_test::paths::fake_plugins) + "/good").c_str(),
             1);
    ::setenv("TUTTI_DEVICE", "vendorx", 1);
    ::setenv("FAKE_VENDORX", "cpu", 1);
  }
};
BOOST_TEST_GLOBAL_FIXTURE(world);

template <class Body>
void refused(dtype type, Body&& body) {
  const std::string text = message_of<tutti::dtype_error>(body);
  BOOST_TEST_CONTEXT(text) {
    BOOST_TEST(text.find("vendorx:0") != std::string::npos);
    BOOST_TEST(text.find(std::string("has no ").append(tutti::name(type))) != std::string::npos);
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(arrays_of_absent_dtypes_are_refused_when_made) {
  for (int d = 1; d <= static_cast<int>(dtype::c128); ++d) {
    const auto type = static_cast<dtype>(d);
    if (type == dtype::f32) continue;
    BOOST_TEST_CONTEXT(tutti::name(type)) {
      refused(type, [&] { tutti::zeros({2}, type); });
      refused(type, [&] { tutti::full({2}, 1, type); });
      refused(type, [&] { tutti::zeros({2}).astype(type); });
      const std::vector<char> bytes(2 * tutti::size_of(type));
      refused(type, [&] { array::from_bytes(bytes.data(), 2, type, {2}); });
    }
  }
}

BOOST_AUTO_TEST_CASE(operations_that_give_absent_dtypes_are_refused) {
  const array x = tutti::ones({2, 2});
  refused(dtype::boolean, [&] { x > 0; });
  refused(dtype::i64, [&] { tutti::argmax(x); });
  refused(dtype::c64, [&] { x* std::complex<float>(0, 1); });
  refused(dtype::c64, [&] { tutti::complex(x, x); });
  BOOST_TEST(((x * 0.5 + 1).dtype() == dtype::f32));
}
