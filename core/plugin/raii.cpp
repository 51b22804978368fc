// SPDX-License-Identifier: Apache-2.0
//
// Converts a plugin's status object to the exception that the application sees.
#include "plugin/raii.hpp"

#include <cstdint>
#include <string>
#include <utility>

#include "base/log.hpp"
#include "base/one_line.hpp"
#include "tutti/error.hpp"

namespace tutti::plugins {

namespace {

const char* text_of_code(std::int32_t code) noexcept {
  static constexpr std::pair<std::int32_t, const char*> texts[] = {
      {TUTTI_ERROR_INTERNAL, "internal error of the plugin"},
      {TUTTI_ERROR_INVALID_ARGUMENT, "invalid argument"},
      {TUTTI_ERROR_UNSUPPORTED, "not supported"},
      {TUTTI_ERROR_OUT_OF_MEMORY, "out of memory"},
      {TUTTI_ERROR_DEVICE_LOST, "the device was lost"},
      {TUTTI_ERROR_COMPILE, "a program did not compile"},
      {TUTTI_ERROR_DRIVER, "driver error"},
      {TUTTI_ERROR_TIMEOUT, "timed out"},
      {TUTTI_ERROR_NO_DRIVER, "no driver"}};
  for (const auto& [known, text] : texts)
    if (code == known) return text;
  return "unknown error";
}

void append(std::string& text, std::string_view part, std::string_view separator) {
  if (part.empty()) return;
  if (!text.empty()) text += separator;
  text += part;
}

/// Whether the plugin's status has that field; an older or incorrect plugin may lack it.
template <class Field>
bool has(const tutti_status* status, Field tutti_status::*field) {
  const auto end = reinterpret_cast<const char*>(&(status->*field)) + sizeof(Field) -
                   reinterpret_cast<const char*>(status);
  return status->struct_size >= static_cast<std::uint64_t>(end);
}

void release(tutti_status* status) noexcept {
  if (!has(status, &tutti_status::release) || status->release == nullptr) return;
  try {
    status->release(status);
  } catch (...) {
    logging::error("a plugin throws an exception when it is to release a status");
  }
}

}  // namespace

bool ignore(tutti_status* status) noexcept {
  if (status == nullptr) return false;
  release(status);
  return true;
}

void throw_status(tutti_status* status, std::string_view where, std::string_view device,
                  std::string_view action, std::string_view detail) {
  const std::unique_ptr<tutti_status, void (*)(tutti_status*)> owner(
      status, [](tutti_status* s) { release(s); });
  const int32_t code = has(status, &tutti_status::code) ? status->code : TUTTI_ERROR_INTERNAL;
  const int32_t vendor_code = has(status, &tutti_status::vendor_code) ? status->vendor_code : 0;
  const bool retryable = has(status, &tutti_status::retryable) && status->retryable != 0;
  const bool has_message =
      has(status, &tutti_status::message) && status->message != nullptr && *status->message != '\0';
  std::string text(where);
  append(text, action, ": ");
  append(text, detail, " ");
  append(text, has_message ? base::printable_lines(status->message) : text_of_code(code), ": ");
  if (vendor_code != 0) {
    const std::string number = std::to_string(vendor_code);
    if (text.find(number) == std::string::npos) text += " (vendor code " + number + ")";
  }
  if (code == TUTTI_ERROR_OUT_OF_MEMORY)
    throw out_of_memory(text, code, vendor_code, retryable, std::string(device));
  throw device_error(text, code, vendor_code, retryable, std::string(device));
}

std::string reason_of(const char* reason, const char* otherwise) {
  return reason != nullptr ? base::one_line(reason, 1000) : otherwise;
}

void throw_nothing_made(const opened_device& device, std::string_view function) {
  std::string text = device.title + ": the plugin's function ";
  text += function;
  throw device_error(text + " succeeds, but hands out NULL", TUTTI_ERROR_INTERNAL, 0, false,
                     device.name);
}

}  // namespace tutti::plugins
