// SPDX-License-Identifier: Apache-2.0
//
// A libnccl.so.2 for tests: notes each call as text, does nothing else, and fails for 13 elements.
// stub_nccl_calls() gives the notes, one a line, and forgets them.
#include <string>

namespace {

struct communicator {
  int rank;
};
struct group_id {
  int number;
  char rest[124];
};
std::string calls;
std::string taken;

int note(const std::string& text) {
  calls += text + "\n";
  return 0;
}
std::string rank_of(void* c) { return "@" + std::to_string(static_cast<communicator*>(c)->rank); }
std::string numbers(size_t count, int type) {
  return " " + std::to_string(count) + " of type " + std::to_string(type);
}

}  // namespace

using stream = void*;

extern "C" {
const char* stub_nccl_calls() {
  taken.swap(calls);
  calls.clear();
  return taken.c_str();
}
const char* ncclGetErrorString(int) { return "an error of the stub"; }
int ncclGetUniqueId(group_id* id) {
  static int made = 0;
  *id = {};
  id->number = ++made;
  return note("id");
}
int ncclCommInitRank(void** result, int count, group_id id, int rank) {
  *result = new communicator{rank};
  return note("init" + rank_of(*result) + " of " + std::to_string(count) + " by id " +
              std::to_string(id.number));
}
int ncclCommDestroy(void* c) {
  delete static_cast<communicator*>(c);
  return 0;
}
int ncclCommAbort(void* c) { return ncclCommDestroy(c), note("abort"); }
int ncclGroupStart() { return note("start"); }
int ncclGroupEnd() { return note("end"); }
int ncclAllReduce(const void*, void*, size_t count, int type, int op, void* c, stream) {
  if (count == 13) return 3;
  return note("all_reduce" + rank_of(c) + numbers(count, type) + " op " + std::to_string(op));
}
int ncclReduce(const void*, void* out, size_t count, int type, int op, int root, void* c, stream) {
  return note("reduce" + rank_of(c) + numbers(count, type) + " op " + std::to_string(op) +
              " root " + std::to_string(root) + (out != nullptr ? " receives" : ""));
}
int ncclBroadcast(const void*, void*, size_t count, int type, int root, void* c, stream) {
  return note("broadcast" + rank_of(c) + numbers(count, type) + " root " + std::to_string(root));
}
int ncclReduceScatter(const void*, void*, size_t count, int type, int op, void* c, stream) {
  return note("reduce_scatter" + rank_of(c) + numbers(count, type) + " op " + std::to_string(op));
}
int ncclAllGather(const void*, void*, size_t count, int type, void* c, stream) {
  return note("all_gather" + rank_of(c) + numbers(count, type));
}
int ncclSend(const void*, size_t count, int type, int peer, void* c, stream) {
  return note("send" + rank_of(c) + numbers(count, type) + " to " + std::to_string(peer));
}
int ncclRecv(void*, size_t count, int type, int peer, void* c, stream) {
  return note("receive" + rank_of(c) + numbers(count, type) + " from " + std::to_string(peer));
}
}
