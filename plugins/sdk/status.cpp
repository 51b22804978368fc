// SPDX-License-Identifier: Apache-2.0
//
// Status objects: one allocation holds struct and message; static ones if memory is exhausted.
#include "sdk/status.hpp"

#include <cstdlib>
#include <new>

namespace tutti::sdk {
namespace {

void keep(tutti_status*) {}
void free_status(tutti_status* self) { std::free(self); }

tutti_status fixed(int32_t code, const char* message) {
  return {sizeof(tutti_status), code, 0, 0, 0, message, keep};
}

tutti_status* fallback(int32_t code) noexcept {
  static tutti_status table[] = {
      fixed(TUTTI_ERROR_INTERNAL, "internal error; no memory for its message"),
      fixed(TUTTI_ERROR_INVALID_ARGUMENT, "invalid argument; no memory for its message"),
      fixed(TUTTI_ERROR_UNSUPPORTED, "unsupported; no memory for its message"),
      fixed(TUTTI_ERROR_OUT_OF_MEMORY, "out of memory"),
      fixed(TUTTI_ERROR_DEVICE_LOST, "device lost; no memory for its message"),
      fixed(TUTTI_ERROR_COMPILE, "program did not build; no memory for its log"),
      fixed(TUTTI_ERROR_DRIVER, "driver error; no memory for its message"),
      fixed(TUTTI_ERROR_TIMEOUT, "timeout; no memory for its message"),
      fixed(TUTTI_ERROR_NO_DRIVER, "no driver; no memory for its message")};
  for (tutti_status& status : table) {
    if (status.code == code) return &status;
  }
  return &table[0];
}

}  // namespace

void throw_invalid(const std::string& message) {
  throw plugin_error(TUTTI_ERROR_INVALID_ARGUMENT, message);
}

void throw_status(tutti_status* status, const std::string& what) {
  if (status == nullptr) return;
  const plugin_error error(static_cast<tutti_code>(status->code),
                           what + ": " + (status->message != nullptr ? status->message : ""),
                           status->vendor_code, status->retryable != 0);
  if (status->release != nullptr) status->release(status);
  throw plugin_error(error);
}

void throw_timeout(const std::string& action) {
  throw plugin_error(TUTTI_ERROR_TIMEOUT, action + ": not done within the time limit", 0, true);
}

void throw_unsupported(const std::string& message) {
  throw plugin_error(TUTTI_ERROR_UNSUPPORTED, message);
}

tutti_status* make_status(int32_t code, const char* message, int32_t vendor_code,
                          bool retryable) noexcept {
  if (code == TUTTI_OK) code = TUTTI_ERROR_INTERNAL;
  const size_t length = std::strlen(message) + 1;
  void* memory = std::malloc(sizeof(tutti_status) + length);
  if (memory == nullptr) return fallback(code);
  char* text = static_cast<char*>(memory) + sizeof(tutti_status);
  std::memcpy(text, message, length);
  return new (memory) tutti_status{
      sizeof(tutti_status), code, vendor_code, retryable ? 1u : 0u, 0, text, free_status};
}

tutti_status* status_of_current_exception() noexcept {
  try {
    throw;
  } catch (const plugin_error& error) {
    return make_status(error.code, error.what(), error.vendor_code, error.retryable);
  } catch (const std::bad_alloc&) {
    return make_status(TUTTI_ERROR_OUT_OF_MEMORY, "out of host memory", 0, true);
  } catch (const std::exception& error) {
    return make_status(TUTTI_ERROR_INTERNAL, error.what());
  } catch (...) {
    return make_status(TUTTI_ERROR_INTERNAL, "exception of an unknown type");
  }
}

}  // namespace tutti::sdk
