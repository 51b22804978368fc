/* SPDX-License-Identifier: Apache-2.0
 *
 * The plugin ABI, optional: collectives between devices of one plugin.
 *
 * The participants of a group have ranks from 0 on, in one process or several. Each has a
 * communicator for its calls. The n-th calls of all participants belong together.
 */
#include "tutti/plugin.h" /* includes this file */
#ifndef TUTTI_PLUGIN_COLLECTIVES_H
#define TUTTI_PLUGIN_COLLECTIVES_H

typedef struct tutti_communicator tutti_communicator;

/* A view of memory. */
typedef struct tutti_view {
  tutti_buffer* buffer;
  uint64_t offset; /* bytes */
  int32_t dtype;
  uint32_t rank;
  uint64_t extent[TUTTI_MAX_RANK];
  int64_t stride[TUTTI_MAX_RANK]; /* elements */
} tutti_view;

typedef enum tutti_collective {
  TUTTI_COLLECTIVE_ALL_REDUCE = 1,     /* out[N] = reduction of all in[N] */
  TUTTI_COLLECTIVE_REDUCE_SCATTER = 2, /* out[N] = its share of the reduction of all in[size * N] */
  TUTTI_COLLECTIVE_ALL_GATHER = 3,     /* out[size * N] = all in[N], by rank */
  TUTTI_COLLECTIVE_ALL_TO_ALL = 4      /* out[size * N] = its share of all in[size * N], by rank */
} tutti_collective;

/* A key-value store of the host, through which processes exchange data before they are connected.
 * Functions may be called only during `create`, from any thread. For a group, each process makes
 * one call, all with the same key, which one of them sets; other calls fail. If `create` fails in a
 * process before its call, the calls of the others fail: check first what this process needs. */
typedef struct tutti_store {
  uint64_t struct_size;
  void* context;
  tutti_status* (*set)(void* context, const char* key, const void* data, uint64_t bytes);
  /* Waits until the key is set, and copies its value, which must have `bytes` bytes.
   * TUTTI_ERROR_TIMEOUT if it is not set within `timeout_ns`. */
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
  /* Name of the group: the same in all of its processes, and different from other groups.
   * Printable, at most 255 bytes. */
  const char* identifier;
  uint32_t size;              /* participants in all processes */
  uint32_t participant_count; /* in this process */
  uint64_t participant_size;  /* stride of `participants` in bytes */
  const tutti_participant* participants;
  /* NULL if participant_count equals size. If it is less, a plugin that does not support several
   * processes returns "unsupported". */
  const tutti_store* store;
  uint64_t timeout_ns; /* for connecting to the other processes */
} tutti_communicator_desc;

typedef struct tutti_collective_call {
  int32_t kind;      /* tutti_collective */
  int32_t reduction; /* of kinds with a reduction: sum, prod, min, max, any or all */
  tutti_communicator* communicator;
  tutti_stream* stream; /* of the communicator's device */
  /* Contiguous. An output may have the buffer and offset of its input. The input of an all-gather
   * may be its share of the output, and the output of a reduce-scatter its share of the input. */
  const tutti_view* in;
  const tutti_view* out;
  tutti_event** event; /* may be NULL */
} tutti_collective_call;

typedef struct tutti_collective_api {
  uint64_t struct_size;
  /* Creates the communicators of the participants of this process, in their order. Returns when the
   * other processes have created theirs. */
  tutti_status* (*create)(const tutti_communicator_desc* desc, tutti_communicator** communicators);
  void (*release)(tutti_communicator* communicator);
  /* Whether calls of this kind, dtype and reduction (TUTTI_REDUCE_NONE if it has none) are
   * supported. `reason` (may be NULL) receives a string that stays valid until process exit. */
  tutti_status* (*supports)(tutti_communicator* communicator, int32_t kind, int32_t dtype,
                            int32_t reduction, int32_t* support, const char** reason);
  /* Enqueues a group of calls, which proceed together. One thread may enqueue the calls of all
   * participants of this process, in one call of this function or in several: this function waits
   * at most for other processes. If a call is refused, no call of the group is enqueued. If a
   * collective fails later, or if its participants disagree about it, all of its events fail, on
   * all participants, with a status that names the collective and a participant; no event is
   * returned then. */
  tutti_status* (*enqueue)(const tutti_collective_call* calls, uint32_t count, uint64_t call_size);
  /* Fails collectives that have begun or that wait for others, on all participants of this process,
   * and all of their later calls. May be called from any thread, also while enqueue waits. */
  tutti_status* (*abort)(tutti_communicator* communicator);
} tutti_collective_api;

#endif /* TUTTI_PLUGIN_COLLECTIVES_H */
