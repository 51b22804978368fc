// SPDX-License-Identifier: Apache-2.0
#include "runtime/memory/mapped_memory.hpp"

#include <cstdlib>

#include "tutti/error.hpp"

namespace tutti::runtime {
namespace {

/// Null if the plugin cannot allocate memory of that kind, or has no more of it.
plugins::buffer_handle allocate_host(const detail::opened_device& device, std::uint64_t bytes) {
  tutti_buffer* made = nullptr;
  const tutti_buffer_desc desc{sizeof desc, bytes, TUTTI_MEMORY_HOST, 0};
  if (plugins::ignore(device.plugin->memory.allocate(device.handle, &desc, &made))) return {};
  return plugins::own(*device.plugin, made);
}

}  // namespace

host_memory::host_memory(const detail::opened_device& device, std::uint64_t bytes)
    : device_(device), buffer_(allocate_host(device, bytes)) {
  void* host = nullptr;
  const std::uint32_t both = TUTTI_MAP_READ | TUTTI_MAP_WRITE;
  if (buffer_ != nullptr &&
      (plugins::ignore(device.plugin->memory.map(buffer_.get(), 0, bytes, both, &host)) ||
       host == nullptr))
    buffer_.reset();
  if (buffer_ == nullptr) host = std::aligned_alloc(4096, (bytes + 4095) / 4096 * 4096);
  if (host == nullptr)
    throw out_of_memory("no host memory for copies between devices", TUTTI_ERROR_OUT_OF_MEMORY);
  host_ = static_cast<char*>(host);
}

host_memory::~host_memory() {
  if (buffer_ != nullptr)
    plugins::ignore(device_.plugin->memory.unmap(buffer_.get(), host_));
  else
    std::free(host_);
}

}  // namespace tutti::runtime
