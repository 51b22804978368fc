// SPDX-License-Identifier: Apache-2.0
//
// Collectives by NCCL, loaded at run time (TUTTI_CUDA_NCCL names another file), of devices in one
// process or several. Signatures and numbers stand here, as NCCL is not part of the toolkit.

#include <array>
#include <span>

#include "cuda/objects.hpp"
#include "sdk/device_layer/collective_table.hpp"
#include "sdk/device_layer/host.hpp"
#include "sdk/op_info.hpp"

struct tutti_communicator {
  using call = tutti::sdk::collective_call<tutti::cuda::backend, tutti_communicator>;

  tutti_device* device = nullptr;
  std::atomic<void*> handle = nullptr;  // ncclComm_t; null: aborted
  uint32_t rank = 0, participants = 1;

  uint32_t size() const { return participants; }
  void require_peer(uint32_t, const std::string&) const {}  // NCCL knows messages to oneself
  const char* against_dtype(int32_t dtype) const;
  static void enqueue(std::span<call> calls);
};

namespace tutti::cuda {
namespace {

using comm = void*;

// ncclUniqueId: what the participants of a group meet by.
struct group_id {
  std::array<char, 128> bytes;
};

#define TUTTI_NCCL_FUNCTIONS(X)                                                               \
  X(error_string, "ncclGetErrorString", const char*, (int))                                   \
  X(unique_id, "ncclGetUniqueId", int, (group_id*))                                           \
  X(init_rank, "ncclCommInitRank", int, (comm*, int, group_id, int))                          \
  X(destroy, "ncclCommDestroy", int, (comm))                                                  \
  X(abort, "ncclCommAbort", int, (comm))                                                      \
  X(group_start, "ncclGroupStart", int, ())                                                   \
  X(group_end, "ncclGroupEnd", int, ())                                                       \
  X(all_reduce, "ncclAllReduce", int, (const void*, void*, size_t, int, int, comm, CUstream)) \
  X(reduce, "ncclReduce", int, (const void*, void*, size_t, int, int, int, comm, CUstream))   \
  X(broadcast, "ncclBroadcast", int, (const void*, void*, size_t, int, int, comm, CUstream))  \
  X(reduce_scatter, "ncclReduceScatter", int,                                                 \
    (const void*, void*, size_t, int, int, comm, CUstream))                                   \
  X(all_gather, "ncclAllGather", int, (const void*, void*, size_t, int, comm, CUstream))      \
  X(send, "ncclSend", int, (const void*, size_t, int, int, comm, CUstream))                   \
  X(receive, "ncclRecv", int, (void*, size_t, int, int, comm, CUstream))

struct library {
#define TUTTI_NCCL_MEMBER(member, name, result, parameters) result(*member) parameters = nullptr;
  TUTTI_NCCL_FUNCTIONS(TUTTI_NCCL_MEMBER)
#undef TUTTI_NCCL_MEMBER
};

library load() {
  std::string why;
  void* handle = open_library(sdk::option("CUDA_NCCL").value_or("libnccl.so.2").c_str(), why);
  if (handle == nullptr) {
    sdk::throw_unsupported("collectives need NCCL: " + why +
                           "; install NCCL (package libnccl2), or do without");
  }
  library l;
#define TUTTI_NCCL_LOAD(member, name, result, parameters)                  \
  l.member = reinterpret_cast<result(*) parameters>(symbol(handle, name)); \
  if (l.member == nullptr) sdk::throw_unsupported("NCCL is too old: it lacks " name);
  TUTTI_NCCL_FUNCTIONS(TUTTI_NCCL_LOAD)
#undef TUTTI_NCCL_LOAD
  return l;
}

const library& nccl() {
  static const library* const loaded = new library(load());  // tried again while it is missing
  return *loaded;
}

void check_nccl(int code, const char* what) {
  if (code == 0) return;
  throw sdk::plugin_error(TUTTI_ERROR_DRIVER,
                          std::string(what) + ": NCCL: " + nccl().error_string(code) + " (" +
                              std::to_string(code) + ")",
                          code);
}

// ncclDataType_t; truth values travel as u8. -1: none.
int type_of(int32_t dtype) {
  switch (dtype) {
    // clang-format off
    case TUTTI_I8: return 0;
    case TUTTI_BOOL: case TUTTI_U8: return 1;
    case TUTTI_I32: return 2;
    case TUTTI_U32: return 3;
    case TUTTI_I64: return 4;
    case TUTTI_U64: return 5;
    case TUTTI_F16: return 6;
    case TUTTI_F32: return 7;
    case TUTTI_F64: return 8;
    case TUTTI_BF16: return 9;
    // clang-format on
    default:
      return -1;
  }
}

// ncclRedOp_t: sum, product, maximum, minimum.
int operation_of(int32_t reduction) {
  if (reduction == TUTTI_REDUCE_SUM) return 0;
  if (reduction == TUTTI_REDUCE_PROD) return 1;
  return reduction == TUTTI_REDUCE_MAX || reduction == TUTTI_REDUCE_ANY ? 2 : 3;
}

void release(tutti_communicator* participant) {
  if (participant == nullptr) return;
  if (void* const handle = participant->handle.exchange(nullptr)) nccl().destroy(handle);
  delete participant;
}

// The first participant makes the id of the group; its process leaves it with the store for others.
group_id meet(const tutti_communicator_desc& desc,
              const std::vector<tutti_participant>& participants) {
  const bool makes_it = std::any_of(participants.begin(), participants.end(),
                                    [](const tutti_participant& p) { return p.rank == 0; });
  group_id id{};
  if (makes_it) check_nccl(nccl().unique_id(&id), "collectives");
  if (participants.size() == desc.size) return id;
  if (desc.store == nullptr)
    sdk::throw_invalid("collectives: " + std::to_string(participants.size()) + " of " +
                       std::to_string(desc.size) +
                       " participants, and no store to meet the others");
  const tutti_store store = sdk::read_struct(desc.store, "collectives: store");
  const std::string key = std::string("tutti/nccl/") + desc.identifier;
  tutti_status* const status =
      makes_it ? store.set(store.context, key.c_str(), id.bytes.data(), id.bytes.size())
               : store.get(store.context, key.c_str(), id.bytes.data(), id.bytes.size(),
                           desc.timeout_ns);
  sdk::throw_status(status, "collectives: " + key);
  return id;
}

// Ends a group of NCCL's calls in any case: what is begun there must not stay open.
class nccl_group {
 public:
  explicit nccl_group(const char* what) : what_(what) { check_nccl(nccl().group_start(), what); }
  nccl_group(const nccl_group&) = delete;
  nccl_group& operator=(const nccl_group&) = delete;
  ~nccl_group() {
    if (open_) nccl().group_end();
  }
  void end() {
    open_ = false;
    check_nccl(nccl().group_end(), what_);
  }

 private:
  const char* const what_;
  bool open_ = true;
};

tutti_status* create(const tutti_communicator_desc* desc, tutti_communicator** communicators) {
  return sdk::guarded([&] {
    const tutti_communicator_desc wanted = sdk::read_struct(desc, "communicator description");
    sdk::deref(communicators, "communicators");
    const std::vector<tutti_participant> participants = sdk::validate_communicator(wanted);
    std::fill_n(communicators, participants.size(), nullptr);
    const group_id id = meet(wanted, participants);
    std::vector<comm> handles(participants.size());
    {
      nccl_group group("collectives");
      for (size_t n = 0; n < participants.size(); ++n) {
        const scoped_context context(*participants[n].device);
        check_nccl(nccl().init_rank(&handles[n], static_cast<int>(wanted.size), id,
                                    static_cast<int>(participants[n].rank)),
                   "collectives");
      }
      group.end();
    }
    for (size_t n = 0; n < participants.size(); ++n) {
      auto made = std::make_unique<tutti_communicator>();
      made->device = participants[n].device;
      made->handle = handles[n];
      made->rank = participants[n].rank;
      made->participants = wanted.size;
      communicators[n] = made.release();
    }
  });
}

int exchange_all(comm handle, uint32_t size, const char* in, char* out, uint64_t share,
                 uint64_t bytes, int type, CUstream stream) {
  for (uint32_t peer = 0; peer < size; ++peer) {
    const uint64_t at = bytes * peer;
    const int number = static_cast<int>(peer);
    if (const int code = nccl().send(in + at, share, type, number, handle, stream)) return code;
    if (const int code = nccl().receive(out + at, share, type, number, handle, stream)) return code;
  }
  return 0;
}

int exchange(const tutti_communicator::call& call, comm handle) {
  using enum sdk::collective_kind;
  const tutti_communicator& c = *call.communicator;
  CUstream stream = call.stream->handle;
  auto* const in = reinterpret_cast<char*>(call.in.memory + call.in.offset);
  auto* const out = reinterpret_cast<char*>(call.out.memory + call.out.offset);
  const uint64_t count = call.shape.count;
  const int type = type_of(call.shape.dtype);
  const int operation = operation_of(call.shape.reduction);
  const int root = static_cast<int>(call.shape.root), peer = static_cast<int>(call.peer);
  const uint64_t share = count / c.size();
  switch (call.shape.kind) {
    case all_reduce:
      return nccl().all_reduce(in, out, count, type, operation, handle, stream);
    case reduce:
      return nccl().reduce(in, c.rank == call.shape.root ? out : nullptr, count, type, operation,
                           root, handle, stream);
    case broadcast:
      return nccl().broadcast(in, out, count, type, root, handle, stream);
    case reduce_scatter:
      return nccl().reduce_scatter(in, out, call.out.count, type, operation, handle, stream);
    case all_gather:
      return nccl().all_gather(in, out, count, type, handle, stream);
    case all_to_all:
      return exchange_all(handle, c.size(), in, out, share,
                          share * sdk::dtype_size(call.shape.dtype), type, stream);
    default:
      return call.sends ? nccl().send(in, count, type, peer, handle, stream)
                        : nccl().receive(in, count, type, peer, handle, stream);
  }
}

// NCCL does not take back what has begun: participants of a group that failed are of no use.
void give_up(std::span<const tutti_communicator::call> calls) noexcept {
  for (const tutti_communicator::call& call : calls)
    if (void* const handle = call.communicator->handle.exchange(nullptr)) nccl().abort(handle);
}

tutti_status* abort(tutti_communicator* participant) {
  return sdk::guarded([&] {
    void* const handle = sdk::deref(participant, "communicator").handle.exchange(nullptr);
    if (handle != nullptr) check_nccl(nccl().abort(handle), "abort");
  });
}

using calls = sdk::collective_functions<backend, tutti_communicator>;  // of the table

}  // namespace

const tutti_collective_api collective_api = {
    sizeof(tutti_collective_api), create, release, calls::supports, calls::enqueue, abort};

}  // namespace tutti::cuda

const char* tutti_communicator::against_dtype(int32_t dtype) const {
  return tutti::cuda::type_of(dtype) < 0 ? "NCCL does not have it" : nullptr;
}

void tutti_communicator::enqueue(std::span<call> calls) {
  using namespace tutti::cuda;
  std::vector<comm> handles;
  for (const call& one : calls) {
    handles.push_back(one.communicator->handle.load());
    if (handles.back() == nullptr) tutti::sdk::throw_invalid(one.name + ": was aborted");
  }
  // Profiled streams get their first event before anything of the group.
  std::vector<std::unique_ptr<event_recorder>> recorders;
  for (const call& one : calls) {
    const scoped_context context(*one.communicator->device);
    recorders.push_back(std::make_unique<event_recorder>(*one.stream, one.event));
  }
  try {
    nccl_group group(calls[0].name.c_str());
    for (size_t n = 0; n < calls.size(); ++n) {
      const scoped_context context(*calls[n].communicator->device);
      check_nccl(exchange(calls[n], handles[n]), calls[n].name.c_str());
    }
    group.end();
    for (size_t n = 0; n < calls.size(); ++n) {
      const scoped_context context(*calls[n].communicator->device);
      recorders[n]->finish();
    }
  } catch (...) {
    give_up(calls);
    for (call& one : calls)
      if (one.event != nullptr) stream_api.event_release(std::exchange(*one.event, nullptr));
    throw;
  }
}
