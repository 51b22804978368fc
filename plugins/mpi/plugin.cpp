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

#include "sdk/status.hpp"
#include "tutti/communication.h"

struct tutti_job {
  MPI_Comm values = MPI_COMM_NULL;
  MPI_Comm questions = MPI_COMM_NULL;  ///< queries of ranks that miss others, and answers
  int rank = 0;
  int size = 1;
  bool is_ours = false;        ///< MPI was initialised here, not by the application
  bool has_variables = false;  ///< of the tools interface, MPI_T
  /// Open MPI's variable that selects the algorithm of MPI_Iallreduce, unless the user has.
  MPI_T_cvar_handle algorithm = MPI_T_CVAR_HANDLE_NULL;
};

struct tutti_request {
  tutti_job* job;
  MPI_Request request = MPI_REQUEST_NULL;
  std::vector<int> counts, places;  ///< of all_gather
};

namespace {

using namespace tutti::sdk;
using clock_type = std::chrono::steady_clock;

constexpr int question = 1, answer = 2;
constexpr auto time_for_answers = std::chrono::seconds(1);
// The others are computing for long: leave the processor to them.
constexpr auto time_to_sleep = std::chrono::seconds(1);

void check(int code, const char* function) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw plugin_error(TUTTI_ERROR_DRIVER, std::string(function) + ": " + text, code);
}

// Integers wrap, so signedness does not matter for sums and products.
MPI_Datatype type_of(int32_t dtype, bool ordered) {
  switch (dtype) {
    case TUTTI_I8:
      return ordered ? MPI_INT8_T : MPI_UINT8_T;
    case TUTTI_I16:
      return ordered ? MPI_INT16_T : MPI_UINT16_T;
    case TUTTI_I32:
      return ordered ? MPI_INT32_T : MPI_UINT32_T;
    case TUTTI_I64:
      return ordered ? MPI_INT64_T : MPI_UINT64_T;
    case TUTTI_U8:
      return MPI_UINT8_T;
    case TUTTI_U16:
      return MPI_UINT16_T;
    case TUTTI_U32:
      return MPI_UINT32_T;
    case TUTTI_U64:
      return MPI_UINT64_T;
    case TUTTI_F32:
      return MPI_FLOAT;
    case TUTTI_F64:
      return MPI_DOUBLE;
    default:
      throw_unsupported("all_reduce: dtype " + std::to_string(dtype));
  }
}

// MPI does not specify NaN.
template <class T, bool largest>
void extreme(void* in, void* inout, int* count, MPI_Datatype*) {
  const T* const a = static_cast<const T*>(in);
  T* const b = static_cast<T*>(inout);
  for (int i = 0; i < *count; ++i)
    if (a[i] != a[i] || (largest ? a[i] > b[i] : a[i] < b[i])) b[i] = a[i];
}

MPI_Op extreme_of(bool is_double, bool largest) {
  const auto made = [](MPI_User_function* function) {
    MPI_Op op = MPI_OP_NULL;
    check(MPI_Op_create(function, 1, &op), "MPI_Op_create");
    return op;
  };
  static const MPI_Op ops[] = {made(extreme<float, false>), made(extreme<float, true>),
                               made(extreme<double, false>), made(extreme<double, true>)};
  return ops[2 * is_double + largest];
}

MPI_Op op_of(int32_t reduction, int32_t dtype) {
  if (reduction == TUTTI_REDUCE_SUM) return MPI_SUM;
  if (reduction == TUTTI_REDUCE_PROD) return MPI_PROD;
  const bool largest = reduction == TUTTI_REDUCE_MAX;
  if (!largest && reduction != TUTTI_REDUCE_MIN)
    throw_unsupported("all_reduce: reduction " + std::to_string(reduction));
  if (dtype == TUTTI_F32 || dtype == TUTTI_F64) return extreme_of(dtype == TUTTI_F64, largest);
  return largest ? MPI_MAX : MPI_MIN;
}

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

void wait_for(tutti_request& r, double seconds) {
  const auto start = clock_type::now();
  for (int done = 0;;) {
    for (int i = 0; i < 64 && done == 0; ++i)
      check(MPI_Test(&r.request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done != 0) return;
    give_answers(*r.job);
    const auto passed = clock_type::now() - start;
    if (std::chrono::duration<double>(passed).count() > seconds) throw_missing(*r.job, seconds);
    if (passed < time_to_sleep)
      sched_yield();
    else
      std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

MPI_T_cvar_handle algorithm_variable(tutti_job& job) {
  int level = 0, index = 0, count = 0, selected = 0;
  MPI_T_cvar_handle found = MPI_T_CVAR_HANDLE_NULL;
  job.has_variables = MPI_T_init_thread(MPI_THREAD_SERIALIZED, &level) == MPI_SUCCESS;
  if (job.has_variables &&
      MPI_T_cvar_get_index("coll_libnbc_iallreduce_algorithm", &index) == MPI_SUCCESS &&
      MPI_T_cvar_handle_alloc(index, nullptr, &found, &count) == MPI_SUCCESS &&
      MPI_T_cvar_read(found, &selected) == MPI_SUCCESS && selected == 0)
    return found;
  return MPI_T_CVAR_HANDLE_NULL;
}

void begin_mpi(tutti_job& job) {
  int begun = 0, level = MPI_THREAD_SINGLE;
  check(MPI_Initialized(&begun), "MPI_Initialized");
  if (begun != 0)
    check(MPI_Query_thread(&level), "MPI_Query_thread");
  else
    check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &level), "MPI_Init_thread");
  job.is_ours = begun == 0;
  if (job.is_ours) job.algorithm = algorithm_variable(job);
  if (level < MPI_THREAD_SERIALIZED)
    throw_unsupported("MPI without threads: it takes MPI_Init_thread with MPI_THREAD_SERIALIZED");
}

tutti_status* init(tutti_job** out, uint32_t* rank, uint32_t* size) {
  return guarded([&] {
    static tutti_job job;
    begin_mpi(job);
    for (MPI_Comm* made : {&job.values, &job.questions}) {
      check(MPI_Comm_dup(MPI_COMM_WORLD, made), "MPI_Comm_dup");
      check(MPI_Comm_set_errhandler(*made, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    }
    check(MPI_Comm_rank(job.values, &job.rank), "MPI_Comm_rank");
    check(MPI_Comm_size(job.values, &job.size), "MPI_Comm_size");
    *rank = static_cast<uint32_t>(job.rank);
    *size = static_cast<uint32_t>(job.size);
    *out = &job;
  });
}

void finalize(tutti_job* job) {
  int ended = 0;
  if (!job->is_ours || MPI_Finalized(&ended) != MPI_SUCCESS || ended != 0) return;
  if (job->has_variables) MPI_T_finalize();
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

int all_reduce(tutti_job& job, const tutti_exchange& what, tutti_request& r) {
  const bool ordered = what.reduction == TUTTI_REDUCE_MIN || what.reduction == TUTTI_REDUCE_MAX;
  const MPI_Datatype type = type_of(what.dtype, ordered);
  int width = 1;
  check(MPI_Type_size(type, &width), "MPI_Type_size");
  const int count = static_cast<int>(what.bytes) / width;
  const auto select = [&job](int algorithm) {
    if (job.algorithm != MPI_T_CVAR_HANDLE_NULL) MPI_T_cvar_write(job.algorithm, &algorithm);
  };
  // In place, Open MPI takes binomial trees for any size. Rabenseifner's algorithm (3) sends half
  // as many bytes or fewer, but with fewer elements than ranks Open MPI replaces it by a ring.
  if (count >= job.size) select(3);
  const int code = MPI_Iallreduce(MPI_IN_PLACE, what.data, count, type,
                                  op_of(what.reduction, what.dtype), job.values, &r.request);
  select(0);
  return code;
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
      return all_reduce(job, what, r);
    case TUTTI_EXCHANGE_ALL_GATHER:
      return all_gather(job, what, r);
    default:
      throw_unsupported("exchange " + std::to_string(what.kind));
  }
}

tutti_status* begin(tutti_job* job, const tutti_exchange* what, tutti_request** request) {
  return guarded([&] {
    auto made = std::make_unique<tutti_request>(tutti_request{job, MPI_REQUEST_NULL, {}, {}});
    check(begin_exchange(*job, read_struct(what, "tutti_exchange"), *made), "the exchange");
    *request = made.release();
  });
}

tutti_status* test(tutti_request* request, uint32_t* done) {
  return guarded([&] {
    int flag = 0;
    check(MPI_Test(&request->request, &flag, MPI_STATUS_IGNORE), "MPI_Test");
    *done = static_cast<uint32_t>(flag);
  });
}

tutti_status* wait(tutti_request* request, double seconds) {
  return guarded([&] {
    wait_for(*request, seconds);
    delete request;  // lost where that throws: MPI still has it
  });
}

// Open MPI's MPI_Iallreduce and functions of reductions need host memory.
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
