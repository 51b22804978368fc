// SPDX-License-Identifier: Apache-2.0
//
// Plugins that fail by a status when they are asked the basic questions, or break in calls that
// come after them, and plugins that get at more than their own process and descriptors.
// broken_plugin.cpp tells of the faults.
#include <boost/test/unit_test.hpp>
#include <chrono>

#include "broken_machine.hpp"

using namespace loader_test;

namespace {

const std::string compute = std::string(paths::world_program) + " compute";

outcome computed(const machine& m, const std::string& environment) {
  return m.start(compute, environment);
}

/// As whoever needs an answer soon would.
outcome computed_soon(const machine& m, const std::string& environment) {
  return m.start("timeout -s KILL 12 " + compute, environment);
}

double seconds_of(const auto& body) {
  const auto start = std::chrono::steady_clock::now();
  body();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

}  // namespace

BOOST_AUTO_TEST_CASE(basic_questions_that_fail_are_reasons_to_pass_over_a_device) {
  struct fault {
    std::string name, function, family, status;
  };
  const fault faults[] = {
      {"stream.7", "stream.create", "transfers", "driver error"},
      {"allocate.7", "memory.allocate", "transfers", "driver error"},
      {"allocate.4", "memory.allocate", "transfers", "out of memory"},
      {"write.1", "transfer.write", "transfers", "internal error of the plugin"},
      {"copy.3", "transfer.copy", "transfers", "not supported"},
      {"read.5", "transfer.read", "transfers", "the device was lost"},
      {"event_wait.8", "stream.event_wait", "transfers", "timed out"},
      {"synchronize.7+", "stream.synchronize", "transfers", "driver error"},
      {"create.2", "program.create", "arithmetic of f32", "invalid argument"},
      {"workspace.7", "program.workspace", "arithmetic of f32", "driver error"},
      {"launch.99", "program.launch", "arithmetic of f32", "unknown error"}};
  for (const auto& [name, function, family, status] : faults) {
    BOOST_TEST_CONTEXT(name) {
      const machine m;
      const std::string environment = "BROKEN=fails=" + name;
      const std::string what = "cannot be asked for " + family + ": the plugin's function " +
                               function + " fails with " + status + ": bad:0 (";
      const outcome end = m.world(environment);
      BOOST_TEST(has(end.output, "devices: reference:0\n"), end.output);
      BOOST_TEST(has(end.output, what), end.output);
      BOOST_TEST(has(end.output, "it is busy (vendor code 5)"), end.output);
      const auto devices = m.command("devices", environment);
      BOOST_TEST(has(not_usable(devices, "bad:0"), what), devices.dump(1));
      BOOST_TEST(devices["default"] == "reference:0");
      // Whatever it was, a later process asks again.
      BOOST_TEST(has(m.world("BROKEN=").output, "devices: bad:0\n"));
    }
  }
}

BOOST_AUTO_TEST_CASE(the_doctor_agrees_on_basic_questions_that_fail) {
  const machine m;
  for (const std::string fault : {"allocate.4", "launch.7"}) {
    const auto doctor = m.command("doctor", "BROKEN=fails=" + fault);
    const std::string function = fault == "launch.7" ? "program.launch" : "memory.allocate";
    BOOST_TEST(has(said(doctor, "problem", "bad:0"), "the plugin's function " + function),
               doctor.dump(1));
    BOOST_TEST(has(said(doctor, "ok", "(not set: auto)"), "reference:0"), doctor.dump(1));
  }
}

BOOST_AUTO_TEST_CASE(programs_that_are_not_supported_are_left_to_others) {
  for (const std::string fault : {"create.3", "launch.3"}) {
    const machine m;
    const outcome end = m.world("BROKEN=fails=" + fault);
    BOOST_TEST(has(end.output, "devices: bad:0\n"), end.output);
  }
}

// One that is named is asked again where the reason may pass, and not where it does not.
BOOST_AUTO_TEST_CASE(a_named_device_gets_over_what_may_pass) {
  for (const std::string fault : {"allocate.4*1", "copy.7+*1", "copy.7*1"}) {
    const machine m;
    const outcome end = computed(m, "TUTTI_DEVICE=bad BROKEN='fails=" + fault + "'");
    BOOST_TEST(has(end.output, "error: bad:0 ("), end.output);
    BOOST_TEST(has(end.output, "it is busy (vendor code 5)"), end.output);
    BOOST_TEST(has(end.output, "sum: 3.75\n") == (fault != "copy.7*1"),
               fault << ": " << end.output);
  }
}

// Without the proof nobody watches over the first launch in particular, as over none that comes
// later.
BOOST_AUTO_TEST_CASE(what_breaks_after_the_questions_is_named) {
  const std::string later = "TUTTI_DEVICE=bad TUTTI_PROOF=off BROKEN=";
  const std::pair<std::string, std::string> faults[] = {
      {"launch:crash", "crash by signal 11 within program.launch of the plugin bad\n"},
      {"wait:crash", "crash by signal 11 within stream."},
      {"allocate:crash", "crash by signal 11 within memory.allocate of the plugin bad\n"},
      {"launch:thread_throws",
       "crash by signal 6 in a thread of the application or a driver, during program.launch of the "
       "plugin bad\n"}};
  for (const auto& [fault, text] : faults) {
    BOOST_TEST_CONTEXT(fault) {
      const machine m;
      const outcome end = computed_soon(m, later + fault);
      BOOST_TEST(has(end.output, "tutti: " + text), end.output);
      BOOST_TEST(!has(computed_soon(m, "TUTTI_LOG=off " + later + fault).output, "tutti: "));
    }
  }
  const machine m;
  const outcome end = computed(m, later);
  BOOST_TEST(has(end.output, "sum: 3.75\nquotient: inf\n"), end.output);
  BOOST_TEST(!has(end.output, "tutti: "), end.output);
}

BOOST_AUTO_TEST_CASE(traps_that_a_later_call_leaves_are_put_back_and_named) {
  const machine m;
  const outcome end = computed(m, "TUTTI_DEVICE=bad TUTTI_PROOF=off BROKEN=launch:float_traps");
  BOOST_TEST(has(end.output, "sum: 3.75\nquotient: inf\n"), end.output);
  BOOST_TEST(has(end.output,
                 "plugin bad: its function program.launch changes the traps or the rounding of "
                 "floats of the thread that calls it"),
             end.output);
}

BOOST_AUTO_TEST_CASE(a_later_call_that_hangs_is_named_within_the_time_limit) {
  for (const std::string fault : {"launch:hang", "wait:hang"}) {
    const machine m;
    const outcome end =
        computed_soon(m, "TUTTI_DEVICE=bad TUTTI_PROOF=off TUTTI_TIMEOUT=1 BROKEN=" + fault);
    BOOST_TEST(has(end.output, fault == "launch:hang"
                                   ? "waiting for program.launch of the plugin bad since 1 s"
                                   : "waiting for stream."),
               end.output);
    BOOST_TEST(has(end.output, "of the plugin bad since 1 s (TUTTI_TIMEOUT)"), end.output);
  }
}

BOOST_AUTO_TEST_CASE(what_a_plugin_leaves_running_cannot_end_a_command) {
  const machine m;
  const std::string why = "ended its process with exit status 0 within device.count";
  const auto devices = m.command("devices", "BROKEN=count:late_exit");
  BOOST_TEST(has(not_usable(devices, "bad"), why), devices.dump(1));
  BOOST_TEST(devices["default"] == "reference:0");
  const machine other;
  const auto doctor = other.command("doctor", "BROKEN=begins:late_exit");
  BOOST_TEST(has(doctor.dump(), "reference:0"), doctor.dump(1));
  const outcome end =
      other.start(std::string(paths::tutti_program) + " doctor", "BROKEN=count:late_exit");
  BOOST_TEST(has(end.output, "PROBLEM bad: " + other.bad().string() + ": " + why), end.output);
}

BOOST_AUTO_TEST_CASE(a_kill_of_the_group_ends_the_plugins_process_alone) {
  const machine m;
  for (const std::string command : {"devices", "doctor"}) {
    const auto parsed = m.command(command, "BROKEN=count:kill_group");
    BOOST_TEST(has(parsed.dump(), "ended its process by signal 9 (Killed) within device.count"),
               parsed.dump(1));
    BOOST_TEST(has(parsed.dump(), "reference:0"));
  }
}

BOOST_AUTO_TEST_CASE(an_interrupt_reaches_the_plugins_process) {
  const machine m;
  const std::string log = (m.plugins() / "log").string();
  // Whoever is gone has a number that nobody has, or is a zombie that nobody buries.
  const outcome end = m.start(
      "sh -c '" + std::string(paths::tutti_program) + " devices >/dev/null 2>\"" + log +
          "\" & started=$!; "
          "for i in $(seq 600); do grep -q \"hangs: .*\\.\" \"" +
          log +
          "\" && break; sleep 0.1; done; "
          "kill -TERM $started; wait $started; echo \"status: $?\"; "
          "other=$(sed -n \"s/.*hangs: \\([0-9]*\\)\\..*/\\1/p\" \"" +
          log +
          "\"); "
          "for i in $(seq 100); do "
          "grep -qs \"^State:.[^ZX]\" /proc/$other/status || { echo \"gone: $other.\"; break; }; "
          "sleep 0.1; done'",
      "BROKEN=count:hang_and_say");
  BOOST_TEST(has(end.output, "status: 143\n"), end.output);
  BOOST_TEST(has(end.output, "gone: "), end.output);
  BOOST_TEST(!has(end.output, "gone: ."), end.output);
  // Nobody is to blame for that.
  BOOST_TEST(has(m.world("BROKEN=").output, "devices: bad:0\n"));
}

BOOST_AUTO_TEST_CASE(what_is_written_into_foreign_descriptors_is_no_result) {
  const machine m;
  const std::string text = "writes to a file descriptor that is not its own";
  const auto devices = m.command("devices", "BROKEN=count:pollute");
  BOOST_TEST(lists(devices, "bad:0"), devices.dump(1));
  const outcome said_too =
      m.start(std::string(paths::tutti_program) + " devices", "BROKEN=count:pollute");
  BOOST_TEST(has(said_too.output, m.bad().string() + ": the plugin " + text), said_too.output);
  const auto doctor = m.command("doctor", "BROKEN=count:pollute");
  BOOST_TEST(has(said(doctor, "problem", "bad"), text), doctor.dump(1));
  BOOST_TEST(has(said(doctor, "ok", "bad:0"), "known answers: "), doctor.dump(1));
}

// A fork holds what its parent had open, and one that is a daemon cannot be found.
BOOST_AUTO_TEST_CASE(nobody_waits_for_what_a_plugin_has_forked) {
  for (const std::string how : {"fork_stays", "daemon_stays"}) {
    const machine m;
    const double seconds = seconds_of([&] {
      const outcome end =
          m.start(std::string(paths::tutti_program) + " devices", "BROKEN=properties:" + how);
      BOOST_TEST(has(end.output, "reference:0"), end.output);
    });
    BOOST_TEST(seconds < 20, how);
  }
}
