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
    const int linear = (int)n;
    const int c0 = linear;
    const short v0 = in0[in0_offset + c0 * in0_stride0];
    const short v1 = in1[in1_offset + c0 * in1_stride0];
    const float v2 = in2[in2_offset + c0 * in2_stride0];
    const short v3 = (short)(tutti_floor_divide_i16(v0, v1));
    const short v4 = (short)(tutti_left_shift_i16(v3, v1));
    const uchar v5 = tutti_f32_to_u8(v2);
    out0[out0_offset + c0 * out0_stride0] = v4;
    out1[out1_offset + c0 * out1_stride0] = v5;
  }
}
