// SPDX-License-Identifier: Apache-2.0
//
// The rules of plugin.h for a plugin's own data: tables, its name, properties, status objects.
#include <algorithm>
#include <cstring>

#include "harness.hpp"

namespace tutti::conformance {
namespace {

template <typename Table>
void check_table(const Table* table, const char* name, size_t known_functions) {
  require(table->struct_size >= sizeof(uint64_t) + known_functions * sizeof(void*),
          "{}: struct_size is {}", name, table->struct_size);
  for (size_t i = 0; i < known_functions; ++i) {
    void* function = nullptr;
    std::memcpy(&function,
                reinterpret_cast<const char*>(table) + sizeof(uint64_t) + i * sizeof(void*),
                sizeof(function));
    require(function != nullptr, "{}: function {} is NULL", name, i);
  }
}

void check_tables(session& s) {
  const tutti_plugin_api* api = s.api;
  const auto filled = [](const char* text) { return text != nullptr && *text != 0; };
  require(filled(api->name) && filled(api->version) && filled(api->build_id),
          "name, version or build_id is empty");
  check_table(api->device, "device", 5);
  check_table(api->memory, "memory", 2);
  check_table(api->stream, "stream", 9);
  check_table(api->transfer, "transfer", 3);
  check_table(api->program, "program", 6);
  check_table(api->op, "op", 5);
  if (api->profile != nullptr) check_table(api->profile, "profile", 2);
  if (api->struct_size >= sizeof(tutti_plugin_api) && api->kernel != nullptr)
    check_table(api->kernel, "kernel", 5);
}

// The library expects in a file only the plugin of its name.
void check_name(session& s) {
  const std::string expected = name_of_file(s.plugin_path);
  const std::string name = s.api->name != nullptr ? s.api->name : "";
  require(!expected.empty(),
          "the file is not called libtutti_NAME.so, where the library looks for it: {}",
          s.plugin_path);
  require(name == expected, "the plugin calls itself \"{}\", not \"{}\" as its file does", name,
          expected);
}

void check_properties(session& s) {
  const tutti_device_properties& p = s.properties;
  require(p.type >= TUTTI_DEVICE_CPU && p.type <= TUTTI_DEVICE_ACCELERATOR, "unknown type");
  for (const char* text : {p.name, p.vendor, p.driver, p.cache_key, p.schedule}) {
    require(text != nullptr && *text != 0, "a string is empty");
  }
  require(p.compute_units > 0 && p.memory_bytes > 0 && p.max_allocation_bytes > 0,
          "units or memory are 0");
  require(p.alignment > 0 && (p.alignment & (p.alignment - 1)) == 0,
          "alignment {} is no power of two", p.alignment);
  require(s.computes(TUTTI_F32) && s.stores(TUTTI_F32), "f32 is not computed and stored");
  for (uint8_t dtype = TUTTI_BOOL; dtype <= TUTTI_C128; ++dtype)
    require(!s.computes(dtype) || sdk::is_register(dtype) || sdk::is_storage_only(dtype),
            "{} cannot be computed in", sdk::dtype_name(dtype));
  require(p.max_argument_bytes > 0 && p.max_work_group_size > 0, "a limit is 0");
}

// Space for less, and for more, than the plugin knows.
void check_properties_size(session& s) {
  longer<tutti_device_properties> room;
  std::memset(static_cast<void*>(&room), 0xAB, sizeof room);
  const size_t cut = offsetof(tutti_device_properties, memory_bytes);
  room.known.struct_size = cut;
  check(s.api->device->properties(s.device_index, &room.known), "properties into a short struct");
  const auto* raw = reinterpret_cast<const unsigned char*>(&room);
  require(std::all_of(raw + cut, raw + sizeof room, [](unsigned char c) { return c == 0xAB; }),
          "properties wrote beyond struct_size");
  require(std::string(room.known.name) == s.properties.name, "a short struct has another name");
  std::memset(static_cast<void*>(&room), 0xAB, sizeof room);
  room.known.struct_size = sizeof room;
  check(s.api->device->properties(s.device_index, &room.known), "properties into a long struct");
  require(room.known.struct_size <= sizeof room &&
              room.known.max_work_group_size == s.properties.max_work_group_size,
          "a long struct was filled in wrongly");
}

void check_status(session& s) {
  uint32_t count = 0;
  check(s.api->device->count(&count), "count");
  tutti_device* device = nullptr;
  tutti_status* status = s.api->device->open(count + 1000, &device);
  require(status != nullptr, "a device that does not exist was opened");
  require(status->struct_size >= sizeof(tutti_status), "status: struct_size is too small");
  require(status->code == TUTTI_ERROR_INVALID_ARGUMENT, "status: code is {}", status->code);
  require(status->message != nullptr && *status->message != 0, "status: no message");
  require(status->release != nullptr, "status: no release");
  const std::string message = status->message;
  tutti_status* second = s.api->device->open(count + 1001, &device);
  require(message == status->message, "a second failure changed the first one's message");
  status->release(status);
  require(bool(take(second)), "the second failure is gone");
  tutti_device_properties properties{};
  properties.struct_size = sizeof properties;
  require(bool(take(s.api->device->properties(count, &properties))),
          "properties of a device that does not exist");
}

}  // namespace

void add_table_groups(groups& all, const session&) {
  all.push_back({"abi/tables", check_tables});
  all.push_back({"abi/name", check_name});
  all.push_back({"abi/properties", check_properties});
  all.push_back({"abi/properties_size", check_properties_size});
  all.push_back({"abi/status", check_status});
}

}  // namespace tutti::conformance
