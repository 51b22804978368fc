// SPDX-License-Identifier: Apache-2.0
//
// A libnccl.so.2 for tests: notes each call as text, does nothing else. stub_nccl_calls() gives the
// notes, one a line, and forgets them.
#include <string>

namespace {

struct communicator {
  int rank;
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
int ncclCommInitAll(void** comms, int count, const int* devices) {
  for (int n = 0; n < count; ++n) {
    if (devices[n] == 7) return 3;
    comms[n] = new communicator{n};
  }
  return note("init " + std::to_string(count));
}
int ncclCommDestroy(void* c) {
  delete static_cast<communicator*>(c);
  return 0;
}
int ncclCommAbort(void* c) { return ncclCommDestroy(c), note("abort"); }
int ncclGroupStart() { return note("start"); }
int ncclGroupEnd() { return note("end"); }
int ncclAllReduce(const void*, void*, size_t count, int type, int op, void* c, stream) {
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
