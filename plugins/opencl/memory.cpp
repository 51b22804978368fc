// SPDX-License-Identifier: Apache-2.0
//
// Raw buffers, and foreign memory wrapped as one.
#include <algorithm>
#include <map>

#include "opencl/objects.hpp"

namespace tutti::opencl {
namespace {

tutti_status* allocate(tutti_device* device, const tutti_buffer_desc* desc, tutti_buffer** result) {
  return sdk::guarded([&] {
    const uint64_t bytes = sdk::read_struct(desc, "buffer description").bytes;
    sdk::deref(result, "buffer") = nullptr;
    const tutti_device_properties& p = sdk::deref(device, "device").info->properties;
    // Drivers commit memory late and would fail, or be killed, in the first kernel that touches it.
    if (bytes > p.max_allocation_bytes) {
      throw sdk::plugin_error(TUTTI_ERROR_OUT_OF_MEMORY,
                              "allocate: " + std::to_string(bytes) + " bytes asked for, " +
                                  device->info->name + " allows " +
                                  std::to_string(p.max_allocation_bytes) + " for one buffer",
                              CL_INVALID_BUFFER_SIZE);
    }
    const uint64_t used = device->allocated.load();
    if (bytes > p.memory_bytes || used > p.memory_bytes - bytes) {
      throw sdk::plugin_error(TUTTI_ERROR_OUT_OF_MEMORY,
                              "allocate: " + std::to_string(bytes) + " bytes asked for, " +
                                  std::to_string(used) + " of " + std::to_string(p.memory_bytes) +
                                  " bytes of " + device->info->name + " are in use",
                              CL_MEM_OBJECT_ALLOCATION_FAILURE, true);
    }
    auto buffer = std::make_unique<tutti_buffer>();
    cl_int code = CL_SUCCESS;
    buffer->memory = clCreateBuffer(device->context->get(), CL_MEM_READ_WRITE,
                                    std::max<uint64_t>(bytes, 1), nullptr, &code);
    if (code != CL_SUCCESS) {
      throw_error(code, "allocate " + std::to_string(bytes) + " bytes on " + device->info->name);
    }
    buffer->device = device;
    buffer->bytes = bytes;
    buffer->counted = true;
    device->allocated += bytes;
    *result = buffer.release();
  });
}

void release(tutti_buffer* buffer) {
  if (buffer == nullptr) return;
  if (buffer->counted) buffer->device->allocated -= buffer->bytes;
  clReleaseMemObject(buffer->memory);
  if (buffer->deleter != nullptr) buffer->deleter(buffer->deleter_context);
  delete buffer;
}

// ---- host memory: a mapped buffer of the driver's choice

struct mapped {
  owned_queue queue;
  owned_memory memory;
};

std::mutex& mapped_mutex() {
  static auto* const mutex = new std::mutex;
  return *mutex;
}

std::map<void*, mapped>& all_mapped() {
  static auto* const all = new std::map<void*, mapped>;
  return *all;
}

tutti_status* allocate_host(tutti_device* device, uint64_t bytes, void** host) {
  return sdk::guarded([&] {
    sdk::deref(host, "host") = nullptr;
    const cl_context context = sdk::deref(device, "device").context->get();
    cl_int code = CL_SUCCESS;
    mapped made;
    made.queue = owned_queue(clCreateCommandQueue(context, device->info->id, 0, &code));
    check(code, "clCreateCommandQueue");
    const uint64_t size = std::max<uint64_t>(bytes, 1);
    made.memory = owned_memory(
        clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR, size, nullptr, &code));
    check(code, "clCreateBuffer");
    void* const pointer =
        clEnqueueMapBuffer(made.queue.get(), made.memory.get(), CL_TRUE, CL_MAP_READ | CL_MAP_WRITE,
                           0, size, 0, nullptr, nullptr, &code);
    check(code, "clEnqueueMapBuffer");
    const std::lock_guard lock(mapped_mutex());
    all_mapped().emplace(pointer, std::move(made));
    *host = pointer;
  });
}

void release_host(tutti_device*, void* host) {
  const std::lock_guard lock(mapped_mutex());
  const auto found = all_mapped().find(host);
  if (found == all_mapped().end()) return;
  clEnqueueUnmapMemObject(found->second.queue.get(), found->second.memory.get(), host, 0, nullptr,
                          nullptr);
  clFinish(found->second.queue.get());
  all_mapped().erase(found);
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

const tutti_memory_api memory_api = {sizeof(tutti_memory_api), allocate, release, allocate_host,
                                     release_host};
const tutti_native_api native_api = {sizeof(tutti_native_api),
                                     TUTTI_NATIVE_OPENCL,
                                     native_device,
                                     native_stream,
                                     native_buffer,
                                     wrap};

}  // namespace tutti::opencl
