/* SPDX-License-Identifier: Apache-2.0
 *
 * The plugin ABI of Tutti: everything a backend shared library and the core know of each other.
 * Pure C, fixed-width integers, no exceptions, append only. A plugin exports exactly one symbol,
 * tutti_plugin_entry, and hands out tables of function pointers. This header has devices, memory,
 * streams, transfers and programs; it includes operators, collectives and the application's
 * kernels.
 *
 * Rules that hold for every function of all of them:
 *  - It returns NULL for success, or a status object that the caller releases. Release functions
 *    return nothing and cannot fail; functions that answer with a value say so where they stand.
 *    After a success each output holds what was asked for: a handle, an event, never NULL.
 *  - A table that a plugin has holds all functions that are not called optional; the core does not
 *    load it otherwise. What is optional together (map and unmap, event_create and event_signal) is
 *    there together.
 *  - Structs grow at their end, fields are never moved or reused, and sizes are never compared for
 *    equality. How much of a struct there is, is said in one of three ways:
 *      - A struct that is read (descriptions, launches, tables, a status) begins with struct_size,
 *        set by whoever filled it in. The reader takes min(mine, yours) bytes; the rest is zero or
 *        absent.
 *      - A struct that is filled in for the caller (properties, capabilities, times, infos) begins
 *        with struct_size as well. The caller sets it to the room there is, the callee to the bytes
 *        that it filled in.
 *      - Elements of an array have no size of their own: a field beside the pointer says how far
 *        apart they are (operand_size, call_size), at least 8, and the reader takes at most that
 *        many bytes of each.
 *    tutti_scalar, tutti_range and tutti_view never grow.
 *  - A plugin never aborts, never throws across this boundary and never frees what it did not
 *    allocate. A plugin outlives its devices, a device outlives its buffers, streams, events,
 *    programs, plans, kernels and communicators. Libraries stay loaded until the process exits.
 *  - Functions may be called from any thread; the caller serialises calls that take the same
 * stream. Only event_wait, synchronize, map, blocking transfers and the making of communicators may
 *    block.
 *  - A function that enqueues work takes `event`, where it puts an event that is done when the work
 *    is. NULL: none is wanted, and none is made.
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
#define TUTTI_IR_VERSION_MIN 1 /* the oldest that this header describes */
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
  TUTTI_ERROR_UNSUPPORTED = 3,      /* this device cannot do that; the message says why */
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
  int32_t vendor_code; /* the driver's own number, 0 where there is none */
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

/* One scalar argument: the value's own bytes, in its own dtype, at the start. Never grows. */
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

/* ---- what the host offers ----------------------------------------------------------------------
 * Valid until process exit. The cache keeps compiled code (memory and disk); the core adds ABI,
 * plugin build, device and driver to the key, so a plugin passes only source and options. Functions
 * may be NULL; those of the cache are where the user wants nothing kept. Texts that are returned
 * stay valid until process exit. */

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
  /* A folder of the host's for what a driver keeps between runs; NULL where none can be written
   * to. Where it grows too large the host removes what was not used for long. */
  const char* (*driver_folder)(void* context, const char* name);
  /* Around each call of a compiler, which may take the process down. Begin, in the thread that
   * compiles, says what earlier processes that ended within this compilation ask for. 0: nothing;
   * -1: nothing yet, one has ended; 1: use safer options; more: do not compile it. Two ends ask
   * for safer options, four for more, each for a day. End is called in any thread, whatever became
   * of the compilation. */
  int32_t (*compile_begin)(void* context, const char* device_key, const void* key,
                           uint64_t key_size, const char* what);
  void (*compile_end)(void* context, const char* device_key, const void* key, uint64_t key_size);
  /* What the user set for a name ("OPENCL_SCHEDULE": the environment variable TUTTI_ and the name),
   * NULL where it is not set or empty. Plugins ask here and nowhere else, so that hosts without an
   * environment can answer. */
  const char* (*option)(void* context, const char* name);
} tutti_host;

/* ---- devices --------------------------------------------------------------------------------- */

typedef enum tutti_device_type {
  TUTTI_DEVICE_CPU = 1,
  TUTTI_DEVICE_GPU = 2,
  TUTTI_DEVICE_ACCELERATOR = 3
} tutti_device_type;

/* Decides between devices of one type where the user leaves the choice to `auto`. A device that
 * says nothing comes after those that do. */
typedef enum tutti_speed_class {
  TUTTI_SPEED_NOT_SAID = 0,
  TUTTI_SPEED_PLAIN = 1, /* plain loops, an interpreter, a simulator: taken when all else fails */
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
  const char* cache_key; /* changes whenever compiled code must not be reused */
  uint64_t memory_bytes;
  uint64_t max_allocation_bytes;
  uint32_t stored_dtypes;   /* TUTTI_DTYPE_BIT set of what arrays may hold */
  uint32_t computed_dtypes; /* set of what arithmetic runs in; f16 is loaded to f32 where absent.
                               Comparisons give TUTTI_BOOL, whether or not it is among them */
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
  uint32_t alignment;   /* bytes: a power of two, which offsets of workspaces are multiples of */
  const char* schedule; /* "cpu", "gpu" or another word, for humans and tests */
  uint32_t speed_class; /* tutti_speed_class */
} tutti_device_properties;

typedef struct tutti_device_api {
  uint64_t struct_size;
  /* Enumerates; TUTTI_ERROR_NO_DRIVER where nothing can be found. May touch the driver. */
  tutti_status* (*count)(uint32_t* count);
  tutti_status* (*properties)(uint32_t index, tutti_device_properties* properties);
  tutti_status* (*open)(uint32_t index, tutti_device** device);
  void (*release)(tutti_device* device);
  /* May be NULL: failed allocations do not tell then how much was free. */
  tutti_status* (*memory_available)(tutti_device* device, uint64_t* bytes);
} tutti_device_api;

/* ---- memory: raw; the core pools ------------------------------------------------------------- */

typedef enum tutti_memory_kind {
  TUTTI_MEMORY_DEVICE = 0, /* where the device computes fastest */
  /* The host's, pinned or mapped, which transfers of the device reach without a further copy. Can
   * be mapped, any number of times at once. */
  TUTTI_MEMORY_HOST = 1
} tutti_memory_kind;

typedef struct tutti_buffer_desc {
  uint64_t struct_size;
  uint64_t bytes; /* at least 1 */
  uint32_t kind;  /* tutti_memory_kind; one that the plugin does not know is "unsupported" */
  uint32_t flags; /* none as yet; a bit that the plugin does not know is "unsupported" */
} tutti_buffer_desc;

typedef enum tutti_map_flags {
  TUTTI_MAP_READ = 1, /* the host reads what the buffer holds */
  TUTTI_MAP_WRITE = 2 /* what the host writes is the buffer's after unmap */
} tutti_map_flags;

typedef struct tutti_memory_api {
  uint64_t struct_size;
  tutti_status* (*allocate)(tutti_device* device, const tutti_buffer_desc* desc,
                            tutti_buffer** buffer);
  void (*release)(tutti_buffer* buffer); /* the caller has made sure that no work uses it */
  /* Optional: the bytes of a buffer in the host's address space, at `*host`, until unmap. A plugin
   * that would have to copy them answers "unsupported". `flags` is not 0. The caller makes sure
   * that until unmap no work writes there, and with TUTTI_MAP_WRITE that none reads there. The core
   * maps buffers of TUTTI_MEMORY_HOST, and others of devices with unified_memory. */
  tutti_status* (*map)(tutti_buffer* buffer, uint64_t offset, uint64_t bytes, uint32_t flags,
                       void** host);
  tutti_status* (*unmap)(tutti_buffer* buffer, void* host); /* `host`: as map gave it */
} tutti_memory_api;

/* ---- streams and events ------------------------------------------------------------------------
 * Work of a stream runs in order, as if each began when the one before has ended.
 *
 * Work that fails fails its event, with its status. A stream that waits for an event which fails
 * passes that on: what is enqueued behind the wait may run or be left out, so its results are not
 * to be used, and its events fail with the same code and a message that holds the same words. That
 * ends with `synchronize`, which waits for everything, returns the failure and leaves the stream
 * sound. `wait` may instead return the failure of an event that has failed already, and leave the
 * stream as it is. Other streams and devices are not touched. Where a failure has taken the device
 * along, each call says TUTTI_ERROR_DEVICE_LOST. */

typedef enum tutti_stream_flags {
  TUTTI_STREAM_PROFILE = 1 /* events of this stream carry times */
} tutti_stream_flags;

#define TUTTI_FOREVER UINT64_MAX /* a wait without a limit */

typedef struct tutti_stream_desc {
  uint64_t struct_size;
  uint32_t flags; /* tutti_stream_flags; a bit that the plugin does not know is "unsupported" */
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
  /* Hands queued work to the device; optional: NULL where that happens by itself. */
  tutti_status* (*flush)(tutti_stream* stream);
  tutti_status* (*synchronize)(tutti_stream* stream); /* wait; returns the first failure */
  tutti_status* (*record)(tutti_stream* stream, tutti_event** event);
  tutti_status* (*wait)(tutti_stream* stream, tutti_event* event); /* later work waits for event */
  /* Returns the work's failure, or TUTTI_ERROR_TIMEOUT where it is not done after `timeout_ns`: 0
   * looks and does not wait, TUTTI_FOREVER has no limit. What the work wrote is there, for map and
   * for other streams, once this has returned NULL. */
  tutti_status* (*event_wait)(tutti_event* event, uint64_t timeout_ns);
  tutti_status* (*event_query)(tutti_event* event, int32_t* done);
  void (*event_release)(tutti_event* event);
  /* Optional: an event of the host's, which streams of the device and event_wait may wait for. It
   * is done when it is signalled: with NULL, or as failed with the code, vendor_code, retryable and
   * message of `status`, which are copied. A second signal is TUTTI_ERROR_INVALID_ARGUMENT, as is
   * one for an event of work. Where it is released before it is signalled, waits for it go on. */
  tutti_status* (*event_create)(tutti_device* device, tutti_event** event);
  tutti_status* (*event_signal)(tutti_event* event, const tutti_status* status);
  /* Optional: calls `listener(context, failure)` once for each such call that succeeds, when the
   * event is done, with NULL, or has failed, with what event_wait would return, which stays the
   * plugin's and is valid during the call. The listener runs on a thread of the plugin's or of the
   * driver's, on that of event_signal, or, where the event is done already, on the caller's before
   * this returns. It must not block, throw or call this plugin. The event may be released
   * meanwhile; a host event that is released before it is signalled calls no listener. The caller
   * has flushed the stream of the work. */
  tutti_status* (*event_notify)(tutti_event* event, tutti_event_listener listener, void* context);
} tutti_stream_api;

/* Optional: times of finished events, on the device's clock, and that clock now. */
typedef struct tutti_profile_api {
  uint64_t struct_size;
  tutti_status* (*event_times)(tutti_event* event, tutti_event_times* times);
  tutti_status* (*clock)(tutti_device* device, uint64_t* now_ns);
} tutti_profile_api;

/* ---- transfers ---------------------------------------------------------------------------------
 * A non-blocking write may read `host` until its work is done. A blocking one has happened when it
 * returns: work of any stream sees it. */

typedef struct tutti_transfer_api {
  uint64_t struct_size;
  tutti_status* (*write)(tutti_stream* stream, tutti_buffer* to, uint64_t offset, const void* host,
                         uint64_t bytes, int32_t blocking, tutti_event** event);
  tutti_status* (*read)(tutti_stream* stream, tutti_buffer* from, uint64_t offset, void* host,
                        uint64_t bytes, int32_t blocking, tutti_event** event);
  /* Both buffers belong to devices of this plugin; the ranges do not overlap. */
  tutti_status* (*copy)(tutti_stream* stream, tutti_buffer* from, uint64_t from_offset,
                        tutti_buffer* to, uint64_t to_offset, uint64_t bytes, tutti_event** event);
} tutti_transfer_api;

/* ---- programs: a fused group as a typed SSA program --------------------------------------------
 * Values are numbered: inputs first, then scalars, then one per instruction. A program runs once
 * for each point of an iteration space whose extents are launch arguments: the kept dimensions,
 * outermost first, then the reduced ones. Without a reduction all dimensions are kept.
 *
 * Registers: f16 and bf16 inputs are widened to f32 on load and narrowed (round to nearest even)
 * on store, so no instruction has those types. bool values are 0 or 1. c64 and c128 are pairs of
 * f32 and f64, real part first; they have sums and products, but no order and no scalars: constants
 * are put together by TUTTI_OP_complex.
 *
 * The innermost loop runs over the last kept dimension (no reduction, TUTTI_REDUCE_OUTER) or the
 * last reduced dimension (TUTTI_REDUCE_INNER); `access` says how an operand moves along it. */

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
  TUTTI_REDUCE_MIN = 3, /* NaN wins */
  TUTTI_REDUCE_MAX = 4, /* NaN wins */
  TUTTI_REDUCE_ANY = 5,
  TUTTI_REDUCE_ALL = 6,
  TUTTI_REDUCE_ARGMIN = 7, /* first of equals, first NaN; output i64: row-major index among the */
  TUTTI_REDUCE_ARGMAX = 8  /* reduced dimensions */
} tutti_reduction;

typedef enum tutti_reduce_layout {
  TUTTI_REDUCE_INNER = 0, /* the fastest-moving memory axis is reduced */
  TUTTI_REDUCE_OUTER = 1  /* the fastest-moving memory axis is kept */
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
  uint32_t operand_size;     /* bytes from one of `inputs` and `outputs` to the next */
  uint32_t instruction_size; /* the same of `instructions` */
  uint32_t kept_rank;        /* 0..8; kept_rank + reduced_rank <= 8 */
  uint32_t reduced_rank;     /* 0 without a reduction */
  uint8_t reduction;         /* tutti_reduction */
  uint8_t reduce_layout;     /* tutti_reduce_layout */
  uint8_t accumulator;       /* dtype the reduction runs in; the reduced value has this dtype */
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
  const char* label; /* for logs and traces, e.g. "multiply+tanh+add"; no part of the meaning */
} tutti_program_desc;

typedef struct tutti_operand {
  tutti_buffer* buffer;
  uint64_t offset; /* bytes; always a multiple of the element size */
  /* Elements, one per iteration dimension; outputs: 0 along reduced ones. */
  int64_t stride[TUTTI_MAX_RANK];
} tutti_operand;

typedef struct tutti_program_launch {
  uint64_t struct_size;
  uint64_t operand_size;           /* bytes from one of `inputs` and `outputs` to the next */
  uint64_t extent[TUTTI_MAX_RANK]; /* kept, then reduced; all >= 1 but reduced ones may be 0 */
  const tutti_operand* inputs;
  const tutti_scalar* scalars;
  /* An output may be the very buffer, offset and strides of an input. */
  const tutti_operand* outputs;
  tutti_buffer* workspace;
  uint64_t workspace_offset;
  uint64_t workspace_bytes;
} tutti_program_launch;

/* What a device's programs may consist of. What a device lacks becomes a program of its own, which
 * runs elsewhere.
 *
 * A device has an instruction where the set of its opcode holds the dtypes of its result and of all
 * its operands, BOOL aside; where all of them are BOOL, the set must hold BOOL. It has a reduction
 * where the set of that holds the accumulator. It loads and stores what is in its stored_dtypes. */
typedef struct tutti_program_capabilities {
  uint64_t struct_size;
  uint32_t ir_version_min, ir_version_max; /* what the plugin reads; another is "unsupported" */
  uint32_t opcode_count;                   /* of `opcodes`; opcodes from there on are absent */
  uint32_t reduction_count;                /* of `reductions` */
  const uint32_t* opcodes;                 /* by opcode: a TUTTI_DTYPE_BIT set */
  const uint32_t* reductions;              /* by tutti_reduction: the same */
} tutti_program_capabilities; /* arrays belong to the plugin and stay valid until process exit */

typedef enum tutti_support { TUTTI_SUPPORT_NO = 0, TUTTI_SUPPORT_YES = 1 } tutti_support;

typedef struct tutti_program_api {
  uint64_t struct_size;
  tutti_status* (*capabilities)(tutti_device* device, tutti_program_capabilities* capabilities);
  /* May create be called with this? NO where the description is sound but beyond the device;
   * `reason` (may be NULL) receives a string that stays valid until process exit. */
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

/* ---- optional: native handles, for interoperation -------------------------------------------- */

typedef enum tutti_native_kind {
  TUTTI_NATIVE_OPENCL = 1, /* cl_context, cl_device_id, cl_command_queue, cl_mem */
  TUTTI_NATIVE_CUDA = 2,   /* CUcontext, CUdevice, CUstream, CUdeviceptr */
  TUTTI_NATIVE_HOST = 3    /* void* */
} tutti_native_kind;

typedef struct tutti_native_api {
  uint64_t struct_size;
  int32_t kind; /* tutti_native_kind */
  tutti_status* (*device)(tutti_device* device, void** context, void** id);
  tutti_status* (*stream)(tutti_stream* stream, void** handle);
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
  const char* name;     /* as in TUTTI_DEVICE: "opencl" */
  const char* version;  /* of the plugin, semantic */
  const char* build_id; /* changes with every build whose kernels or renderer differ */
  const tutti_device_api* device;
  const tutti_memory_api* memory;
  const tutti_stream_api* stream;
  const tutti_transfer_api* transfer;
  const tutti_program_api* program;
  const tutti_operator_api* op;
  const tutti_profile_api* profile;       /* optional: NULL where absent */
  const tutti_collective_api* collective; /* optional */
  const tutti_native_api* native;         /* optional */
  const tutti_kernel_api* kernel;         /* optional */
} tutti_plugin_api;

/* Touches no driver. `host` stays valid until process exit. On a major mismatch the core calls
 * nothing but reads struct_size, abi_major, abi_minor, name and version. */
typedef const tutti_plugin_api* (*tutti_plugin_entry_fn)(const tutti_host* host);
TUTTI_PLUGIN_EXPORT const tutti_plugin_api* tutti_plugin_entry(const tutti_host* host);

#ifdef __cplusplus
}
#endif
#endif /* TUTTI_PLUGIN_H */
