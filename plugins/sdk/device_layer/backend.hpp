// SPDX-License-Identifier: Apache-2.0
//
// The requirements of the device layer on a plugin: a struct `backend` of types and static
// functions, for which its templates are instantiated. See docs/backend-layer.md.
#pragma once

#include <concepts>
#include <cstddef>
#include <span>
#include <string>

#include "sdk/device_layer/description.hpp"
#include "sdk/device_layer/operators.hpp"
#include "sdk/renderer.hpp"
#include "sdk/status.hpp"

namespace tutti::sdk {

/// Kernel arguments: addresses and sizes of the values.
struct kernel_arguments {
  const void* const* values;
  const size_t* bytes;
  uint32_t count;
};

/// - device, buffer, stream: tutti_device and so on, defined by the plugin. A device has `info`, a
///   pointer to a class derived from device_description; a buffer has `device`, `memory` and
///   `bytes`; a stream has `device`.
/// - memory: the kernel argument for a buffer. code: a compiled source; kernel: one of its entries.
///   scope: must live during driver calls, constructed from a device. product: a prepared matrix
///   product; several threads may launch it concurrently.
/// - recording: the launches of one call on a stream, and the event that the caller may request.
///   The last launch creates the event, or finish() if there was no launch.
template <typename B>
concept device_backend = requires(typename B::device& device, const typename B::device& other,
                                  typename B::buffer& buffer, typename B::stream& stream,
                                  tutti_event** event, typename B::code& code,
                                  typename B::kernel& kernel, typename B::recording& recording,
                                  const kernel_arguments& arguments, const std::string& text,
                                  const char* name, const program_layout& layout,
                                  const operator_call& call, const operator_memory& places,
                                  typename B::product& product, const char** reason) {
  { *device.info } -> std::convertible_to<const device_description&>;
  { buffer.memory } -> std::convertible_to<typename B::memory>;
  typename B::scope;

  // Whether both devices share work and memory.
  { B::same_device(other, other) } -> std::same_as<bool>;
  { B::make_dialect(*device.info) } -> std::same_as<dialect>;
  // The size of the arguments of a rendered program in bytes.
  { B::argument_bytes(layout) } -> std::same_as<uint32_t>;
  // Compiles a rendered program: source, label.
  { B::build(device, text, text) } -> std::same_as<typename B::code>;
  { B::make_kernel(code, name) } -> std::same_as<typename B::kernel>;
  // A kernel of one of the plugin's kernel files: options, name; built once and cached by the
  // device. Plans keep the returned object; for_launch converts it for recording.launch.
  B::for_launch(B::kernel_of(device, "scan", text, name));
  // Device memory with these bytes, which a plan keeps for its kernels. Work that reads it may be
  // pending when it is destroyed.
  requires std::constructible_from<typename B::constants, typename B::device&,
                                   std::span<const std::byte>>;

  typename B::recording;
  requires std::constructible_from<typename B::recording, typename B::stream&, tutti_event**>;
  // Groups, work-items per group, whether it is the last launch, and a label for errors.
  recording.launch(kernel, arguments, uint64_t{}, uint32_t{}, bool{}, name);
  recording.finish();

  { B::matmul_supported(device, call, reason) } -> std::same_as<bool>;
  { B::prepare_matmul(device, call) } -> std::same_as<typename B::product>;
  { B::matmul_workspace(product) } -> std::same_as<uint64_t>;
  // The memory has been checked.
  B::matmul(stream, call, product, places, event);
};

/// Throws TUTTI_ERROR_INVALID_ARGUMENT unless `part`, "the plan", of `owner` can run on `stream`.
template <typename B>
void require_same_device(const typename B::device& owner, const typename B::device& stream,
                         std::string_view label, const char* part) {
  if (!B::same_device(stream, owner))
    throw_invalid(label, ": ", part, " belongs to device ", owner.info->name, ", the stream to ",
                  stream.info->name);
}

/// The memory of `given` for work on `device`. Throws TUTTI_ERROR_INVALID_ARGUMENT for NULL and for
/// a buffer of another device.
template <typename B>
typename B::memory memory_on(const typename B::device& device, const tutti_buffer* given,
                             const char* what) {
  const typename B::buffer* buffer = given;
  if (buffer == nullptr) throw_invalid(what, ": buffer is NULL");
  require_same_device<B>(*buffer->device, device, what, "the buffer");
  return buffer->memory;
}

}  // namespace tutti::sdk
