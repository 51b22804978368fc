// SPDX-License-Identifier: Apache-2.0
//
// Device memory by size class: freed blocks are kept for later requests of about their size. What
// is kept is bounded by what was in use lately, by TUTTI_POOL_MB where that is set, and by age.
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

/// Work of the stream that blocks are used on, as the pool asks for it.
class stream_progress {
 public:
  /// Position up to which all work is known to have finished. Needs no lock.
  virtual std::uint64_t retired() const = 0;
  /// Takes note of the work that has finished meanwhile.
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

  /// For allocate(): also blocks that work in flight uses.
  static constexpr std::uint64_t any = ~std::uint64_t{0};

  /// A block of at least `bytes`, with one reference. A reused block may still be in use by work up
  /// to its last_use; with `idle_before` only blocks whose last_use is at most that are reused.
  /// Throws out_of_memory after trim() did not help. The caller holds the device's lock.
  buffer_block* allocate(std::uint64_t bytes, std::uint64_t idle_before);
  /// Gives free blocks back to the driver. No work may be using them.
  void trim();
  /// Gives back what is kept beyond the bound and that no work uses any more.
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
  std::uint64_t operations_ = 0;  // orders blocks by when they became free
  std::uint64_t looked_at_ = 0;   // retired() when blocks to give back were last looked for

  // Peaks of in_use_ in this epoch and in the one before; ages are counted in epochs.
  std::uint64_t peak_ = 0, earlier_peak_ = 0;
  clock::time_point epoch_began_ = clock::now();
  std::uint64_t epoch_ = 0;

  // Sizes given back lately. Where one is asked for again the bound was too narrow for the pattern
  // of this program, and grows by it: a loop that repeats itself soon allocates nothing.
  std::deque<released> given_back_;
  std::uint64_t given_back_bytes_ = 0;
  std::uint64_t allowance_ = 0;
  std::uint64_t patience_ = 1;  // epochs that a block may lie unused
};

}  // namespace tutti::runtime
