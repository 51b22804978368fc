// SPDX-License-Identifier: Apache-2.0
//
// Whole processes beside a broken plugin: `auto` falls over one that ends or stops a process once,
// `tutti doctor` and `tutti devices` name it and go on, and what was not the plugin's fault has no
// consequences. broken_plugin.cpp tells of the faults.
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "broken_machine.hpp"

using namespace loader_test;

namespace {

const std::string compute = std::string(paths::world_program) + " compute";

}  // namespace

BOOST_AUTO_TEST_CASE(auto_falls_over_a_plugin_once) {
  const std::pair<std::string, std::string> faults[] = {{"constructor:crash", "the loading of "},
                                                        {"entry:exit", "the loading of "},
                                                        {"count:hang", "device.count of "}};
  for (const auto& [fault, step] : faults) {
    BOOST_TEST_CONTEXT(fault) {
      const machine m;
      const bool is_killed = fault.ends_with(":hang");
      const std::string variables = (is_killed ? "TUTTI_PROOF=0.5 BROKEN=" : "BROKEN=") + fault;
      const outcome first = is_killed ? m.killed_within(step, variables) : m.world(variables);
      BOOST_TEST(!has(first.output, "devices: "), first.output);
      // A child falls over it in the place of the second process, and nobody after that.
      const std::string said = "an earlier process ended within " + step + m.bad().string();
      for (int i = 0; i < 2; ++i) {
        const outcome next = m.world(variables);
        BOOST_TEST(has(next.output, "devices: cpu:0\n"), next.output);
        BOOST_TEST(has(next.output, "warning: " + m.bad().string() + ": passed over: " + said),
                   next.output);
        BOOST_TEST(has(next.output, "beside this one tries it") == (i == 0), next.output);
      }
      // A name, the doctor and another file are reasons to try again.
      const outcome named = m.world("BROKEN= TUTTI_DEVICE=bad");
      BOOST_TEST(has(named.output, "devices: bad:0\n"), named.output);
      BOOST_TEST(has(named.output, "it was asked for by name, and is tried again"), named.output);
      BOOST_TEST(has(m.world("BROKEN=").output, "devices: bad:0\n"));
    }
  }
}

// An application that crashes by itself, again and again, while another thread makes its first
// calls looks like this to the next process.
BOOST_AUTO_TEST_CASE(the_end_of_an_application_is_held_against_no_device) {
  for (const std::string place : {"open", "read"}) {
    BOOST_TEST_CONTEXT(place) {
      const machine m;
      // A child is asked in the place of the second process, which then reads nothing by a call.
      for (int i = 0; i < 2; ++i) {
        const outcome end = m.start(compute, "BROKEN=" + place + ":crash_application");
        BOOST_TEST(has(end.output, "sum: ") == (place == "read" && i == 1), end.output);
      }
      const outcome next = m.world("BROKEN=");
      BOOST_TEST(has(next.output, "devices: bad:0\n"), next.output);
      BOOST_TEST(m.entries() == 0u);
      if (place != "read") continue;
      const auto doctor = m.mended();
      BOOST_TEST(said(doctor, "problem", "bad:0") == "", doctor.dump(1));
    }
  }
}

BOOST_AUTO_TEST_CASE(a_crash_within_a_question_is_a_wrong_answer_once_a_child_had_it_too) {
  const machine m;
  const std::string fault = "BROKEN=launch:crash";
  BOOST_TEST(!has(m.world(fault).output, "devices: "));
  for (int i = 0; i < 2; ++i) {
    const outcome next = m.world(fault);
    BOOST_TEST(has(next.output, "devices: cpu:0\n"), next.output);
    BOOST_TEST(has(next.output, "does not answer a process beside this one: the process ended"),
               next.output);
  }
  m.mended();
  BOOST_TEST(has(m.world("BROKEN=").output, "devices: bad:0\n"));
}

BOOST_AUTO_TEST_CASE(what_ends_or_stops_a_process_is_named_and_stops_no_command) {
  const std::string crash = "ended its process by signal 11 (Segmentation fault)";
  const std::pair<std::string, std::string> faults[] = {
      {"constructor:crash", crash}, {"count:hang", "did not come back within 1 s"}};
  for (const auto& [fault, how] : faults) {
    const machine m;
    // The limit is also for those that do not hang.
    const bool hangs = fault == "count:hang";
    const auto devices = m.command(hangs ? "devices --time-limit 1" : "devices", "BROKEN=" + fault);
    BOOST_TEST(has(not_usable(devices, "bad"), m.bad().string() + ": " + how), devices.dump(1));
    BOOST_TEST(lists(devices, "reference:0"));
    BOOST_TEST(!lists(devices, "bad:0"));
  }
  const machine m;
  const auto doctor = m.command("doctor", "BROKEN=read:crash");
  BOOST_TEST(has(said(doctor, "problem", "bad"), m.bad().string() + ": " + crash), doctor.dump(1));
  BOOST_TEST(has(said(doctor, "ok", "reference:0"), "known answers: "), doctor.dump(1));
}

BOOST_AUTO_TEST_CASE(auto_goes_on_where_a_device_cannot_be_opened) {
  const machine m;
  const outcome end = m.world("BROKEN=open:fail");
  BOOST_TEST(has(end.output, "devices: cpu:0\n"), end.output);
  BOOST_TEST(has(end.output, "open the device: it is busy"), end.output);
  const auto devices = m.command("devices", "BROKEN=open:fail");
  BOOST_TEST(!lists(devices, "bad:0"));
  BOOST_TEST(has(not_usable(devices, "bad:0"), "it is busy"), devices.dump(1));
}

BOOST_AUTO_TEST_CASE(files_and_devices_that_cannot_be_used_hide_no_others) {
  const machine m;
  const auto file = [&](const std::string& name) {
    return m.plugins() / ("libtutti_" + name + ".so");
  };
  const std::string good = file_content(m.bad());
  std::string changed = good;
  changed[18] = good[18] == '\x3e' ? '\xb7' : '\x3e';
  // Half of a file may have all that is loaded, before what debuggers read.
  write_file(file("page"), good.substr(0, 4096));
  write_file(file("other"), changed);
  write_file(file("secret"), good);
  fs::permissions(file("secret"), fs::perms::none);
  fs::create_symlink("/nonexistent/file", file("dangling"));
  write_file(m.plugins() / "libtutti_Big.so", good);
  write_file(m.plugins() / "libtutti_x.so.1", good);
  write_file(m.plugins() / "notes.txt", "not a plugin, and nobody takes it for one");

  // A plugin of a name that a folder before it has.
  fs::create_directory(m.plugins() / "second");
  fs::copy_file(m.bad(), m.plugins() / "second" / "libtutti_bad.so");

  const std::string environment = "BROKEN=alignment=3 TUTTI_PLUGIN_PATH='" + m.plugins().string() +
                                  ":" + (m.plugins() / "second").string() + ":" +
                                  m.hidden().string() + "'";
  const auto devices = m.command("devices", environment);
  BOOST_TEST(lists(devices, "bad:0"));
  BOOST_TEST(!lists(devices, "bad:1"));
  BOOST_TEST(has(not_usable(devices, "bad:1"), "alignment 3, which is not a power of two"));
  const auto doctor = m.command("doctor", environment);
  BOOST_TEST(has(said(doctor, "problem", "bad:1"), "alignment 3"), doctor.dump(1));
  BOOST_TEST(has(said(doctor, "ok", "bad:0"), "known answers: "), doctor.dump(1));
  const std::pair<std::string, std::string> cases[] = {
      {"page", "is cut off: it has "},
      {"other", "is for another processor"},
      {"dangling", "is a link to /nonexistent/file, which cannot be reached"},
  };
  for (const auto& [name, expected] : cases)
    BOOST_TEST(has(said(doctor, "problem", name), expected), doctor.dump(1));
  if (::geteuid() != 0)
    BOOST_TEST(has(said(doctor, "problem", "secret"), "Permission denied"), doctor.dump(1));
  for (const std::string name : {"libtutti_Big.so", "libtutti_x.so.1"})
    BOOST_TEST(has(said(doctor, "note", (m.plugins() / name).string()),
                   "not used: plugins are called libtutti_NAME.so"),
               doctor.dump(1));
  BOOST_TEST(!has(doctor.dump(), "notes.txt"));
  BOOST_TEST(has(said(doctor, "note", (m.plugins() / "second" / "libtutti_bad.so").string()),
                 "not used: " + m.bad().string() + " comes first"),
             doctor.dump(1));
}
