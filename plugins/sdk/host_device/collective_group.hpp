// SPDX-License-Identifier: Apache-2.0
//
// State shared by the participants of a collective group. Collectives are matched by the order of
// each participant's calls, messages by their order between two participants. The last participant
// to arrive does the work of all, as plain loops on the thread of its stream.
#pragma once

#include <condition_variable>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sdk/collective.hpp"
#include "sdk/host_device/objects.hpp"

namespace tutti::host_device {

// One collective of all participants, or one message between two (sender, receiver).
class collective_operation {
 public:
  struct part {
    uint32_t rank = 0;
    std::byte *in = nullptr, *out = nullptr;  // equal if the kind has only one
  };

  collective_operation(const sdk::collective_shape& what, uint32_t first, size_t participants);
  const sdk::collective_shape& shape() const { return shape_; }
  uint32_t first_caller() const { return first_caller_; }

  // Called by queued work of the participant's stream. `before`: the failure of an earlier event
  // that the stream waited for, or NULL. The last call does the work.
  void arrive(size_t number, const part& who, const sdk::plugin_error* before) noexcept;
  // Waits until the operation is done; throws its failure.
  void wait() const;
  // Fails the operation unless it is done; work that has begun completes first.
  void fail(const sdk::plugin_error& why) noexcept;

 private:
  void finish(std::optional<sdk::plugin_error> why) noexcept;

  const sdk::collective_shape shape_;
  const uint32_t first_caller_;
  mutable std::mutex mutex_;
  mutable std::condition_variable changed_;
  std::vector<part> parts_;
  size_t arrived_ = 0;
  bool is_running_ = false, over_ = false;
  std::optional<sdk::plugin_error> failure_;
};
using shared_operation = std::shared_ptr<collective_operation>;

class collective_group {
 public:
  explicit collective_group(uint32_t size) : size_(size), calls_(size, 0) {}
  uint32_t size() const { return size_; }

  // The operation of a call, and the number of its part.
  struct seat {
    shared_operation operation;
    size_t number = 0;
  };
  // The next call of participant `rank`. Throws if the participants disagree, which fails the
  // operation for all, or if the group was aborted.
  seat join(const sdk::collective_shape& shape, uint32_t rank, const std::string& name);
  // One side of a message.
  seat meet(const sdk::collective_shape& shape, uint32_t rank, uint32_t peer, bool sends,
            const std::string& name);
  // Fails all incomplete operations; later calls fail with `why`.
  void abort(const std::string& why);

 private:
  struct open_operation {
    shared_operation operation;
    uint32_t called = 0;  // participants
    bool has_failed = false;
  };
  struct open_message {
    shared_operation operation;
    bool from_sender = false;
  };

  void require_working(const std::string& name) const;
  void remember(const shared_operation& operation);

  const uint32_t size_;
  std::mutex mutex_;
  std::vector<uint64_t> calls_;  // of each participant
  std::deque<open_operation> open_;
  uint64_t first_open_ = 0;                                                     // its number
  std::map<std::pair<uint32_t, uint32_t>, std::deque<open_message>> messages_;  // from, to
  std::vector<std::weak_ptr<collective_operation>> begun_;
  std::string aborted_;
};

// Does the work of a collective; parts are sorted by rank. Reads all inputs before writing.
void run_collective(const sdk::collective_shape& shape,
                    const std::vector<collective_operation::part>& parts);

}  // namespace tutti::host_device
