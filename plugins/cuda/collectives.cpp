// SPDX-License-Identifier: Apache-2.0
//
// Collectives by NCCL, loaded at run time (TUTTI_CUDA_NCCL names another file). Participants work
// side by side, so each is to be called from a thread of its own: NCCL may wait for the others when
// it first connects them. Signatures and numbers stand here, as NCCL is not part of the toolkit.
#include <cstdlib>

#include "cuda/objects.hpp"
#include "sdk/collective.hpp"
#include "sdk/op_info.hpp"

struct tutti_communicator {
  tutti_device* device = nullptr;
  void* handle = nullptr;  // ncclComm_t
  int rank = 0, size = 1;
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
  const char* chosen = std::getenv("TUTTI_CUDA_NCCL");
  std::string why;
  void* handle = open_library(chosen != nullptr && *chosen != 0 ? chosen : "libnccl.so.2", why);
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
int operation_of(int32_t reduction, int32_t dtype, const char* what) {
  sdk::require_reduction(reduction, dtype, what);
  if (reduction == TUTTI_REDUCE_SUM) return 0;
  if (reduction == TUTTI_REDUCE_PROD) return 1;
  return reduction == TUTTI_REDUCE_MAX || reduction == TUTTI_REDUCE_ANY ? 2 : 3;
}

struct part : sdk::collective_part {
  void* address = nullptr;
};

// The elements of a contiguous view on the participant's device.
part part_of(const tutti_communicator& c, const tutti_view* given, const char* what) {
  const tutti_view& v = sdk::deref(given, "view");
  const CUdeviceptr memory = memory_on(*c.device, v.buffer, what);
  const sdk::collective_part checked = sdk::validate_part(v, what, v.buffer->bytes);
  return {checked, reinterpret_cast<void*>(memory + v.offset)};
}

void require_peer(const tutti_communicator& c, uint32_t peer, const char* what) {
  sdk::require_participant(peer, static_cast<uint32_t>(c.size), what);
}

// The frame of each call: checks the handles, makes the context current, brackets with events.
template <typename F>
tutti_status* enqueue(tutti_communicator* participant, tutti_stream* stream, tutti_event** event,
                      const char* what, F&& body) {
  return sdk::guarded([&] {
    if (event != nullptr) *event = nullptr;
    tutti_communicator& c = sdk::deref(participant, "communicator");
    if (sdk::deref(stream, "stream").device->context != c.device->context) {
      sdk::throw_invalid(std::string(what) + ": the stream belongs to another device");
    }
    if (c.handle == nullptr) sdk::throw_invalid(std::string(what) + ": was aborted");
    const scoped_context context(*c.device);
    event_recorder recorder(*stream, event);
    check_nccl(body(c, stream->handle), what);
    recorder.finish();
  });
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
      *made[n] = {devices[n], handles[n], static_cast<int>(n), static_cast<int>(count)};
      participants[n] = made[n].release();
    }
  });
}

tutti_status* all_reduce(tutti_communicator* participant, tutti_stream* stream,
                         const tutti_view* in, const tutti_view* out, int32_t reduction,
                         tutti_event** event) {
  return enqueue(participant, stream, event, "all_reduce", [&](auto& c, CUstream s) {
    const part a = part_of(c, in, "all_reduce"), b = part_of(c, out, "all_reduce");
    sdk::require_counts(a.count == b.count, "all_reduce", a, b);
    return nccl().all_reduce(a.address, b.address, a.count, type_of(a.dtype, "all_reduce"),
                             operation_of(reduction, a.dtype, "all_reduce"), c.handle, s);
  });
}

tutti_status* reduce(tutti_communicator* participant, tutti_stream* stream, const tutti_view* in,
                     const tutti_view* out, int32_t reduction, uint32_t root, tutti_event** event) {
  return enqueue(participant, stream, event, "reduce", [&](auto& c, CUstream s) {
    require_peer(c, root, "reduce");
    const part a = part_of(c, in, "reduce");
    // Only the root receives.
    const bool receives = c.rank == static_cast<int>(root);
    const part b = receives ? part_of(c, out, "reduce") : a;
    sdk::require_counts(a.count == b.count, "reduce", a, b);
    return nccl().reduce(a.address, receives ? b.address : nullptr, a.count,
                         type_of(a.dtype, "reduce"), operation_of(reduction, a.dtype, "reduce"),
                         static_cast<int>(root), c.handle, s);
  });
}

tutti_status* broadcast(tutti_communicator* participant, tutti_stream* stream,
                        const tutti_view* inout, uint32_t root, tutti_event** event) {
  return enqueue(participant, stream, event, "broadcast", [&](auto& c, CUstream s) {
    require_peer(c, root, "broadcast");
    const part p = part_of(c, inout, "broadcast");
    return nccl().broadcast(p.address, p.address, p.count, type_of(p.dtype, "broadcast"),
                            static_cast<int>(root), c.handle, s);
  });
}

tutti_status* reduce_scatter(tutti_communicator* participant, tutti_stream* stream,
                             const tutti_view* in, const tutti_view* out, int32_t reduction,
                             tutti_event** event) {
  return enqueue(participant, stream, event, "reduce_scatter", [&](auto& c, CUstream s) {
    const part a = part_of(c, in, "reduce_scatter"), b = part_of(c, out, "reduce_scatter");
    sdk::require_counts(a.count == b.count * static_cast<uint64_t>(c.size), "reduce_scatter", a, b);
    return nccl().reduce_scatter(a.address, b.address, b.count, type_of(a.dtype, "reduce_scatter"),
                                 operation_of(reduction, a.dtype, "reduce_scatter"), c.handle, s);
  });
}

tutti_status* all_gather(tutti_communicator* participant, tutti_stream* stream,
                         const tutti_view* in, const tutti_view* out, tutti_event** event) {
  return enqueue(participant, stream, event, "all_gather", [&](auto& c, CUstream s) {
    const part a = part_of(c, in, "all_gather"), b = part_of(c, out, "all_gather");
    sdk::require_counts(a.count * static_cast<uint64_t>(c.size) == b.count, "all_gather", a, b);
    return nccl().all_gather(a.address, b.address, a.count, type_of(a.dtype, "all_gather"),
                             c.handle, s);
  });
}

tutti_status* all_to_all(tutti_communicator* participant, tutti_stream* stream,
                         const tutti_view* in, const tutti_view* out, tutti_event** event) {
  return enqueue(participant, stream, event, "all_to_all", [&](auto& c, CUstream s) {
    const part a = part_of(c, in, "all_to_all"), b = part_of(c, out, "all_to_all");
    const auto size = static_cast<uint64_t>(c.size);
    sdk::require_counts(a.count == b.count && a.count % size == 0, "all_to_all", a, b);
    const int type = type_of(a.dtype, "all_to_all");
    const uint64_t share = a.count / size;
    const uint64_t bytes = share * sdk::dtype_size(a.dtype);
    check_nccl(nccl().group_start(), "all_to_all");
    int code = 0;
    for (int peer = 0; peer < c.size && code == 0; ++peer) {
      const uint64_t at = bytes * static_cast<uint64_t>(peer);
      code = nccl().send(static_cast<char*>(a.address) + at, share, type, peer, c.handle, s);
      if (code != 0) break;
      code = nccl().receive(static_cast<char*>(b.address) + at, share, type, peer, c.handle, s);
    }
    const int ended = nccl().group_end();
    return code != 0 ? code : ended;
  });
}

tutti_status* send(tutti_communicator* participant, tutti_stream* stream, const tutti_view* in,
                   uint32_t peer, tutti_event** event) {
  return enqueue(participant, stream, event, "send", [&](auto& c, CUstream s) {
    require_peer(c, peer, "send");
    const part p = part_of(c, in, "send");
    return nccl().send(p.address, p.count, type_of(p.dtype, "send"), static_cast<int>(peer),
                       c.handle, s);
  });
}

tutti_status* receive(tutti_communicator* participant, tutti_stream* stream, const tutti_view* out,
                      uint32_t peer, tutti_event** event) {
  return enqueue(participant, stream, event, "receive", [&](auto& c, CUstream s) {
    require_peer(c, peer, "receive");
    const part p = part_of(c, out, "receive");
    return nccl().receive(p.address, p.count, type_of(p.dtype, "receive"), static_cast<int>(peer),
                          c.handle, s);
  });
}

tutti_status* abort(tutti_communicator* participant) {
  return sdk::guarded([&] {
    void* handle = std::exchange(sdk::deref(participant, "communicator").handle, nullptr);
    if (handle != nullptr) check_nccl(nccl().abort(handle), "abort");
  });
}

}  // namespace

const tutti_collective_api collective_api = {sizeof(tutti_collective_api),
                                             create,
                                             release,
                                             all_reduce,
                                             reduce,
                                             broadcast,
                                             reduce_scatter,
                                             all_gather,
                                             all_to_all,
                                             send,
                                             receive,
                                             abort};

}  // namespace tutti::cuda
