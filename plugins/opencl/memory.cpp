// SPDX-License-Identifier: Apache-2.0
//
// Raw buffers, and foreign memory wrapped as one. On CPUs a buffer uses memory of this plugin,
// which the host accesses directly.
#include <algorithm>
#include <cstdlib>

#include "opencl/objects.hpp"
#include "sdk/validate.hpp"

namespace tutti::opencl {
namespace {

void require_room(const tutti_device& device, uint64_t bytes) {
  const tutti_device_properties& p = device.info->properties;
  // Drivers allocate memory lazily and would fail, or be killed, in the first kernel that accesses
  // it.
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

// Releases the resources of a buffer, even if it is only partially constructed.
void dispose(tutti_buffer& buffer) noexcept {
  if (buffer.maps != nullptr) clReleaseCommandQueue(buffer.maps);
  if (buffer.memory != nullptr) clReleaseMemObject(buffer.memory);
}

void CL_CALLBACK free_memory(cl_mem, void* host) { std::free(host); }

struct memory_in_place {
  void* host = nullptr;
  owned_memory buffer;
};

// Memory of this plugin, in whole cache lines and, if it is large, pages, and a buffer for all of
// it: drivers copy memory that begins or ends within a line. It is freed when the driver has
// finished with it: commands and deferred work may outlive the release of their buffers.
memory_in_place make_in_place(cl_context context, uint64_t bytes, uint64_t alignment,
                              cl_int* code) {
  constexpr uint64_t line = 128, page = 4096;
  const uint64_t unit = std::max(alignment, bytes >= page ? page : line);
  const uint64_t whole = (bytes + unit - 1) / unit * unit;
  std::unique_ptr<void, void (*)(void*)> host(std::aligned_alloc(unit, whole), std::free);
  *code = CL_MEM_OBJECT_ALLOCATION_FAILURE;
  if (host == nullptr) return {};
  memory_in_place made;
  made.buffer = owned_memory(
      clCreateBuffer(context, CL_MEM_READ_WRITE | CL_MEM_USE_HOST_PTR, whole, host.get(), code));
  if (*code != CL_SUCCESS) return {};
  *code = clSetMemObjectDestructorCallback(made.buffer.get(), free_memory, host.get());
  if (*code != CL_SUCCESS) return {};  // the buffer is released first
  made.host = host.release();
  return made;
}

void give_in_place(tutti_device& device, tutti_buffer& buffer, uint64_t bytes) {
  cl_int code = CL_SUCCESS;
  memory_in_place made =
      make_in_place(device.context->get(), bytes, device.info->properties.alignment, &code);
  if (code != CL_SUCCESS)
    throw_error(code, "allocate " + std::to_string(bytes) + " bytes on " + device.info->name);
  buffer.host = made.host;
  buffer.memory = made.buffer.take();
}

void make_memory(tutti_device& device, tutti_buffer& buffer, uint64_t bytes, cl_mem_flags flags) {
  if (device.works_in_place) return give_in_place(device, buffer, bytes);
  cl_int code = CL_SUCCESS;
  buffer.memory =
      clCreateBuffer(device.context->get(), CL_MEM_READ_WRITE | flags, bytes, nullptr, &code);
  if (code != CL_SUCCESS) {
    throw_error(code, "allocate " + std::to_string(bytes) + " bytes on " + device.info->name);
  }
}

// If the driver allocates the host memory, it also maps it, in a separate queue.
void make_mappable(tutti_device& device, tutti_buffer& buffer) {
  cl_int code = CL_SUCCESS;
  owned_queue queue(clCreateCommandQueue(device.context->get(), device.info->id, 0, &code));
  check(code, "clCreateCommandQueue");
  buffer.maps = queue.take();
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
    if (host && buffer->host == nullptr) make_mappable(*device, *buffer);
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
    if (buffer->host != nullptr) {
      *host = static_cast<char*>(buffer->host) + offset;
      return;
    }
    if (buffer->maps == nullptr)
      sdk::throw_unsupported("map: the buffer of ", buffer->device->info->name,
                             " is not in memory of the host's");
    if (bytes == 0) return;
    const cl_map_flags wanted = ((flags & TUTTI_MAP_READ) != 0 ? CL_MAP_READ : 0) |
                                ((flags & TUTTI_MAP_WRITE) != 0 ? CL_MAP_WRITE : 0);
    cl_int code = CL_SUCCESS;
    *host = clEnqueueMapBuffer(buffer->maps, buffer->memory, CL_TRUE, wanted, offset, bytes, 0,
                               nullptr, nullptr, &code);
    check(code, "clEnqueueMapBuffer");
  });
}

tutti_status* unmap(tutti_buffer* buffer, void* host) {
  return sdk::guarded([&] {
    sdk::deref(buffer, "buffer");
    if (host == nullptr) sdk::throw_invalid("unmap: host is NULL");
    if (buffer->maps == nullptr) return;  // the memory is the same
    check(clEnqueueUnmapMemObject(buffer->maps, buffer->memory, host, 0, nullptr, nullptr),
          "clEnqueueUnmapMemObject");
    check(clFinish(buffer->maps), "clFinish");
  });
}

// ---- native handles

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
      sdk::throw_invalid("wrap: ", bytes, " bytes of a cl_mem of ", size);
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

// A buffer of this plugin's memory is written by commands and read by the host, then vice versa.
// CPU drivers work in place; a driver that keeps a copy is detected.
bool works_in_place(const device_info& info, cl_context context) {
  if (info.properties.type != TUTTI_DEVICE_CPU || info.properties.unified_memory == 0) return false;
  constexpr uint8_t first = 0x5a, second = 0xc3, third = 0x96;
  cl_int code = CL_SUCCESS;
  const owned_queue queue(clCreateCommandQueue(context, info.id, 0, &code));
  if (code != CL_SUCCESS) return false;
  for (const size_t bytes : {size_t{1}, size_t{100}, size_t{5000}}) {
    const memory_in_place made = make_in_place(context, bytes, info.properties.alignment, &code);
    if (code != CL_SUCCESS) return false;
    auto* const here = static_cast<uint8_t*>(made.host);
    const auto is = [&](const uint8_t* at, uint8_t value) {
      return std::all_of(at, at + bytes, [value](uint8_t byte) { return byte == value; });
    };
    std::fill_n(here, bytes, uint8_t{0});
    if (clEnqueueFillBuffer(queue.get(), made.buffer.get(), &first, sizeof first, 0, bytes, 0,
                            nullptr, nullptr) != CL_SUCCESS ||
        clFinish(queue.get()) != CL_SUCCESS || !is(here, first))
      return false;
    std::vector<uint8_t> seen(bytes, third);
    if (clEnqueueWriteBuffer(queue.get(), made.buffer.get(), CL_TRUE, 0, bytes, seen.data(), 0,
                             nullptr, nullptr) != CL_SUCCESS ||
        clFinish(queue.get()) != CL_SUCCESS || !is(here, third))
      return false;
    std::fill_n(here, bytes, second);
    if (clEnqueueReadBuffer(queue.get(), made.buffer.get(), CL_TRUE, 0, bytes, seen.data(), 0,
                            nullptr, nullptr) != CL_SUCCESS ||
        !is(seen.data(), second))
      return false;
  }
  return true;
}

const tutti_memory_api memory_api = {sizeof(tutti_memory_api), allocate, release, map, unmap};
const tutti_native_api native_api = {sizeof(tutti_native_api), TUTTI_NATIVE_OPENCL, native_buffer,
                                     wrap};

}  // namespace tutti::opencl
