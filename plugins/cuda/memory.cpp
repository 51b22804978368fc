// SPDX-License-Identifier: Apache-2.0
//
// Raw buffers, from the driver's stream-ordered pool if it has one (freeing there does not
// synchronise the device), and foreign memory wrapped as a buffer.
#include <algorithm>

#include "cuda/objects.hpp"
#include "sdk/validate.hpp"

namespace tutti::cuda {
namespace {

CUresult allocate_once(tutti_device& device, CUdeviceptr* memory, uint64_t bytes) {
  if (device.pool == nullptr) return cu().memory_allocate(memory, bytes);
  const CUresult code = cu().memory_allocate_async(memory, bytes, device.allocation_stream);
  // Nothing else is queued there, so this waits for no kernel; after it every stream may use the
  // memory.
  return code == CUDA_SUCCESS ? cu().stream_synchronize(device.allocation_stream) : code;
}

// Pinned. With unified addressing, which every 64-bit Linux has, it has the same address on the
// device.
void allocate_host(tutti_device& device, uint64_t bytes, tutti_buffer** result) {
  const scoped_context context(device);
  auto buffer = std::make_unique<tutti_buffer>();
  check(&device,
        cu().host_allocate(&buffer->host, std::max<uint64_t>(bytes, 1), CU_MEMHOSTALLOC_PORTABLE),
        "cuMemHostAlloc");
  buffer->device = &device;
  buffer->memory = reinterpret_cast<CUdeviceptr>(buffer->host);
  buffer->bytes = bytes;
  *result = buffer.release();
}

tutti_status* allocate(tutti_device* device, const tutti_buffer_desc* desc, tutti_buffer** result) {
  return sdk::guarded([&] {
    const tutti_buffer_desc asked = sdk::read_struct(desc, "buffer description");
    const uint64_t bytes = asked.bytes;
    sdk::deref(result, "buffer") = nullptr;
    const tutti_device_properties& p = sdk::deref(device, "device").info->properties;
    if (sdk::memory_kind_of(asked) == TUTTI_MEMORY_HOST)
      return allocate_host(*device, bytes, result);
    if (bytes > p.memory_bytes) {
      throw sdk::plugin_error(TUTTI_ERROR_OUT_OF_MEMORY,
                              "allocate: " + std::to_string(bytes) + " bytes asked for, " +
                                  device->info->name + " has " + std::to_string(p.memory_bytes),
                              CUDA_ERROR_OUT_OF_MEMORY);
    }
    const scoped_context context(*device);
    auto buffer = std::make_unique<tutti_buffer>();
    const uint64_t wanted = std::max<uint64_t>(bytes, 1);
    CUresult code = allocate_once(*device, &buffer->memory, wanted);
    if (code == CUDA_ERROR_OUT_OF_MEMORY && device->pool != nullptr) {
      cu().stream_synchronize(device->allocation_stream);
      cu().pool_trim(device->pool, 0);
      code = allocate_once(*device, &buffer->memory, wanted);
    }
    if (code != CUDA_SUCCESS) {
      throw_error(device, code,
                  "allocate " + std::to_string(bytes) + " bytes on " + device->info->name);
    }
    buffer->device = device;
    buffer->bytes = bytes;
    buffer->owned = true;
    device->allocated += bytes;
    *result = buffer.release();
  });
}

void release(tutti_buffer* buffer) {
  if (buffer == nullptr) return;
  tutti_device& device = *buffer->device;
  if (buffer->owned) {
    const scoped_context context(device, std::nothrow);
    device.allocated -= buffer->bytes;
    if (device.pool != nullptr) {
      cu().memory_free_async(buffer->memory, device.allocation_stream);
    } else {
      cu().memory_free(buffer->memory);
    }
  }
  if (buffer->host != nullptr) {
    const scoped_context context(device, std::nothrow);
    cu().host_free(buffer->host);
  }
  if (buffer->deleter != nullptr) buffer->deleter(buffer->deleter_context);
  delete buffer;
}

tutti_status* map(tutti_buffer* buffer, uint64_t offset, uint64_t bytes, uint32_t flags,
                  void** host) {
  return sdk::guarded([&] {
    sdk::deref(host, "host") = nullptr;
    sdk::validate_map(offset, bytes, flags, sdk::deref(buffer, "buffer").bytes);
    if (buffer->host == nullptr)
      sdk::throw_unsupported("map: the buffer is in memory of ", buffer->device->info->name);
    *host = static_cast<char*>(buffer->host) + offset;
  });
}

// Pinned memory has one address on both sides.
tutti_status* unmap(tutti_buffer* buffer, void* host) {
  return sdk::guarded([&] {
    sdk::deref(buffer, "buffer");
    if (host == nullptr) sdk::throw_invalid("unmap: host is NULL");
  });
}

// ---- native handles

tutti_status* native_buffer(tutti_buffer* buffer, void** handle) {
  return sdk::guarded([&] {
    sdk::deref(handle, "handle") = reinterpret_cast<void*>(sdk::deref(buffer, "buffer").memory);
  });
}

// The device address of foreign memory; throws if it belongs to another device or is too small.
CUdeviceptr reachable(tutti_device& device, CUdeviceptr address, uint64_t bytes) {
  unsigned type = 0;
  CUcontext owner = nullptr;
  CUdeviceptr start = 0, memory = address;
  size_t size = 0;
  check(&device, cu().pointer_attribute(&type, CU_POINTER_ATTRIBUTE_MEMORY_TYPE, address),
        "wrap: the address is no memory of CUDA");
  if (type == CU_MEMORYTYPE_HOST) {  // pinned, for all contexts
    check(&device, cu().pointer_attribute(&memory, CU_POINTER_ATTRIBUTE_DEVICE_POINTER, address),
          "wrap: the device does not reach this host memory");
  } else {
    check(&device, cu().pointer_attribute(&owner, CU_POINTER_ATTRIBUTE_CONTEXT, address),
          "wrap: the address is no memory of CUDA");
    // Stream-ordered allocations belong to no context.
    if (owner != nullptr && owner != device.context) {
      sdk::throw_invalid("wrap: the memory belongs to another context");
    }
  }
  const bool known =
      cu().pointer_attribute(&size, CU_POINTER_ATTRIBUTE_RANGE_SIZE, address) == CUDA_SUCCESS &&
      cu().pointer_attribute(&start, CU_POINTER_ATTRIBUTE_RANGE_START_ADDR, address) ==
          CUDA_SUCCESS;
  if (known && bytes > start + size - address) {
    sdk::throw_invalid("wrap: ", bytes, " bytes of an allocation of ", size, " from byte ",
                       address - start);
  }
  return memory;
}

tutti_status* wrap(tutti_device* device, void* handle, uint64_t bytes, void (*deleter)(void*),
                   void* deleter_context, tutti_buffer** result) {
  return sdk::guarded([&] {
    sdk::deref(result, "buffer") = nullptr;
    const scoped_context context(sdk::deref(device, "device"));
    const CUdeviceptr memory = reachable(*device, reinterpret_cast<CUdeviceptr>(handle), bytes);
    auto buffer = std::make_unique<tutti_buffer>();
    buffer->device = device;
    buffer->memory = memory;
    buffer->bytes = bytes;
    buffer->deleter = deleter;
    buffer->deleter_context = deleter_context;
    *result = buffer.release();
  });
}

}  // namespace

const tutti_memory_api memory_api = {sizeof(tutti_memory_api), allocate, release, map, unmap};
const tutti_native_api native_api = {sizeof(tutti_native_api), TUTTI_NATIVE_CUDA, native_buffer,
                                     wrap};

}  // namespace tutti::cuda
