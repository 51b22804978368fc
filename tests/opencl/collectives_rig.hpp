// SPDX-License-Identifier: Apache-2.0
//
// All devices of the opencl plugin with a communicator, and one collective from data to comparison:
// what the tests of collectives stand on. The oracle is a loop on the host.
#pragma once

#include <boost/test/unit_test.hpp>
#include <deque>
#include <functional>
#include <numeric>
#include <thread>

#include "conformance/harness.hpp"
#include "conformance/oracle.hpp"
#include "sdk/host_types.hpp"
#include "tutti_test/collective_calls.hpp"
#include "tutti_test/paths.hpp"

namespace tutti::test {

using namespace tutti::conformance;

enum class kind { all_reduce, reduce, broadcast, reduce_scatter, all_gather, all_to_all };
inline constexpr kind every_kind[] = {kind::all_reduce,     kind::reduce,     kind::broadcast,
                                      kind::reduce_scatter, kind::all_gather, kind::all_to_all};

inline tutti_view view_of(tutti_buffer* buffer, uint8_t dtype, uint64_t first, uint64_t count) {
  tutti_view v{};
  v.buffer = buffer;
  v.offset = first * sdk::dtype_size(dtype);
  v.dtype = dtype;
  v.rank = 1;
  v.extent[0] = count;
  v.stride[0] = 1;
  return v;
}

struct rig {
  std::deque<session> devices;
  std::vector<tutti_communicator*> members;

  explicit rig(uint32_t most = 64) {
    devices.emplace_back(tutti_test::paths::opencl_plugin, 0, 1);
    uint32_t count = 0;
    check(api().device->count(&count), "count");
    for (uint32_t n = 1; n < std::min(count, most); ++n)
      devices.emplace_back(tutti_test::paths::opencl_plugin, n, 1);
    members = communicators();
  }
  ~rig() { release(members); }
  rig(const rig&) = delete;
  rig& operator=(const rig&) = delete;

  const tutti_plugin_api& api() const { return *devices[0].api; }
  tutti_test::collective_calls calls() const { return {*api().collective}; }
  uint32_t size() const { return static_cast<uint32_t>(devices.size()); }

  std::vector<tutti_communicator*> communicators() const {
    std::vector<tutti_device*> handles;
    for (const session& s : devices) handles.push_back(s.device.get());
    std::vector<tutti_communicator*> made(handles.size());
    check(calls().create(handles.data(), size(), made.data()), "create");
    return made;
  }
  void release(std::vector<tutti_communicator*>& list) const {
    for (tutti_communicator* c : list) calls().release(c);
    list.clear();
  }
  handle<tutti_event> own(tutti_event* event) const { return {event, api().stream->event_release}; }
  bool done(const handle<tutti_event>& event) const {
    int32_t result = 0;
    check(api().stream->event_query(event.get(), &result), "event query");
    return result != 0;
  }
  outcome wait(const handle<tutti_event>& event) const {
    return take(api().stream->event_wait(event.get(), TUTTI_FOREVER));
  }
};

// A device buffer with elements of one dtype, and its image on the host.
struct array {
  handle<tutti_buffer> buffer;
  image data;

  array(const session& s, const image& content)
      : buffer(s.allocate(content.bytes.size())), data(content) {
    check(s.api->transfer->write(s.main_stream.get(), buffer.get(), 0, data.bytes.data(),
                                 data.bytes.size(), 1, nullptr),
          "write");
  }
  image read(const session& s) const {
    image result = data;
    check(s.api->transfer->read(s.main_stream.get(), buffer.get(), 0, result.bytes.data(),
                                result.bytes.size(), 1, nullptr),
          "read");
    return result;
  }
  tutti_view view(uint64_t first, uint64_t count) const {
    return view_of(buffer.get(), data.dtype, first, count);
  }
};

inline uint64_t joined(uint8_t stored, int32_t reduction, uint64_t a, uint64_t b) {
  return sdk::with_real_type(sdk::register_dtype(stored), [&](auto tag) -> uint64_t {
    using T = typename decltype(tag)::type;
    T x, y, result{};
    std::memcpy(&x, &a, sizeof(T));
    std::memcpy(&y, &b, sizeof(T));
    const auto wide = [](T v) { return static_cast<uint64_t>(v); };
    if (reduction == TUTTI_REDUCE_ANY) result = static_cast<T>(x || y);
    if (reduction == TUTTI_REDUCE_ALL) result = static_cast<T>(x && y);
    if (reduction == TUTTI_REDUCE_MIN) result = y < x || y != y ? y : x;
    if (reduction == TUTTI_REDUCE_MAX) result = y > x || y != y ? y : x;
    if constexpr (std::is_floating_point_v<T>) {
      if (reduction == TUTTI_REDUCE_SUM) result = x + y;
      if (reduction == TUTTI_REDUCE_PROD) result = x * y;
    } else {
      if (reduction == TUTTI_REDUCE_SUM) result = static_cast<T>(wide(x) + wide(y));
      if (reduction == TUTTI_REDUCE_PROD) result = static_cast<T>(wide(x) * wide(y));
    }
    uint64_t bits = 0;
    std::memcpy(&bits, &result, sizeof(T));
    return bits;
  });
}

// Where outputs lie: in a buffer of their own, at the input's offset, or where the other elements
// of the larger one are the other participants'.
enum class where { apart, same, own_share };

struct trial {
  kind what = kind::all_reduce;
  uint8_t dtype = TUTTI_F32;
  int32_t reduction = TUTTI_REDUCE_SUM;
  uint32_t root = 0;
  uint64_t share = 0;  // elements: of each participant, or of the whole where nothing is divided
  where out = where::apart;
  bool threads = false;

  uint64_t in_count(uint64_t n) const {
    return what == kind::reduce_scatter || what == kind::all_to_all ? share * n : share;
  }
  uint64_t out_count(uint64_t n) const {
    return what == kind::all_gather || what == kind::all_to_all ? share * n : share;
  }
};

inline tutti_status* call(const rig& r, const trial& t, uint32_t n, tutti_communicator* member,
                          tutti_stream* stream, const tutti_view& in, const tutti_view& out,
                          tutti_event** event) {
  const tutti_test::collective_calls api = r.calls();
  switch (t.what) {
    case kind::all_reduce:
      return api.all_reduce(member, stream, &in, &out, t.reduction, event);
    case kind::reduce:
      return api.reduce(member, stream, &in, n == t.root ? &out : nullptr, t.reduction, t.root,
                        event);
    case kind::broadcast:
      return api.broadcast(member, stream, n == t.root ? &in : &out, t.root, event);
    case kind::reduce_scatter:
      return api.reduce_scatter(member, stream, &in, &out, t.reduction, event);
    case kind::all_gather:
      return api.all_gather(member, stream, &in, &out, event);
    default:
      return api.all_to_all(member, stream, &in, &out, event);
  }
}

// Runs `t` on all devices of `r` and compares every byte of every buffer with the oracle's.
class experiment {
 public:
  experiment(rig& r, const trial& t, generator& random) : r_(r), t_(t), n_(r.size()) {
    for (uint32_t n = 0; n < n_; ++n) {
      image content(t.dtype, t.in_count(n_) + t.out_count(n_) + 2 * guard);
      for (uint64_t i = 0; i < content.size(); ++i) content.set(i, value(random));
      arrays_.emplace_back(r.devices[n], content);
      const uint64_t between = t.in_count(n_) + guard;
      in_.push_back(guard);
      out_.push_back(t.out == where::apart ? between : guard);
      if (t.out != where::own_share) continue;
      if (t.what == kind::all_gather) in_[n] += n * t.share;
      if (t.what == kind::reduce_scatter) out_[n] += n * t.share;
    }
  }

  void run() {
    std::vector<outcome> results(n_);
    const auto one = [&](uint32_t n) {
      tutti_event* event = nullptr;
      const session& s = r_.devices[n];
      results[n] = take(call(r_, t_, n, r_.members[n], s.main_stream.get(),
                             arrays_[n].view(in_[n], t_.in_count(n_)),
                             arrays_[n].view(out_[n], t_.out_count(n_)), &event));
      events_.at(n) = r_.own(event);
    };
    events_.resize(n_);
    std::vector<std::thread> threads;
    for (uint32_t n = 0; n < n_; ++n) {
      if (t_.threads) {
        threads.emplace_back(one, n);
      } else {
        one(n_ - 1 - n);
      }
    }
    for (std::thread& thread : threads) thread.join();
    for (const outcome& result : results) BOOST_REQUIRE_EQUAL(result.message, "");
    for (const auto& event : events_) BOOST_REQUIRE_EQUAL(r_.wait(event).message, "");
    for (uint32_t n = 0; n < n_; ++n) compare(n);
  }

 private:
  static constexpr uint64_t guard = 3;

  uint64_t value(generator& random) const {
    const uint8_t in_register = sdk::register_dtype(t_.dtype);
    const auto& special = special_values(in_register);
    if (random() % 8 == 0) return special[random() % special.size()];
    return random_value(t_.dtype, -9, 9, random);
  }

  uint64_t expected(uint32_t n, uint64_t i) const {
    const auto input = [&](uint64_t from, uint64_t at) {
      return arrays_[from].data.get(in_[from] + at);
    };
    switch (t_.what) {
      case kind::broadcast:
        return input(t_.root, i);
      case kind::all_gather:
        return input(i / t_.share, i % t_.share);
      case kind::all_to_all:
        return input(i / t_.share, n * t_.share + i % t_.share);
      default: {
        const uint64_t at = t_.what == kind::reduce_scatter ? n * t_.share + i : i;
        uint64_t total = input(0, at);
        for (uint32_t from = 1; from < n_; ++from)
          total = joined(t_.dtype, t_.reduction, total, input(from, at));
        return total;
      }
    }
  }

  void compare(uint32_t n) const {
    image wanted = arrays_[n].data;
    const bool writes =
        (t_.what != kind::reduce || n == t_.root) && (t_.what != kind::broadcast || n != t_.root);
    for (uint64_t i = 0; writes && i < t_.out_count(n_); ++i)
      wanted.set(out_[n] + i, expected(n, i));
    const image found = arrays_[n].read(r_.devices[n]);
    const uint8_t in_register = sdk::register_dtype(t_.dtype);
    for (uint64_t i = 0; i < found.size(); ++i) {
      if (same(in_register, found.get(i), wanted.get(i))) continue;
      BOOST_FAIL("collective " << static_cast<int>(t_.what) << " of " << sdk::dtype_name(t_.dtype)
                               << ", reduction " << t_.reduction << ", share " << t_.share
                               << ", out " << static_cast<int>(t_.out) << ", root " << t_.root
                               << ": participant " << n << " has "
                               << value_text(in_register, found.get(i)) << " at " << i
                               << ", expected " << value_text(in_register, wanted.get(i)));
    }
  }

  // The same bits, but for NaN and the sign of zero.
  static bool same(uint8_t dtype, uint64_t a, uint64_t b) {
    return a == b || (sdk::is_floating(dtype) && ulp_distance(dtype, a, b) == 0);
  }

  rig& r_;
  trial t_;
  uint32_t n_;
  std::deque<array> arrays_;
  std::vector<uint64_t> in_, out_;  // first elements
  std::vector<handle<tutti_event>> events_;
};

}  // namespace tutti::test
