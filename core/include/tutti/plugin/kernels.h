/* SPDX-License-Identifier: Apache-2.0
 *
 * The plugin ABI, optional: kernels of applications.
 *
 * The application provides source code, which is built for one device and launched on buffers. The
 * core does not know what a launch reads and writes.
 */
#include "tutti/plugin.h" /* includes this file */
#ifndef TUTTI_PLUGIN_KERNELS_H
#define TUTTI_PLUGIN_KERNELS_H

typedef struct tutti_kernel tutti_kernel;

typedef enum tutti_kernel_language {
  TUTTI_KERNEL_OPENCL_C = 1,
  TUTTI_KERNEL_CUDA_CXX = 2,
  TUTTI_KERNEL_PTX = 3,
  TUTTI_KERNEL_SPIRV = 4, /* a module with the OpenCL entry point `entry` */
  TUTTI_KERNEL_HOST = 5   /* a function: tutti_kernel_desc.host */
} tutti_kernel_language;

#define TUTTI_KERNEL_LANGUAGE_BIT(language) (1u << (language))

/* A launch, as passed to a function on the host. `arguments` has an address for each argument: of
 * the memory of a buffer at its offset, or of the bytes of a scalar. */
typedef struct tutti_host_kernel_call {
  uint64_t struct_size;
  uint64_t global[3];
  uint64_t local[3]; /* 0, 0, 0 if the launch gave none */
  void* const* arguments;
  uint32_t argument_count;
  uint32_t reserved;
  void* shared; /* shared_bytes of memory that nothing else uses */
  uint64_t shared_bytes;
} tutti_host_kernel_call;

typedef struct tutti_kernel_desc {
  uint64_t struct_size;
  int32_t language; /* tutti_kernel_language */
  uint32_t reserved;
  const void* source; /* text or a module, not necessarily terminated by 0 */
  uint64_t source_bytes;
  const char* entry;   /* name of the kernel in the source */
  const char* options; /* of the language's compiler, separated by spaces; NULL: none */
  const char* label;   /* for logs, traces and messages */
  /* TUTTI_KERNEL_HOST: called once for each launch, on any thread. If it returns a status, the work
   * fails with it. host_release(host_context) (may be NULL) is called once, after the kernel was
   * released and all of its launches have ended; it is not called if the kernel was not created. */
  tutti_status* (*host)(void* host_context, const tutti_host_kernel_call* call);
  void* host_context;
  void (*host_release)(void* host_context);
} tutti_kernel_desc;

#define TUTTI_KERNEL_ARGUMENTS_UNKNOWN 0xffffffffu

typedef struct tutti_kernel_info {
  uint64_t struct_size;
  uint64_t max_work_group_size; /* of this kernel on this device */
  uint64_t max_shared_bytes;    /* of tutti_kernel_launch.shared_bytes */
  uint32_t argument_count;      /* of a launch without shared_bytes, or ..._UNKNOWN */
  uint32_t reserved;
} tutti_kernel_info;

typedef enum tutti_kernel_argument_kind {
  TUTTI_KERNEL_BUFFER = 1,
  TUTTI_KERNEL_SCALAR = 2
} tutti_kernel_argument_kind;

typedef struct tutti_kernel_argument {
  int32_t kind;         /* tutti_kernel_argument_kind */
  uint32_t bytes;       /* of a scalar: 1 to 16 */
  tutti_buffer* buffer; /* of the stream's device, never NULL for a buffer */
  uint64_t offset;      /* bytes; a multiple of the device's alignment */
  const void* scalar;   /* read during the call */
} tutti_kernel_argument;

typedef struct tutti_kernel_launch {
  uint64_t struct_size;
  const tutti_kernel_argument* arguments;
  uint32_t argument_count;
  uint32_t argument_size; /* stride of `arguments` in bytes */
  uint64_t global[3];     /* work-items along each dimension, at least 1 */
  uint64_t local[3];      /* of a group; divides global. 0, 0, 0: chosen by the plugin */
  /* Memory of each group in addition to what the kernel declares: dynamic shared memory in CUDA, in
   * OpenCL a further last argument, a `local` pointer. 0: none. */
  uint64_t shared_bytes;
} tutti_kernel_launch;

typedef struct tutti_kernel_api {
  uint64_t struct_size;
  /* Set of TUTTI_KERNEL_LANGUAGE_BIT: the languages that this device supports. */
  tutti_status* (*languages)(tutti_device* device, uint32_t* languages);
  /* Builds the source, or takes it from the host's cache. The message of TUTTI_ERROR_COMPILE
   * contains the compiler's log, with the line numbers of `source`. */
  tutti_status* (*create)(tutti_device* device, const tutti_kernel_desc* desc,
                          tutti_kernel** kernel);
  void (*release)(tutti_kernel* kernel); /* the caller ensures that no work uses it, unless
                                            its language is TUTTI_KERNEL_HOST */
  tutti_status* (*info)(tutti_kernel* kernel, tutti_kernel_info* info);
  tutti_status* (*launch)(tutti_stream* stream, tutti_kernel* kernel,
                          const tutti_kernel_launch* launch, tutti_event** event);
} tutti_kernel_api;

#endif /* TUTTI_PLUGIN_KERNELS_H */
