// SPDX-License-Identifier: Apache-2.0
//
// The exception-to-status edge, the append-only rule and the range check of the plugin sdk.
#include "sdk/status.hpp"

#include <boost/test/unit_test.hpp>
#include <limits>
#include <new>
#include <string>
#include <vector>

#include "sdk/validate.hpp"

namespace {

using tutti::sdk::guarded;
using tutti::sdk::plugin_error;

void check_status(tutti_status* status, int32_t code, const std::string& message) {
  BOOST_REQUIRE(status != nullptr);
  BOOST_CHECK_EQUAL(status->struct_size, sizeof(tutti_status));
  BOOST_CHECK_EQUAL(status->code, code);
  BOOST_CHECK_EQUAL(status->message, message);
  status->release(status);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(sdk_status)

BOOST_AUTO_TEST_CASE(success_is_null) {
  BOOST_CHECK(guarded([] {}) == nullptr);
  BOOST_CHECK(guarded([]() -> tutti_status* { return nullptr; }) == nullptr);
}

BOOST_AUTO_TEST_CASE(exceptions_become_statuses) {
  check_status(guarded([] { throw std::runtime_error("odd"); }), TUTTI_ERROR_INTERNAL, "odd");
  check_status(guarded([] { throw std::bad_alloc(); }), TUTTI_ERROR_OUT_OF_MEMORY,
               "out of host memory");
  check_status(guarded([] { throw 7; }), TUTTI_ERROR_INTERNAL, "exception of an unknown type");
  tutti_status* status =
      guarded([] { throw plugin_error(TUTTI_ERROR_DRIVER, "driver says no", -54, true); });
  BOOST_CHECK_EQUAL(status->vendor_code, -54);
  BOOST_CHECK_EQUAL(status->retryable, 1u);
  check_status(status, TUTTI_ERROR_DRIVER, "driver says no");
}

BOOST_AUTO_TEST_CASE(a_status_owns_its_message) {
  std::string text(5000, 'x');
  tutti_status* status = tutti::sdk::make_status(TUTTI_ERROR_COMPILE, text.c_str());
  text.assign(5000, 'y');
  check_status(status, TUTTI_ERROR_COMPILE, std::string(5000, 'x'));
  check_status(tutti::sdk::make_status(TUTTI_OK, "a failure has a code"), TUTTI_ERROR_INTERNAL,
               "a failure has a code");
}

BOOST_AUTO_TEST_CASE(shorter_and_longer_structs) {
  tutti_event_times given{};
  given.struct_size = offsetof(tutti_event_times, end_ns);
  given.begin_ns = 5;
  given.end_ns = 9;  // beyond what the caller says it has
  const auto mine = tutti::sdk::read_struct(&given, "times");
  BOOST_CHECK_EQUAL(mine.begin_ns, 5u);
  BOOST_CHECK_EQUAL(mine.end_ns, 0u);

  tutti::sdk::write_struct(&given, tutti_event_times{0, 1, 2}, "times");
  BOOST_CHECK_EQUAL(given.begin_ns, 1u);
  BOOST_CHECK_EQUAL(given.end_ns, 9u);
  BOOST_CHECK_EQUAL(given.struct_size, offsetof(tutti_event_times, end_ns));

  given.struct_size = 1000;
  tutti::sdk::write_struct(&given, tutti_event_times{0, 1, 2}, "times");
  BOOST_CHECK_EQUAL(given.end_ns, 2u);
  BOOST_CHECK_EQUAL(given.struct_size, sizeof(tutti_event_times));

  given.struct_size = 0;
  BOOST_CHECK_THROW(tutti::sdk::read_struct(&given, "times"), plugin_error);
  const tutti_event_times* none = nullptr;
  BOOST_CHECK_THROW(tutti::sdk::read_struct(none, "times"), plugin_error);
}

BOOST_AUTO_TEST_CASE(ranges) {
  const auto inside = [](uint64_t offset, std::vector<uint64_t> extent, std::vector<int64_t> stride,
                         uint64_t bytes) {
    try {
      tutti::sdk::validate_range("x", offset, 4, static_cast<uint32_t>(extent.size()),
                                 extent.data(), stride.data(), bytes);
      return true;
    } catch (const plugin_error& error) {
      BOOST_CHECK_EQUAL(error.code, TUTTI_ERROR_INVALID_ARGUMENT);
      return false;
    }
  };
  BOOST_CHECK(inside(0, {3, 4}, {4, 1}, 48));
  BOOST_CHECK(!inside(0, {3, 4}, {4, 1}, 47));
  BOOST_CHECK(!inside(4, {3, 4}, {4, 1}, 48));
  BOOST_CHECK(inside(44, {3, 4}, {-4, -1}, 48));
  BOOST_CHECK(!inside(40, {3, 4}, {-4, -1}, 48));
  BOOST_CHECK(inside(0, {1000, 4}, {0, 1}, 16));
  BOOST_CHECK(inside(1000, {0}, {1}, 16));
  const int64_t huge = std::numeric_limits<int64_t>::max();
  BOOST_CHECK(!inside(0, {~uint64_t{0}, ~uint64_t{0}}, {huge, huge}, 16));
  BOOST_CHECK(!inside(0, {~uint64_t{0}}, {-huge}, 16));
}

BOOST_AUTO_TEST_SUITE_END()
