// SPDX-License-Identifier: Apache-2.0
//
// Collectives by NCCL, loaded at run time (TUTTI_CUDA_NCCL names another file). Participants work
// side by side, so each is to be called from a thread of its own: NCCL may wait for the others when
// it first connects them. Signatures and numbers stand here, as NCCL is not part of the toolkit.

#include "cuda/objects.hpp"
#include "sdk/device_layer/collective_table.hpp"
#include "sdk/device_layer/host.hpp"
#include "sdk/op_info.hpp"

struct tutti_communicator {
  tutti_device* device = nullptr;
  void* handle = nullptr;  // ncclComm_t
  uint32_t rank = 0, participants = 1;

  uint32_t size() const { return participants; }
  void require_peer(uint32_t, const char*) const {}  // NCCL knows messages to oneself
  void enqueue(tutti_stream& stream, const tutti::sdk::collective_call<tutti::cuda::backend>& call,
               tutti_event** event);
};

namespace tutti::cuda {
namespace {

using comm = void*;

#define TUTTI_NCCL_FUNCTIONS(X)                                                               \
  X(error_string, "ncclGetErrorString", const char*, (int))                                   \
  X(init_all, "ncclCommInitAll", int, (comm*, int, const int*))                               \
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

// ncclDataType_t; truth values travel as u8.
int type_of(int32_t dtype, const char* what) {
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
      sdk::throw_unsupported(std::string(what) + ": NCCL has no " + sdk::dtype_name(dtype));
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
  if (participant->handle != nullptr) nccl().destroy(participant->handle);
  delete participant;
}

tutti_status* create(tutti_device* const* devices, uint32_t count,
                     tutti_communicator** participants) {
  return sdk::guarded([&] {
    if (devices == nullptr || participants == nullptr || count == 0) {
      sdk::throw_invalid("collectives: no devices");
    }
    std::vector<int> numbers;
    std::vector<std::unique_ptr<tutti_communicator>> made;
    for (uint32_t n = 0; n < count; ++n) {
      numbers.push_back(sdk::deref(devices[n], "device").info->id);
      made.push_back(std::make_unique<tutti_communicator>());
    }
    std::vector<comm> handles(count);
    const scoped_context context(*devices[0]);
    check_nccl(nccl().init_all(handles.data(), static_cast<int>(count), numbers.data()),
               "collectives");
    for (uint32_t n = 0; n < count; ++n) {
      *made[n] = {devices[n], handles[n], n, count};
      participants[n] = made[n].release();
    }
  });
}

int exchange_all(const tutti_communicator& c, const char* in, char* out, uint64_t share,
                 uint64_t bytes, int type, CUstream stream) {
  check_nccl(nccl().group_start(), "all_to_all");
  int code = 0;
  for (uint32_t peer = 0; peer < c.size() && code == 0; ++peer) {
    const uint64_t at = bytes * peer;
    const int number = static_cast<int>(peer);
    code = nccl().send(in + at, share, type, number, c.handle, stream);
    if (code != 0) break;
    code = nccl().receive(out + at, share, type, number, c.handle, stream);
  }
  const int ended = nccl().group_end();
  return code != 0 ? code : ended;
}

int exchange(const tutti_communicator& c, const sdk::collective_call<backend>& call,
             CUstream stream) {
  using enum sdk::collective_kind;
  auto* const in = reinterpret_cast<char*>(call.in.memory + call.in.offset);
  auto* const out = reinterpret_cast<char*>(call.out.memory + call.out.offset);
  const uint64_t count = call.shape.count;
  const int type = type_of(call.shape.dtype, call.name);
  const int operation = operation_of(call.shape.reduction);
  const int root = static_cast<int>(call.shape.root), peer = static_cast<int>(call.peer);
  const uint64_t share = count / c.size();
  switch (call.shape.kind) {
    case all_reduce:
      return nccl().all_reduce(in, out, count, type, operation, c.handle, stream);
    case reduce:
      return nccl().reduce(in, c.rank == call.shape.root ? out : nullptr, count, type, operation,
                           root, c.handle, stream);
    case broadcast:
      return nccl().broadcast(in, out, count, type, root, c.handle, stream);
    case reduce_scatter:
      return nccl().reduce_scatter(in, out, call.out.count, type, operation, c.handle, stream);
    case all_gather:
      return nccl().all_gather(in, out, count, type, c.handle, stream);
    case all_to_all:
      return exchange_all(c, in, out, share, share * sdk::dtype_size(call.shape.dtype), type,
                          stream);
    default:
      return call.sends ? nccl().send(in, count, type, peer, c.handle, stream)
                        : nccl().receive(in, count, type, peer, c.handle, stream);
  }
}

tutti_status* abort(tutti_communicator* participant) {
  return sdk::guarded([&] {
    void* handle = std::exchange(sdk::deref(participant, "communicator").handle, nullptr);
    if (handle != nullptr) check_nccl(nccl().abort(handle), "abort");
  });
}

using calls = sdk::collective_functions<backend, tutti_communicator>;

}  // namespace

const tutti_collective_api collective_api = {sizeof(tutti_collective_api),
                                             create,
                                             release,
                                             calls::all_reduce,
                                             calls::reduce,
                                             calls::broadcast,
                                             calls::reduce_scatter,
                                             calls::all_gather,
                                             calls::all_to_all,
                                             calls::send,
                                             calls::receive,
                                             abort};

}  // namespace tutti::cuda

void tutti_communicator::enqueue(tutti_stream& stream,
                                 const tutti::sdk::collective_call<tutti::cuda::backend>& call,
                                 tutti_event** event) {
  using namespace tutti::cuda;
  if (handle == nullptr) {
    tutti::sdk::throw_invalid(std::string(call.name) + ": was aborted");
  }
  event_recorder recorder(stream, event);
  check_nccl(exchange(*this, call, stream.handle), call.name);
  recorder.finish();
}
