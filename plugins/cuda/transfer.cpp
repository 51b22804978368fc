// SPDX-License-Identifier: Apache-2.0
//
// Writes, reads, and copies between buffers. Blocking transfers of large pageable memory use two
// pinned buffers, so that copying on the host and over the bus overlap; non-blocking ones are left
// to the driver, which for pageable memory may wait for the stream.
#include <algorithm>
#include <cstring>

#include "cuda/objects.hpp"
#include "sdk/device_layer/transfer_table.hpp"

namespace tutti::cuda {
namespace {

constexpr uint64_t least_staged = 256 * 1024;

// Whether the driver accesses this host memory directly.
bool is_pinned(const void* host) {
  unsigned type = 0;
  return cu().pointer_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
                                reinterpret_cast<CUdeviceptr>(host)) == CUDA_SUCCESS &&
         type == CU_MEMORYTYPE_HOST;
}

// False if no memory can be pinned; the transfer then works without it.
bool prepare(tutti_device& device) {
  staging& s = device.staging;
  for (int n = 0; n < 2; ++n) {
    if (s.done[n] == nullptr) s.done[n] = device.events.take(device, false);
    if (s.memory[n] == nullptr &&
        cu().host_allocate(&s.memory[n], staging::bytes, 0) != CUDA_SUCCESS) {
      s.memory[n] = nullptr;
      return false;
    }
  }
  return true;
}

void write_staged(tutti_stream& stream, CUdeviceptr to, const char* host, uint64_t bytes) {
  tutti_device& device = *stream.device;
  staging& s = device.staging;
  for (uint64_t done = 0, n = 0; done < bytes; done += staging::bytes, ++n) {
    const uint64_t part = std::min(staging::bytes, bytes - done);
    const int slot = static_cast<int>(n % 2);
    if (n >= 2) check(&device, cu().event_synchronize(s.done[slot]), "write");
    std::memcpy(s.memory[slot], host + done, part);
    check(&device, cu().copy_to_device(to + done, s.memory[slot], part, stream.handle), "write");
    check(&device, cu().event_record(s.done[slot], stream.handle), "write");
  }
}

void read_staged(tutti_stream& stream, CUdeviceptr from, char* host, uint64_t bytes) {
  tutti_device& device = *stream.device;
  staging& s = device.staging;
  const uint64_t pieces = (bytes + staging::bytes - 1) / staging::bytes;
  const auto size = [&](uint64_t n) {
    return std::min(staging::bytes, bytes - n * staging::bytes);
  };
  for (uint64_t n = 0; n <= pieces; ++n) {
    if (n < pieces) {
      check(&device,
            cu().copy_to_host(s.memory[n % 2], from + n * staging::bytes, size(n), stream.handle),
            "read");
      check(&device, cu().event_record(s.done[n % 2], stream.handle), "read");
    }
    if (n == 0) continue;
    check(&device, cu().event_synchronize(s.done[(n - 1) % 2]), "read");
    std::memcpy(host + (n - 1) * staging::bytes, s.memory[(n - 1) % 2], size(n - 1));
  }
}

// Large pageable memory of a call that waits anyway.
bool wants_staging(const void* host, uint64_t bytes, bool blocking) {
  return blocking && bytes >= least_staged && !is_pinned(host);
}

// A blocking call reports failures that the stream waited for; its event does not outlive them.
void finish_blocking(tutti_stream& stream, tutti_event** event, const char* what) {
  check(stream.device, cu().stream_synchronize(stream.handle), what);
  const sdk::plugin_error* const failure = sdk::failure_among(stream.awaited.open());
  if (failure == nullptr) return;
  if (event != nullptr) stream_api.event_release(std::exchange(*event, nullptr));
  throw sdk::plugin_error(*failure);
}

}  // namespace

void backend::write(tutti_stream& stream, CUdeviceptr memory, uint64_t offset, const void* host,
                    uint64_t bytes, bool blocking, tutti_event** event) {
  tutti_device& device = *stream.device;
  event_recorder recorder(stream, event);
  std::unique_lock lock(device.staging.mutex, std::defer_lock);
  const bool staged = wants_staging(host, bytes, blocking);
  if (staged) lock.lock();
  if (staged && prepare(device)) {
    write_staged(stream, memory + offset, static_cast<const char*>(host), bytes);
  } else if (bytes > 0) {
    check(&device, cu().copy_to_device(memory + offset, host, bytes, stream.handle), "write");
  }
  recorder.finish();
  if (blocking) finish_blocking(stream, event, "write");
}

void backend::read(tutti_stream& stream, CUdeviceptr memory, uint64_t offset, void* host,
                   uint64_t bytes, bool blocking, tutti_event** event) {
  tutti_device& device = *stream.device;
  event_recorder recorder(stream, event);
  std::unique_lock lock(device.staging.mutex, std::defer_lock);
  const bool staged = wants_staging(host, bytes, blocking);
  if (staged) lock.lock();
  if (staged && prepare(device)) {
    read_staged(stream, memory + offset, static_cast<char*>(host), bytes);
  } else if (bytes > 0) {
    check(&device, cu().copy_to_host(host, memory + offset, bytes, stream.handle), "read");
  }
  recorder.finish();
  if (blocking) finish_blocking(stream, event, "read");
}

void backend::copy(tutti_stream& stream, tutti_buffer& from, uint64_t from_offset, tutti_buffer& to,
                   uint64_t to_offset, uint64_t bytes, tutti_event** event) {
  tutti_device& device = *stream.device;
  event_recorder recorder(stream, event);
  const CUdeviceptr source = from.memory + from_offset, target = to.memory + to_offset;
  const bool here = from.device->context == to.device->context;
  if (bytes > 0 && here) {
    memory_on(device, &from, "copy");
    check(&device, cu().copy_on_device(target, source, bytes, stream.handle), "copy");
  } else if (bytes > 0) {
    check(&device,
          cu().copy_peer(target, to.device->context, source, from.device->context, bytes,
                         stream.handle),
          "copy between devices");
  }
  recorder.finish();
}

const tutti_transfer_api transfer_api = sdk::transfer_functions<backend>::api;

}  // namespace tutti::cuda
