// SPDX-License-Identifier: Apache-2.0
//
// Reusable objects of a device: events, words for waiting streams, streams for listeners.
#include <cstring>

#include "cuda/objects.hpp"

namespace tutti::cuda {

CUevent event_pool::take(tutti_device& device, bool timed) {
  {
    const std::lock_guard lock(mutex_);
    if (!free_[timed].empty()) {
      const CUevent event = free_[timed].back();
      free_[timed].pop_back();
      return event;
    }
  }
  CUevent event = nullptr;
  check(&device, cu().event_create(&event, timed ? CU_EVENT_DEFAULT : CU_EVENT_DISABLE_TIMING),
        "cuEventCreate");
  return event;
}

void event_pool::give(CUevent event, bool timed) noexcept {
  if (event == nullptr) return;
  try {
    const std::lock_guard lock(mutex_);
    free_[timed].push_back(event);
  } catch (...) {
    cu().event_destroy(event);
  }
}

void event_pool::clear() noexcept {
  for (auto& list : free_) {
    for (CUevent event : list) cu().event_destroy(event);
    list.clear();
  }
}

pinned_word word_pool::take(tutti_device& device) {
  constexpr size_t page_bytes = 4096;
  const std::lock_guard lock(mutex_);
  if (free_.empty()) {
    void* page = nullptr;
    check(&device, cu().host_allocate(&page, page_bytes, CU_MEMHOSTALLOC_PORTABLE),
          "cuMemHostAlloc");
    pages_.push_back(page);
    std::memset(page, 0, page_bytes);
    for (size_t n = 0; n < page_bytes / sizeof(uint32_t); ++n)
      free_.push_back({static_cast<uint32_t*>(page) + n, 0});
  }
  pinned_word word = free_.back();
  free_.pop_back();
  ++word.target;
  return word;
}

void word_pool::give(pinned_word word) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    free_.push_back(word);
  } catch (...) {  // the word is not reused
  }
}

void word_pool::clear() noexcept {
  for (void* page : pages_) cu().host_free(page);
  pages_.clear();
  free_.clear();
}

// The driver cannot create a stream while a callback runs, and a callback returns one here: the
// lock must not be held then.
CUstream stream_pool::take(tutti_device& device) {
  {
    const std::lock_guard lock(mutex_);
    if (!free_.empty()) {
      const CUstream stream = free_.back();
      free_.pop_back();
      return stream;
    }
  }
  CUstream stream = nullptr;
  check(&device, cu().stream_create(&stream, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
  const std::lock_guard lock(mutex_);
  all_.push_back(stream);
  free_.reserve(all_.size());  // so that give() need not allocate
  return stream;
}

void stream_pool::give(CUstream stream) noexcept {
  const std::lock_guard lock(mutex_);
  free_.push_back(stream);
}

void stream_pool::clear() noexcept {
  for (CUstream stream : all_) {
    cu().stream_synchronize(stream);
    cu().stream_destroy(stream);
  }
  all_.clear();
  free_.clear();
}

}  // namespace tutti::cuda
