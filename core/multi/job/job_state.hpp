// SPDX-License-Identifier: Apache-2.0
//
// A job from the view of a rank: the communication plugin's table, the requests that are not waited
// for, and the check that all ranks make the same call.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <exception>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/collective.hpp"
#include "tutti/communication.h"
#include "tutti/export.hpp"
#include "tutti/grad.hpp"
#include "tutti/job.hpp"

namespace tutti::runtime {
class rank_communicator;
}

namespace tutti::multi {

/// The data that a rank sends about a call before values are exchanged. Equal numbers mean equal
/// calls.
struct call_record {
  std::uint64_t op = 0;     ///< hash of the name
  std::uint64_t how = 0;    ///< hash of the text that tells the reduction, root or axis
  std::uint32_t count = 0;  ///< arrays
  std::uint32_t threw = 0;  ///< the rank has thrown an exception instead
  std::uint64_t hash = 0;   ///< of their dtypes and extents, except for `axis`
  std::int64_t along = 0;   ///< extent along the axis of all_gather, or a number of the rank
};

/// Dtype and extents of one array, in the form in which they are sent.
struct array_record {
  std::int32_t dtype = 0;
  std::int32_t rank = 0;
  std::int64_t extents[TUTTI_MAX_RANK] = {};
};

/// Number of tags that callers can use; the next one is for messages of groups over ranks. The
/// description of a value is sent with its tag + message_tags.
constexpr int caller_tags = 1 << 13;
constexpr int tag_of_groups = caller_tags;
constexpr int message_tags = caller_tags + 1;
/// Tag of all messages of rank_link.
constexpr int tag_of_links = 2 * message_tags;

tutti_exchange exchange_of(tutti_exchange_kind kind, int peer = 0, int tag = 0);

array_record describe(const array& a);
shape extents_of(const array_record& r);

class TUTTI_INTERNAL_API job_state {
 public:
  /// A job with one rank.
  job_state() = default;
  /// `api` and the objects it points to stay valid. Throws as the constructor of job does.
  job_state(const tutti_communication_api& api, double time_limit, const std::string& program);
  job_state(const job_state&) = delete;

  int rank() const { return static_cast<int>(rank_); }
  int size() const { return static_cast<int>(size_); }
  double time_limit() const { return time_limit_; }
  /// Whether exchanges need a copy of `a` on the host: its memory is not taken where it is.
  bool needs_host(const array& a, tutti_exchange_kind kind) const;

  /// Starts an exchange, which uses `memory`.
  tutti_request* start(std::string_view op, const tutti_exchange& what,
                       std::shared_ptr<void> memory);
  /// Waits for `seconds` at most (0: the time limit).
  void wait(tutti_request* request, std::string_view op, double seconds = 0);
  /// Whether wait() would return at once; also advances other requests.
  bool is_done(tutti_request* request, std::string_view op);
  /// The request is not waited for.
  void leave(tutti_request* request, std::string_view op);

  // For rank_link, whose errors concern one rank and do not end the job.
  /// Starts an exchange, also after an error.
  tutti_request* post(const tutti_exchange& what, std::shared_ptr<void> memory,
                      std::string_view op = "job");
  /// Whether the request is done; if so, it is released.
  bool done(tutti_request* request);
  /// The link does not wait for these requests any more.
  void defer(const std::vector<tutti_request*>& requests);
  /// Later loops go on without the rank, and calls that need all ranks throw.
  void lose(int rank, const std::string& why);
  bool is_lost(int rank) const { return lost_.contains(rank); }

  /// f(), the function `op` that the application has called: errors name it. What it throws on this
  /// rank alone, between its exchanges, the next agree() of the others throws.
  template <class F>
  auto call(std::string_view op, F&& f) {
    if (size_ == 1 || !call_.empty()) return f();
    const std::shared_ptr<void> end(nullptr, [&](std::nullptr_t) { call_.clear(); });
    call_ = op;
    agreed_error_.clear();
    try {
      return f();
    } catch (const std::exception& e) {
      tell(e.what());
      throw;
    } catch (...) {
      tell("an exception of unknown type");
      throw;
    }
  }

  /// Checks that all ranks make the same call in the same way, as `how` tells, with the same
  /// arrays, except for the extents along `axis`; returns every rank's extent there. -1: there is
  /// none; returns the `own` of every rank. Waits for `seconds` (0: the time limit).
  std::vector<std::int64_t> agree(std::string_view op, std::string_view how,
                                  std::span<const array_record> arrays, int axis = -1,
                                  std::int64_t own = 0, double seconds = 0);
  /// `own` of all ranks, which give as many.
  template <class T>
  std::vector<T> gather(std::span<const T> own, std::string_view op, double seconds = 0);

  /// f(); after an exception every call of the job fails.
  template <class F>
  auto ending(F&& f) {
    try {
      return f();
    } catch (const std::exception& e) {
      failure_ = e.what();
      throw;
    }
  }

  /// Devices of all ranks that have been connected or not, by places and begins (rank_devices.hpp).
  struct connection {
    runtime::rank_communicator* all = nullptr;
    std::uint64_t offered = 0;  ///< reductions and dtypes, none after a failure
  };
  std::map<std::pair<std::vector<std::int64_t>, std::vector<std::size_t>>, connection> connected;

  /// Messages of a rank to itself.
  void keep(const array& value, int tag);
  array kept(int tag);

  /// At the end of the process.
  void finish() noexcept;

 private:
  std::string named(std::string_view op) const;
  void tell(const char* why) noexcept;
  void require_sound(std::string_view op) const;
  void check(tutti_status* status, std::string_view op);
  /// The texts of all ranks, without the end of long ones.
  std::vector<std::string> texts(std::string_view own, std::string_view op);
  [[noreturn]] void refuse(std::string_view op, std::span<const array_record> arrays, int axis,
                           std::size_t other);

  const tutti_communication_api* api_ = nullptr;
  tutti_job* job_ = nullptr;
  std::uint32_t rank_ = 0;
  std::uint32_t size_ = 1;
  double time_limit_ = 10;
  std::string call_;          ///< of the application
  std::string agreed_error_;  ///< of the call, which all ranks have thrown
  std::string failure_;       ///< after it every call fails
  std::map<tutti_request*, std::shared_ptr<void>> memory_;  ///< of requests; of lost ones for ever
  std::vector<tutti_request*> left_;
  std::map<int, std::string> lost_;  ///< ranks and reasons
  std::map<int, std::deque<array>> own_messages_;
};

template <class T>
std::vector<T> job_state::gather(std::span<const T> own, std::string_view op, double seconds) {
  const auto all = std::make_shared<std::vector<T>>(own.begin(), own.end());
  all->resize(own.size() * (size_ + 1));  // own ones first: they stay as long as those of all
  const std::vector<std::uint64_t> bytes(size_, own.size_bytes());
  tutti_exchange what = exchange_of(TUTTI_EXCHANGE_ALL_GATHER);
  what.data = all->data();
  what.bytes = own.size_bytes();
  what.out = all->data() + own.size();
  what.sizes = bytes.data();
  wait(start(op, what, all), op, seconds);
  return {all->begin() + static_cast<std::ptrdiff_t>(own.size()), all->end()};
}

/// job::send and job::receive for any tag below message_tags.
void send_array(job_state& job, const array& value, int to, int tag);
array receive_array(job_state& job, int from, int tag, const device& on);

// Called by all ranks.
/// `forward`, which exchanges values of `arguments` between ranks, with the gradient `backward`:
/// all ranks call it, in the reverse order, also those whose results nothing depends on.
std::vector<array> between_ranks(job_state& job, const std::vector<array>& arguments,
                                 const vector_function& forward, const backward_function& backward);
/// Sends sent[i] to rank to[i], and returns the arrays from the ranks `from`, on the devices `on`.
/// The gradient sends the cotangents back.
std::vector<array> exchange_messages(job_state& job, const std::vector<array>& sent,
                                     const std::vector<int>& to, const std::vector<int>& from,
                                     const std::vector<device>& on);
/// Throws dtype_error if ranks do not reduce such values.
void require_reducible(const std::vector<array>& values, collective::reduction with);
/// Reduces flat arrays over the ranks, which have agreed on the call, and on the places of their
/// devices (rank_devices.hpp): come(i, reduced), in order, while later arrays are in transfer.
/// Those on other devices than the host are copied and sent message by message. After an exception
/// every call of the job fails, as the other ranks may have sent what this one has not.
void reduce_flat(job_state& job, const std::vector<array>& flat, collective::reduction with,
                 const std::vector<std::int64_t>& places,
                 const std::function<void(std::size_t, const array&)>& come);
/// Where reduce_flat cuts such an array into messages: first 0, last its size.
std::vector<std::int64_t> message_cuts(const array& flat);
/// `value`, which all ranks have. The gradient is the sum of theirs, on every rank.
array of_all_ranks(const job& ranks, const array& value);

/// The job of this process, joined according to its environment.
std::shared_ptr<job_state> job_of_process();

}  // namespace tutti::multi
