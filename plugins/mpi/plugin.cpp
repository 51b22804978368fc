// SPDX-License-Identifier: Apache-2.0
//
// The communication plugin for MPI 3. Waiting polls with a time limit; a rank that reaches it
// queries all ranks, and names those that do not answer.
#include <mpi.h>
#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif
#include <sched.h>

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "mpi/all_reduce.hpp"
#include "sdk/status.hpp"
#include "tutti/communication.h"

struct tutti_job {
  MPI_Comm values = MPI_COMM_NULL;
  MPI_Comm reductions = MPI_COMM_NULL;
  MPI_Comm questions = MPI_COMM_NULL;  ///< queries of ranks that miss others, and answers
  int rank = 0;
  int size = 1;
  bool is_ours = false;  ///< MPI was initialised here, not by the application
  tutti::mpi::reductions sums;
};

struct tutti_request {
  tutti_job* job;
  MPI_Request request = MPI_REQUEST_NULL;
  int segments = 0;                 ///< of all_reduce, that are not done
  std::vector<int> counts, places;  ///< of all_gather
};

namespace {

using namespace tutti::sdk;
using tutti::mpi::check;
using clock_type = std::chrono::steady_clock;

constexpr int question = 1, answer = 2;
constexpr auto time_for_answers = std::chrono::seconds(1);
// The others are computing for long: leave the processor to them.
constexpr auto time_to_sleep = std::chrono::seconds(1);

void say(const tutti_job& job, int to, int what) {
  MPI_Request request = MPI_REQUEST_NULL;
  if (MPI_Isend(nullptr, 0, MPI_BYTE, to, what, job.questions, &request) == MPI_SUCCESS)
    MPI_Request_free(&request);
}

// The rank from which such a message has come, or -1.
int hear(const tutti_job& job, int what) {
  int there = 0;
  MPI_Status from;
  check(MPI_Iprobe(MPI_ANY_SOURCE, what, job.questions, &there, &from), "MPI_Iprobe");
  if (there == 0) return -1;
  check(MPI_Recv(nullptr, 0, MPI_BYTE, from.MPI_SOURCE, what, job.questions, MPI_STATUS_IGNORE),
        "MPI_Recv");
  return from.MPI_SOURCE;
}

void give_answers(const tutti_job& job) {
  for (int asker = hear(job, question); asker >= 0; asker = hear(job, question))
    say(job, asker, answer);
}

[[noreturn]] void throw_missing(const tutti_job& job, double seconds) {
  std::vector<bool> is_there(static_cast<size_t>(job.size), false);
  is_there[static_cast<size_t>(job.rank)] = true;
  for (int r = 0; r < job.size; ++r)
    if (r != job.rank) say(job, r, question);
  for (const auto end = clock_type::now() + time_for_answers; clock_type::now() < end;) {
    give_answers(job);
    if (const int from = hear(job, answer); from >= 0) is_there[static_cast<size_t>(from)] = true;
    sched_yield();
  }
  std::string missing;
  for (int r = 0; r < job.size; ++r)
    if (!is_there[static_cast<size_t>(r)])
      missing += (missing.empty() ? "rank " : ", rank ") + std::to_string(r);
  char limit[32];
  std::snprintf(limit, sizeof limit, "%g", seconds);
  const std::string late = std::string(" within ") + limit + " s (TUTTI_TIMEOUT): ";
  throw plugin_error(
      TUTTI_ERROR_TIMEOUT,
      missing.empty()
          ? "nothing came" + late + "no rank is missing, but one was late, or calls something else"
          : missing + " did not come" + late + "it has died, is late, or does something else");
}

bool is_done(tutti_request& r) {
  r.job->sums.progress();
  int done = 0;
  check(MPI_Test(&r.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  return done != 0 && r.segments == 0;
}

void wait_for(tutti_request& r, double seconds) {
  const auto start = clock_type::now();
  while (true) {
    for (int i = 0; i < 64; ++i)
      if (is_done(r)) return;
    give_answers(*r.job);
    const auto passed = clock_type::now() - start;
    if (std::chrono::duration<double>(passed).count() > seconds) throw_missing(*r.job, seconds);
    if (passed < time_to_sleep)
      sched_yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

void begin_mpi(tutti_job& job) {
  int begun = 0, level = MPI_THREAD_SINGLE;
  check(MPI_Initialized(&begun), "MPI_Initialized");
  if (begun != 0)
    check(MPI_Query_thread(&level), "MPI_Query_thread");
  else
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
  job.is_ours = begun == 0;
  if (level < MPI_THREAD_SERIALIZED)
    throw_unsupported("MPI without threads: it takes MPI_Init_thread with MPI_THREAD_SERIALIZED");
}

tutti_status* init(tutti_job** out, uint32_t* rank, uint32_t* size) {
  return guarded([&] {
    static tutti_job job;
    begin_mpi(job);
    for (MPI_Comm* made : {&job.values, &job.questions, &job.reductions}) {
      check(MPI_Comm_dup(MPI_COMM_WORLD, made), "MPI_Comm_dup");
      check(MPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    }
    check(MPI_Comm_rank(job.values, &job.rank), "MPI_Comm_rank");
    check(MPI_Comm_size(job.values, &job.size), "MPI_Comm_size");
    job.sums.open(job.reductions);
    *rank = static_cast<uint32_t>(job.rank);
    *size = static_cast<uint32_t>(job.size);
    *out = &job;
  });
}

void finalize(tutti_job* job) {
  int ended = 0;
  if (!job->is_ours || MPI_Finalized(&ended) != MPI_SUCCESS || ended != 0) return;
  MPI_Finalize();
}

void abort_all(tutti_job*, int32_t exit_status) { MPI_Abort(MPI_COMM_WORLD, exit_status); }

int all_gather(tutti_job& job, const tutti_exchange& what, tutti_request& r) {
  int place = 0;
  for (int i = 0; i < job.size; ++i) {
    r.counts.push_back(static_cast<int>(what.sizes[i]));
    r.places.push_back(place);
    place += r.counts.back();
  }
  return MPI_Iallgatherv(what.data, static_cast<int>(what.bytes), MPI_BYTE, what.out,
                         r.counts.data(), r.places.data(), MPI_BYTE, job.values, &r.request);
}

int begin_exchange(tutti_job& job, const tutti_exchange& what, tutti_request& r) {
  const int bytes = static_cast<int>(what.bytes), peer = static_cast<int>(what.peer);
  switch (what.kind) {
    case TUTTI_EXCHANGE_SEND:
      return MPI_Isend(what.data, bytes, MPI_BYTE, peer, what.tag, job.values, &r.request);
    case TUTTI_EXCHANGE_RECEIVE:
      return MPI_Irecv(what.data, bytes, MPI_BYTE, peer, what.tag, job.values, &r.request);
    case TUTTI_EXCHANGE_BROADCAST:
      return MPI_Ibcast(what.data, bytes, MPI_BYTE, peer, job.values, &r.request);
    case TUTTI_EXCHANGE_ALL_REDUCE:
      job.sums.begin(what, r.segments);
      return MPI_SUCCESS;
    case TUTTI_EXCHANGE_ALL_GATHER:
      return all_gather(job, what, r);
    default:
      throw_unsupported("exchange ", what.kind);
  }
}

tutti_status* begin(tutti_job* job, const tutti_exchange* what, tutti_request** request) {
  return guarded([&] {
    auto made = std::make_unique<tutti_request>(tutti_request{job, MPI_REQUEST_NULL, 0, {}, {}});
    check(begin_exchange(*job, read_struct(what, "tutti_exchange"), *made), "the exchange");
    *request = made.release();  // from here on the reductions know it
    job->sums.progress();
  });
}

tutti_status* test(tutti_request* request, uint32_t* done) {
  return guarded([&] { *done = is_done(*request) ? 1 : 0; });
}

tutti_status* wait(tutti_request* request, double seconds) {
  return guarded([&] {
    wait_for(*request, seconds);
    delete request;  // lost where that throws: MPI still has it
  });
}

// Reductions add in host memory.
uint32_t takes_cuda_memory(tutti_job*, int32_t kind) {
  int takes = 0;
#if defined(MPIX_CUDA_AWARE_SUPPORT)
  takes = MPIX_Query_cuda_support();
#elif defined(MPIX_GPU_SUPPORT_CUDA)
  if (MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &takes) != MPI_SUCCESS) takes = 0;
#endif
  return takes != 0 && kind != TUTTI_EXCHANGE_ALL_REDUCE ? 1 : 0;
}

}  // namespace

extern "C" TUTTI_PLUGIN_EXPORT const tutti_communication_api* tutti_communication_entry(void) {
  static const tutti_communication_api api = {sizeof api,
                                              TUTTI_COMMUNICATION_MAJOR,
                                              TUTTI_COMMUNICATION_MINOR,
                                              "mpi",
                                              init,
                                              finalize,
                                              abort_all,
                                              begin,
                                              test,
                                              wait,
                                              takes_cuda_memory};
  return &api;
}
