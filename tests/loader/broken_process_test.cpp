// SPDX-License-Identifier: Apache-2.0
//
// Plugins that crash, exit or hang, and whole processes: `tutti doctor` and `tutti devices` name
// them and go on, and `auto` falls over them once. broken_plugin.cpp tells of the faults.
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "broken_machine.hpp"

using namespace loader_test;

namespace {

struct place {
  std::string name, function;
  bool is_before_devices;
};
const place places[] = {
    {"constructor", "the loading of its file", true},
    {"entry", "tutti_plugin_entry", true},
    {"count", "device.count", true},
    {"properties", "device.properties", true},
    {"open", "device.open", false},
    {"launch", "program.launch (known answers of bad:0)", false},
    {"wait", "stream.event_wait (known answers of bad:0)", false},
};

std::string ending(const std::string& how) {
  return how == "crash"  ? "ended its process by signal 11 (Segmentation fault) within "
         : how == "exit" ? "ended its process with exit status 0 within "
                         : "did not come back from ";
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_ends_or_stops_a_process_is_named_and_stops_no_command) {
  for (const place& where : places) {
    for (const std::string how : {"crash", "exit", "hang"}) {
      BOOST_TEST_CONTEXT(where.name << ":" << how) {
        const machine m;
        const std::string fault = "BROKEN=" + where.name + ":" + how;
        const std::string expected = m.bad().string() + ": " + ending(how) + where.function;
        const auto doctor = m.command("doctor --time-limit 3", fault);
        BOOST_TEST(has(said(doctor, "problem", "bad"), "plugins: " + expected), doctor.dump(1));
        BOOST_TEST(has(said(doctor, "ok", "reference:0"), "known answers: "), doctor.dump(1));
        // Devices are not opened for a list.
        if (!where.is_before_devices || (how == "hang" && where.name != "count")) continue;
        const machine fresh;
        const auto devices = fresh.command("devices --time-limit 3", fault);
        BOOST_TEST(has(not_usable(devices, "bad"), ending(how) + where.function), devices.dump(1));
        BOOST_TEST(lists(devices, "reference:0"));
        BOOST_TEST(devices["default"] == "reference:0");
      }
    }
  }
}

BOOST_AUTO_TEST_CASE(what_is_thrown_is_named_and_stops_no_command) {
  for (const place& where : places) {
    BOOST_TEST_CONTEXT(where.name) {
      const machine m;
      const std::string fault = "BROKEN=" + where.name + ":throw";
      const auto doctor = m.command("doctor", fault);
      const std::string all = said(doctor, "problem", "bad") + said(doctor, "problem", "bad:0");
      const std::string function = where.function.substr(0, where.function.find(" ("));
      BOOST_TEST(has(all, where.name == "constructor" ? "libtutti_bad.so: " : function), all);
      BOOST_TEST(has(said(doctor, "ok", "reference:0"), "known answers: "), doctor.dump(1));
      const auto devices = m.command("devices", fault);
      BOOST_TEST(lists(devices, "reference:0"));
    }
  }
}

// The default device is opened, and asked the basic known answers, where nobody has before.
BOOST_AUTO_TEST_CASE(what_ends_or_stops_the_first_use_of_the_default_device_is_named) {
  const std::pair<std::string, std::string> faults[] = {
      {"open:crash", "device.open"},        {"capabilities:exit", "program.capabilities"},
      {"allocate:hang", "memory.allocate"}, {"launch:crash", "program.launch"},
      {"read:exit", "transfer.read"},       {"wait:hang", "stream.event_wait"}};
  for (const auto& [fault, function] : faults) {
    BOOST_TEST_CONTEXT(fault) {
      const machine m;
      const auto devices = m.command("devices --time-limit 2", "BROKEN=" + fault);
      const std::string how = fault.substr(fault.find(':') + 1);
      BOOST_TEST(has(not_usable(devices, "bad"), m.bad().string() + ": " + ending(how) + function +
                                                     " (the first use of bad:0)"),
                 devices.dump(1));
      BOOST_TEST(!lists(devices, "bad:0"));
      BOOST_TEST(devices["default"] == "reference:0");
      if (how != "hang") continue;
      // It is remembered, so that nobody waits for it again.
      const outcome after = m.world("BROKEN=" + fault);
      BOOST_TEST(has(after.output, "devices: reference:0\n"), after.output);
      BOOST_TEST(
          has(after.output, "passed over: the `tutti` command saw that it did not come back"),
          after.output);
    }
  }
}

// Killed by its user: whoever waits for long leaves a record before.
BOOST_AUTO_TEST_CASE(a_hang_is_told_of_and_remembered_however_the_process_ends) {
  const machine m;
  const outcome killed =
      m.start("timeout -s KILL 12 " + std::string(paths::world_program), "BROKEN=wait:hang");
  const std::string step = "the proof of transfers";
  BOOST_TEST(has(killed.output, m.bad().string() + ": waiting for " + step + " since 5 s"),
             killed.output);
  const outcome after = m.world("BROKEN=wait:hang");
  BOOST_TEST(has(after.output, "devices: reference:0\n"), after.output);
  BOOST_TEST(has(after.output, "passed over: an earlier process waited in vain for " + step),
             after.output);
}

BOOST_AUTO_TEST_CASE(a_time_limit_holds_for_what_comes_before_computing) {
  const std::pair<std::string, std::string> faults[] = {{"constructor:hang", "the loading"},
                                                        {"count:hang", "device.count"},
                                                        {"open:hang", "device.open"}};
  for (const auto& [fault, step] : faults) {
    BOOST_TEST_CONTEXT(fault) {
      const machine m;
      const std::string limited = "TUTTI_TIMEOUT=1 BROKEN=" + fault;
      const std::string said =
          m.bad().string() + ": did not come back from " + step + " within 1 s (TUTTI_TIMEOUT)";
      const outcome first = m.world(limited);
      BOOST_TEST(has(first.output, "warning: " + said), first.output);
      // A constructor that hangs has the dynamic linker.
      BOOST_TEST(
          has(first.output, fault == "constructor:hang" ? "no device can be used: bad: " + said
                                                        : "devices: reference:0\n"),
          first.output);
      const outcome second = m.world(limited);
      // What was not to blame is loaded.
      BOOST_TEST(has(second.output, "devices: reference:0\n"), second.output);
      BOOST_TEST(has(second.output, "passed over: an earlier process waited in vain for " + step),
                 second.output);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_crash_says_where_on_the_way_down) {
  const std::pair<std::string, std::string> faults[] = {
      {"constructor:crash", "the loading"},
      {"count:crash", "device.count"},
      {"open:crash", "device.open"},
      {"launch:crash", "the proof of arithmetic of f32"}};
  for (const auto& [fault, step] : faults) {
    const machine m;
    const std::string line =
        "tutti: crash by signal 11 within " + step + " of " + m.bad().string() + "\n";
    const outcome end = m.world("BROKEN=" + fault);
    BOOST_TEST(has(end.output, line), fault << ": " << end.output);
    BOOST_TEST(!has(m.start(paths::world_program, "TUTTI_CACHE_DIR='" + m.fresh_cache() +
                                                      "' TUTTI_LOG=off BROKEN=" + fault)
                        .output,
                    "tutti: "));
  }
}

BOOST_AUTO_TEST_CASE(waits_that_do_not_wait_and_maps_that_do_not_show_are_found) {
  const std::pair<std::string, std::string> faults[] = {
      {"event_wait=early", "event_wait is back before the work is done"},
      {"event_wait=gateless", "after event_wait "},
      {"map=stale", "after event_wait 0 instead of "}};
  for (const auto& [fault, mistake] : faults) {
    const machine m;
    const outcome end = m.world("BROKEN=" + fault);
    BOOST_TEST(has(end.output, "devices: reference:0\n"), end.output);
    BOOST_TEST(has(end.output, "gets transfers wrong: " + mistake), end.output);
  }
}

BOOST_AUTO_TEST_CASE(what_a_plugin_prints_is_no_part_of_the_output) {
  const machine m;
  const auto devices = m.command("devices", "BROKEN=print=stdout");  // which parses it
  BOOST_TEST(lists(devices, "bad:0"));
  const outcome text =
      m.start(std::string(paths::tutti_program) + " devices 2>/dev/null", "BROKEN=print=stdout");
  BOOST_TEST(!has(text.output, "greeting"), text.output);
}

BOOST_AUTO_TEST_CASE(a_plugin_named_in_the_setting_cannot_stop_a_command) {
  const machine m;
  for (const std::string command : {"devices", "doctor"}) {
    const auto parsed = m.command(command, "BROKEN=count:crash TUTTI_DEVICE=bad");
    BOOST_TEST(has(parsed.dump(), "TUTTI_DEVICE=bad: " + m.bad().string() + ": ended its process"),
               parsed.dump(1));
  }
}

BOOST_AUTO_TEST_CASE(a_crash_at_the_end_of_the_process_is_named) {
  const machine m;
  const auto doctor = m.command("doctor", "BROKEN=destructor:crash");
  BOOST_TEST(has(said(doctor, "problem", "bad"), ending("crash") + "the end of the process"),
             doctor.dump(1));
  // It computes well until then.
  BOOST_TEST(has(m.world("BROKEN=").output, "devices: bad:0\n"));
}

BOOST_AUTO_TEST_CASE(one_bad_device_hides_no_other) {
  const machine m;
  const auto devices = m.command("devices", "BROKEN=alignment=3");
  BOOST_TEST(lists(devices, "bad:0"));
  BOOST_TEST(!lists(devices, "bad:1"));
  BOOST_TEST(has(not_usable(devices, "bad:1"), "alignment 3, which is no power of two"));
  const auto doctor = m.command("doctor", "BROKEN=alignment=3");
  BOOST_TEST(has(said(doctor, "problem", "bad:1"), "alignment 3"), doctor.dump(1));
  BOOST_TEST(has(said(doctor, "ok", "bad:0"), "known answers: "), doctor.dump(1));
}

BOOST_AUTO_TEST_CASE(names_reach_a_terminal_without_control_characters) {
  const machine m;
  for (const std::string fault : {"name=escape", "name=million", "table=endless"})
    for (const std::string command : {" devices", " doctor"}) {
      const std::string output = m.start(paths::tutti_program + command, "BROKEN=" + fault).output;
      BOOST_TEST(output.size() < 20000u, fault);
      BOOST_TEST(output.find('\x1b') == std::string::npos, fault);
      BOOST_TEST(output.find('\x07') == std::string::npos, fault);
    }
}

BOOST_AUTO_TEST_CASE(auto_falls_over_a_plugin_once) {
  for (const std::string how : {"count:crash", "entry:exit", "constructor:crash"}) {
    BOOST_TEST_CONTEXT(how) {
      const machine m;
      const outcome first = m.world("BROKEN=" + how);
      BOOST_TEST(!has(first.output, "devices: "), first.output);
      if (how == "entry:exit")
        BOOST_TEST(has(first.output, "error: " + m.bad().string() +
                                         ": the plugin ends this process within the loading"),
                   first.output);
      const outcome second = m.world("BROKEN=" + how);
      BOOST_TEST(has(second.output, "devices: reference:0\n"), second.output);
      BOOST_TEST(has(second.output, "warning: " + m.bad().string() +
                                        ": passed over: an earlier process ended within "),
                 second.output);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_name_the_doctor_and_another_file_are_reasons_to_try_again) {
  const machine m;
  m.world("BROKEN=count:crash");
  BOOST_TEST(has(m.world("BROKEN=").output, "devices: reference:0\n"));

  const outcome named = m.world("BROKEN= TUTTI_DEVICE=bad");
  BOOST_TEST(has(named.output, "devices: bad:0\n"), named.output);
  BOOST_TEST(has(named.output, "it was asked for by name, and is tried again"), named.output);
  BOOST_TEST(has(m.world("BROKEN=").output, "devices: bad:0\n"));  // and it went well

  m.world("BROKEN=count:crash");
  m.command("doctor", "BROKEN=");
  BOOST_TEST(has(m.world("BROKEN=").output, "devices: bad:0\n"));

  m.command("doctor", "BROKEN=launch:crash");
  const outcome warned = m.world("BROKEN=");
  BOOST_TEST(has(warned.output, "devices: reference:0\n"), warned.output);
  BOOST_TEST(has(warned.output, "within program.launch (known answers of bad:0)"), warned.output);
  fs::last_write_time(m.bad(), fs::last_write_time(m.bad()) + std::chrono::seconds(1));
  BOOST_TEST(has(m.world("BROKEN=").output, "devices: bad:0\n"));
}

BOOST_AUTO_TEST_CASE(the_log_tells_what_is_loaded_before_it_is) {
  const machine m;
  const outcome result = m.world("BROKEN=constructor:crash TUTTI_LOG=info");
  BOOST_TEST(has(result.output, "tutti: info: loading " + m.bad().string() + "\n"), result.output);
}

BOOST_AUTO_TEST_CASE(files_that_cannot_be_loaded_are_explained) {
  const machine m;
  const auto file = [&](const std::string& name) {
    return m.plugins() / ("libtutti_" + name + ".so");
  };
  const std::string good = file_content(m.bad());
  const auto changed = [&](size_t at, char to) {
    std::string bytes = good;
    bytes[at] = to;
    return bytes;
  };
  // Half of a file may have all that is loaded, before what debuggers read.
  write_file(file("page"), good.substr(0, 4096));
  write_file(file("header"), good.substr(0, 80));
  write_file(file("narrow"), changed(4, good[4] == 2 ? 1 : 2));
  write_file(file("order"), changed(5, good[5] == 1 ? 2 : 1));
  write_file(file("other"), changed(18, good[18] == '\x3e' ? '\xb7' : '\x3e'));
  write_file(file("secret"), good);
  fs::permissions(file("secret"), fs::perms::none);
  fs::create_symlink("/nonexistent/file", file("dangling"));
  fs::create_directory(file("folder"));
  write_file(m.plugins() / "libtutti_Big.so", good);
  write_file(m.plugins() / "libtutti_x.so.1", good);
  write_file(m.plugins() / "notes.txt", "not a plugin, and nobody takes it for one");

  const auto doctor = m.command("doctor", "BROKEN=");
  const std::pair<std::string, std::string> cases[] = {
      {"page", "is cut off: it has "},
      {"header", "is cut off: it has 80 bytes of "},
      {"narrow", " bits, this library for "},
      {"order", "another order of bytes"},
      {"other", ", this library for "},
      {"dangling", "is a link to /nonexistent/file, which cannot be reached"},
      {"folder", "is not a regular file"},
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
  // A plugin of a name that a folder before it has.
  fs::create_directory(m.plugins() / "second");
  fs::copy_file(m.bad(), m.plugins() / "second" / "libtutti_bad.so");
  const auto again = m.command("doctor", "BROKEN= TUTTI_PLUGIN_PATH='" + m.plugins().string() +
                                             ":" + (m.plugins() / "second").string() + "'");
  BOOST_TEST(has(said(again, "note", (m.plugins() / "second" / "libtutti_bad.so").string()),
                 "not used: " + m.bad().string() + " comes first"),
             again.dump(1));
}
