// SPDX-License-Identifier: Apache-2.0
//
// Plugins that end a process without a word, break what the host relies on, or lie about what they
// have done: what later processes and the same one make of it. broken_plugin.cpp tells of the
// faults.
#include <boost/test/unit_test.hpp>

#include "broken_machine.hpp"

using namespace loader_test;

BOOST_AUTO_TEST_CASE(folders_of_drivers_lie_where_they_belong) {
  const machine m;
  const outcome end = m.world("BROKEN=count:folders");
  BOOST_TEST(has(end.output, "devices: bad:0\n"), end.output);
  for (const std::string name : {"../../../etc/evil", "/etc/evil", "..", ""})
    BOOST_TEST(has(end.output, "bad: has asked for a folder for its driver and got none: \"" +
                                   name + "\" is no name of a folder"),
               end.output);
}

BOOST_AUTO_TEST_CASE(auto_goes_on_where_a_device_cannot_be_opened) {
  const machine m;
  const std::string fault = "BROKEN=open:fail";
  const outcome end = m.world(fault);
  BOOST_TEST(has(end.output, "devices: reference:0\n"), end.output);
  BOOST_TEST(has(end.output, "auto passes over a device: bad:0 ("), end.output);
  BOOST_TEST(has(end.output, "open the device: it is busy"), end.output);
  const auto devices = m.command("devices", fault);
  for (const std::string name : {"bad:0", "bad:1"}) {
    BOOST_TEST(!lists(devices, name));
    BOOST_TEST(has(not_usable(devices, name), "it is busy"), devices.dump(1));
  }
  BOOST_TEST(devices["default"] == "reference:0");
  // One that was good once is as busy for who is about to use it.
  m.world("BROKEN=");
  const outcome later = m.start(std::string(paths::world_program) + " default", fault);
  BOOST_TEST(has(later.output, "devices: reference:0\n"), later.output);
}

BOOST_AUTO_TEST_CASE(large_transfers_that_do_nothing_are_found) {
  const std::pair<std::string, std::string> faults[] = {
      {"write=nop", "of 1572864 bytes written and read back, word "},
      {"map=null", "memory.map succeeds, but hands out NULL"}};
  for (const auto& [fault, mistake] : faults) {
    const machine m;
    const outcome end = m.world("BROKEN=" + fault);
    BOOST_TEST(has(end.output, "devices: reference:0\n"), end.output);
    BOOST_TEST(has(end.output, "gets transfers wrong: " + mistake), end.output);
  }
}

BOOST_AUTO_TEST_CASE(what_a_plugin_returned_is_read_within_its_step) {
  for (const std::string limit : {"", "TUTTI_TIMEOUT=60 "}) {
    const machine m;
    const outcome end = m.world(limit + "BROKEN=name=wild");
    BOOST_TEST(has(end.output,
                   "tutti: crash by signal 11 within device.properties of " + m.bad().string()),
               end.output);
    BOOST_TEST(has(m.world("BROKEN=").output, "devices: reference:0\n"));
  }
  const machine m;
  BOOST_TEST(has(m.world("BROKEN=opcodes=4294967295").output, "devices: bad:0\n"));
}

BOOST_AUTO_TEST_CASE(auto_falls_twice_over_ends_without_a_word) {
  for (const std::string fault : {"count:_exit", "open:kill"}) {
    const machine m;
    // The loading, which goes well, does not take back what counts against the opening.
    for (int i = 0; i < 2; ++i)
      BOOST_TEST(!has(m.world("BROKEN=" + fault).output, "devices: "), fault);
    const outcome third = m.world("BROKEN=" + fault);
    BOOST_TEST(has(third.output, "devices: reference:0\n"), third.output);
    BOOST_TEST(has(third.output, "without a word, and so did one before"), third.output);
  }
}

BOOST_AUTO_TEST_CASE(host_events_that_cannot_be_signalled_are_found) {
  const machine m;
  const outcome end = m.world("BROKEN=signal=fail");
  BOOST_TEST(has(end.output, "devices: reference:0\n"), end.output);
  BOOST_TEST(has(end.output, "gets transfers wrong: event_signal fails: "), end.output);
}

BOOST_AUTO_TEST_CASE(a_status_is_read_as_far_as_it_goes) {
  const machine m;
  const outcome end = m.world("BROKEN=status=short");
  BOOST_TEST(has(end.output, "open the device: driver error (vendor code 5)"), end.output);
}

BOOST_AUTO_TEST_CASE(exceptions_of_another_language_are_told_of) {
  const machine m;
  const outcome end = m.world("BROKEN=open:foreign");
  BOOST_TEST(has(end.output, "devices: reference:0\n"), end.output);
  BOOST_TEST(has(end.output,
                 "its function device.open threw an exception: an exception of a type that only "
                 "the plugin knows"),
             end.output);
}

// Whether a wait waits is asked of /proc.
BOOST_AUTO_TEST_CASE(a_lack_of_descriptors_is_no_fault_of_the_plugin) {
  const machine m;
  const outcome end = m.world("BROKEN=allocate:no_descriptors");
  BOOST_TEST(has(end.output, "devices: bad:0\n"), end.output);
  BOOST_TEST(!has(end.output, "waiting for"), end.output);
}

BOOST_AUTO_TEST_CASE(a_fork_does_not_answer_for_its_parent) {
  const machine m;
  const auto devices = m.command("devices", "BROKEN=count:fork_and_die");
  BOOST_TEST(has(not_usable(devices, "bad"),
                 "ended its process with exit status 0 within "
                 "device.count"),
             devices.dump(1));
  BOOST_TEST(devices["default"] == "reference:0");
}

BOOST_AUTO_TEST_CASE(traps_of_a_driver_are_not_the_callers) {
  const machine m;
  const auto devices = m.command("devices", "BROKEN=count:float_traps");
  BOOST_TEST(lists(devices, "bad:0"));
  BOOST_TEST(lists(devices, "reference:0"));
}

BOOST_AUTO_TEST_CASE(tiers_are_asked_for_within_a_step) {
  const machine m;
  const outcome end = m.world("TUTTI_TIMEOUT=2 BROKEN=begins:hang");
  BOOST_TEST(has(end.output, "devices: reference:0\n"), end.output);
  BOOST_TEST(has(end.output, "did not come back from tier.begins_on_host within 2 s"), end.output);
}

BOOST_AUTO_TEST_CASE(what_plugins_leave_for_the_exit_is_theirs) {
  const machine m;
  const std::string rest = "the end of this process, with plugins loaded: ";
  const outcome crashed = m.world("BROKEN=count:crash_at_exit");
  BOOST_TEST(has(crashed.output, "tutti: crash by signal 11 within " + rest), crashed.output);
  BOOST_TEST(has(crashed.output, m.bad().string()), crashed.output);
  const outcome hung = m.world("BROKEN=count:hang_at_exit");
  BOOST_TEST(has(hung.output, "exit: waiting for " + rest), hung.output);
}

BOOST_AUTO_TEST_CASE(nobody_is_to_blame_once_the_exit_has_begun) {
  const machine m;
  const outcome end = m.world("TUTTI_TIMEOUT=2 BROKEN=count:thread_exits");
  BOOST_TEST(!has(end.output, "did not come back"), end.output);
  BOOST_TEST(has(m.world("BROKEN=").output, "devices: bad:0\n"));
}

BOOST_AUTO_TEST_CASE(an_end_of_the_calling_thread_is_named) {
  for (const std::string place : {"entry", "count"}) {
    const machine m;
    const outcome end = m.world("BROKEN=" + place + ":thread_end");
    BOOST_TEST(
        has(end.output, "plugin bad: the thread that calls its function " +
                            std::string(place == "count" ? "device.count" : "tutti_plugin_entry") +
                            " is ended there"),
        end.output);
  }
}
