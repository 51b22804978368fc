// SPDX-License-Identifier: Apache-2.0
//
// Device memory by size class: freed blocks are kept for later requests of about their size. The
// amount kept is limited by recent use, by TUTTI_POOL_MB if it is set, and by age.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <map>
#include <mutex>
#include <optional>

#include "plugin/raii.hpp"
#include "runtime/memory/buffer_block.hpp"

namespace tutti::runtime {

/// The work of the stream on which blocks are used, as the pool needs it.
class stream_progress {
 public:
  /// Position up to which all work is known to have finished. Needs no lock.
  virtual std::uint64_t retired() const = 0;
  /// Records the work that has finished meanwhile.
  virtual void retire_finished() = 0;
  /// Waits for everything enqueued.
  virtual void settle() = 0;

 protected:
  ~stream_progress() = default;
};

class memory_pool {
 public:
  /// Throws value_error for a TUTTI_POOL_MB that is not a number.
  memory_pool(const detail::opened_device& device, stream_progress& stream);

  /// For allocate(): also includes blocks used by work in flight.
  static constexpr std::uint64_t any = ~std::uint64_t{0};

  /// A block of at least `bytes`, with one reference. A reused block may still be in use by work up
  /// to its last_use; with `idle_before` only blocks whose last_use is at most that are reused.
  /// Throws out_of_memory after trim() did not help. The caller holds the device's lock.
  buffer_block* allocate(std::uint64_t bytes, std::uint64_t idle_before);
  /// Returns free blocks to the driver. No work may be using them.
  void trim();
  /// Returns memory beyond the limit that no work uses any more.
  void trim_excess() noexcept;

 private:
  friend class buffer_block;
  using free_blocks = std::multimap<std::uint64_t, buffer_block*>;
  using clock = std::chrono::steady_clock;
  enum class reason : std::uint8_t { excess, age };
  struct released {
    std::uint64_t bytes;
    reason why;
  };

  void take_back(buffer_block* block) noexcept;
  buffer_block* find(std::uint64_t bytes, std::uint64_t idle_before);
  buffer_block* request(std::uint64_t bytes);
  void hand_out(const buffer_block& block);
  void learn_from_miss(std::uint64_t bytes);
  void count_operation();
  void start_epoch(clock::time_point now);
  std::uint64_t bound() const;
  void release_down_to(std::uint64_t kept);
  void release_aged();
  void release(free_blocks::iterator which, reason why);

  const detail::opened_device& device_;
  stream_progress& stream_;
  const std::optional<std::uint64_t> cap_;

  std::mutex mutex_;  // of all below
  free_blocks free_;
  std::uint64_t free_bytes_ = 0;
  std::uint64_t in_use_ = 0;
  std::uint64_t operations_ = 0;  // orders blocks by the time when they became free
  std::uint64_t looked_at_ = 0;   // retired() when blocks to return were last searched

  // Peaks of in_use_ in this epoch and in the previous one; ages are counted in epochs.
  std::uint64_t peak_ = 0, earlier_peak_ = 0;
  clock::time_point epoch_began_ = clock::now();
  std::uint64_t epoch_ = 0;

  // Sizes returned recently. If one is requested again, the limit was too low for the pattern of
  // this program, and is increased by it: a repeating loop soon allocates nothing.
  std::deque<released> given_back_;
  std::uint64_t given_back_bytes_ = 0;
  std::uint64_t allowance_ = 0;
  std::uint64_t patience_ = 1;  // number of epochs that a block may be unused
};

}  // namespace tutti::runtime
