// SPDX-License-Identifier: Apache-2.0
//
// How broken_plugin.cpp is told what to break, and what it does then; a part of that file.
#pragma once

#include <fenv.h>
#include <pthread.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>

#include <atomic>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <string>
#include <thread>

#include "tutti/plugin.h"
#include "tutti_test/hang.hpp"

namespace {

const tutti_host* host_table = nullptr;

std::string fault() {
  const char* const text = std::getenv("BROKEN");
  return text != nullptr ? text : "";
}

/// The process goes on without the thread that calls, for as long as it takes to end that.
void end_calling_thread() {
  const std::string state = "/proc/self/task/" + std::to_string(::gettid()) + "/stat";
  std::thread([state] {
    for (;; std::this_thread::sleep_for(std::chrono::milliseconds(10))) {
      std::string line;
      std::getline(std::ifstream(state), line);
      if (line.empty() || line.find(") Z") != std::string::npos) ::_exit(0);
    }
  }).detach();
  ::pthread_exit(nullptr);
}

/// Whether this is a process that looks at one plugin.
bool is_probe() {
  std::ifstream words("/proc/self/cmdline");
  const std::string all{std::istreambuf_iterator<char>(words), {}};
  return all.find("probe") != std::string::npos;
}

bool lingers() {
  std::ifstream words("/proc/self/cmdline");
  const std::string all{std::istreambuf_iterator<char>(words), {}};
  return all.find("--linger") != std::string::npos;
}

/// Into whatever pipe it finds open: what reads like lines of the one who listens, and half of one.
void pollute() {
  std::signal(SIGPIPE, SIG_IGN);  // one that the tests have inherited
  for (int file = STDERR_FILENO + 1; file < 1024; ++file) {
    struct stat what {};
    if (::fstat(file, &what) != 0 || !S_ISFIFO(what.st_mode)) continue;
    for (const std::string text :
         {"{\"call\": 5}\n", "{\"finding\": 7}\n", "{\"done\": 8}\n",
          "{\"finding\": {\"status\": \"x\"}}\n", "{\"done\": true}\nhalf"})
      static_cast<void>(::write(file, text.data(), text.size()) == 0);
  }
}

/// A process that stays, with all that is open, and writes into what it finds.
void leave_a_fork(bool is_daemon) {
  if (::fork() != 0) return;
  if (is_daemon) ::setsid();
  for (int i = 0; i < 300; ++i) {
    pollute();
    std::this_thread::sleep_for(std::chrono::milliseconds(100));
  }
  ::_exit(0);
}

[[noreturn]] void hang() {
  for (;;) ::pause();
}

/// What does not end within the function; false where it is none of that.
bool act(const std::string& how) {
  if (how == "fork_and_die") {  // the fork goes on
    if (::fork() != 0) ::_exit(0);
  } else if (how == "foreign") {  // as the exceptions of another language are
    static _Unwind_Exception thrown{};
    thrown.exception_class = 0x74736574'68657265;
    ::_Unwind_RaiseException(&thrown);
  } else if (how == "no_descriptors") {
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_NOFILE, &none);
  } else if (how == "float_traps") {
    ::feenableexcept(FE_DIVBYZERO | FE_INVALID | FE_OVERFLOW | FE_INEXACT);
  } else if (how == "pollute") {
    pollute();
  } else if (how == "fork_stays" || how == "daemon_stays") {
    leave_a_fork(how == "daemon_stays");
  } else if (how == "late_exit") {  // too late for who looks at this plugin for a moment
    if (is_probe() && !lingers()) return true;
    std::thread([] { ::_exit(0); }).detach();
    hang();
  } else if (how == "crash_at_exit") {
    std::atexit([] { std::raise(SIGSEGV); });
  } else if (how == "hang_at_exit") {
    std::atexit(tutti_test::hang_until_somebody_complains);
  } else if (how == "folders") {
    for (const char* name : {"../../../etc/evil", "/etc/evil", "..", ""})
      if (host_table->driver_folder(host_table->context, name) != nullptr) std::abort();
  } else {
    return false;
  }
  return true;
}

void strike(const std::string& place) {
  const std::string told = fault();
  if (!told.starts_with(place + ":")) return;
  const std::string how = told.substr(place.size() + 1);
  if (how == "fail" || act(how)) return;
  if (how == "_exit") ::_exit(0);
  if (how == "kill") std::raise(SIGKILL);
  if (how == "thread_end") end_calling_thread();
  if (how == "thread_exits") std::thread([] { std::exit(0); }).join();
  if (how == "throw") throw std::runtime_error("thrown on purpose");
  if (how == "exit") std::exit(0);
  if (how == "hang") hang();
  if (how == "hang_and_say") {
    static_cast<void>(::dprintf(STDERR_FILENO, "hangs: %d.\n", ::getpid()));
    hang();
  }
  if (how == "kill_group") ::kill(0, SIGKILL);
  if (how == "thread_throws") {
    std::thread([] { throw std::runtime_error("thrown in a thread on purpose"); }).detach();
    hang();
  }
  std::raise(SIGSEGV);
}

struct at_load {
  at_load() { strike("constructor"); }
  ~at_load() { strike("destructor"); }
};
const at_load while_loaded;

/// What stands behind "NAME=", if that is the fault.
bool told(const char* name, std::string& value) {
  const std::string all = fault(), start = std::string(name) + "=";
  if (!all.starts_with(start)) return false;
  value = all.substr(start.size());
  return true;
}

template <class T>
void set(const char* name, T& field) {
  std::string value;
  if (told(name, value)) field = static_cast<T>(std::stoull(value));
}

void set(const char* name, const char*& field) {
  std::string value;
  if (!told(name, value)) return;
  static const std::string million(1 << 20, 'x');
  field = value == "null"     ? nullptr
          : value == "empty"  ? ""
          : value == "escape" ? "\x1b[31mred\x07\xff\n"
          : value == "wild"   ? reinterpret_cast<const char*>(16)
                              : million.c_str();
}

/// Whether the plugin hands out nothing where that function succeeds.
bool gives_null(const char* function) {
  std::string value;
  return told("null", value) && value == function;
}

/// With "fails=FUNCTION.CODE" the status that the function gives, which may succeed later where
/// that has a "+" behind it; with "fails=FUNCTION.CODE*N" of its first N calls.
tutti_status* failing(const std::string& function) {
  std::string value;
  if (!told("fails", value) || !value.starts_with(function + ".")) return nullptr;
  const std::string code = value.substr(function.size() + 1);
  static std::atomic<int> calls{0};
  const std::size_t star = code.find('*');
  if (star != std::string::npos && calls++ >= std::stoi(code.substr(star + 1))) return nullptr;
  static tutti_status status{};
  static const bool is_set = [&] {
    status.struct_size = sizeof status;
    status.code = std::stoi(code);
    status.vendor_code = 5;
    status.retryable = code.find('+') != std::string::npos ? 1 : 0;
    status.message = "it is busy";
    status.release = [](tutti_status*) {};
    return true;
  }();
  return is_set ? &status : nullptr;
}

}  // namespace
