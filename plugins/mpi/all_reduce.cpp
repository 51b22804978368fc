// SPDX-License-Identifier: Apache-2.0
#include "mpi/all_reduce.hpp"

#include <cstring>
#include <string>
#include <type_traits>

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

// MPI's own operations are not for this: Open MPI 4.1 saturates integers of 8 and 16 bits, and MPI
// does not specify NaN. sum[i] = f(value[i], sum[i])
template <class T, class F>
void combine(const void* value, void* sum, std::int64_t count) {
  const T* const a = static_cast<const T*>(value);
  T* const b = static_cast<T*>(sum);
  for (std::int64_t i = 0; i < count; ++i) b[i] = F::of(a[i], b[i]);
}

struct sum_of {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(a + b);
  }
};
struct product_of {
  template <class T>
  static T of(T a, T b) {
    return static_cast<T>(1u * a * b);  // unsigned, not int
  }
};
template <bool largest>
struct extreme_of {
  template <class T>
  static T of(T a, T b) {
    return a != a || (largest ? a > b : a < b) ? a : b;  // NaN propagates
  }
};

template <class T>
combination combination_of(int32_t reduction) {
  using wrapping = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                               std::type_identity<T>>::type;
  switch (reduction) {
    case TUTTI_REDUCE_SUM:
      return {sizeof(T), combine<wrapping, sum_of>};
    case TUTTI_REDUCE_PROD:
      return {sizeof(T), combine<wrapping, product_of>};
    case TUTTI_REDUCE_MIN:
      return {sizeof(T), combine<T, extreme_of<false>>};
    case TUTTI_REDUCE_MAX:
      return {sizeof(T), combine<T, extreme_of<true>>};
    default:
      throw_unsupported("all_reduce: reduction ", reduction);
  }
}

combination combination_of(int32_t dtype, int32_t reduction) {
  switch (dtype) {
    case TUTTI_I8:
      return combination_of<std::int8_t>(reduction);
    case TUTTI_I16:
      return combination_of<std::int16_t>(reduction);
    case TUTTI_I32:
      return combination_of<std::int32_t>(reduction);
    case TUTTI_I64:
      return combination_of<std::int64_t>(reduction);
    case TUTTI_U8:
      return combination_of<std::uint8_t>(reduction);
    case TUTTI_U16:
      return combination_of<std::uint16_t>(reduction);
    case TUTTI_U32:
      return combination_of<std::uint32_t>(reduction);
    case TUTTI_U64:
      return combination_of<std::uint64_t>(reduction);
    case TUTTI_F32:
      return combination_of<float>(reduction);
    case TUTTI_F64:
      return combination_of<double>(reduction);
    default:
      throw_unsupported("all_reduce: dtype ", dtype);
  }
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
  segment s;
  s.by = combination_of(what.dtype, what.reduction);
  const std::int64_t width = s.by.width;
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
  const auto bytes = static_cast<std::size_t>(s.of.count * s.of.by.width);
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
    if (count > 0) f(from + at * s.of.by.width, count);
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
    check(MPI_Irecv(r.adds ? added : at, static_cast<int>(count * of.by.width), MPI_BYTE, r.from,
                    of.tag, messages_, next++),
          "MPI_Irecv");
    added += count * of.by.width;
  });
  each_part(s, r.sent, [&](std::byte* at, std::int64_t count) {
    check(MPI_Isend(at, static_cast<int>(count * of.by.width), MPI_BYTE, r.to, of.tag, messages_,
                    next++),
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
    of.by.add(is_lower ? own : come, is_lower ? come : own, count);
    if (is_lower) std::memcpy(own, come, static_cast<std::size_t>(count * of.by.width));
    come += count * of.by.width;
  });
}

void reductions::advance(std::size_t i) {
  slot& s = slots_[i];
  for (; s.round < rounds_of(s.of.how, ranks_); end_round(s)) {
    post(i);
    if (s.open > 0) return;
  }
  if (s.of.how == schedule::gather) {
    const std::int64_t bytes = s.of.count * s.of.by.width;
    std::memcpy(s.of.data, s.scratch.data(), static_cast<std::size_t>(bytes));
    for (int r = 1; r < ranks_; ++r)
      s.of.by.add(s.scratch.data() + r * bytes, s.of.data, s.of.count);
  }
  --*s.of.left;
  s.of.left = nullptr;
  --pending_;
}

}  // namespace tutti::mpi
