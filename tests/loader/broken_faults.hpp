// SPDX-License-Identifier: Apache-2.0
//
// How broken_plugin.cpp is told what to break, and what it does then; a part of that file.
#pragma once

#include <fenv.h>
#include <pthread.h>
#include <sys/resource.h>
#include <unistd.h>
#include <unwind.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <fstream>
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
  if (how == "hang")
    for (;;) ::pause();
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

}  // namespace
