/* SPDX-License-Identifier: Apache-2.0
 *
 * Frozen: plugin.h of ABI 2.0, which plugins that exist were built with (tests/abi/freeze.py).
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
  TUTTI_OP_add = 1,
  TUTTI_OP_subtract = 2,
  TUTTI_OP_multiply = 3,
  TUTTI_OP_divide = 4,
  TUTTI_OP_floor_divide = 5,
  TUTTI_OP_remainder = 6,
  TUTTI_OP_fmod = 7,
  TUTTI_OP_minimum = 8,
  TUTTI_OP_maximum = 9,
  TUTTI_OP_negative = 10,
  TUTTI_OP_abs = 11,
  TUTTI_OP_sign = 12,
  TUTTI_OP_square = 13,
  TUTTI_OP_hypot = 14,
  TUTTI_OP_power = 15,
  TUTTI_OP_atan2 = 16,
  TUTTI_OP_equal = 20,
  TUTTI_OP_not_equal = 21,
  TUTTI_OP_less = 22,
  TUTTI_OP_less_equal = 23,
  TUTTI_OP_greater = 24,
  TUTTI_OP_greater_equal = 25,
  TUTTI_OP_logical_and = 26,
  TUTTI_OP_logical_or = 27,
  TUTTI_OP_logical_xor = 28,
  TUTTI_OP_logical_not = 29,
  TUTTI_OP_bitwise_and = 30,
  TUTTI_OP_bitwise_or = 31,
  TUTTI_OP_bitwise_xor = 32,
  TUTTI_OP_bitwise_not = 33,
  TUTTI_OP_left_shift = 34,
  TUTTI_OP_right_shift = 35,
  TUTTI_OP_where = 36,
  TUTTI_OP_exp = 40,
  TUTTI_OP_exp2 = 41,
  TUTTI_OP_expm1 = 42,
  TUTTI_OP_log = 43,
  TUTTI_OP_log2 = 44,
  TUTTI_OP_log10 = 45,
  TUTTI_OP_log1p = 46,
  TUTTI_OP_sqrt = 47,
  TUTTI_OP_rsqrt = 48,
  TUTTI_OP_cbrt = 49,
  TUTTI_OP_sin = 50,
  TUTTI_OP_cos = 51,
  TUTTI_OP_tan = 52,
  TUTTI_OP_asin = 53,
  TUTTI_OP_acos = 54,
  TUTTI_OP_atan = 55,
  TUTTI_OP_sinh = 56,
  TUTTI_OP_cosh = 57,
  TUTTI_OP_tanh = 58,
  TUTTI_OP_asinh = 59,
  TUTTI_OP_acosh = 60,
  TUTTI_OP_atanh = 61,
  TUTTI_OP_erf = 62,
  TUTTI_OP_erfc = 63,
  TUTTI_OP_floor = 70,
  TUTTI_OP_ceil = 71,
  TUTTI_OP_trunc = 72,
  TUTTI_OP_round = 73,
  TUTTI_OP_isnan = 74,
  TUTTI_OP_isinf = 75,
  TUTTI_OP_isfinite = 76,
  TUTTI_OP_signbit = 77,
  TUTTI_OP_copysign = 78,
  TUTTI_OP_nextafter = 79,
  TUTTI_OP_logaddexp = 80,
  TUTTI_OP_complex = 81,
  TUTTI_OP_real = 82,
  TUTTI_OP_imag = 83,
  TUTTI_OP_conj = 84,
  TUTTI_OP_cast = 100,
  TUTTI_OP_iota = 101,
  TUTTI_OP_philox = 102,
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

/* SPDX-License-Identifier: Apache-2.0
 *
 * The plugin ABI, optional: collectives between devices of one plugin.
 *
 * Participants have ranks from 0 on, in one process or several. Each has a communicator, which its
 * calls go through. The calls of all participants belong together by their order, messages by the
 * order of those between the two.
 */

typedef struct tutti_communicator tutti_communicator;

/* A view with its memory. */
typedef struct tutti_view {
  tutti_buffer* buffer;
  uint64_t offset; /* bytes */
  int32_t dtype;
  uint32_t rank;
  uint64_t extent[TUTTI_MAX_RANK];
  int64_t stride[TUTTI_MAX_RANK]; /* elements */
} tutti_view;

typedef enum tutti_collective {
  TUTTI_COLLECTIVE_ALL_REDUCE = 1, /* out[N] = reduction of all in[N] */
  TUTTI_COLLECTIVE_REDUCE = 2,     /* the same on the root; the others have no output */
  /* out[N] = in[N] of the root, which may go without output; the others have no input */
  TUTTI_COLLECTIVE_BROADCAST = 3,
  TUTTI_COLLECTIVE_REDUCE_SCATTER = 4, /* out[N] = its share of the reduction of all in[size * N] */
  TUTTI_COLLECTIVE_ALL_GATHER = 5,     /* out[size * N] = all in[N], by rank */
  TUTTI_COLLECTIVE_ALL_TO_ALL =
      6,                       /* out[size * N] = this rank's share of all in[size * N], by rank */
  TUTTI_COLLECTIVE_SEND = 7,   /* in[N] to `peer` */
  TUTTI_COLLECTIVE_RECEIVE = 8 /* out[N] from `peer` */
} tutti_collective;

/* Where processes leave each other words before they are connected: the host's, whichever way it
 * has. Functions may be called during `create` only, from any thread. */
typedef struct tutti_store {
  uint64_t struct_size;
  void* context;
  tutti_status* (*set)(void* context, const char* key, const void* data, uint64_t bytes);
  /* Waits until the key is set, and copies its `bytes`, exactly as many; TUTTI_ERROR_TIMEOUT where
   * it is not set within `timeout_ns`. */
  tutti_status* (*get)(void* context, const char* key, void* data, uint64_t bytes,
                       uint64_t timeout_ns);
} tutti_store;

typedef struct tutti_participant {
  tutti_device* device;
  uint32_t rank;
  uint32_t reserved;
} tutti_participant;

typedef struct tutti_communicator_desc {
  uint64_t struct_size;
  /* Names the group: the same in all of its processes, and no other group's. Printable, at most 255
   * bytes. */
  const char* identifier;
  uint32_t size;              /* participants in all processes */
  uint32_t participant_count; /* of this process: each one's ranks stand in one call */
  uint64_t participant_size;  /* bytes from one of `participants` to the next */
  const tutti_participant* participants;
  /* NULL where participant_count is size. A plugin that cannot span processes answers "unsupported"
   * where it is less. */
  const tutti_store* store;
  uint64_t timeout_ns; /* of meeting the other processes */
} tutti_communicator_desc;

typedef struct tutti_collective_call {
  int32_t kind;      /* tutti_collective */
  int32_t reduction; /* tutti_reduction, where the kind reduces: sum, prod, min, max; any, all */
  uint32_t peer;     /* rank: the root, the receiver of a message, the sender of a message */
  uint32_t reserved;
  tutti_communicator* communicator;
  tutti_stream* stream; /* of the communicator's device */
  /* Contiguous; NULL where the kind gives this participant none. An output may be its input's very
   * buffer and offset; of an all-gather the input may be its share of the output, of a
   * reduce-scatter the output its share of the input. */
  const tutti_view* in;
  const tutti_view* out;
  tutti_event** event; /* may be NULL */
} tutti_collective_call;

typedef struct tutti_collective_api {
  uint64_t struct_size;
  /* Makes the communicators of this process's participants, in their order, and returns when the
   * others have made theirs. */
  tutti_status* (*create)(const tutti_communicator_desc* desc, tutti_communicator** communicators);
  void (*release)(tutti_communicator* communicator);
  /* Whether calls of this kind, dtype and reduction (TUTTI_REDUCE_NONE where it has none) are
   * taken. `reason` (may be NULL) receives a string that stays valid until process exit. */
  tutti_status* (*supports)(tutti_communicator* communicator, int32_t kind, int32_t dtype,
                            int32_t reduction, int32_t* support, const char** reason);
  /* Enqueues a group of calls, which proceed together: none waits for what is enqueued after this
   * returns but by participants of other processes, so one thread may bring those of all
   * participants, at once or one after the other. Where a call is refused, nothing of the group is
   * enqueued. Where it fails later than that, or one of its participants disagrees with another
   * about what they do, all events of that collective fail, on all participants, with a status that
   * names the collective and a participant; no event is handed out then. */
  tutti_status* (*enqueue)(const tutti_collective_call* calls, uint32_t count, uint64_t call_size);
  /* Fails what has begun or waits for others, on all participants of this process; later calls of
   * theirs fail as well. To be called by anybody, also while enqueue waits. */
  tutti_status* (*abort)(tutti_communicator* communicator);
} tutti_collective_api;
/* SPDX-License-Identifier: Apache-2.0
 *
 * The plugin ABI, optional: the application's own kernels.
 *
 * Source that the application brings, built for one device and launched on buffers. Nothing of it
 * is interpreted: what a launch reads and writes is the application's business.
 */

typedef struct tutti_kernel tutti_kernel;

typedef enum tutti_kernel_language {
  TUTTI_KERNEL_OPENCL_C = 1,
  TUTTI_KERNEL_CUDA_CXX = 2,
  TUTTI_KERNEL_PTX = 3,
  TUTTI_KERNEL_SPIRV = 4, /* a module, of which `entry` is an entry point of OpenCL's kind */
  TUTTI_KERNEL_HOST = 5   /* no text but a function: tutti_kernel_desc.host */
} tutti_kernel_language;

#define TUTTI_KERNEL_LANGUAGE_BIT(language) (1u << (language))

/* One launch as a function on the host sees it. `arguments` has an address for each argument of the
 * launch: of a buffer that of its memory at the offset, of a scalar that of its bytes. */
typedef struct tutti_host_kernel_call {
  uint64_t struct_size;
  uint64_t global[3];
  uint64_t local[3]; /* 0, 0, 0 where the launch left it open */
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
  const void* source; /* text, or a module; need not end in 0 */
  uint64_t source_bytes;
  const char* entry;   /* name of the kernel in the source */
  const char* options; /* of the language's compiler, separated by spaces; NULL: none */
  const char* label;   /* for logs, traces and messages */
  /* TUTTI_KERNEL_HOST: called once for a launch, on whatever thread the stream's work runs. What it
   * returns is what the work failed with, a status as functions here return it. A kernel that was
   * made calls host_release(host_context) (may be NULL) once, when it is released and none of its
   * launches is left; one that was not made never does. */
  tutti_status* (*host)(void* host_context, const tutti_host_kernel_call* call);
  void* host_context;
  void (*host_release)(void* host_context);
} tutti_kernel_desc;

#define TUTTI_KERNEL_ARGUMENTS_UNKNOWN 0xffffffffu

typedef struct tutti_kernel_info {
  uint64_t struct_size;
  uint64_t max_work_group_size; /* work-items of a group, of this kernel on this device */
  uint64_t max_shared_bytes;    /* of tutti_kernel_launch.shared_bytes */
  uint32_t argument_count;      /* of a launch with no shared_bytes, or ..._UNKNOWN */
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
  uint32_t argument_size; /* bytes from one argument to the next */
  uint64_t global[3];     /* work-items along each dimension, at least 1 */
  uint64_t local[3];      /* of a group; divides global. 0, 0, 0: the plugin's choice */
  /* Memory of each group beside what the kernel declares: in CUDA its dynamic shared memory, in
   * OpenCL one more argument at the end, a `local` pointer. 0: none. */
  uint64_t shared_bytes;
} tutti_kernel_launch;

typedef struct tutti_kernel_api {
  uint64_t struct_size;
  /* TUTTI_KERNEL_LANGUAGE_BIT set of what this device takes. */
  tutti_status* (*languages)(tutti_device* device, uint32_t* languages);
  /* Builds, through the host's cache. TUTTI_ERROR_COMPILE: the message holds the compiler's log,
   * with the line numbers of `source`. */
  tutti_status* (*create)(tutti_device* device, const tutti_kernel_desc* desc,
                          tutti_kernel** kernel);
  void (*release)(tutti_kernel* kernel); /* the caller has made sure that no work uses it, unless
                                            its language is TUTTI_KERNEL_HOST */
  tutti_status* (*info)(tutti_kernel* kernel, tutti_kernel_info* info);
  tutti_status* (*launch)(tutti_stream* stream, tutti_kernel* kernel,
                          const tutti_kernel_launch* launch, tutti_event** event);
} tutti_kernel_api;
/* SPDX-License-Identifier: Apache-2.0
 *
 * The plugin ABI: operators, which are what is not a fused program.
 *
 * An operator is described once, without memory, and made into a plan: what can be chosen, compiled
 * and asked for by kind, parameters, dtypes, extents and strides is done then. A plan is launched
 * any number of times, from any threads and streams of its device at once, each time on other
 * memory. It may be released while work that it launched is under way.
 *
 * A field of a description, of one of its views or of its parameters that lies beyond what the
 * plugin knows, or is reserved, and is not zero makes the description unsupported. Fields of a
 * launch beyond those known may be ignored: what gives them a meaning stands in the description.
 */

typedef struct tutti_plan tutti_plan;

/* Part of a buffer, from this byte on. */
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

/* What each computes, over which views, stands with its row: tutti/operator.def. */
typedef enum tutti_operator {
  TUTTI_OPERATOR_MATMUL = 1,
  TUTTI_OPERATOR_TAKE = 2,
  TUTTI_OPERATOR_SCATTER_ADD = 3,
  TUTTI_OPERATOR_SCAN = 4,
  TUTTI_OPERATOR_SORT = 5,
  TUTTI_OPERATOR_ARGSORT = 6,
  TUTTI_OPERATOR_SEARCH = 7,
  TUTTI_OPERATOR_COUNT = 8,
  TUTTI_OPERATOR_SELECT = 9,
  TUTTI_OPERATOR_TOPK = 10,
  TUTTI_OPERATOR_PARTITION = 11,
  TUTTI_OPERATOR_SCATTER = 12,
  TUTTI_OPERATOR_CHOLESKY = 40,
  TUTTI_OPERATOR_TRIANGULAR_SOLVE = 41,
  TUTTI_OPERATOR_LU = 42,
  TUTTI_OPERATOR_QR = 43,
  TUTTI_OPERATOR_EIGH = 44,
  TUTTI_OPERATOR_SVD = 45,
  TUTTI_OPERATOR_EIG = 46,
  TUTTI_OPERATOR_FFT = 50,
  TUTTI_OPERATOR_CONVOLUTION = 60,
  TUTTI_OPERATOR_SPMM = 70,
  TUTTI_OPERATOR_SDDMM = 71,
} tutti_operator;

typedef enum tutti_activation {
  TUTTI_ACTIVATION_NONE = 0,
  TUTTI_ACTIVATION_RELU = 1 /* real floats: the larger of x and 0, NaN stays */
} tutti_activation;

/* What a product does to its sums before it rounds and stores them: activation(a b + bias). Where
 * `supports` says no to it, the host runs the plain product and a program after it. */
typedef struct tutti_matmul_params {
  uint64_t struct_size;
  int32_t activation; /* tutti_activation */
  uint32_t has_bias;  /* 1: there is a fourth view */
} tutti_matmul_params;

typedef enum tutti_scan {
  TUTTI_SCAN_SUM = 0, /* integers wrap, as products do */
  TUTTI_SCAN_PROD = 1,
  TUTTI_SCAN_MIN = 2,      /* NaN wins */
  TUTTI_SCAN_MAX = 3,      /* NaN wins */
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
  TUTTI_SCATTER_SET = 0,      /* of every dtype but complex ones, which come as their parts */
  TUTTI_SCATTER_MULTIPLY = 1, /* complex numbers come as they are; integers wrap */
  TUTTI_SCATTER_MIN = 2,      /* NaN wins */
  TUTTI_SCATTER_MAX = 3       /* NaN wins */
} tutti_scatter;

typedef struct tutti_scatter_params {
  uint64_t struct_size;
  int32_t scatter; /* tutti_scatter */
  uint32_t reserved;
} tutti_scatter_params;

/* op(a) of a matrix. */
typedef enum tutti_transpose {
  TUTTI_TRANSPOSE_NONE = 0,
  TUTTI_TRANSPOSE_PLAIN = 1,
  TUTTI_TRANSPOSE_CONJUGATE = 2
} tutti_transpose;

/* Of the operators of dense linear algebra. */
typedef struct tutti_matrix_params {
  uint64_t struct_size;
  uint32_t upper;         /* 1: the upper triangle, 0: the lower one */
  int32_t transpose;      /* tutti_transpose */
  uint32_t unit_diagonal; /* 1: the diagonal counts as ones and is not read */
  uint32_t must_be_regular;
} tutti_matrix_params;

/* Of each spatial axis; stride, dilation and input_dilation are at least 1. */
typedef struct tutti_convolution_params {
  uint64_t struct_size;
  int64_t stride[3];
  int64_t dilation[3];
  int64_t input_dilation[3];
  int64_t padding[3]; /* before the first element of x; negative: elements that are skipped */
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
  uint32_t output_count; /* 1 but where an operator says otherwise */
  uint32_t input_count;
  uint32_t reserved;
  uint64_t view_size;           /* bytes of one of `views`, and from one to the next */
  const tutti_view_desc* views; /* outputs first */
  const void* params;           /* a struct of the operator, NULL where it has none */
} tutti_operator_desc;

/* The memory of one launch, all of it on the plan's device. Outputs overlap nothing else, inputs
 * may overlap each other. */
typedef struct tutti_operator_launch {
  uint64_t struct_size;
  uint64_t operand_size; /* bytes from one of `operands` to the next */
  uint32_t operand_count;
  uint32_t reserved;
  const tutti_range* operands; /* one for each view, in their order */
  tutti_range workspace;       /* offset: a multiple of the device's alignment */
  uint64_t workspace_bytes;
} tutti_operator_launch;

typedef struct tutti_operator_api {
  uint64_t struct_size;
  /* Says no to what is well formed but beyond the device or the plugin. `reason` (may be NULL)
   * receives a string that stays valid. */
  tutti_status* (*supports)(tutti_device* device, const tutti_operator_desc* desc, int32_t* support,
                            const char** reason);
  /* Keeps nothing of `desc`. TUTTI_ERROR_UNSUPPORTED where `supports` says no, or where that is
   * known only now: the core runs the operator elsewhere then. */
  tutti_status* (*create)(tutti_device* device, const tutti_operator_desc* desc, tutti_plan** plan);
  void (*release)(tutti_plan* plan);
  /* Bytes that each launch needs for itself until its work is done. */
  tutti_status* (*workspace)(tutti_plan* plan, uint64_t* bytes);
  tutti_status* (*launch)(tutti_stream* stream, tutti_plan* plan,
                          const tutti_operator_launch* launch, tutti_event** event);
} tutti_operator_api;

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
