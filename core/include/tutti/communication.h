/* SPDX-License-Identifier: Apache-2.0
 *
 * The interface between the core and a communication plugin: messages and collectives between the
 * processes of a job. The rules of plugin.h apply: plain C with fixed-width integers that only
 * grows, and functions that return NULL or a status. A plugin is libtutti_NAME.so in the folder
 * `communication` beside the files of device plugins, and exports one symbol,
 * tutti_communication_entry, which must not call the communication library.
 *
 * All memory is host memory, except where takes_cuda_memory allows that of CUDA. The memory that a
 * request reads or writes must stay valid until the request is done. All ranks begin the same
 * collectives in the same order.
 */
#ifndef TUTTI_COMMUNICATION_H
#define TUTTI_COMMUNICATION_H

#include "tutti/plugin.h"

#ifdef __cplusplus
extern "C" {
#endif

#define TUTTI_COMMUNICATION_MAJOR 1
#define TUTTI_COMMUNICATION_MINOR 1

typedef struct tutti_job tutti_job;
typedef struct tutti_request tutti_request;

/* Each is limited to 2^30 bytes. */
typedef enum tutti_exchange_kind {
  /* Messages with the same sender, receiver and tag arrive in order. The sizes given by sender and
   * receiver are equal. */
  TUTTI_EXCHANGE_SEND = 1,
  TUTTI_EXCHANGE_RECEIVE = 2,
  TUTTI_EXCHANGE_BROADCAST = 3,
  /* In place. Integers (wrapping), f32 and f64; sum, prod, min, max (NaN is propagated). The
   * results of all ranks have the same bits. */
  TUTTI_EXCHANGE_ALL_REDUCE = 4,
  /* `out`: the `data` of all ranks in order, `sizes[rank]` bytes each. */
  TUTTI_EXCHANGE_ALL_GATHER = 5
} tutti_exchange_kind;

typedef struct tutti_exchange {
  uint64_t struct_size;
  int32_t kind;      /* tutti_exchange_kind */
  uint32_t peer;     /* receiver, sender, or root */
  int32_t tag;       /* of messages, from 0 to 32767 */
  int32_t dtype;     /* tutti_dtype, of all_reduce */
  int32_t reduction; /* tutti_reduction, of all_reduce */
  uint32_t reserved;
  void* data;
  uint64_t bytes;
  void* out;
  const uint64_t* sizes;
} tutti_exchange;

typedef struct tutti_communication_api {
  uint64_t struct_size;
  uint32_t abi_major; /* TUTTI_COMMUNICATION_MAJOR; others are refused */
  uint32_t abi_minor;
  const char* name; /* NAME of the file */

  /* This process joins the job that it was started in. Called once. */
  tutti_status* (*init)(tutti_job** job, uint32_t* rank, uint32_t* size);
  /* At exit, after the last request: leaves the job. Waits for the others. */
  void (*finalize)(tutti_job* job);
  /* Ends the processes of all ranks; may return before they have ended. */
  void (*abort)(tutti_job* job, int32_t exit_status);

  /* Begins an exchange; `what` is not used after the call. */
  tutti_status* (*begin)(tutti_job* job, const tutti_exchange* what, tutti_request** request);
  /* Whether the request is done; also advances other requests. */
  tutti_status* (*test)(tutti_request* request, uint32_t* done);
  /* Waits until the request is done, and releases it. TUTTI_ERROR_TIMEOUT after `seconds`, with a
   * message that names the missing ranks; the request and its memory cannot be released then, and
   * only `abort` may be called. */
  tutti_status* (*wait)(tutti_request* request, double seconds);

  /* Since 1.1; may be NULL. Whether `data` and `out` of exchanges of this kind may be addresses in
   * the memory of CUDA devices; 0: no. Work on the memory has finished when `begin` is called, and
   * what was received can be used after `wait`. Ranks need not answer the same. */
  uint32_t (*takes_cuda_memory)(tutti_job* job, int32_t kind);
} tutti_communication_api;

#define TUTTI_COMMUNICATION_ENTRY "tutti_communication_entry"
typedef const tutti_communication_api* (*tutti_communication_entry_fn)(void);

#ifdef __cplusplus
}
#endif

#endif
