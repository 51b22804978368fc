// SPDX-License-Identifier: Apache-2.0
//
// How broken_plugin.cpp is told what to break, and what it does then; a part of that file.
#pragma once

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <stdexcept>
#include <string>

#include "tutti/plugin.h"

namespace {

std::string fault() {
  const char* const text = std::getenv("BROKEN");
  return text != nullptr ? text : "";
}

[[noreturn]] void hang() {
  for (;;) ::pause();
}

void strike(const std::string& place) {
  const std::string told = fault();
  if (!told.starts_with(place + ":")) return;
  const std::string how = told.substr(place.size() + 1);
  // The fault of an application: a child of the library does not have it.
  const std::string program = program_invocation_short_name;
  if (how == "fail" || (how == "crash_application" && program == "tutti-trial")) return;
  if (how == "throw") throw std::runtime_error("thrown on purpose");
  if (how == "exit") std::exit(0);
  if (how == "hang") hang();
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
