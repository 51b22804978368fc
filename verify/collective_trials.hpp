// SPDX-License-Identifier: Apache-2.0
//
// Devices of a plugin with a communicator, and one collective from data to comparison. The oracle
// is a loop on the host.
#pragma once

#include <algorithm>
#include <deque>
#include <functional>
#include <vector>

#include "collective_calls.hpp"
#include "harness.hpp"
#include "sdk/collective.hpp"

namespace tutti::conformance {

inline constexpr int32_t every_kind[] = {TUTTI_COLLECTIVE_ALL_REDUCE,
                                         TUTTI_COLLECTIVE_REDUCE_SCATTER,
                                         TUTTI_COLLECTIVE_ALL_GATHER, TUTTI_COLLECTIVE_ALL_TO_ALL};

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

struct collective_rig {
  std::deque<session> devices;
  std::vector<tutti_communicator*> members;

  /// The first devices of the plugin at `path`, at most this many.
  explicit collective_rig(const std::string& path, uint32_t most = 64) {
    devices.emplace_back(path, 0, 1);
    uint32_t count = 0;
    check(api().device->count(&count), "count");
    for (uint32_t n = 1; n < std::min(count, most); ++n) devices.emplace_back(path, n, 1);
    members = communicators();
  }
  ~collective_rig() { release(members); }
  collective_rig(collective_rig&&) = delete;

  const tutti_plugin_api& api() const { return *devices[0].api; }
  collective_calls calls() const { return {*api().collective}; }
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

// Throws `skipped` if the plugin has no collectives, or none between its first `most` devices.
void with_devices(session& s, uint32_t most, const std::function<void(collective_rig&)>& body);
// The data of most groups.
void require_i32(const session& s);
// first, first + 1, ...
image ascending(uint8_t dtype, uint64_t count, uint64_t first);

// A device buffer with elements of one dtype, and its image on the host.
struct collective_array {
  handle<tutti_buffer> buffer;
  image data;

  collective_array(const session& s, const image& content)
      : buffer(s.allocate(content.bytes.size())), data(content) {
    s.write(buffer.get(), 0, data.bytes.data(), data.bytes.size());
  }
  image read(const session& s) const {
    image result = data;
    s.read(buffer.get(), 0, result.bytes.data(), result.bytes.size());
    return result;
  }
  tutti_view view(uint64_t first, uint64_t count) const {
    return view_of(buffer.get(), data.dtype, first, count);
  }
};

// Positions of outputs: in a separate buffer, at the input's offset, or where the other elements of
// the larger one belong to the other participants.
enum class where { apart, same, own_share };

struct trial {
  int32_t what = TUTTI_COLLECTIVE_ALL_REDUCE;
  uint8_t dtype = TUTTI_F32;
  int32_t reduction = TUTTI_REDUCE_SUM;
  uint64_t share = 0;  // elements: of each participant, or of the whole where nothing is divided
  where out = where::apart;
  bool threads = false;

  uint64_t in_count(uint64_t n) const {
    return what == TUTTI_COLLECTIVE_REDUCE_SCATTER || what == TUTTI_COLLECTIVE_ALL_TO_ALL
               ? share * n
               : share;
  }
  uint64_t out_count(uint64_t n) const {
    return what == TUTTI_COLLECTIVE_ALL_GATHER || what == TUTTI_COLLECTIVE_ALL_TO_ALL ? share * n
                                                                                      : share;
  }
};

// Runs `t` on all devices of `r` and compares every byte of every buffer with the oracle.
class experiment {
 public:
  experiment(collective_rig& r, const trial& t, generator& random);
  /// Throws `failure` if a call is refused, an event fails or a byte is wrong.
  void run();

 private:
  static constexpr uint64_t guard = 3;

  uint64_t value(generator& random) const;
  uint64_t expected(uint32_t n, uint64_t i) const;
  void compare(uint32_t n) const;

  collective_rig& r_;
  trial t_;
  uint32_t n_;
  std::deque<collective_array> arrays_;
  std::vector<uint64_t> in_, out_;  // first elements
  std::vector<handle<tutti_event>> events_;
};

}  // namespace tutti::conformance
