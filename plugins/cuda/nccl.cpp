// SPDX-License-Identifier: Apache-2.0
#include "cuda/nccl.hpp"

namespace tutti::cuda {
namespace {

nccl_library load() {
  std::string why;
  void* handle = open_library("libnccl.so.2", why);
  if (handle == nullptr) {
    sdk::throw_unsupported("collectives need NCCL: ", why,
                           "; install NCCL (package libnccl2), or do without");
  }
  nccl_library l;
#define TUTTI_NCCL_LOAD(member, name, result, parameters)                  \
  l.member = reinterpret_cast<result(*) parameters>(symbol(handle, name)); \
  if (l.member == nullptr) sdk::throw_unsupported("NCCL is too old: it lacks " name);
  TUTTI_NCCL_FUNCTIONS(TUTTI_NCCL_LOAD)
#undef TUTTI_NCCL_LOAD
  return l;
}

}  // namespace

const nccl_library& nccl() {
  static const nccl_library* const loaded = new nccl_library(load());  // again while it is missing
  return *loaded;
}

void check_nccl(int code, const std::string& what) {
  if (code == 0) return;
  throw sdk::plugin_error(
      TUTTI_ERROR_DRIVER,
      what + ": NCCL: " + nccl().error_string(code) + " (" + std::to_string(code) + ")", code);
}

int nccl_type_of(int32_t dtype) {
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

// Sum, product, maximum, minimum.
int nccl_operation_of(int32_t reduction) {
  if (reduction == TUTTI_REDUCE_SUM) return 0;
  if (reduction == TUTTI_REDUCE_PROD) return 1;
  return reduction == TUTTI_REDUCE_MAX || reduction == TUTTI_REDUCE_ANY ? 2 : 3;
}

}  // namespace tutti::cuda
