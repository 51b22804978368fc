// SPDX-License-Identifier: Apache-2.0
//
// A job as its ranks see it: the communication plugin's table, the requests that have no one to
// wait for them, and the check that all ranks call the same.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "tutti/communication.h"
#include "tutti/export.hpp"
#include "tutti/job.hpp"

namespace tutti::multi {

/// What a rank says about a call before values move. Equal numbers mean equal calls.
struct call_record {
  char op[16] = {};
  std::int32_t with = 0;    ///< reduction, root or axis
  std::uint32_t count = 0;  ///< arrays
  std::uint64_t hash = 0;   ///< of their dtypes and extents, but for `axis`
  std::int64_t along = 0;   ///< extent along the axis of all_gather
};

/// Dtype and extents of one array, as it is sent.
struct array_record {
  std::int32_t dtype = 0;
  std::int32_t rank = 0;
  std::int64_t extents[TUTTI_MAX_RANK] = {};
};

tutti_exchange exchange_of(tutti_exchange_kind kind, int peer = 0, int tag = 0);

array_record describe(const array& a);
shape extents_of(const array_record& r);

class TUTTI_INTERNAL_API job_state {
 public:
  /// A job of one.
  job_state() = default;
  /// `api` and what it points to stay. Throws as the constructor of job does.
  job_state(const tutti_communication_api& api, double time_limit, const std::string& program);
  job_state(const job_state&) = delete;

  int rank() const { return static_cast<int>(rank_); }
  int size() const { return static_cast<int>(size_); }
  double time_limit() const { return time_limit_; }

  /// Begins an exchange, which works on `memory`.
  tutti_request* start(std::string_view op, const tutti_exchange& what,
                       std::shared_ptr<void> memory);
  void wait(tutti_request* request, std::string_view op);
  /// Nobody waits for the request: it ends when it ends.
  void leave(tutti_request* request, std::string_view op);

  /// All ranks call the same with the same arrays, but for the extents along `axis` (-1: none);
  /// gives every rank's extent there.
  std::vector<std::int64_t> agree(std::string_view op, std::int32_t with,
                                  std::span<const array_record> arrays, int axis = -1);

  /// Messages of a rank to itself.
  void keep(const array& value, int tag);
  array kept(int tag);

  /// At the end of the process.
  void finish() noexcept;

 private:
  void require_sound(std::string_view op) const;
  void check(tutti_status* status, std::string_view op);
  template <class T>
  std::vector<T> gather(std::span<const T> own, std::string_view op);
  [[noreturn]] void refuse(std::string_view op, std::span<const array_record> arrays, int axis,
                           std::size_t other);

  const tutti_communication_api* api_ = nullptr;
  tutti_job* job_ = nullptr;
  std::uint32_t rank_ = 0;
  std::uint32_t size_ = 1;
  double time_limit_ = 10;
  std::string failure_;                                     ///< after which nothing works
  std::map<tutti_request*, std::shared_ptr<void>> memory_;  ///< of requests; of lost ones for ever
  std::vector<tutti_request*> left_;
  std::map<int, std::deque<array>> own_messages_;
};

/// The job of this process, joined by its environment.
std::shared_ptr<job_state> job_of_process();

}  // namespace tutti::multi
