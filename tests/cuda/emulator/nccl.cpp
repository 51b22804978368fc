// SPDX-License-Identifier: Apache-2.0
//
// NCCL in the emulator, for the participants of one process. A call puts two entries into its
// stream: it arrives, and it leaves once all participants have arrived and the last of them has
// computed for all. Calls within a group arrive one after the other, then leave.
#include <algorithm>
#include <array>
#include <cstring>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "driver.hpp"
#include "semantics/host_half.hpp"

namespace tutti_emulator {
namespace {

using tutti::host::bfloat16_to_float, tutti::host::float_to_bfloat16;
using tutti::host::float_to_half, tutti::host::half_to_float;

enum kind { all_reduce, reduce_scatter, all_gather, message };
constexpr const char* names[] = {"all_reduce", "reduce_scatter", "all_gather"};

struct part {
  int rank = 0;
  const char* in = nullptr;
  char* out = nullptr;
};

struct meeting {
  std::tuple<kind, size_t, int, int> what;  // with count, type, operation
  size_t expected = 0;
  std::vector<part> arrived;
  bool is_over = false;
};

struct group {
  int size = 0;
  std::set<int> devices = {};
  std::map<std::array<long, 3>, std::shared_ptr<meeting>> open = {};  // by kind or pair, and number
};

struct communicator {
  std::shared_ptr<group> of;
  int rank = 0;
  std::shared_ptr<bool> is_aborted = std::make_shared<bool>(false);  // others do not learn of it
  std::map<std::array<long, 3>, long> calls = {};  // of each sort so far, those that receive apart
};

struct leaving {
  CUstream stream;
  std::shared_ptr<bool> is_aborted;
  std::shared_ptr<meeting> at;
};
thread_local int depth = 0;
thread_local std::vector<leaving> to_leave;

constexpr size_t widths[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2};

// As on devices, minima and maxima take the number where the other is NaN.
template <typename T>
T combined(T a, T b, int operation) {
  if (operation > 1 && a != a) return b;
  switch (operation) {
    case 0:
      return static_cast<T>(a + b);
    case 1:
      return static_cast<T>(a * b);
    case 2:
      return a < b ? b : a;
    default:
      return b < a ? b : a;
  }
}

template <typename T>
void combine(char* to, const char* from, size_t count, int operation) {
  auto* const a = reinterpret_cast<T*>(to);
  const auto* const b = reinterpret_cast<const T*>(from);
  for (size_t n = 0; n < count; ++n) a[n] = combined(a[n], b[n], operation);
}
template <float (*Load)(uint16_t), uint16_t (*Store)(float)>
void combine_half(char* to, const char* from, size_t count, int operation) {
  auto* const a = reinterpret_cast<uint16_t*>(to);
  const auto* const b = reinterpret_cast<const uint16_t*>(from);
  for (size_t n = 0; n < count; ++n) a[n] = Store(combined(Load(a[n]), Load(b[n]), operation));
}

// By ncclDataType_t.
constexpr void (*combines[])(char*, const char*, size_t, int) = {
    combine<int8_t>,
    combine<uint8_t>,
    combine<int32_t>,
    combine<uint32_t>,
    combine<int64_t>,
    combine<uint64_t>,
    combine_half<half_to_float, float_to_half>,
    combine<float>,
    combine<double>,
    combine_half<bfloat16_to_float, float_to_bfloat16>};

fault bad(const std::string& text) { return {CUDA_ERROR_ILLEGAL_ADDRESS, "NCCL: " + text}; }

// All have arrived; sorted by rank.
fault compute(const meeting& m, int size) {
  const auto [what, count, type, operation] = m.what;
  const size_t bytes = count * widths[type], all = bytes * static_cast<size_t>(size);
  const size_t in_bytes = what == reduce_scatter ? all : bytes;
  const size_t out_bytes = what == all_gather ? all : bytes;
  std::vector<char> result;
  for (const part& p : m.arrived) {
    if (p.in == nullptr) continue;
    const auto at = reinterpret_cast<uintptr_t>(p.in);
    if (!the_memory().is_live(at, in_bytes))
      return bad("reads " + the_memory().describe(at, in_bytes));
    if (what == all_gather || result.empty()) {
      result.insert(result.end(), p.in, p.in + in_bytes);
    } else {
      combines[type](result.data(), p.in, in_bytes / widths[type], operation);
    }
  }
  for (const part& p : m.arrived) {
    if (p.out == nullptr) continue;
    const auto at = reinterpret_cast<uintptr_t>(p.out);
    if (!the_memory().is_live(at, out_bytes))
      return bad("writes " + the_memory().describe(at, out_bytes));
    const size_t from = what == reduce_scatter ? bytes * static_cast<size_t>(p.rank) : 0;
    std::memcpy(p.out, result.data() + from, out_bytes);
  }
  return {};
}

void leave(const leaving& l) {
  enqueue(l.stream, {[] { return fault{}; }, [l] { return l.at->is_over || *l.is_aborted; }});
}

// A call of one participant; `sort` tells which calls of others it meets.
int join(communicator& c, std::array<long, 2> sort, size_t expected, part mine,
         std::tuple<kind, size_t, int, int> what, CUstream stream) {
  const std::lock_guard held(lock());
  if (!is_known(stream) || std::get<2>(what) < 0 || std::get<2>(what) > 9) return 4;
  const bool receives = std::get<0>(what) == message && mine.out != nullptr;
  const std::string name = std::get<0>(what) < message ? names[std::get<0>(what)]
                           : receives                  ? "receive"
                                                       : "send";
  if (const CUresult wanted = called(name.c_str()); wanted != CUDA_SUCCESS) return wanted;
  note(name + '@' + std::to_string(c.rank) + ' ' + std::to_string(std::get<1>(what)));
  const long number = c.calls[{sort[0], sort[1], receives ? 1 : 0}]++;
  std::shared_ptr<meeting>& at = c.of->open[{sort[0], sort[1], number}];
  if (at == nullptr) at = std::make_shared<meeting>(meeting{what, expected, {}, false});
  if (at->what != what) return 5;  // participants disagree about what they do
  mine.rank = c.rank;
  enqueue(stream, {[at, of = c.of, is_aborted = c.is_aborted, mine]() -> fault {
            if (*is_aborted) return {};
            at->arrived.push_back(mine);
            if (at->arrived.size() < at->expected) return {};
            std::sort(at->arrived.begin(), at->arrived.end(),
                      [](const part& a, const part& b) { return a.rank < b.rank; });
            at->is_over = true;
            return compute(*at, of->size);
          }});
  const leaving mine_leaves{stream, c.is_aborted, at};
  if (depth > 0) {
    to_leave.push_back(mine_leaves);
  } else {
    leave(mine_leaves);
  }
  return 0;
}

int collective(void* opaque, kind what, const void* in, void* out, size_t count, int type,
               int operation, CUstream stream) {
  auto& c = *static_cast<communicator*>(opaque);
  return join(c, {-1, 0}, static_cast<size_t>(c.of->size),
              {0, static_cast<const char*>(in), static_cast<char*>(out)},
              {what, count, type, operation}, stream);
}

}  // namespace
}  // namespace tutti_emulator

using namespace tutti_emulator;

struct emulator_group_id {
  long number;
  char rest[120];
};

extern "C" {
const char* ncclGetErrorString(int) { return "an error of the emulated NCCL"; }
int ncclGetUniqueId(emulator_group_id* id) {
  static long made = 0;
  const std::lock_guard held(lock());
  if (const CUresult wanted = called("unique_id"); wanted != CUDA_SUCCESS) return wanted;
  *id = {};
  id->number = ++made;
  note("id");
  return 0;
}
int ncclCommInitRank(void** result, int count, emulator_group_id id, int rank) {
  static auto* const groups = new std::map<long, std::shared_ptr<group>>;
  const std::lock_guard held(lock());
  std::shared_ptr<group>& of = (*groups)[id.number];
  if (of == nullptr) of = std::make_shared<group>(group{count});
  if (const CUresult wanted = called("init_rank"); wanted != CUDA_SUCCESS) return wanted;
  if (of->size != count || rank < 0 || rank >= count) return 4;
  if (!of->devices.insert(current->device).second) return 5;  // one participant has a device
  *result = new communicator{of, rank};
  note("init@" + std::to_string(rank) + " of " + std::to_string(count) + " by id " +
       std::to_string(id.number));
  return 0;
}
int ncclCommDestroy(void* c) {
  const std::lock_guard held(lock());
  delete static_cast<communicator*>(c);
  return 0;
}
int ncclCommAbort(void* c) {
  {
    const std::lock_guard held(lock());
    *static_cast<communicator*>(c)->is_aborted = true;
    note("abort");
  }
  return ncclCommDestroy(c);
}
int ncclGroupStart() {
  const std::lock_guard held(lock());
  note("start");
  ++depth;
  return 0;
}
int ncclGroupEnd() {
  const std::lock_guard held(lock());
  note("end");
  if (--depth > 0) return 0;
  for (const leaving& l : to_leave) leave(l);
  to_leave.clear();
  return 0;
}
int ncclAllReduce(const void* in, void* out, size_t count, int type, int op, void* c, CUstream s) {
  return collective(c, all_reduce, in, out, count, type, op, s);
}
int ncclReduceScatter(const void* in, void* out, size_t count, int type, int op, void* c,
                      CUstream s) {
  return collective(c, reduce_scatter, in, out, count, type, op, s);
}
int ncclAllGather(const void* in, void* out, size_t count, int type, void* c, CUstream s) {
  return collective(c, all_gather, in, out, count, type, 0, s);
}
int ncclSend(const void* in, size_t count, int type, int peer, void* opaque, CUstream s) {
  auto& c = *static_cast<communicator*>(opaque);
  return join(c, {c.rank, peer}, 2, {0, static_cast<const char*>(in), nullptr},
              {message, count, type, 0}, s);
}
int ncclRecv(void* out, size_t count, int type, int peer, void* opaque, CUstream s) {
  auto& c = *static_cast<communicator*>(opaque);
  return join(c, {peer, c.rank}, 2, {0, nullptr, static_cast<char*>(out)},
              {message, count, type, 0}, s);
}
}
