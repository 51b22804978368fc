// SPDX-License-Identifier: Apache-2.0
#include "thread_job.hpp"

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <tuple>
#include <vector>

#include "multi/job/job_state.hpp"
#include "sdk/status.hpp"

namespace {

using namespace tutti::sdk;
using bytes = std::vector<std::byte>;

/// One collective: what each rank brought, and whether it has been done.
struct meeting {
  std::vector<tutti_exchange> parts;  ///< of kind 0 where that rank is not there yet
  bool is_done = false;
};

struct world {
  explicit world(int ranks) : size(static_cast<uint32_t>(ranks)) {}
  uint32_t size;
  std::mutex mutex;
  std::condition_variable changed;
  std::map<uint64_t, meeting> meetings;
  std::map<std::tuple<uint32_t, uint32_t, int32_t>, std::deque<bytes>> boxes;  // from, to, tag
  std::deque<std::shared_ptr<void>> requests;  ///< also those that are never done
};

thread_local tutti_job* joining = nullptr;

}  // namespace

struct tutti_job {
  world* all;
  uint32_t rank;
  uint64_t next = 0;  ///< collective
};

struct tutti_request {
  world* all;
  std::function<bool()> is_done;  ///< called with the lock held
  std::function<std::string()> missing = nullptr;
};

namespace {

template <class T, class Wrapping = T>
void reduce_as(meeting& m, const tutti_exchange& what) {
  for (uint64_t i = 0; i < what.bytes / sizeof(T); ++i) {
    const auto at = [&](const tutti_exchange& part) -> T& { return static_cast<T*>(part.data)[i]; };
    T total = at(m.parts[0]);
    for (size_t r = 1; r < m.parts.size(); ++r) {
      const T next = at(m.parts[r]);
      const auto a = static_cast<Wrapping>(total), b = static_cast<Wrapping>(next);
      if (what.reduction == TUTTI_REDUCE_SUM)
        total = static_cast<T>(a + b);
      else if (what.reduction == TUTTI_REDUCE_PROD)
        total = static_cast<T>(a * b);
      else if (next != next || (what.reduction == TUTTI_REDUCE_MIN ? next < total : next > total))
        total = next;
    }
    for (const tutti_exchange& part : m.parts) at(part) = total;
  }
}

void reduce(meeting& m, const tutti_exchange& what) {
  using function = void (*)(meeting&, const tutti_exchange&);
  static const std::map<int32_t, function> by_dtype = {{TUTTI_I8, reduce_as<int8_t, uint32_t>},
                                                       {TUTTI_I16, reduce_as<int16_t, uint32_t>},
                                                       {TUTTI_I32, reduce_as<int32_t, uint32_t>},
                                                       {TUTTI_I64, reduce_as<int64_t, uint64_t>},
                                                       {TUTTI_U8, reduce_as<uint8_t, uint32_t>},
                                                       {TUTTI_U16, reduce_as<uint16_t, uint32_t>},
                                                       {TUTTI_U32, reduce_as<uint32_t>},
                                                       {TUTTI_U64, reduce_as<uint64_t>},
                                                       {TUTTI_F32, reduce_as<float>},
                                                       {TUTTI_F64, reduce_as<double>}};
  by_dtype.at(what.dtype)(m, what);
}

std::string missing_from(const meeting& m) {
  std::string names;
  for (size_t r = 0; r < m.parts.size(); ++r)
    if (m.parts[r].kind == 0) names += " " + std::to_string(r);
  return names;
}

tutti_status* init(tutti_job** job, uint32_t* rank, uint32_t* size) {
  *job = joining;
  *rank = joining->rank;
  *size = joining->all->size;
  return nullptr;
}

void finalize(tutti_job*) {}
void abort_all(tutti_job*, int32_t) {}

tutti_request* send(world& all, uint32_t rank, const tutti_exchange& what) {
  const auto* const first = static_cast<const std::byte*>(what.data);
  all.boxes[{rank, what.peer, what.tag}].emplace_back(first, first + what.bytes);
  all.changed.notify_all();
  return new tutti_request{&all, [] { return true; }};
}

tutti_request* receive(world& all, uint32_t rank, const tutti_exchange& what) {
  const auto take = [&all, what, rank, done = false]() mutable {
    std::deque<bytes>& box = all.boxes[{what.peer, rank, what.tag}];
    if (done || box.empty()) return done;
    if (box.front().size() != what.bytes) throw_invalid("another size was sent");
    std::memcpy(what.data, box.front().data(), what.bytes);
    box.pop_front();
    return done = true;
  };
  return new tutti_request{&all, take, [what] { return " " + std::to_string(what.peer); }};
}

void gather(meeting& m, const uint64_t* sizes) {
  for (const tutti_exchange& own : m.parts) {
    auto* at = static_cast<std::byte*>(own.out);
    for (size_t r = 0; r < m.parts.size(); at += sizes[r++])
      if (sizes[r] > 0) std::memcpy(at, m.parts[r].data, sizes[r]);
  }
}

void do_together(meeting& m, const tutti_exchange& what) {
  if (what.kind == TUTTI_EXCHANGE_ALL_REDUCE) return reduce(m, what);
  if (what.kind == TUTTI_EXCHANGE_ALL_GATHER) return gather(m, what.sizes);
  for (size_t r = 0; r < m.parts.size(); ++r)
    if (r != what.peer) std::memcpy(m.parts[r].data, m.parts[what.peer].data, what.bytes);
}

// Takes part in the next collective, which is done when all are there.
tutti_request* meet(tutti_job& job, const tutti_exchange& what) {
  world& all = *job.all;
  meeting& m = all.meetings[job.next++];
  m.parts.resize(all.size);
  m.parts[job.rank] = what;
  if (missing_from(m).empty()) {
    do_together(m, what);
    m.is_done = true;
    all.changed.notify_all();
  }
  return new tutti_request{&all, [&m] { return m.is_done; }, [&m] { return missing_from(m); }};
}

tutti_status* begin(tutti_job* job, const tutti_exchange* what, tutti_request** request) {
  return guarded([&] {
    const std::lock_guard lock(job->all->mutex);
    *request = what->kind == TUTTI_EXCHANGE_SEND      ? send(*job->all, job->rank, *what)
               : what->kind == TUTTI_EXCHANGE_RECEIVE ? receive(*job->all, job->rank, *what)
                                                      : meet(*job, *what);
    job->all->requests.push_back(std::shared_ptr<tutti_request>(*request));
  });
}

tutti_status* test(tutti_request* request, uint32_t* done) {
  return guarded([&] {
    const std::lock_guard lock(request->all->mutex);
    *done = request->is_done() ? 1 : 0;
  });
}

tutti_status* wait(tutti_request* request, double seconds) {
  return guarded([&] {
    std::unique_lock lock(request->all->mutex);
    if (!request->all->changed.wait_for(lock, std::chrono::duration<double>(seconds),
                                        [&] { return request->is_done(); }))
      throw tutti::sdk::plugin_error(TUTTI_ERROR_TIMEOUT,
                                     "rank" + request->missing() + " did not come");
  });
}

uint32_t takes_cuda_memory(tutti_job*, int32_t) { return tutti_test::host_reads_devices ? 1 : 0; }

}  // namespace

namespace tutti_test {

bool host_reads_devices = false;

void on_ranks(const std::function<void(const tutti::job&)>& body) {
  const auto check = [](auto&& run) {
    try {
      run();
    } catch (const std::exception& e) {
      BOOST_ERROR("thrown: " << e.what());
    }
  };
  const tutti::job own;
  check([&] { body(own); });
  if (own.size() > 1) return;
  for (const int size : {2, 3}) check([&] { run_ranks(size, body); });
}

static const tutti_communication_api& thread_communication() {
  static const tutti_communication_api api = {sizeof api,
                                              TUTTI_COMMUNICATION_MAJOR,
                                              TUTTI_COMMUNICATION_MINOR,
                                              "threads",
                                              init,
                                              finalize,
                                              abort_all,
                                              begin,
                                              test,
                                              wait,
                                              takes_cuda_memory};
  return api;
}

void run_ranks(int size, const std::function<void(const tutti::job&)>& body, double time_limit,
               const std::function<std::string(int)>& program) {
  world all(size);
  std::vector<std::exception_ptr> failures(static_cast<size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      tutti_job own{&all, static_cast<uint32_t>(rank)};
      joining = &own;
      try {
        body(tutti::job(std::make_shared<tutti::multi::job_state>(thread_communication(),
                                                                  time_limit, program(rank))));
      } catch (...) {
        failures[static_cast<size_t>(rank)] = std::current_exception();
      }
    });
  for (std::thread& t : threads) t.join();
  for (const std::exception_ptr& failure : failures)
    if (failure) std::rethrow_exception(failure);
}

}  // namespace tutti_test
