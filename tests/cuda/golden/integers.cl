// SPDX-License-Identifier: Apache-2.0
// Rendered; the prelude is left out.
TUTTI_INTEGER(i16, short, ushort, 16)
TUTTI_FLOAT_TO_UNSIGNED(f32, float, u8, uchar, uchar, 8)
#pragma OPENCL FP_CONTRACT OFF
typedef struct {
  int word[17];
} tutti_geometry;

__attribute__((reqd_work_group_size(128, 1, 1)))
kernel void tutti_main(
    global const short* in0,
    global const short* in1,
    global const float* in2,
    global short* out0,
    global uchar* out1,
    const tutti_geometry g) {
  const int n0 = g.word[0];
  const int in0_offset = g.word[1];
  const int in0_stride0 = g.word[2];
  const int in1_offset = g.word[3];
  const int in1_stride0 = g.word[4];
  const int in2_offset = g.word[5];
  const int in2_stride0 = g.word[6];
  const int out0_offset = g.word[7];
  const int out0_stride0 = g.word[8];
  const int out1_offset = g.word[9];
  const int out1_stride0 = g.word[10];
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
    union { ulong whole; short element[4]; } in0_vector;
    if ((count == 4) & (((ulong)(in0 + in0_at) & (sizeof(ulong) - 1)) == 0)) {
      in0_vector.whole = *((global const ulong*)(in0 + in0_at));
    } else {
      __attribute__((opencl_unroll_hint(4)))
      for (int k = 0; k < 4; ++k) {
        in0_vector.element[k] = k < count ? (((global const short*)in0) + in0_at)[k] : 0;
      }
    }
    const int in1_at = in1_offset + c0 * in1_stride0;
    union { ulong whole; short element[4]; } in1_vector;
    if ((count == 4) & (((ulong)(in1 + in1_at) & (sizeof(ulong) - 1)) == 0)) {
      in1_vector.whole = *((global const ulong*)(in1 + in1_at));
    } else {
      __attribute__((opencl_unroll_hint(4)))
      for (int k = 0; k < 4; ++k) {
        in1_vector.element[k] = k < count ? (((global const short*)in1) + in1_at)[k] : 0;
      }
    }
    const int in2_at = in2_offset + c0 * in2_stride0;
    union { uint4 whole; float element[4]; } in2_vector;
    if ((count == 4) & (((ulong)(in2 + in2_at) & (sizeof(uint4) - 1)) == 0)) {
      in2_vector.whole = *((global const uint4*)(in2 + in2_at));
    } else {
      __attribute__((opencl_unroll_hint(4)))
      for (int k = 0; k < 4; ++k) {
        in2_vector.element[k] = k < count ? (((global const float*)in2) + in2_at)[k] : 0;
      }
    }
    const int out0_at = out0_offset + c0 * out0_stride0;
    union { ulong whole; short element[4]; } out0_vector;
    const int out1_at = out1_offset + c0 * out1_stride0;
    union { uint whole; uchar element[4]; } out1_vector;
    __attribute__((opencl_unroll_hint(4)))
    for (int k = 0; k < 4; ++k) {
      const short v0 = in0_vector.element[k];
      const short v1 = in1_vector.element[k];
      const float v2 = in2_vector.element[k];
      const short v3 = (short)(tutti_floor_divide_i16(v0, v1));
      const short v4 = (short)(tutti_left_shift_i16(v3, v1));
      const uchar v5 = tutti_f32_to_u8(v2);
      out0_vector.element[k] = v4;
      out1_vector.element[k] = v5;
    }
    if ((count == 4) & (((ulong)(out0 + out0_at) & (sizeof(ulong) - 1)) == 0)) {
      *((global ulong*)(out0 + out0_at)) = out0_vector.whole;
    } else {
      __attribute__((opencl_unroll_hint(4)))
      for (int k = 0; k < 4; ++k) {
        if (k < count) ((global short*)out0)[out0_at + k] = out0_vector.element[k];
      }
    }
    if ((count == 4) & (((ulong)(out1 + out1_at) & (sizeof(uint) - 1)) == 0)) {
      *((global uint*)(out1 + out1_at)) = out1_vector.whole;
    } else {
      __attribute__((opencl_unroll_hint(4)))
      for (int k = 0; k < 4; ++k) {
        if (k < count) ((global uchar*)out1)[out1_at + k] = out1_vector.element[k];
      }
    }
  }
}
