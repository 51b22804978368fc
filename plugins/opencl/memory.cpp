// SPDX-License-Identifier: Apache-2.0
//
// Raw buffers, and foreign memory wrapped as one. On CPUs a buffer is made of memory of ours, which
// the host reads and writes in place.
#include <algorithm>
#include <cstdlib>

#include "opencl/objects.hpp"
#include "sdk/validate.hpp"

namespace tutti::opencl {
namespace {

void require_room(const tutti_device& device, uint64_t bytes) {
  const tutti_device_properties& p = device.info->properties;
  // Drivers commit memory late and would fail, or be killed, in the first kernel that touches it.
  if (bytes > p.max_allocation_bytes) {
    throw sdk::plugin_error(TUTTI_ERROR_OUT_OF_MEMORY,
                            "allocate: " + std::to_string(bytes) + " bytes asked for, " +
                                device.info->name + " allows " +
                                std::to_string(p.max_allocation_bytes) + " for one buffer",
                            CL_INVALID_BUFFER_SIZE);
  }
  const uint64_t used = device.allocated.load();
  if (bytes > p.memory_bytes || used > p.memory_bytes - bytes) {
    throw sdk::plugin_error(TUTTI_ERROR_OUT_OF_MEMORY,
                            "allocate: " + std::to_string(bytes) + " bytes asked for, " +
                                std::to_string(used) + " of " + std::to_string(p.memory_bytes) +
                                " bytes of " + device.info->name + " are in use",
                            CL_MEM_OBJECT_ALLOCATION_FAILURE, true);
  }
}

// Gives back what a buffer has, also one that is only half made.
void dispose(tutti_buffer& buffer) noexcept {
  if (buffer.mapped != nullptr) {
    clEnqueueUnmapMemObject(buffer.mapped, buffer.memory, buffer.host, 0, nullptr, nullptr);
    clFinish(buffer.mapped);
    clReleaseCommandQueue(buffer.mapped);
  }
  if (buffer.memory != nullptr) clReleaseMemObject(buffer.memory);
}

// Memory of ours, on whole cache lines and, where it is large, pages.
void* allocate_host(uint64_t bytes, uint64_t alignment) {
  constexpr uint64_t line = 64, page = 4096;
  const uint64_t unit = std::max(alignment, bytes >= page ? page : line);
  return std::aligned_alloc(unit, (bytes + unit - 1) / unit * unit);
}

void CL_CALLBACK free_memory(cl_mem, void* host) { std::free(host); }

// A buffer of memory of ours, which is freed when the driver has done with it: commands may outlive
// the release of their buffers.
void make_in_place(tutti_device& device, tutti_buffer& buffer, uint64_t bytes) {
  std::unique_ptr<void, void (*)(void*)> host(
      allocate_host(bytes, device.info->properties.alignment), std::free);
  const std::string what = "allocate " + std::to_string(bytes) + " bytes on " + device.info->name;
  if (host == nullptr) throw_error(CL_MEM_OBJECT_ALLOCATION_FAILURE, what);
  cl_int code = CL_SUCCESS;
  owned_memory memory(clCreateBuffer(device.context->get(), CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR,
                                     bytes, host.get(), &code));
  if (code != CL_SUCCESS) throw_error(code, what);
  check(clSetMemObjectDestructorCallback(memory.get(), free_memory, host.get()),
        "clSetMemObjectDestructorCallback");
  buffer.host = host.release();
  buffer.memory = memory.take();
}

void make_memory(tutti_device& device, tutti_buffer& buffer, uint64_t bytes, cl_mem_flags flags) {
  if (device.works_in_place) return make_in_place(device, buffer, bytes);
  cl_int code = CL_SUCCESS;
  buffer.memory =
      clCreateBuffer(device.context->get(), CL_MEM_READ_WRITE | flags, bytes, nullptr, &code);
  if (code != CL_SUCCESS) {
    throw_error(code, "allocate " + std::to_string(bytes) + " bytes on " + device.info->name);
  }
}

// Host memory of the driver's choice, mapped from now on.
void map_for_life(tutti_device& device, tutti_buffer& buffer, uint64_t bytes) {
  cl_int code = CL_SUCCESS;
  owned_queue queue(clCreateCommandQueue(device.context->get(), device.info->id, 0, &code));
  check(code, "clCreateCommandQueue");
  buffer.host = clEnqueueMapBuffer(queue.get(), buffer.memory, CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                                   0, bytes, 0, nullptr, nullptr, &code);
  check(code, "clEnqueueMapBuffer");
  buffer.mapped = queue.take();
}

tutti_status* allocate(tutti_device* device, const tutti_buffer_desc* desc, tutti_buffer** result) {
  return sdk::guarded([&] {
    const tutti_buffer_desc wanted = sdk::read_struct(desc, "buffer description");
    sdk::deref(result, "buffer") = nullptr;
    const bool host = sdk::memory_kind_of(wanted) == TUTTI_MEMORY_HOST;
    require_room(sdk::deref(device, "device"), wanted.bytes);
    std::unique_ptr<tutti_buffer, void (*)(tutti_buffer*)> buffer(new tutti_buffer,
                                                                  [](tutti_buffer* half) {
                                                                    if (half != nullptr)
                                                                      dispose(*half);
                                                                    delete half;
                                                                  });
    const uint64_t bytes = std::max<uint64_t>(wanted.bytes, 1);
    make_memory(*device, *buffer, bytes, host ? CL_MEM_ALLOC_HOST_PTR : 0);
    if (host && buffer->host == nullptr) map_for_life(*device, *buffer, bytes);
    buffer->device = device;
    buffer->bytes = wanted.bytes;
    buffer->counted = true;
    device->allocated += wanted.bytes;
    *result = buffer.release();
  });
}

void release(tutti_buffer* buffer) {
  if (buffer == nullptr) return;
  if (buffer->counted) buffer->device->allocated -= buffer->bytes;
  dispose(*buffer);
  if (buffer->deleter != nullptr) buffer->deleter(buffer->deleter_context);
  delete buffer;
}

tutti_status* map(tutti_buffer* buffer, uint64_t offset, uint64_t bytes, uint32_t flags,
                  void** host) {
  return sdk::guarded([&] {
    sdk::deref(host, "host") = nullptr;
    sdk::validate_map(offset, bytes, flags, sdk::deref(buffer, "buffer").bytes);
    if (buffer->host == nullptr)
      sdk::throw_unsupported("map: the buffer of " + buffer->device->info->name +
                             " is not in memory of the host's");
    *host = static_cast<char*>(buffer->host) + offset;
  });
}

// The memory is one and the same.
tutti_status* unmap(tutti_buffer* buffer, void* host) {
  return sdk::guarded([&] {
    sdk::deref(buffer, "buffer");
    if (host == nullptr) sdk::throw_invalid("unmap: host is NULL");
  });
}

// ---- native handles

tutti_status* native_device(tutti_device* device, void** context, void** id) {
  return sdk::guarded([&] {
    sdk::deref(context, "context") = sdk::deref(device, "device").context->get();
    sdk::deref(id, "id") = device->info->id;
  });
}

tutti_status* native_stream(tutti_stream* stream, void** handle) {
  return sdk::guarded([&] { sdk::deref(handle, "handle") = sdk::deref(stream, "stream").queue; });
}

tutti_status* native_buffer(tutti_buffer* buffer, void** handle) {
  return sdk::guarded([&] { sdk::deref(handle, "handle") = sdk::deref(buffer, "buffer").memory; });
}

tutti_status* wrap(tutti_device* device, void* handle, uint64_t bytes, void (*deleter)(void*),
                   void* deleter_context, tutti_buffer** result) {
  return sdk::guarded([&] {
    sdk::deref(result, "buffer") = nullptr;
    auto memory = static_cast<cl_mem>(handle);
    cl_context context = nullptr;
    size_t size = 0;
    check(clGetMemObjectInfo(memory, CL_MEM_CONTEXT, sizeof context, &context, nullptr),
          "clGetMemObjectInfo");
    check(clGetMemObjectInfo(memory, CL_MEM_SIZE, sizeof size, &size, nullptr),
          "clGetMemObjectInfo");
    if (context != sdk::deref(device, "device").context->get()) {
      sdk::throw_invalid("wrap: the cl_mem belongs to another context");
    }
    if (bytes > size) {
      sdk::throw_invalid("wrap: " + std::to_string(bytes) + " bytes of a cl_mem of " +
                         std::to_string(size));
    }
    auto buffer = std::make_unique<tutti_buffer>();
    check(clRetainMemObject(memory), "clRetainMemObject");
    buffer->device = device;
    buffer->memory = memory;
    buffer->bytes = bytes;
    buffer->deleter = deleter;
    buffer->deleter_context = deleter_context;
    *result = buffer.release();
  });
}

}  // namespace

// A buffer of our memory is filled by a command and read where it lies, then the other way round.
// CPU drivers work there; one that keeps a copy of its own shows it.
bool works_in_place(const device_info& info, cl_context context) {
  if (info.properties.type != TUTTI_DEVICE_CPU || info.properties.unified_memory == 0) return false;
  constexpr size_t words = 1024, bytes = words * sizeof(uint32_t);
  constexpr uint32_t first = 0x5a17c0de, second = 0xc0ffee11;
  const std::unique_ptr<void, void (*)(void*)> memory(
      allocate_host(bytes, info.properties.alignment), std::free);
  if (memory == nullptr) return false;
  auto* const here = static_cast<uint32_t*>(memory.get());
  std::fill_n(here, words, 0);
  cl_int code = CL_SUCCESS;
  const owned_queue queue(clCreateCommandQueue(context, info.id, 0, &code));
  if (code != CL_SUCCESS) return false;
  const owned_memory buffer(
      clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, bytes, here, &code));
  if (code != CL_SUCCESS) return false;
  const auto is = [&](const uint32_t* at, uint32_t value) {
    return std::all_of(at, at + words, [value](uint32_t word) { return word == value; });
  };
  if (clEnqueueFillBuffer(queue.get(), buffer.get(), &first, sizeof first, 0, bytes, 0, nullptr,
                          nullptr) != CL_SUCCESS ||
      clFinish(queue.get()) != CL_SUCCESS || !is(here, first))
    return false;
  std::fill_n(here, words, second);
  std::vector<uint32_t> seen(words);
  return clEnqueueReadBuffer(queue.get(), buffer.get(), CL_TRUE, 0, bytes, seen.data(), 0, nullptr,
                             nullptr) == CL_SUCCESS &&
         is(seen.data(), second);
}

const tutti_memory_api memory_api = {sizeof(tutti_memory_api), allocate, release, map, unmap};
const tutti_native_api native_api = {sizeof(tutti_native_api),
                                     TUTTI_NATIVE_OPENCL,
                                     native_device,
                                     native_stream,
                                     native_buffer,
                                     wrap};

}  // namespace tutti::opencl
