// SPDX-License-Identifier: Apache-2.0
// Exponentials and logarithms of scans in the CPU schedule, before scan_steps_shared.cl: uses the
// math source of programs, so that the host engine, which compiles it as well, has the same bits.

#if GROUP == 1 && OP == 4

#ifdef __OPENCL_VERSION__
#pragma OPENCL FP_CONTRACT OFF
#endif

#define BYTES_float 4
#define BYTES_double 8
#define BYTES_OF_(type) BYTES_##type
#define BYTES_OF(type) BYTES_OF_(type)

#if BYTES_OF(ACC) == 8
#include "math_f64.cl"
#define EXP(x) tutti_exp_f64(x)
#define LOG(x) tutti_log_f64(x)
#define LOG1P(x) tutti_log1p_f64(x)
#else
#include "math_f32.cl"
#define EXP(x) tutti_exp_f32(x)
#define LOG(x) tutti_log_f32(x)
#define LOG1P(x) tutti_log1p_f32(x)
#endif

#endif
