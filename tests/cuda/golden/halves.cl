// SPDX-License-Identifier: Apache-2.0
// Rendered; the prelude is left out.
#pragma OPENCL FP_CONTRACT OFF
typedef struct {
  int word[17];
} tutti_geometry;

__attribute__((reqd_work_group_size(128, 1, 1)))
kernel void tutti_main(
    global const half* in0,
    global const ushort* in1,
    global half* out0,
    global ushort* out1,
    global float* out2,
    const tutti_geometry g) {
  const int n0 = g.word[0];
  const int in0_offset = g.word[1];
  const int in0_stride0 = g.word[2];
  const int in1_offset = g.word[3];
  const int in1_stride0 = g.word[4];
  const int out0_offset = g.word[5];
  const int out0_stride0 = g.word[6];
  const int out1_offset = g.word[7];
  const int out1_stride0 = g.word[8];
  const int out2_offset = g.word[9];
  const int out2_stride0 = g.word[10];
  const int kept = g.word[11];
  const int parts = g.word[12];
  const int segment = g.word[13];
  const int segments = g.word[14];
  const int units = g.word[15];
  const int steps = g.word[16];
  for (long n = get_global_id(0); n < units; n += get_global_size(0)) {
    const int vector = (int)n;
    const int line = 0;
    const int start = vector * 4;
    const int count = n0 - start < 4 ? (int)(n0 - start) : 4;
    const int c0 = start;
    const int in0_at = in0_offset + c0 * in0_stride0;
    union { ulong whole; ushort element[4]; } in0_vector;
    if ((count == 4) & (((ulong)(in0 + in0_at) & (sizeof(ulong) - 1)) == 0)) {
      in0_vector.whole = *((global const ulong*)(in0 + in0_at));
    } else {
      __attribute__((opencl_unroll_hint(4)))
      for (int k = 0; k < 4; ++k) {
        in0_vector.element[k] = k < count ? (((global const ushort*)in0) + in0_at)[k] : 0;
      }
    }
    const int in1_at = in1_offset + c0 * in1_stride0;
    union { ulong whole; ushort element[4]; } in1_vector;
    if ((count == 4) & (((ulong)(in1 + in1_at) & (sizeof(ulong) - 1)) == 0)) {
      in1_vector.whole = *((global const ulong*)(in1 + in1_at));
    } else {
      __attribute__((opencl_unroll_hint(4)))
      for (int k = 0; k < 4; ++k) {
        in1_vector.element[k] = k < count ? (((global const ushort*)in1) + in1_at)[k] : 0;
      }
    }
    const int out0_at = out0_offset + c0 * out0_stride0;
    union { ulong whole; ushort element[4]; } out0_vector;
    const int out1_at = out1_offset + c0 * out1_stride0;
    union { ulong whole; ushort element[4]; } out1_vector;
    const int out2_at = out2_offset + c0 * out2_stride0;
    union { uint4 whole; float element[4]; } out2_vector;
    __attribute__((opencl_unroll_hint(4)))
    for (int k = 0; k < 4; ++k) {
      const float v0 = vload_half(k, ((half*)in0_vector.element));
      const float v1 = tutti_load_bf16(in1_vector.element[k]);
      const float v2 = v0 + v1;
      vstore_half_rte(v2, k, ((half*)out0_vector.element));
      out1_vector.element[k] = tutti_to_bf16(v2);
      out2_vector.element[k] = v2;
    }
    if ((count == 4) & (((ulong)(out0 + out0_at) & (sizeof(ulong) - 1)) == 0)) {
      *((global ulong*)(out0 + out0_at)) = out0_vector.whole;
    } else {
      __attribute__((opencl_unroll_hint(4)))
      for (int k = 0; k < 4; ++k) {
        if (k < count) ((global ushort*)out0)[out0_at + k] = out0_vector.element[k];
      }
    }
    if ((count == 4) & (((ulong)(out1 + out1_at) & (sizeof(ulong) - 1)) == 0)) {
      *((global ulong*)(out1 + out1_at)) = out1_vector.whole;
    } else {
      __attribute__((opencl_unroll_hint(4)))
      for (int k = 0; k < 4; ++k) {
        if (k < count) ((global ushort*)out1)[out1_at + k] = out1_vector.element[k];
      }
    }
    if ((count == 4) & (((ulong)(out2 + out2_at) & (sizeof(uint4) - 1)) == 0)) {
      *((global uint4*)(out2 + out2_at)) = out2_vector.whole;
    } else {
      __attribute__((opencl_unroll_hint(4)))
      for (int k = 0; k < 4; ++k) {
        if (k < count) ((global float*)out2)[out2_at + k] = out2_vector.element[k];
      }
    }
  }
}
