// SPDX-License-Identifier: Apache-2.0
#include "mpi/all_reduce.hpp"

#include <cstring>
#include <string>

#include "sdk/status.hpp"

namespace tutti::mpi {

void check(int code, const char* function) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw sdk::plugin_error(TUTTI_ERROR_DRIVER, std::string(function) + ": " + text, code);
}

namespace {

using namespace tutti::sdk;

constexpr int tags = 1 << 15;  // those that every MPI has

// Integers wrap, so signedness does not matter for sums and products.
MPI_Datatype type_of(int32_t dtype, bool ordered) {
  switch (dtype) {
    case TUTTI_I8:
      return ordered ? MPI_INT8_T : MPI_UINT8_T;
    case TUTTI_I16:
      return ordered ? MPI_INT16_T : MPI_UINT16_T;
    case TUTTI_I32:
      return ordered ? MPI_INT32_T : MPI_UINT32_T;
    case TUTTI_I64:
      return ordered ? MPI_INT64_T : MPI_UINT64_T;
    case TUTTI_U8:
      return MPI_UINT8_T;
    case TUTTI_U16:
      return MPI_UINT16_T;
    case TUTTI_U32:
      return MPI_UINT32_T;
    case TUTTI_U64:
      return MPI_UINT64_T;
    case TUTTI_F32:
      return MPI_FLOAT;
    case TUTTI_F64:
      return MPI_DOUBLE;
    default:
      throw_unsupported("all_reduce: dtype " + std::to_string(dtype));
  }
}

// MPI does not specify NaN.
template <class T, bool largest>
void extreme(void* in, void* inout, int* count, MPI_Datatype*) {
  const T* const a = static_cast<const T*>(in);
  T* const b = static_cast<T*>(inout);
  for (int i = 0; i < *count; ++i)
    if (a[i] != a[i] || (largest ? a[i] > b[i] : a[i] < b[i])) b[i] = a[i];
}

MPI_Op extreme_of(bool is_double, bool largest) {
  const auto made = [](MPI_User_function* function) {
    MPI_Op op = MPI_OP_NULL;
    check(MPI_Op_create(function, 1, &op), "MPI_Op_create");
    return op;
  };
  static const MPI_Op ops[] = {made(extreme<float, false>), made(extreme<float, true>),
                               made(extreme<double, false>), made(extreme<double, true>)};
  return ops[2 * is_double + largest];
}

MPI_Op op_of(int32_t reduction, int32_t dtype) {
  if (reduction == TUTTI_REDUCE_SUM) return MPI_SUM;
  if (reduction == TUTTI_REDUCE_PROD) return MPI_PROD;
  const bool largest = reduction == TUTTI_REDUCE_MAX;
  if (!largest && reduction != TUTTI_REDUCE_MIN)
    throw_unsupported("all_reduce: reduction " + std::to_string(reduction));
  if (dtype == TUTTI_F32 || dtype == TUTTI_F64) return extreme_of(dtype == TUTTI_F64, largest);
  return largest ? MPI_MAX : MPI_MIN;
}

void add(void* value, void* sum, std::int64_t count, MPI_Datatype type, MPI_Op op) {
  check(MPI_Reduce_local(value, sum, static_cast<int>(count), type, op), "MPI_Reduce_local");
}

}  // namespace

void reductions::open(MPI_Comm messages) {
  messages_ = messages;
  check(MPI_Comm_rank(messages, &rank_), "MPI_Comm_rank");
  check(MPI_Comm_size(messages, &ranks_), "MPI_Comm_size");
  requests_.fill(MPI_REQUEST_NULL);
  MPI_Comm near = MPI_COMM_NULL;
  int count = 0;
  check(MPI_Comm_split_type(messages, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &near),
        "MPI_Comm_split_type");
  check(MPI_Comm_size(near, &count), "MPI_Comm_size");
  check(MPI_Comm_free(&near), "MPI_Comm_free");
  has_network_ = count < ranks_;
}

void reductions::begin(const tutti_exchange& what, int& left) {
  const bool ordered = what.reduction == TUTTI_REDUCE_MIN || what.reduction == TUTTI_REDUCE_MAX;
  segment s;
  s.type = type_of(what.dtype, ordered);
  s.op = op_of(what.reduction, what.dtype);
  int width = 1;
  check(MPI_Type_size(s.type, &width), "MPI_Type_size");
  s.width = width;
  const auto bytes = static_cast<std::int64_t>(what.bytes), count = bytes / width;
  s.how = schedule_of(ranks_, bytes);
  s.left = &left;
  left = has_network_ ? segments_of(ranks_, bytes) : 1;
  for (std::int64_t i = 0; i < left; ++i) {
    const std::int64_t from = i * count / left;
    s.data = static_cast<std::byte*>(what.data) + from * width;
    s.count = (i + 1) * count / left - from;
    s.tag = tag_ = (tag_ + 1) % tags;
    waiting_.push_back(s);
  }
}

void reductions::progress() {
  if (pending_ == 0 && waiting_.empty()) return;
  for (std::size_t i = 0; i < slots_.size() && !waiting_.empty(); ++i)
    if (slots_[i].of.left == nullptr) enter(i);
  int done = 0, which[most_at_once * most_messages];
  check(MPI_Testsome(static_cast<int>(requests_.size()), requests_.data(), &done, which,
                     MPI_STATUSES_IGNORE),
        "MPI_Testsome");
  for (int k = 0; k < done; ++k) {  // MPI_UNDEFINED, where there are no messages, is negative
    const std::size_t i = static_cast<std::size_t>(which[k]) / most_messages;
    if (--slots_[i].open > 0) continue;
    end_round(slots_[i]);
    advance(i);
  }
}

void reductions::enter(std::size_t i) {
  slot& s = slots_[i];
  s.of = waiting_.front();
  waiting_.pop_front();
  ++pending_;
  s.round = 0;
  const bool gathers = s.of.how == schedule::gather;
  const auto bytes = static_cast<std::size_t>(s.of.count * s.of.width);
  const std::size_t needed = gathers ? bytes * static_cast<std::size_t>(ranks_) : bytes;
  if (s.scratch.size() < needed) s.scratch.resize(needed);
  if (gathers) std::memcpy(&s.scratch[bytes * static_cast<std::size_t>(rank_)], s.of.data, bytes);
  advance(i);
}

// f(where, elements) for the parts of the blocks that are in one piece and not empty.
template <class F>
void reductions::each_part(slot& s, blocks b, F f) const {
  const bool gathers = s.of.how == schedule::gather;
  const auto place = [&](int block) { return block * s.of.count / (gathers ? 1 : ranks_); };
  std::byte* const from = gathers ? s.scratch.data() : s.of.data;
  each_run(b, ranks_, [&](int first, int last) {
    const std::int64_t at = place(first), count = place(last) - at;
    if (count > 0) f(from + at * s.of.width, count);
  });
}

void reductions::post(std::size_t i) {
  slot& s = slots_[i];
  const segment& of = s.of;
  const messages r = round_of(of.how, s.round, rank_, ranks_);
  MPI_Request* const first = &requests_[i * most_messages];
  MPI_Request* next = first;
  std::byte* added = s.scratch.data();
  each_part(s, r.received, [&](std::byte* at, std::int64_t count) {
    check(MPI_Irecv(r.adds ? added : at, static_cast<int>(count), of.type, r.from, of.tag,
                    messages_, next++),
          "MPI_Irecv");
    added += count * of.width;
  });
  each_part(s, r.sent, [&](std::byte* at, std::int64_t count) {
    check(MPI_Isend(at, static_cast<int>(count), of.type, r.to, of.tag, messages_, next++),
          "MPI_Isend");
  });
  s.open = static_cast<int>(next - first);
}

void reductions::end_round(slot& s) const {
  const segment& of = s.of;
  const messages r = round_of(of.how, s.round++, rank_, ranks_);
  if (!r.adds) return;
  // In a doubling both ranks add the higher one's value to the lower one's, for the same bits.
  const bool is_lower = of.how == schedule::doubling && rank_ < r.from;
  std::byte* come = s.scratch.data();
  each_part(s, r.received, [&](std::byte* own, std::int64_t count) {
    add(is_lower ? own : come, is_lower ? come : own, count, of.type, of.op);
    if (is_lower) std::memcpy(own, come, static_cast<std::size_t>(count * of.width));
    come += count * of.width;
  });
}

void reductions::advance(std::size_t i) {
  slot& s = slots_[i];
  for (; s.round < rounds_of(s.of.how, ranks_); end_round(s)) {
    post(i);
    if (s.open > 0) return;
  }
  if (s.of.how == schedule::gather) {
    const std::int64_t bytes = s.of.count * s.of.width;
    std::memcpy(s.of.data, s.scratch.data(), static_cast<std::size_t>(bytes));
    for (int r = 1; r < ranks_; ++r)
      add(s.scratch.data() + r * bytes, s.of.data, s.of.count, s.of.type, s.of.op);
  }
  --*s.of.left;
  s.of.left = nullptr;
  --pending_;
}

}  // namespace tutti::mpi
