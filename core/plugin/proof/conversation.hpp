// SPDX-License-Identifier: Apache-2.0
//
// What a device is asked with: buffers and a stream of their own, so that nothing else is in the
// way.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "base/process.hpp"
#include "plugin/proof/known_answer.hpp"
#include "plugin/raii.hpp"
#include "plugin/support.hpp"

namespace tutti::detail {

class conversation {
 public:
  // Where the host would answer, it is not the one that is asked.
  explicit conversation(const opened_device& d)
      : device_(d), stream_(create_stream(d, d.begins_on_host ? TUTTI_STREAM_COMPILED : 0)) {}

  conversation(const conversation&) = delete;
  conversation& operator=(const conversation&) = delete;
  /// Memory that work may still use, of a device that cannot be waited for, stays.
  ~conversation() {
    if (!ignore(device_.plugin->stream.synchronize(stream_.get()))) return;
    for (buffer_handle& buffer : buffers_) keep_for_ever(buffer.release());
    for (auto& bytes : on_its_way_) keep_for_ever(bytes.release());
  }

  tutti_buffer* upload(const tensor& t) {
    tutti_buffer* const made = room(t.bytes.size());
    check(device_.plugin->transfer.write(stream_.get(), made, 0, t.bytes.data(), t.bytes.size(), 1,
                                         nullptr),
          device_, "write to the device");
    return made;
  }

  /// As `upload`, but does not wait.
  tutti_buffer* begin_upload(const tensor& t) {
    tutti_buffer* const made = room(t.bytes.size());
    char* const sent = host_room(t.bytes.size());
    std::copy(t.bytes.begin(), t.bytes.end(), sent);
    check(device_.plugin->transfer.write(stream_.get(), made, 0, sent, t.bytes.size(), 0, nullptr),
          device_, "write to the device");
    return made;
  }

  tutti_buffer* room(std::uint64_t bytes) {
    return bytes > 0 ? buffers_.emplace_back(allocate(device_, bytes)).get() : nullptr;
  }

  /// Zeros, for transfers that nobody waits for.
  char* host_room(std::size_t bytes) {
    return on_its_way_.emplace_back(std::make_unique<std::vector<char>>(bytes))->data();
  }

  tensor download(tutti_buffer* from, tensor like) {
    std::fill(like.bytes.begin(), like.bytes.end(), char{-1});
    check(device_.plugin->transfer.read(stream_.get(), from, 0, like.bytes.data(),
                                        like.bytes.size(), 1, nullptr),
          device_, "read from the device");
    return like;
  }

  /// As the core reads what has been waited for: in place where the plugin maps memory.
  tensor seen_at_once(tutti_buffer* from, tensor like) {
    const memory_functions& memory = device_.plugin->memory;
    void* host = nullptr;
    if (device_.limits.unified_memory == 0 ||
        ignore(memory.map(from, 0, like.bytes.size(), TUTTI_MAP_READ, &host)) || host == nullptr)
      return download(from, std::move(like));
    std::memcpy(like.bytes.data(), host, like.bytes.size());
    check(memory.unmap(from, host), device_, "unmap");
    return like;
  }

  /// The core would take what it gets for the memory.
  bool maps_nothing(tutti_buffer* buffer) const {
    const memory_functions& memory = device_.plugin->memory;
    void* host = nullptr;
    if (device_.limits.unified_memory == 0 ||
        ignore(memory.map(buffer, 0, 4, TUTTI_MAP_READ, &host)))
      return false;
    if (host != nullptr) check(memory.unmap(buffer, host), device_, "unmap");
    return host == nullptr;
  }

  tutti_stream* stream() const { return stream_.get(); }
  const opened_device& device() const { return device_; }

 private:
  const opened_device& device_;
  std::vector<buffer_handle> buffers_;
  std::vector<std::unique_ptr<std::vector<char>>> on_its_way_;
  stream_handle stream_;  // goes first
};

}  // namespace tutti::detail
