// SPDX-License-Identifier: Apache-2.0
//
// What the device layer asks of a plugin: a struct of types and static functions, `backend`, that
// its templates are instantiated with. docs/backend-layer.md goes through it.
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

/// Arguments of a kernel: addresses and sizes of the values.
struct kernel_arguments {
  const void* const* values;
  const size_t* bytes;
  uint32_t count;
};

/// - device, buffer, stream: tutti_device and so on, which the plugin defines. A device has `info`,
///   a pointer to what it derived from device_description; a buffer has `device`, `memory` and
///   `bytes`; a stream has `device`.
/// - memory: what a kernel takes for a buffer. code, kernel: what a source is built into, and one
///   entry of it. scope: what must live during calls of the driver, made from a device. product: a
///   matrix product, prepared; several threads may launch it at once.
/// - recording: the launches of one call on a stream, and the event that the caller may want. The
///   event comes with the launch that is the last, or with finish() where there was no launch.
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

  // Whether work and memory of the one are also those of the other.
  { B::same_device(other, other) } -> std::same_as<bool>;
  { B::make_dialect(*device.info) } -> std::same_as<dialect>;
  // Bytes that the arguments of a rendered program take.
  { B::argument_bytes(layout) } -> std::same_as<uint32_t>;
  // A rendered program: source, label.
  { B::build(device, text, text) } -> std::same_as<typename B::code>;
  { B::make_kernel(code, name) } -> std::same_as<typename B::kernel>;
  // A kernel of a file of the plugin's: options, name; built once and kept with the device, whose
  // plans keep what is returned. For one launch it is turned into what recording.launch takes.
  B::for_launch(B::kernel_of(device, kernel_file::scan, text, name));
  // Memory of the device with these bytes, which a plan keeps for its kernels. Work that reads it
  // may be under way when it is destroyed.
  requires std::constructible_from<typename B::constants, typename B::device&,
                                   std::span<const std::byte>>;

  typename B::recording;
  requires std::constructible_from<typename B::recording, typename B::stream&, tutti_event**>;
  // Groups, work-items of each, whether it is the last launch, and what errors say.
  recording.launch(kernel, arguments, uint64_t{}, uint32_t{}, bool{}, name);
  recording.finish();

  { B::matmul_supported(device, call, reason) } -> std::same_as<bool>;
  { B::prepare_matmul(device, call) } -> std::same_as<typename B::product>;
  { B::matmul_workspace(product) } -> std::same_as<uint64_t>;
  // On memory that has been checked.
  B::matmul(stream, call, product, places, event);
};

/// The memory of `given` for work on `device`; throws TUTTI_ERROR_INVALID_ARGUMENT for NULL and for
/// a buffer of another device.
template <typename B>
typename B::memory memory_on(const typename B::device& device, const tutti_buffer* given,
                             const char* what) {
  const typename B::buffer* buffer = given;
  if (buffer == nullptr) throw_invalid(std::string(what) + ": buffer is NULL");
  if (!B::same_device(*buffer->device, device)) {
    throw_invalid(std::string(what) + ": the buffer belongs to device " +
                  buffer->device->info->name + ", the stream to " + device.info->name);
  }
  return buffer->memory;
}

}  // namespace tutti::sdk
