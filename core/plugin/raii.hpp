// SPDX-License-Identifier: Apache-2.0
//
// The C tables in C++: statuses become exceptions, and objects release themselves. Nothing else is
// hidden; calls without a wrapper here use opened_device::plugin and check().
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "plugin/opened_device.hpp"
#include "tutti/export.hpp"
#include "tutti/plugin.h"

namespace tutti::plugins {

/// Throws device_error or out_of_memory "WHERE: ACTION DETAIL: message (vendor code)" and releases
/// `status`. `device` is the value of device_error::device().
[[noreturn]] TUTTI_INTERNAL_API void throw_status(tutti_status* status, std::string_view where,
                                                  std::string_view device, std::string_view action,
                                                  std::string_view detail);

/// Does nothing for success (NULL). Example: check(status, device, "launch", "multiply+tanh").
inline void check(tutti_status* status, const opened_device& device, std::string_view action,
                  std::string_view detail = {}) {
  if (status != nullptr) [[unlikely]]
    throw_status(status, device.title, device.name, action, detail);
}

inline void check(tutti_status* status, std::string_view context) {
  if (status != nullptr) [[unlikely]]
    throw_status(status, {}, {}, context, {});
}

[[noreturn]] TUTTI_INTERNAL_API void throw_nothing_made(const opened_device& device,
                                                        std::string_view function);

/// The result of a function that succeeded. Throws device_error with the function if it is NULL.
template <class Function, class T>
T* require_made(const guarded<Function>& function, T* made, const opened_device& device) {
  if (made == nullptr) [[unlikely]]
    throw_nothing_made(device, function.name());
  return made;
}

/// Releases a status that is ignored (unwinding, best-effort calls); true if there was one.
TUTTI_INTERNAL_API bool ignore(tutti_status* status) noexcept;

/// The event of work that has been enqueued on `stream`, which is waited for if there is none.
template <class Function>
tutti_event* require_event(const guarded<Function>& function, tutti_event* event,
                           const opened_device& device, tutti_stream* stream) {
  if (event == nullptr) [[unlikely]] {
    ignore(device.plugin->stream.synchronize(stream));
    throw_nothing_made(device, function.name());
  }
  return event;
}

template <class T>
struct releaser {
  const guarded<void (*)(T*)>* release = nullptr;  ///< a plugin's, which stays loaded
  void operator()(T* object) const noexcept { (*release)(object); }
};

using buffer_handle = std::unique_ptr<tutti_buffer, releaser<tutti_buffer>>;
using stream_handle = std::unique_ptr<tutti_stream, releaser<tutti_stream>>;
using event_handle = std::unique_ptr<tutti_event, releaser<tutti_event>>;
using program_handle = std::unique_ptr<tutti_program, releaser<tutti_program>>;
using kernel_handle = std::unique_ptr<tutti_kernel, releaser<tutti_kernel>>;
using plan_handle = std::unique_ptr<tutti_plan, releaser<tutti_plan>>;

inline buffer_handle own(const plugin& p, tutti_buffer* b) { return {b, {&p.memory.release}}; }
inline stream_handle own(const plugin& p, tutti_stream* s) { return {s, {&p.stream.release}}; }
inline event_handle own(const plugin& p, tutti_event* e) { return {e, {&p.stream.event_release}}; }
inline program_handle own(const plugin& p, tutti_program* x) { return {x, {&p.program.release}}; }
inline kernel_handle own(const plugin& p, tutti_kernel* k) { return {k, {&p.kernel.release}}; }
inline plan_handle own(const plugin& p, tutti_plan* x) { return {x, {&p.op.release}}; }

/// The object that a function of a plugin creates with these arguments.
template <class T, class Function, class... Args>
auto create(const opened_device& d, const guarded<Function>& function, std::string_view action,
            std::string_view detail, Args... args) {
  T* made = nullptr;
  check(function(args..., &made), d, action, detail);
  return own(*d.plugin, require_made(function, made, d));
}

inline buffer_handle allocate(const opened_device& d, uint64_t bytes,
                              tutti_memory_kind kind = TUTTI_MEMORY_DEVICE) {
  tutti_buffer* made = nullptr;
  const tutti_buffer_desc desc{sizeof desc, bytes, static_cast<uint32_t>(kind), 0};
  tutti_status* status = d.plugin->memory.allocate(d.handle, &desc, &made);
  if (status != nullptr) check(status, d, "allocate", std::to_string(bytes) + " bytes");
  return own(*d.plugin, require_made(d.plugin->memory.allocate, made, d));
}

inline stream_handle create_stream(const opened_device& d, uint32_t flags = 0) {
  const tutti_stream_desc desc{sizeof desc, flags, 0};
  return create<tutti_stream>(d, d.plugin->stream.create, "create a stream", {}, d.handle, &desc);
}

inline event_handle record_event(const opened_device& d, tutti_stream* stream) {
  return create<tutti_event>(d, d.plugin->stream.record, "record an event", {}, stream);
}

/// A plugin's message, as one line; `otherwise` if it is empty.
TUTTI_INTERNAL_API std::string reason_of(const char* reason, const char* otherwise);

/// Why the device does not support the program, empty if it does.
inline std::string why_unsupported(const opened_device& d, const tutti_program_desc& desc) {
  int32_t support = TUTTI_SUPPORT_NO;
  const char* reason = nullptr;
  check(d.plugin->program.supports(d.handle, &desc, &support, &reason), d, "ask for support of",
        desc.label != nullptr ? desc.label : "");
  if (support == TUTTI_SUPPORT_YES) return {};
  return reason_of(reason, "the device does not support it");
}

inline program_handle create_program(const opened_device& d, const tutti_program_desc& desc) {
  return create<tutti_program>(d, d.plugin->program.create, "compile",
                               desc.label != nullptr ? desc.label : "", d.handle, &desc);
}

inline kernel_handle create_kernel(const opened_device& d, const tutti_kernel_desc& desc) {
  return create<tutti_kernel>(d, d.plugin->kernel.create, "compile", desc.label, d.handle, &desc);
}

/// `label` is for messages.
inline plan_handle create_plan(const opened_device& d, const tutti_operator_desc& desc,
                               std::string_view label) {
  return create<tutti_plan>(d, d.plugin->op.create, "prepare", label, d.handle, &desc);
}

}  // namespace tutti::plugins
