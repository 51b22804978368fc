// SPDX-License-Identifier: Apache-2.0
//
// The renderer's dialect for CUDA C++, for NVRTC without the toolkit's headers.
#include "cuda/objects.hpp"
#include "embedded_kernels.hpp"

namespace tutti::cuda {

sdk::dialect make_dialect() {
  sdk::dialect d;
  d.name = "CUDA C++";
  d.kernel = "extern \"C\" __global__ __launch_bounds__($n)";
  d.local = "__shared__ ";
  d.barrier = "__syncthreads();";
  d.shuffle = "tutti_shuffle($v, $d)";
  d.group_index = "blockIdx.x";
  d.group_count = "gridDim.x";
  d.local_index = "(int)threadIdx.x";
  d.global_index = "(long long)blockIdx.x * blockDim.x + threadIdx.x";
  d.global_size = "(long long)gridDim.x * blockDim.x";
  d.unroll = "#pragma unroll $n";
  d.types[TUTTI_BOOL] = "unsigned char";
  d.types[TUTTI_I8] = "signed char";
  d.types[TUTTI_I64] = "long long";
  d.types[TUTTI_U8] = "unsigned char";
  d.types[TUTTI_U16] = "unsigned short";
  d.types[TUTTI_U32] = "unsigned int";
  d.types[TUTTI_U64] = "unsigned long long";
  d.types[TUTTI_F16] = "unsigned short";
  d.types[TUTTI_BF16] = "unsigned short";
  d.size_type = "unsigned long long";
  d.prelude = kernels::prelude_cu;
  d.libraries = {kernels::math_native_cu, kernels::math_shared_cu};
  return d;
}

}  // namespace tutti::cuda
