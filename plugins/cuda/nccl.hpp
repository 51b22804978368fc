// SPDX-License-Identifier: Apache-2.0
//
// NCCL, loaded at run time. Signatures and numbers are declared here, because NCCL is not part of
// the toolkit.
#pragma once

#include <array>
#include <string>

#include "cuda/objects.hpp"

namespace tutti::cuda {

using nccl_comm = void*;

// ncclUniqueId: identifies a group for its participants.
struct nccl_id {
  std::array<char, 128> bytes;
};

#define TUTTI_NCCL_FUNCTIONS(X)                                                                    \
  X(error_string, "ncclGetErrorString", const char*, (int))                                        \
  X(unique_id, "ncclGetUniqueId", int, (nccl_id*))                                                 \
  X(init_rank, "ncclCommInitRank", int, (nccl_comm*, int, nccl_id, int))                           \
  X(destroy, "ncclCommDestroy", int, (nccl_comm))                                                  \
  X(abort, "ncclCommAbort", int, (nccl_comm))                                                      \
  X(group_start, "ncclGroupStart", int, ())                                                        \
  X(group_end, "ncclGroupEnd", int, ())                                                            \
  X(all_reduce, "ncclAllReduce", int, (const void*, void*, size_t, int, int, nccl_comm, CUstream)) \
  X(reduce_scatter, "ncclReduceScatter", int,                                                      \
    (const void*, void*, size_t, int, int, nccl_comm, CUstream))                                   \
  X(all_gather, "ncclAllGather", int, (const void*, void*, size_t, int, nccl_comm, CUstream))      \
  X(send, "ncclSend", int, (const void*, size_t, int, int, nccl_comm, CUstream))                   \
  X(receive, "ncclRecv", int, (void*, size_t, int, int, nccl_comm, CUstream))

struct nccl_library {
#define TUTTI_NCCL_MEMBER(member, name, result, parameters) result(*member) parameters = nullptr;
  TUTTI_NCCL_FUNCTIONS(TUTTI_NCCL_MEMBER)
#undef TUTTI_NCCL_MEMBER
};

// Throws TUTTI_ERROR_UNSUPPORTED if it is not installed or too old.
const nccl_library& nccl();
void check_nccl(int code, const std::string& what);

// ncclDataType_t; bool is sent as u8. -1: none, and its elements can only be moved as bytes.
int nccl_type_of(int32_t dtype);
// ncclRedOp_t.
int nccl_operation_of(int32_t reduction);

// Ends a group of NCCL calls in any case: a group must not stay open.
class nccl_group {
 public:
  explicit nccl_group(std::string what) : what_(std::move(what)) {
    check_nccl(nccl().group_start(), what_);
  }
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
  const std::string what_;
  bool open_ = true;
};

}  // namespace tutti::cuda
