// SPDX-License-Identifier: Apache-2.0
#include "opencl/settings.hpp"

#include <charconv>
#include <cstdlib>
#include <string>
#include <string_view>

#include "sdk/status.hpp"

namespace tutti::opencl {
namespace {

// Empty where the variable is not set.
std::string_view text_of(const char* name) {
  const char* const text = std::getenv(name);
  return text != nullptr ? text : "";
}

[[noreturn]] void refuse(const char* name, const char* expected) {
  sdk::throw_invalid(std::string(name) + ": expected " + expected + ", found " +
                     std::string(text_of(name)));
}

// Whether the variable says `yes` or `no`.
std::optional<bool> choice(const char* name, std::string_view yes, std::string_view no,
                           const char* expected) {
  const std::string_view text = text_of(name);
  if (text.empty()) return {};
  if (text != yes && text != no) refuse(name, expected);
  return text == yes;
}

uint32_t units_of_parts() {
  constexpr const char* name = "TUTTI_OPENCL_SUBDEVICES";
  const std::string_view text = text_of(name);
  if (text.empty()) return 0;
  uint32_t units = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), units);
  if (error != std::errc() || rest != text.data() + text.size() || units == 0)
    refuse(name, "a number of compute units, 1 or more");
  return units;
}

plugin_settings read() {
  plugin_settings found;
  if (const auto cpu = choice("TUTTI_OPENCL_SCHEDULE", "cpu", "gpu", "cpu or gpu"))
    found.schedule = *cpu ? sdk::schedule::cpu : sdk::schedule::gpu;
  found.clblast = choice("TUTTI_OPENCL_BLAS", "clblast", "own", "clblast or own");
  found.units_of_parts = units_of_parts();
  return found;
}

}  // namespace

const plugin_settings& settings() {
  static const plugin_settings found = read();
  return found;
}

}  // namespace tutti::opencl
