// SPDX-License-Identifier: Apache-2.0
//
// Messages of any length between this rank and one other, without waiting: the caller polls. All
// calls come from the thread that uses the job.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "multi/job/job_state.hpp"

namespace tutti::multi {

class rank_link {
 public:
  struct message {
    std::int32_t kind = 0;
    std::int32_t number = 0;  ///< of a device, or an error code
    std::int64_t begin = 0, end = 0;
    std::vector<std::byte> body{};
    bool is_last = false;
  };

  rank_link(job_state& job, int peer);
  ~rank_link() { job_.defer(sent_); }
  rank_link(const rank_link&) = delete;

  int peer() const { return peer_; }
  /// Throws device_error, as poll() does, if the communication plugin reports an error.
  void send(message m);
  /// The next message, if it has arrived.
  std::optional<message> poll();
  /// The last message of the other rank has been received.
  bool closed() const { return closed_; }
  /// All messages to the other rank have been sent.
  bool sent() const { return sent_.empty(); }
  /// Seconds since something came from the other rank.
  double silence() const;
  /// Sends a message of this kind if nothing was sent for a quarter of the time limit.
  void keep_alive(std::int32_t kind);

 private:
  using steady = std::chrono::steady_clock;
  struct header {
    std::int32_t kind, number;
    std::int64_t begin, end;
    std::uint64_t bytes, is_last;
  };
  void exchange(tutti_exchange_kind kind, std::byte* data, std::uint64_t bytes,
                const std::shared_ptr<void>& memory, std::vector<tutti_request*>& requests);
  bool done(std::vector<tutti_request*>& requests);
  void expect_header();

  job_state& job_;
  int peer_;
  std::shared_ptr<header> header_;
  std::shared_ptr<std::vector<std::byte>> body_;  ///< present while it is received
  std::vector<tutti_request*> received_, sent_;
  bool closed_ = false;
  steady::time_point last_received_ = steady::now(), last_sent_ = steady::now();
};

}  // namespace tutti::multi
