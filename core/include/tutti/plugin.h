/* SPDX-License-Identifier: Apache-2.0
 *
 * The plugin ABI of Tutti: the interface between the core and the shared library of a backend. It
 * is plain C with fixed-width integers, and only grows. A plugin exports one symbol,
 * tutti_plugin_entry, which returns tables of function pointers. This header declares devices,
 * memory, streams, transfers and programs; it includes operators, collectives and kernels of
 * applications.
 *
 * Rules for all functions:
 *  - A function returns NULL on success, otherwise a status object that the caller releases.
 *    Release functions return nothing and cannot fail; functions that return a value are documented
 *    where they are declared. After success each requested output (a handle, an event) is set and
 *    not NULL.
 *  - A table must contain all functions that are not marked optional; the core does not load the
 *    plugin otherwise. Functions that are optional together (map and unmap, event_create and
 *    event_signal) must both be present or both be absent.
 *  - Structs grow at their end, fields are never moved or reused, and sizes are never compared for
 *    equality. The size of a struct is given in one of three ways:
 *      - An input struct (descriptions, launches, tables, a status) begins with struct_size, set by
 *        the side that filled it in. The reader reads the smaller of that size and the one it
 *        knows; further fields are zero or absent.
 *      - An output struct (properties, capabilities, times, infos) begins with struct_size too. The
 *        caller sets it to the available size, the callee to the number of bytes it has written.
 *      - Elements of an array have no size field: a field beside the pointer is their stride in
 *        bytes (operand_size, call_size), at least 8, and the reader reads at most that many bytes
 *        of each.
 *    tutti_scalar, tutti_range and tutti_view never grow.
 *  - A plugin must not abort, throw across this boundary or free memory that it did not allocate. A
 *    plugin outlives its devices; a device outlives its buffers, streams, events, programs, plans,
 *    kernels and communicators. Libraries stay loaded until the process exits.
 *  - Functions may be called from any thread; the caller serialises calls with the same stream.
 *    Only event_wait, synchronize, map, blocking transfers and the creation of communicators may
 *    block.
 *  - A function that enqueues work stores in `*event` an event that completes with the work. If
 *    `event` is NULL, no event is created.
 */
#ifndef TUTTI_PLUGIN_H
#define TUTTI_PLUGIN_H

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define TUTTI_ABI_MAJOR 2
#define TUTTI_ABI_MINOR 0
#define TUTTI_IR_VERSION 1
#define TUTTI_IR_VERSION_MIN 1 /* the oldest version that this header describes */
#define TUTTI_MAX_RANK 8

#if defined(_WIN32)
#define TUTTI_PLUGIN_EXPORT __declspec(dllexport)
#else
#define TUTTI_PLUGIN_EXPORT __attribute__((visibility("default")))
#endif

/* ---- status ---------------------------------------------------------------------------------- */

typedef enum tutti_code {
  TUTTI_OK = 0,
  TUTTI_ERROR_INTERNAL = 1,         /* a defect in the plugin */
  TUTTI_ERROR_INVALID_ARGUMENT = 2, /* a defect in the caller */
  TUTTI_ERROR_UNSUPPORTED = 3,      /* this device cannot do it; the message says why */
  TUTTI_ERROR_OUT_OF_MEMORY = 4,    /* device or host memory; the core trims its pool and retries */
  TUTTI_ERROR_DEVICE_LOST = 5,      /* every later call on this device fails as well */
  TUTTI_ERROR_COMPILE = 6,          /* a program did not build; the message holds the log */
  TUTTI_ERROR_DRIVER = 7,           /* any other vendor error, see vendor_code */
  TUTTI_ERROR_TIMEOUT = 8,
  TUTTI_ERROR_NO_DRIVER = 9 /* the vendor's driver or library is absent on this machine */
} tutti_code;

typedef struct tutti_status {
  uint64_t struct_size;
  int32_t code;        /* tutti_code */
  int32_t vendor_code; /* the driver's error number, or 0 */
  uint32_t retryable;  /* 1: the same call may succeed later */
  uint32_t reserved;
  const char* message; /* UTF-8, owned by the status */
  void (*release)(struct tutti_status* self);
} tutti_status;

/* ---- types ----------------------------------------------------------------------------------- */

typedef enum tutti_dtype {
  TUTTI_INVALID = 0,
  TUTTI_BOOL = 1, /* one byte, 0 or 1 */
  TUTTI_I8 = 2,
  TUTTI_I16 = 3,
  TUTTI_I32 = 4,
  TUTTI_I64 = 5,
  TUTTI_U8 = 6,
  TUTTI_U16 = 7,
  TUTTI_U32 = 8,
  TUTTI_U64 = 9,
  TUTTI_F16 = 10,
  TUTTI_BF16 = 11,
  TUTTI_F32 = 12,
  TUTTI_F64 = 13,
  TUTTI_C64 = 14,
  TUTTI_C128 = 15
} tutti_dtype;

#define TUTTI_DTYPE_BIT(d) (1u << (d))

typedef struct tutti_device tutti_device;
typedef struct tutti_buffer tutti_buffer;
typedef struct tutti_stream tutti_stream;
typedef struct tutti_event tutti_event;
typedef struct tutti_program tutti_program;

/* One scalar argument: the value in its dtype, at the start of the union. Never grows. */
typedef union tutti_scalar {
  uint8_t u8;
  int8_t i8;
  uint16_t u16;
  int16_t i16;
  uint32_t u32;
  int32_t i32;
  uint64_t u64;
  int64_t i64;
  float f32;
  double f64;
} tutti_scalar;

/* ---- services of the host ----------------------------------------------------------------------
 * Valid until process exit, as are the strings that they return. Functions may be NULL. The cache
 * stores compiled code in memory and on disk; its functions are NULL if the user has disabled it.
 * The core adds ABI, plugin build, device and driver to the key, so a plugin passes only source and
 * options. */

typedef enum tutti_log_level {
  TUTTI_LOG_ERROR = 1,
  TUTTI_LOG_WARN = 2,
  TUTTI_LOG_INFO = 3,
  TUTTI_LOG_DEBUG = 4
} tutti_log_level;

typedef struct tutti_host {
  uint64_t struct_size;
  uint32_t abi_major;
  uint32_t abi_minor;
  void* context;
  void (*log)(void* context, int32_t level, const char* message);
  /* Calls sink(sink_context, data, size) and returns 1 on a hit, returns 0 on a miss. */
  int32_t (*cache_load)(void* context, const char* device_key, const void* key, uint64_t key_size,
                        void (*sink)(void* sink_context, const void* data, uint64_t size),
                        void* sink_context);
  void (*cache_store)(void* context, const char* device_key, const void* key, uint64_t key_size,
                      const void* data, uint64_t size);
  /* Reports one compilation for logs, statistics and the trace. */
  void (*compiled)(void* context, const char* what, double seconds, int32_t from_cache);
  /* A folder in which a driver may keep files between runs; NULL if no such folder is writable. The
   * host limits its size, and removes files that were not used for a long time. */
  const char* (*driver_folder)(void* context, const char* name);
  /* To be called before and after each call of a compiler, which may crash the process.
   * compile_begin, called in the thread that compiles, returns how to compile, according to earlier
   * processes that ended within this compilation: 0: as usual; -1: as usual, one process has ended;
   * 1: with safer options; greater: not at all. Safer options are requested after two ends, and no
   * compilation after four, each for a day. compile_end may be called in any thread, and must be
   * called whether or not the compilation succeeded. */
  int32_t (*compile_begin)(void* context, const char* device_key, const void* key,
                           uint64_t key_size, const char* what);
  void (*compile_end)(void* context, const char* device_key, const void* key, uint64_t key_size);
  /* The user's setting of this name (for "OPENCL_SCHEDULE" the environment variable
   * TUTTI_OPENCL_SCHEDULE); NULL if it is not set or empty. Plugins read settings only with this
   * function, so that hosts can provide them without environment variables. */
  const char* (*option)(void* context, const char* name);
} tutti_host;

/* ---- devices --------------------------------------------------------------------------------- */

typedef enum tutti_device_type {
  TUTTI_DEVICE_CPU = 1,
  TUTTI_DEVICE_GPU = 2,
  TUTTI_DEVICE_ACCELERATOR = 3
} tutti_device_type;

/* By this class `auto` selects among devices of one type. Devices that declare none come last. */
typedef enum tutti_speed_class {
  TUTTI_SPEED_NOT_SAID = 0,
  TUTTI_SPEED_PLAIN = 1,    /* plain loops, an interpreter, a simulator: the last choice */
  TUTTI_SPEED_PORTABLE = 2, /* compiled kernels in a language of several vendors */
  TUTTI_SPEED_NATIVE = 3    /* the language and libraries of the device's own vendor */
} tutti_speed_class;

typedef struct tutti_device_properties {
  uint64_t struct_size;
  int32_t type; /* tutti_device_type */
  uint32_t compute_units;
  const char* name; /* strings belong to the plugin and stay valid until process exit */
  const char* vendor;
  const char* driver;    /* driver name and version */
  const char* cache_key; /* differs if compiled code must not be reused */
  uint64_t memory_bytes;
  uint64_t max_allocation_bytes;
  uint32_t stored_dtypes;   /* set of TUTTI_DTYPE_BIT: dtypes of arrays */
  uint32_t computed_dtypes; /* dtypes of arithmetic; f16 is converted to f32 if it is absent.
                               Comparisons return TUTTI_BOOL even if it is absent */
  uint8_t uuid[16];
  uint32_t has_uuid;
  uint32_t has_pci;
  uint32_t pci_domain, pci_bus, pci_device, pci_function;
  uint32_t unified_memory;     /* 1: device memory is host memory */
  uint32_t max_inputs;         /* of one program */
  uint32_t max_outputs;        /* of one program */
  uint32_t max_instructions;   /* of one program */
  uint32_t max_argument_bytes; /* of one kernel launch */
  uint32_t max_work_group_size;
  uint32_t alignment;   /* in bytes, a power of two: of the offsets of workspaces */
  const char* schedule; /* "cpu", "gpu" or another word, for people and tests */
  uint32_t speed_class; /* tutti_speed_class */
} tutti_device_properties;

typedef struct tutti_device_api {
  uint64_t struct_size;
  /* The number of devices; TUTTI_ERROR_NO_DRIVER if there are none. May call the driver. */
  tutti_status* (*count)(uint32_t* count);
  tutti_status* (*properties)(uint32_t index, tutti_device_properties* properties);
  tutti_status* (*open)(uint32_t index, tutti_device** device);
  void (*release)(tutti_device* device);
  /* Optional: used in the messages of failed allocations. */
  tutti_status* (*memory_available)(tutti_device* device, uint64_t* bytes);
} tutti_device_api;

/* ---- memory, which the core manages in pools ------------------------------------------------- */

typedef enum tutti_memory_kind {
  TUTTI_MEMORY_DEVICE = 0, /* memory in which the device computes fastest */
  /* Memory of the host, pinned or mapped, for transfers without an intermediate copy. It can be
   * mapped several times at once. */
  TUTTI_MEMORY_HOST = 1
} tutti_memory_kind;

typedef struct tutti_buffer_desc {
  uint64_t struct_size;
  uint64_t bytes; /* at least 1 */
  uint32_t kind;  /* tutti_memory_kind; unknown ones are "unsupported" */
  uint32_t flags; /* none are defined; unknown bits are "unsupported" */
} tutti_buffer_desc;

typedef enum tutti_map_flags {
  TUTTI_MAP_READ = 1, /* the host reads the contents of the buffer */
  TUTTI_MAP_WRITE = 2 /* after unmap the buffer contains what the host wrote */
} tutti_map_flags;

typedef struct tutti_memory_api {
  uint64_t struct_size;
  tutti_status* (*allocate)(tutti_device* device, const tutti_buffer_desc* desc,
                            tutti_buffer** buffer);
  void (*release)(tutti_buffer* buffer); /* the caller ensures that no work uses it */
  /* Optional: makes the bytes of a buffer accessible to the host at `*host` until unmap. A plugin
   * that would have to copy them returns "unsupported". `flags` is not 0. The caller ensures that
   * until unmap no work writes these bytes, and with TUTTI_MAP_WRITE that none reads them. The core
   * maps buffers of TUTTI_MEMORY_HOST, and on devices with unified_memory also others. */
  tutti_status* (*map)(tutti_buffer* buffer, uint64_t offset, uint64_t bytes, uint32_t flags,
                       void** host);
  tutti_status* (*unmap)(tutti_buffer* buffer, void* host); /* `host`: from map */
} tutti_memory_api;

/* ---- streams and events ------------------------------------------------------------------------
 * The work of a stream takes effect in order, as if each item began after the previous one ended.
 *
 * If work fails, its event fails with the status of the work. If a stream waits for an event that
 * fails, the stream fails too: work enqueued after the wait may run or be skipped, its results are
 * undefined, and its events fail with the same code and a message that contains the original one.
 * `synchronize` ends this state: it waits for all work, returns the failure, and the stream can be
 * used again. If an event has failed already, `wait` may instead return the failure and leave the
 * stream unchanged. Other streams and devices are not affected. If a failure made the device
 * unusable, each later call returns TUTTI_ERROR_DEVICE_LOST. */

typedef enum tutti_stream_flags {
  TUTTI_STREAM_PROFILE = 1 /* events of this stream have times */
} tutti_stream_flags;

#define TUTTI_FOREVER UINT64_MAX /* a wait without a limit */

typedef struct tutti_stream_desc {
  uint64_t struct_size;
  uint32_t flags; /* tutti_stream_flags; unknown bits are "unsupported" */
  uint32_t reserved;
} tutti_stream_desc;

typedef struct tutti_event_times {
  uint64_t struct_size;
  uint64_t begin_ns; /* device clock */
  uint64_t end_ns;
} tutti_event_times;

typedef void (*tutti_event_listener)(void* context, const tutti_status* failure);

typedef struct tutti_stream_api {
  uint64_t struct_size;
  tutti_status* (*create)(tutti_device* device, const tutti_stream_desc* desc,
                          tutti_stream** stream);
  void (*release)(tutti_stream* stream);
  /* Optional: submits queued work to the device; NULL if that happens without this call. */
  tutti_status* (*flush)(tutti_stream* stream);
  tutti_status* (*synchronize)(tutti_stream* stream); /* waits; returns the first failure */
  tutti_status* (*record)(tutti_stream* stream, tutti_event** event);
  tutti_status* (*wait)(tutti_stream* stream, tutti_event* event); /* later work waits for event */
  /* Waits for the work. Returns its failure, or TUTTI_ERROR_TIMEOUT if it is not done after
   * `timeout_ns`; 0: does not wait, TUTTI_FOREVER: no limit. After this has returned NULL, the
   * results are visible to map and to other streams. */
  tutti_status* (*event_wait)(tutti_event* event, uint64_t timeout_ns);
  tutti_status* (*event_query)(tutti_event* event, int32_t* done);
  void (*event_release)(tutti_event* event);
  /* Optional: an event of the host, for which streams of the device and event_wait can wait. It
   * completes when it is signalled: with NULL as successful, otherwise as failed with code,
   * vendor_code, retryable and message of `status`, which are copied. A second signal, or a signal
   * of an event of work, returns TUTTI_ERROR_INVALID_ARGUMENT. If the event is released before it
   * is signalled, waits for it remain pending. */
  tutti_status* (*event_create)(tutti_device* device, tutti_event** event);
  tutti_status* (*event_signal)(tutti_event* event, const tutti_status* status);
  /* Optional: calls `listener(context, failure)` once when the event completes. `failure` is NULL,
   * or the status that event_wait would return; it belongs to the plugin and is valid during the
   * call. If event_notify itself fails, the listener is not called. The listener runs on a thread
   * of the plugin or of the driver, on that of event_signal, or, if the event is done already, on
   * the caller's thread before this function returns. It must not block, throw or call this plugin.
   * The event may be released meanwhile; if a host event is released before it is signalled, no
   * listener is called. The caller has flushed the stream of the work. */
  tutti_status* (*event_notify)(tutti_event* event, tutti_event_listener listener, void* context);
} tutti_stream_api;

/* Optional: times of completed events on the device's clock, and the current time of that clock. */
typedef struct tutti_profile_api {
  uint64_t struct_size;
  tutti_status* (*event_times)(tutti_event* event, tutti_event_times* times);
  tutti_status* (*clock)(tutti_device* device, uint64_t* now_ns);
} tutti_profile_api;

/* ---- transfers ---------------------------------------------------------------------------------
 * A non-blocking write may read `host` until its work is done. A blocking transfer is complete when
 * it returns, and visible to the work of all streams. */

typedef struct tutti_transfer_api {
  uint64_t struct_size;
  tutti_status* (*write)(tutti_stream* stream, tutti_buffer* to, uint64_t offset, const void* host,
                         uint64_t bytes, int32_t blocking, tutti_event** event);
  tutti_status* (*read)(tutti_stream* stream, tutti_buffer* from, uint64_t offset, void* host,
                        uint64_t bytes, int32_t blocking, tutti_event** event);
  /* Both buffers belong to devices of this plugin; the ranges do not overlap. Between devices that
   * reach each other only through the host a plugin returns "unsupported", and the core copies. */
  tutti_status* (*copy)(tutti_stream* stream, tutti_buffer* from, uint64_t from_offset,
                        tutti_buffer* to, uint64_t to_offset, uint64_t bytes, tutti_event** event);
} tutti_transfer_api;

/* ---- programs: a fused group as a typed SSA program --------------------------------------------
 * Values are numbered: inputs, then scalars, then the results of instructions. A program runs once
 * for each point of an iteration space whose extents are launch arguments: the kept dimensions,
 * outermost first, then the reduced ones. Without a reduction all dimensions are kept.
 *
 * f16 and bf16 inputs are converted to f32 when they are loaded, and results are rounded to nearest
 * even when they are stored, so no instruction has those types. bool values are 0 or 1. c64 and
 * c128 are pairs of f32 and f64, real part first; they have sums and products, but no order and no
 * scalars: TUTTI_OP_complex combines constants.
 *
 * The innermost loop runs over the last kept dimension (no reduction, TUTTI_REDUCE_OUTER) or the
 * last reduced dimension (TUTTI_REDUCE_INNER); `access` is the access pattern of an operand along
 * it. */

typedef enum tutti_opcode {
#define TUTTI_OP(id, name, ...) TUTTI_OP_##name = id,
#include "tutti/op_table.def"
#undef TUTTI_OP
  TUTTI_OP_INVALID = 0
} tutti_opcode;

typedef enum tutti_access {
  TUTTI_ACCESS_UNIT = 0,   /* stride 1 along the innermost loop */
  TUTTI_ACCESS_ZERO = 1,   /* stride 0: the same element */
  TUTTI_ACCESS_STRIDED = 2 /* any stride */
} tutti_access;

typedef enum tutti_reduction {
  TUTTI_REDUCE_NONE = 0,
  TUTTI_REDUCE_SUM = 1,
  TUTTI_REDUCE_PROD = 2,
  TUTTI_REDUCE_MIN = 3, /* NaN is propagated */
  TUTTI_REDUCE_MAX = 4, /* NaN is propagated */
  TUTTI_REDUCE_ANY = 5,
  TUTTI_REDUCE_ALL = 6,
  /* First of equal elements, first NaN. Output i64: row-major index among reduced dimensions. */
  TUTTI_REDUCE_ARGMIN = 7,
  TUTTI_REDUCE_ARGMAX = 8
} tutti_reduction;

typedef enum tutti_reduce_layout {
  TUTTI_REDUCE_INNER = 0, /* the innermost memory axis is reduced */
  TUTTI_REDUCE_OUTER = 1  /* the innermost memory axis is kept */
} tutti_reduce_layout;

typedef struct tutti_instruction {
  uint16_t opcode; /* tutti_opcode */
  uint8_t dtype;   /* of the result */
  uint8_t operand_count;
  uint32_t operand[3]; /* value numbers */
} tutti_instruction;

typedef struct tutti_program_operand {
  uint8_t dtype;  /* as stored */
  uint8_t access; /* tutti_access */
  uint16_t reserved;
  uint32_t value; /* outputs: the value stored; inputs: unused */
} tutti_program_operand;

typedef struct tutti_program_desc {
  uint64_t struct_size;
  uint32_t ir_version;
  uint32_t operand_size;     /* stride of `inputs` and `outputs` in bytes */
  uint32_t instruction_size; /* stride of `instructions` in bytes */
  uint32_t kept_rank;        /* 0..8; kept_rank + reduced_rank <= 8 */
  uint32_t reduced_rank;     /* 0 without a reduction */
  uint8_t reduction;         /* tutti_reduction */
  uint8_t reduce_layout;     /* tutti_reduce_layout */
  uint8_t accumulator;       /* dtype of the reduction and of its result */
  uint8_t wide_index;        /* 1: an extent, stride product or offset needs 64 bits */
  uint32_t input_count;
  uint32_t scalar_count;
  uint32_t instruction_count;
  uint32_t output_count; /* with a reduction: exactly 1 */
  uint32_t reserved;
  const tutti_program_operand* inputs;
  const uint8_t* scalar_dtypes;
  const tutti_instruction* instructions;
  const tutti_program_operand* outputs;
  const char* label; /* only for logs and traces, e.g. "multiply+tanh+add" */
} tutti_program_desc;

typedef struct tutti_operand {
  tutti_buffer* buffer;
  uint64_t offset; /* bytes; always a multiple of the element size */
  /* In elements, one for each dimension of the iteration space; of outputs 0 for reduced ones. */
  int64_t stride[TUTTI_MAX_RANK];
} tutti_operand;

typedef struct tutti_program_launch {
  uint64_t struct_size;
  uint64_t operand_size;           /* stride of `inputs` and `outputs` in bytes */
  uint64_t extent[TUTTI_MAX_RANK]; /* kept ones, at least 1, then reduced ones, at least 0 */
  const tutti_operand* inputs;
  const tutti_scalar* scalars;
  /* An output may have the buffer, offset and strides of an input. */
  const tutti_operand* outputs;
  tutti_buffer* workspace;
  uint64_t workspace_offset;
  uint64_t workspace_bytes;
} tutti_program_launch;

/* The instructions and reductions that a device supports. The core moves others to programs of
 * their own, which run elsewhere.
 *
 * An instruction is supported if the set of its opcode contains the dtypes of its result and of all
 * operands except BOOL; if all of them are BOOL, the set must contain BOOL. A reduction is
 * supported if its set contains the accumulator. stored_dtypes can be loaded and stored. */
typedef struct tutti_program_capabilities {
  uint64_t struct_size;
  uint32_t ir_version_min, ir_version_max; /* supported versions; others are "unsupported" */
  uint32_t opcode_count;                   /* length of `opcodes`; further opcodes are absent */
  uint32_t reduction_count;                /* length of `reductions` */
  const uint32_t* opcodes;                 /* for each opcode a set of TUTTI_DTYPE_BIT */
  const uint32_t* reductions;              /* for each tutti_reduction the same */
} tutti_program_capabilities; /* arrays belong to the plugin and stay valid until process exit */

typedef enum tutti_support { TUTTI_SUPPORT_NO = 0, TUTTI_SUPPORT_YES = 1 } tutti_support;

typedef struct tutti_program_api {
  uint64_t struct_size;
  tutti_status* (*capabilities)(tutti_device* device, tutti_program_capabilities* capabilities);
  /* Whether the device supports a valid description; `create` is called only then. `reason` (may be
   * NULL) receives a string that stays valid until process exit. */
  tutti_status* (*supports)(tutti_device* device, const tutti_program_desc* desc, int32_t* support,
                            const char** reason);
  tutti_status* (*create)(tutti_device* device, const tutti_program_desc* desc,
                          tutti_program** program);
  void (*release)(tutti_program* program);
  tutti_status* (*workspace)(tutti_program* program, const tutti_program_launch* launch,
                             uint64_t* bytes);
  tutti_status* (*launch)(tutti_stream* stream, tutti_program* program,
                          const tutti_program_launch* launch, tutti_event** event);
} tutti_program_api;

/* ---- operators, collectives, application kernels --------------------------------------------- */

#include "tutti/plugin/collectives.h"
#include "tutti/plugin/kernels.h"
#include "tutti/plugin/operators.h"

/* ---- optional: native handles of buffers ----------------------------------------------------- */

typedef enum tutti_native_kind {
  TUTTI_NATIVE_OPENCL = 1, /* cl_mem */
  TUTTI_NATIVE_CUDA = 2,   /* CUdeviceptr */
  TUTTI_NATIVE_HOST = 3    /* void* */
} tutti_native_kind;

typedef struct tutti_native_api {
  uint64_t struct_size;
  int32_t kind; /* tutti_native_kind */
  tutti_status* (*buffer)(tutti_buffer* buffer, void** handle);
  /* Wraps foreign memory; `release` of the buffer calls `deleter(deleter_context)`. */
  tutti_status* (*wrap)(tutti_device* device, void* handle, uint64_t bytes, void (*deleter)(void*),
                        void* deleter_context, tutti_buffer** buffer);
} tutti_native_api;

/* ---- the entry ------------------------------------------------------------------------------- */

typedef struct tutti_plugin_api {
  uint64_t struct_size;
  uint32_t abi_major;
  uint32_t abi_minor;
  const char* name;     /* as in TUTTI_DEVICE, for example "opencl" */
  const char* version;  /* semantic version of the plugin */
  const char* build_id; /* differs if kernels or renderer differ */
  const tutti_device_api* device;
  const tutti_memory_api* memory;
  const tutti_stream_api* stream;
  const tutti_transfer_api* transfer;
  const tutti_program_api* program;
  const tutti_operator_api* op;
  const tutti_profile_api* profile;       /* optional: NULL if absent */
  const tutti_collective_api* collective; /* optional */
  const tutti_native_api* native;         /* optional */
  const tutti_kernel_api* kernel;         /* optional */
} tutti_plugin_api;

/* Must not call a driver. `host` stays valid until process exit. If the major versions differ, the
 * core calls no function and reads only struct_size, abi_major, abi_minor, name and version. */
typedef const tutti_plugin_api* (*tutti_plugin_entry_fn)(const tutti_host* host);
TUTTI_PLUGIN_EXPORT const tutti_plugin_api* tutti_plugin_entry(const tutti_host* host);

#ifdef __cplusplus
}
#endif
#endif /* TUTTI_PLUGIN_H */
