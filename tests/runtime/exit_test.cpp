// SPDX-License-Identifier: Apache-2.0
//
// A process that exits waits for its work in flight: it neither crashes under a driver that runs in
// the process nor loses what the trace should tell, and a device that hangs does not keep it.
#include <boost/test/data/test_case.hpp>
#include <boost/test/unit_test.hpp>
#include <filesystem>
#include <string>

#include "tutti_test/command.hpp"
#include "tutti_test/files.hpp"

namespace {

using tutti_test::count;
using tutti_test::outcome;

outcome exiting(const std::string& arguments, const std::string& variables) {
  return tutti_test::run(variables + " " + tutti_test::beside("exiting") + " " + arguments);
}

}  // namespace

BOOST_AUTO_TEST_SUITE(device)

BOOST_DATA_TEST_CASE(work_in_flight_is_waited_for, boost::unit_test::data::make({"main", "thread"}),
                     who) {
  const tutti_test::temporary_folder folder;
  const std::string trace = (folder / "trace.json").string();
  // PoCL finds nothing compiled, and so compiles while the process exits.
  const outcome end = exiting(who, "POCL_KERNEL_CACHE=0 TUTTI_TRACE=" + trace);
  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(end.output == "");
  BOOST_TEST(count(tutti_test::read_bytes(trace), "\"ops\":") == 4u);
}

// The device is being counted, opened or asked its first question meanwhile. Nothing of it is held
// against the plugin afterwards.
BOOST_DATA_TEST_CASE(a_thread_that_looks_for_a_device_is_waited_for,
                     boost::unit_test::data::make({"0", "5", "20", "60", "200"}), delay) {
  const tutti_test::temporary_folder folder;
  const std::string cache = "TUTTI_CACHE_MB=512 TUTTI_CACHE_DIR=" + (folder / "cache").string();
  for (int run = 0; run < 2; ++run) {
    const outcome end = exiting(std::string("opening ") + delay, cache);
    BOOST_TEST(end.status == 0, end.output);
    BOOST_TEST(end.output == "");
  }
  std::error_code none;  // it may have ended before there was one
  for (const auto& file : std::filesystem::directory_iterator(folder / "cache", none))
    BOOST_TEST(file.path().extension() != ".entered", file.path());
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(faulty)

BOOST_AUTO_TEST_CASE(a_device_that_hangs_is_left_after_the_time_limit) {
  const outcome end = exiting("hang", "TUTTI_TIMEOUT=0.5");
  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(count(end.output, "exit: work is still running after 0.5 s; leaving it") == 1u,
             end.output);
}

// It is told so once the process has waited for what is under way, which may take long.
BOOST_AUTO_TEST_CASE(a_thread_that_goes_on_computing_ends_no_process_that_exits) {
  const outcome end = exiting("training", "TUTTI_TIMEOUT=3");
  BOOST_TEST(end.status == 0, end.output);
}

// A fork that waits says so after the limit. The other process is told to go on at once, but may
// get no processor for some time.
BOOST_AUTO_TEST_CASE(a_fork_waits_for_nothing) {
  const outcome end = exiting("fork", "TUTTI_TIMEOUT=20");
  BOOST_TEST(end.status == 0, end.output);
  BOOST_TEST(end.output == "the fork's status is 0\n");
}

BOOST_AUTO_TEST_SUITE_END()
