// SPDX-License-Identifier: Apache-2.0
//
// A plugin without a device behind it, right or wrong in one way that a definition picks. Its
// devices come from the variable FAKE_NAME, e.g. FAKE_OPENCL="gpu native uuid=1 name=Big;cpu"; the
// text "nodriver" makes the enumeration fail, "nosetting" for the sake of a setting.
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <sstream>
#include <string>
#include <vector>

#include "tutti/plugin.h"

#ifndef FAKE_NAME
#define FAKE_NAME FAKE_FILE
#endif
#ifndef FAKE_VERSION
#define FAKE_VERSION "1.0.0"
#endif
#ifndef FAKE_SPEED
#define FAKE_SPEED TUTTI_SPEED_NOT_SAID
#endif
#ifndef FAKE_MEMORY
#define FAKE_MEMORY &memory
#endif
#ifndef FAKE_MAJOR
#define FAKE_MAJOR TUTTI_ABI_MAJOR
#endif

namespace {

[[maybe_unused]] const tutti_host* the_host = nullptr;

const char* keep(const std::string& text) {
  static std::deque<std::string> all;
  return all.emplace_back(text).c_str();
}

void keep_status(tutti_status*) {}

tutti_status* status(int32_t code, int32_t vendor_code, const char* message) {
  static tutti_status s;
  s = {sizeof s, code, vendor_code, 0, 0, message, keep_status};
  return &s;
}

std::vector<std::string> rows() {
  std::string variable = "FAKE_";
  for (const char* c = FAKE_NAME; *c != '\0'; ++c)
    variable += static_cast<char>(*c >= 'a' && *c <= 'z' ? *c - 'a' + 'A' : *c);
  const char* const value = std::getenv(variable.c_str());
  std::istringstream text(value != nullptr ? value : "");
  std::vector<std::string> out;
  for (std::string row; std::getline(text, row, ';');) out.push_back(row);
  return out;
}

tutti_status* count(uint32_t* n) {
  const auto all = rows();
  if (!all.empty() && all.front() == "nodriver")
    return status(TUTTI_ERROR_NO_DRIVER, 0, "the fake driver is not installed");
  if (!all.empty() && all.front() == "nosetting")
    return status(TUTTI_ERROR_INVALID_ARGUMENT, 0, "FAKE_SETTING: expected yes, found no");
  *n = static_cast<uint32_t>(all.size());
  return nullptr;
}

tutti_status* properties(uint32_t index, tutti_device_properties* out) {
  tutti_device_properties p{};
  p.struct_size = out->struct_size;
  p.type = TUTTI_DEVICE_CPU;
  p.name = FAKE_NAME " device";
  p.vendor = "nobody";
  p.driver = "fake " FAKE_VERSION;
  p.cache_key = FAKE_NAME;
  p.schedule = "cpu";
  p.stored_dtypes = p.computed_dtypes = TUTTI_DTYPE_BIT(TUTTI_F32);
  p.compute_units = 4;
  p.memory_bytes = p.max_allocation_bytes = uint64_t{1} << 30;
  p.max_inputs = 8;
  p.max_outputs = 4;
  p.max_instructions = 64;
  p.alignment = 64;
  p.speed_class = FAKE_SPEED;
  std::istringstream words(rows().at(index));
  for (std::string word; words >> word;) {
    if (word == "gpu") p.type = TUTTI_DEVICE_GPU;
    if (word == "accelerator") p.type = TUTTI_DEVICE_ACCELERATOR;
    if (word == "unified") p.unified_memory = 1;
    if (word == "native") p.speed_class = TUTTI_SPEED_NATIVE;
    if (word == "portable") p.speed_class = TUTTI_SPEED_PORTABLE;
    if (word == "plain") p.speed_class = TUTTI_SPEED_PLAIN;
    if (word.rfind("gib=", 0) == 0)
      p.memory_bytes = p.max_allocation_bytes = std::stoull(word.substr(4)) << 30;
    if (word.rfind("units=", 0) == 0)
      p.compute_units = static_cast<uint32_t>(std::stoul(word.substr(6)));
    if (word.rfind("uuid=", 0) == 0) {
      p.has_uuid = 1;
      p.uuid[15] = static_cast<uint8_t>(std::stoi(word.substr(5)));
    }
    if (word.rfind("pci=", 0) == 0) {
      p.has_pci = 1;
      p.pci_bus = static_cast<uint32_t>(std::stoi(word.substr(4)));
    }
    if (word.rfind("name=", 0) == 0) {
      std::string name = word.substr(5);
      for (char& c : name) c = c == '_' ? ' ' : c;
      p.name = keep(name);
    }
  }
  std::memcpy(out, &p, out->struct_size < sizeof p ? out->struct_size : sizeof p);
  return nullptr;
}

tutti_status* open(uint32_t index, tutti_device** device) {
  if (rows().at(index).find("unopenable") != std::string::npos)
    return status(TUTTI_ERROR_DRIVER, -42, "somebody else holds the device");
  static char device_stand_in;
  *device = reinterpret_cast<tutti_device*>(&device_stand_in);
  return nullptr;
}

void release_device(tutti_device*) {}
tutti_status* allocate(tutti_device*, const tutti_buffer_desc*, tutti_buffer**) {
  return status(TUTTI_ERROR_OUT_OF_MEMORY, -4, "FAKE_OUT_OF_MEMORY");
}
void release_buffer(tutti_buffer*) {}
tutti_status* create_stream(tutti_device*, const tutti_stream_desc*, tutti_stream**) {
  return nullptr;
}
void release_stream(tutti_stream*) {}
tutti_status* of_stream(tutti_stream*) { return nullptr; }
tutti_status* record(tutti_stream*, tutti_event**) { return nullptr; }
tutti_status* wait(tutti_stream*, tutti_event*) { return nullptr; }
tutti_status* event_wait(tutti_event*, uint64_t) { return nullptr; }
tutti_status* event_query(tutti_event*, int32_t*) { return nullptr; }
void release_event(tutti_event*) {}
tutti_status* write(tutti_stream*, tutti_buffer*, uint64_t, const void*, uint64_t, int32_t,
                    tutti_event**) {
  return nullptr;
}
tutti_status* read(tutti_stream*, tutti_buffer*, uint64_t, void*, uint64_t, int32_t,
                   tutti_event**) {
  return nullptr;
}
tutti_status* copy(tutti_stream*, tutti_buffer*, uint64_t, tutti_buffer*, uint64_t, uint64_t,
                   tutti_event**) {
  return nullptr;
}

#ifdef FAKE_OLDER
// Built before memory_available, the event query and everything after the transfers existed. What
// is behind the ends of its tables leads into nowhere.
constexpr uint64_t device_size = offsetof(tutti_device_api, memory_available);
constexpr uint64_t plugin_size = offsetof(tutti_plugin_api, program);
constexpr uintptr_t nowhere = 16;
#else
constexpr uint64_t device_size = sizeof(tutti_device_api);
constexpr uint64_t plugin_size = sizeof(tutti_plugin_api);
constexpr uintptr_t nowhere = 0;
#endif

const tutti_device_api devices = {
    device_size,    count,
    properties,     open,
    release_device, reinterpret_cast<tutti_status* (*)(tutti_device*, uint64_t*)>(nowhere)};
const tutti_memory_api memory = {sizeof memory, allocate, release_buffer, nullptr, nullptr};
const tutti_stream_api stream = {
    sizeof stream, create_stream, release_stream, of_stream, of_stream, record, wait,
    event_wait,    event_query,   release_event,  nullptr,   nullptr,   nullptr};
const tutti_transfer_api transfer = {sizeof transfer, write, read, copy};

const tutti_plugin_api api = {plugin_size,
                              FAKE_MAJOR,
                              0,
                              FAKE_NAME,
                              FAKE_VERSION,
                              "build",
                              &devices,
                              FAKE_MEMORY,
                              &stream,
                              &transfer,
                              reinterpret_cast<const tutti_program_api*>(nowhere),
                              reinterpret_cast<const tutti_operator_api*>(nowhere),
                              nullptr,
                              nullptr,
                              nullptr,
                              nullptr};

}  // namespace

#ifndef FAKE_NO_SYMBOL
extern "C" const tutti_plugin_api* tutti_plugin_entry(const tutti_host* host) {
  the_host = host;
  return &api;
}
#else
extern "C" TUTTI_PLUGIN_EXPORT const void* another_symbol() { return &api; }
#endif
