// SPDX-License-Identifier: Apache-2.0
//
// A parallel loop over the ranks of a job. Rank 0 assigns chunks to the devices of all ranks and
// receives the results; the others compute the chunks that they receive. Messages are sent and
// received by the thread that watches the loop, and all calls are made with the loop's lock held.
#pragma once

#include <chrono>
#include <cstdint>
#include <deque>
#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "multi/job/rank_link.hpp"
#include "multi/loop/loop_state.hpp"

namespace tutti::multi {

class loop_ranks {
 public:
  /// Between two checks whether a message has come.
  static constexpr std::chrono::microseconds pause_time{200};

  /// Without effect for a group of one process.
  loop_ranks(const device_group& group, const loop_options& options, const index_range& range);

  bool present() const { return job_ != nullptr; }
  bool follows() const { return present() && job_->rank() > 0; }
  int own_rank() const { return present() ? job_->rank() : 0; }
  /// Exchanges the names of devices. On rank 0 the workers of `own` are followed by those of the
  /// other ranks. Throws value_error if the loops of the ranks differ.
  std::vector<std::string> meet(const std::vector<std::string>& own);
  /// The assignment of chunks by rank 0, for the state of another rank.
  std::unique_ptr<schedule_policy> assigned();

  /// Sends and receives what there is. Throws an error of another rank.
  void exchange(loop_state& state, double now);
  /// Rank 0: nothing more comes from other ranks. Others: rank 0 has ended the loop.
  bool is_over(const loop_state& state) const;
  /// Ends the loop on all ranks, with the error or without. No messages are exchanged afterwards.
  /// Without an error `closing` of rank 0 becomes that of all ranks.
  void end(const std::exception_ptr& error, std::vector<std::byte>* closing);

  /// Others than rank 0: the result of a chunk, and the failure of a device.
  void post(std::size_t worker, const chunk& done, const chunk_results& results);
  void post_failure(std::size_t worker, const std::string& why);

  /// Rank 0: the next result of another rank.
  struct delivery {
    std::size_t worker;
    int rank;
    index_range range;
    std::vector<std::byte> values;
  };
  std::optional<delivery> next_result();

 private:
  /// Another rank. On rank 0 its devices are the workers from `first` on; each holds some chunks.
  struct peer {
    std::unique_ptr<rank_link> link;
    std::size_t first = 0;
    std::vector<int> held{};
  };
  using message = rank_link::message;
  void follow();
  /// Handles all messages but the one that ends the loop, which is returned.
  std::optional<message> receive(peer& from, loop_state& state, double now);
  void assign(peer& to, loop_state& state, double now);
  void lose(const rank_link& link, const std::string& why);
  /// Whether the rank is lost because nothing came from it.
  bool is_silent(const rank_link& link);

  const loop_options& options_;
  index_range range_;
  std::shared_ptr<job_state> job_;
  std::vector<peer> peers_;
  std::size_t own_workers_ = 0;
  std::deque<std::pair<peer*, message>> inbox_;  // results
  std::deque<message> outbox_;
  class assigned_chunks* assigned_ = nullptr;  // of others, owned by the state
  bool ended_ = false;
  std::vector<std::byte> closing_;  // of others: what came with the end
};

/// parallel_for(). When the loop of a job has ended, the other ranks have rank 0's `closing`.
loop_report run_loop(const device_group& group, const index_range& range, const chunk_body& body,
                     const chunk_sink& sink, const loop_options& options,
                     std::vector<std::byte>* closing);

/// The values of a delivery, as arrays on `on`.
chunk_results unpack(const std::vector<std::byte>& values, const device& on);

}  // namespace tutti::multi
