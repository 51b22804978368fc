// SPDX-License-Identifier: Apache-2.0
//
// The renderer's dialect for OpenCL C 1.2.
#include "embedded_kernels.hpp"
#include "opencl/objects.hpp"

namespace tutti::opencl {

sdk::dialect make_dialect(const device_info& info) {
  const bool cpu = info.kind == sdk::schedule::cpu;
  sdk::dialect d;
  d.name = "OpenCL C 1.2";
  d.prologue_f64 = "#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n";
  // The same rounding everywhere: no fused multiply-add unless a function requests fma. On CPUs
  // also in the library's functions, so that the host engine (sdk/host_engine) computes the same
  // bits.
  (cpu ? d.prologue : d.after_functions) = "#pragma OPENCL FP_CONTRACT OFF\n";
  d.kernel = "__attribute__((reqd_work_group_size($n, 1, 1)))\nkernel";
  d.global = "global ";
  d.local = "local ";
  d.barrier = "barrier(CLK_LOCAL_MEM_FENCE);";
  d.group_index = "get_group_id(0)";
  d.group_count = "get_num_groups(0)";
  d.local_index = "get_local_id(0)";
  d.global_index = "get_global_id(0)";
  d.global_size = "get_global_size(0)";
  // Oclgrind's interpreter widens vectors of bool incorrectly (1 becomes 255), so it gets plain
  // loops.
  if (cpu && info.name.find("Oclgrind") == std::string::npos) {
    d.vector_loop =
        "#pragma clang loop vectorize(assume_safety) vectorize_width($w) interleave_count(4)";
  }
  d.unroll = "__attribute__((opencl_unroll_hint($n)))";
  if (!cpu) {
    d.load_f16 = "vload_half($i, $p)";
    d.store_f16 = "vstore_half_rte($v, $i, $p)";
    d.types[TUTTI_F16] = "half";
  }
  if (!info.has_f64) d.types[TUTTI_F64] = d.types[TUTTI_C128] = {};
  d.prelude = kernels::prelude_cl;
  // CPUs use vectorisable functions first, other devices those of the driver.
  d.libraries = {kernels::math_native_cl, kernels::math_cpu_cl};
  if (cpu) std::swap(d.libraries[0], d.libraries[1]);
  d.libraries.push_back(kernels::math_shared_cl);
  return d;
}

}  // namespace tutti::opencl
