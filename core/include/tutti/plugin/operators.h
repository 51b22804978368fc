/* SPDX-License-Identifier: Apache-2.0
 *
 * The plugin ABI: operators, which are all work except fused programs.
 *
 * A plan is created from the description of an operator, without memory; everything that depends on
 * kind, parameters, dtypes, extents and strides is chosen and compiled then. A plan can be launched
 * any number of times, from several threads and on several streams of its device at once, with
 * different memory. It may be released while work that it launched is running.
 *
 * A description is unsupported if a field of it, of its views or of its parameters that the plugin
 * does not know, or that is reserved, is not zero. Unknown fields of a launch may be ignored: they
 * have a meaning only if a field of the description says so.
 */
#include "tutti/plugin.h" /* includes this file */
#ifndef TUTTI_PLUGIN_OPERATORS_H
#define TUTTI_PLUGIN_OPERATORS_H

typedef struct tutti_plan tutti_plan;

/* Memory of a buffer from this byte on. */
typedef struct tutti_range {
  tutti_buffer* buffer;
  uint64_t offset; /* bytes, a multiple of the element size */
} tutti_range;

/* A view without memory. */
typedef struct tutti_view_desc {
  int32_t dtype;
  uint32_t rank;
  uint64_t extent[TUTTI_MAX_RANK];
  int64_t stride[TUTTI_MAX_RANK]; /* elements */
} tutti_view_desc;

/* tutti/operator.def describes the results and views of each operator. */
typedef enum tutti_operator {
#define TUTTI_OPERATOR(number, name, ...) TUTTI_OPERATOR_##name = number,
#include "tutti/operator.def"
#undef TUTTI_OPERATOR
} tutti_operator;

typedef enum tutti_activation {
  TUTTI_ACTIVATION_NONE = 0,
  TUTTI_ACTIVATION_RELU = 1 /* of real floats: max(x, 0), NaN is propagated */
} tutti_activation;

/* A product can compute activation(a b + bias) before results are rounded and stored. If that is
 * not supported, the core runs the plain product and then a program. */
typedef struct tutti_matmul_params {
  uint64_t struct_size;
  int32_t activation; /* tutti_activation */
  uint32_t has_bias;  /* 1: there is a fourth view */
} tutti_matmul_params;

typedef enum tutti_scan {
  TUTTI_SCAN_SUM = 0, /* integers wrap, as products do */
  TUTTI_SCAN_PROD = 1,
  TUTTI_SCAN_MIN = 2,      /* NaN is propagated */
  TUTTI_SCAN_MAX = 3,      /* NaN is propagated */
  TUTTI_SCAN_LOGSUMEXP = 4 /* log(exp(a) + exp(b)), floats only */
} tutti_scan;

typedef struct tutti_scan_params {
  uint64_t struct_size;
  int32_t scan;       /* tutti_scan */
  uint32_t exclusive; /* 1: without the element itself; the first is the neutral element */
  uint32_t reverse;   /* 1: from the last element to the first */
  uint32_t reserved;
} tutti_scan_params;

typedef struct tutti_sort_params {
  uint64_t struct_size;
  uint32_t descending;
  uint32_t reserved;
} tutti_sort_params;

typedef struct tutti_search_params {
  uint64_t struct_size;
  uint32_t right;
  uint32_t reserved;
} tutti_search_params;

typedef struct tutti_partition_params {
  uint64_t struct_size;
  uint64_t kth;
} tutti_partition_params;

typedef enum tutti_scatter {
  TUTTI_SCATTER_SET = 0,      /* of all dtypes; complex numbers are passed as their parts */
  TUTTI_SCATTER_MULTIPLY = 1, /* also of complex numbers; integers wrap */
  TUTTI_SCATTER_MIN = 2,      /* NaN is propagated */
  TUTTI_SCATTER_MAX = 3       /* NaN is propagated */
} tutti_scatter;

typedef struct tutti_scatter_params {
  uint64_t struct_size;
  int32_t scatter; /* tutti_scatter */
  uint32_t reserved;
} tutti_scatter_params;

/* op(a) of a matrix a. */
typedef enum tutti_transpose {
  TUTTI_TRANSPOSE_NONE = 0,
  TUTTI_TRANSPOSE_PLAIN = 1,
  TUTTI_TRANSPOSE_CONJUGATE = 2
} tutti_transpose;

/* Parameters of dense linear algebra. */
typedef struct tutti_matrix_params {
  uint64_t struct_size;
  uint32_t upper;         /* 1: the upper triangle, 0: the lower one */
  int32_t transpose;      /* tutti_transpose */
  uint32_t unit_diagonal; /* 1: the diagonal consists of ones and is not read */
  uint32_t must_be_regular;
} tutti_matrix_params;

/* For each spatial axis; stride, dilation and input_dilation are at least 1. */
typedef struct tutti_convolution_params {
  uint64_t struct_size;
  int64_t stride[3];
  int64_t dilation[3];
  int64_t input_dilation[3];
  int64_t padding[3]; /* before the first element of x; negative: skipped elements */
  uint32_t flipped;   /* 1: w is read backwards along its spatial axes */
  int32_t activation; /* tutti_activation, of the sum and the bias */
  uint32_t has_bias;  /* 1: there is a fourth view */
  uint32_t reserved;
} tutti_convolution_params;

typedef enum tutti_fft {
  TUTTI_FFT_COMPLEX = 0,
  TUTTI_FFT_REAL = 1,     /* from real numbers to half a Hermitian sequence */
  TUTTI_FFT_HERMITIAN = 2 /* from half a Hermitian sequence to real numbers */
} tutti_fft;

typedef struct tutti_fft_params {
  uint64_t struct_size;
  int32_t fft;      /* tutti_fft */
  uint32_t inverse; /* 1: the other sign of the exponent; nothing is divided */
  uint64_t length;  /* points of the transform, at least 1 */
  double scale;
} tutti_fft_params;

typedef struct tutti_operator_desc {
  uint64_t struct_size;
  int32_t kind;          /* tutti_operator */
  uint32_t output_count; /* 1 unless the operator says otherwise */
  uint32_t input_count;
  uint32_t reserved;
  uint64_t view_size;           /* size and stride of `views` in bytes */
  const tutti_view_desc* views; /* outputs first */
  const void* params;           /* struct of the operator; NULL if it has none */
} tutti_operator_desc;

/* The memory of one launch, on the plan's device. Outputs overlap no other memory of the launch;
 * inputs may overlap each other. */
typedef struct tutti_operator_launch {
  uint64_t struct_size;
  uint64_t operand_size; /* stride of `operands` in bytes */
  uint32_t operand_count;
  uint32_t reserved;
  const tutti_range* operands; /* one for each view, in the same order */
  tutti_range workspace;       /* offset: a multiple of the device's alignment */
  uint64_t workspace_bytes;
} tutti_operator_launch;

typedef struct tutti_operator_api {
  uint64_t struct_size;
  /* Whether device and plugin support a valid description. `reason` (may be NULL) receives a string
   * that stays valid until process exit. */
  tutti_status* (*supports)(tutti_device* device, const tutti_operator_desc* desc, int32_t* support,
                            const char** reason);
  /* `desc` is not used after the call. Returns TUTTI_ERROR_UNSUPPORTED if `supports` says no, or if
   * that is known only now; the core then runs the operator elsewhere. */
  tutti_status* (*create)(tutti_device* device, const tutti_operator_desc* desc, tutti_plan** plan);
  void (*release)(tutti_plan* plan);
  /* Bytes of workspace that each launch needs until its work is done. */
  tutti_status* (*workspace)(tutti_plan* plan, uint64_t* bytes);
  tutti_status* (*launch)(tutti_stream* stream, tutti_plan* plan,
                          const tutti_operator_launch* launch, tutti_event** event);
} tutti_operator_api;

#endif /* TUTTI_PLUGIN_OPERATORS_H */
