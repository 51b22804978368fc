/* SPDX-License-Identifier: Apache-2.0
 *
 * The plugin ABI, optional: collectives between devices of one plugin.
 *
 * Participants have ranks from 0 on, in one process or several. Each has a communicator, which its
 * calls go through. The calls of all participants belong together by their order, messages by the
 * order of those between the two.
 */
#include "tutti/plugin.h" /* which includes this file in its place */
#ifndef TUTTI_PLUGIN_COLLECTIVES_H
#define TUTTI_PLUGIN_COLLECTIVES_H

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

#endif /* TUTTI_PLUGIN_COLLECTIVES_H */
