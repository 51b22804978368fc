// SPDX-License-Identifier: Apache-2.0
//
// Events that the host fails, over the stub of the driver: who is told, and when a stream is sound
// again. Pinned memory as buffers.
#include <boost/test/unit_test.hpp>
#include <cstring>

#include "plugin.hpp"

using namespace tutti::test;

namespace {

struct device_and_stream {
  tutti_device* device = nullptr;
  tutti_stream* stream = nullptr;
  device_and_stream() {
    good(plugin().device->open(0, &device));
    good(create_stream(device, 0, &stream));
  }
  ~device_and_stream() {
    plugin().stream->release(stream);
    plugin().device->release(device);
  }
};

tutti_status failure() {
  tutti_status status{};
  status.struct_size = sizeof status;
  status.code = TUTTI_ERROR_DRIVER;
  status.vendor_code = -4711;
  status.retryable = 1;
  status.message = "the sender of parcel 17 went away";
  return status;
}

void told(tutti_status* status) {
  const outcome found = take(status);
  BOOST_TEST(found.code == TUTTI_ERROR_DRIVER);
  BOOST_TEST(found.vendor_code == -4711);
  BOOST_TEST(found.message.find("parcel 17") != std::string::npos, found.message);
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_failed_event_is_told_until_synchronize) {
  device_and_stream d;
  const tutti_stream_api& api = *plugin().stream;
  const tutti_status why = failure();
  tutti_event *gate = nullptr, *before = nullptr, *behind = nullptr, *after = nullptr;
  good(api.event_create(d.device, &gate));
  good(api.record(d.stream, &before));
  good(api.wait(d.stream, gate));
  good(api.record(d.stream, &behind));
  int32_t done = 1;
  good(api.event_query(gate, &done));
  BOOST_TEST(done == 0);
  BOOST_TEST(take(api.event_wait(gate, 1000)).code == TUTTI_ERROR_TIMEOUT);
  good(api.event_signal(gate, &why));
  told(api.event_wait(gate, TUTTI_FOREVER));
  told(api.event_query(gate, &done));
  told(api.event_wait(behind, TUTTI_FOREVER));
  good(api.event_wait(before, TUTTI_FOREVER));
  // A second stream learns of it by an event of work, and is not changed by a wait that is refused.
  tutti_stream* other = nullptr;
  good(create_stream(d.device, 0, &other));
  told(api.wait(other, behind));
  good(api.synchronize(other));
  told(api.synchronize(d.stream));
  good(api.record(d.stream, &after));
  good(api.event_wait(after, TUTTI_FOREVER));
  good(api.synchronize(d.stream));
  for (tutti_event* event : {gate, before, behind, after}) api.event_release(event);
  api.release(other);
}

BOOST_AUTO_TEST_CASE(a_blocking_read_tells_of_it) {
  device_and_stream d;
  const tutti_stream_api& api = *plugin().stream;
  const tutti_status why = failure();
  tutti_buffer* memory = nullptr;
  good(allocate(d.device, 64, &memory));
  tutti_event *gate = nullptr, *read = nullptr;
  good(api.event_create(d.device, &gate));
  good(api.wait(d.stream, gate));
  good(api.event_signal(gate, &why));
  char room[64];
  told(plugin().transfer->read(d.stream, memory, 0, room, sizeof room, 1, &read));
  BOOST_TEST(read == nullptr);
  told(api.synchronize(d.stream));
  good(plugin().transfer->read(d.stream, memory, 0, room, sizeof room, 1, nullptr));
  api.event_release(gate);
  plugin().memory->release(memory);
}

BOOST_AUTO_TEST_CASE(events_are_signalled_once_and_by_their_maker) {
  device_and_stream d;
  const tutti_stream_api& api = *plugin().stream;
  tutti_event *gate = nullptr, *work = nullptr;
  good(api.event_create(d.device, &gate));
  good(api.event_signal(gate, nullptr));
  good(api.event_wait(gate, TUTTI_FOREVER));
  const outcome again = take(api.event_signal(gate, nullptr));
  BOOST_TEST(again.code == TUTTI_ERROR_INVALID_ARGUMENT);
  BOOST_TEST(again.message == "event signal: the event was signalled before");
  good(api.record(d.stream, &work));
  BOOST_TEST(take(api.event_signal(work, nullptr)).message ==
             "event signal: the event belongs to work on a stream");
  api.event_release(gate);
  api.event_release(work);
}

BOOST_AUTO_TEST_CASE(pinned_memory_is_a_buffer_that_maps) {
  device_and_stream d;
  const tutti_memory_api& api = *plugin().memory;
  tutti_buffer *pinned = nullptr, *device = nullptr;
  const tutti_buffer_desc desc{sizeof desc, 64, TUTTI_MEMORY_HOST, 0};
  good(api.allocate(d.device, &desc, &pinned));
  good(allocate(d.device, 64, &device));
  void* host = nullptr;
  good(api.map(pinned, 0, 64, TUTTI_MAP_READ | TUTTI_MAP_WRITE, &host));
  std::memset(host, 42, 64);
  good(plugin().transfer->write(d.stream, device, 0, host, 64, 1, nullptr));
  std::memset(host, 0, 64);
  good(plugin().transfer->copy(d.stream, device, 0, pinned, 0, 64, nullptr));
  good(plugin().stream->synchronize(d.stream));
  BOOST_TEST(static_cast<const char*>(host)[63] == 42);
  void* part = nullptr;
  good(api.map(pinned, 16, 48, TUTTI_MAP_READ, &part));
  BOOST_TEST(part == static_cast<char*>(host) + 16);
  good(api.unmap(pinned, part));
  good(api.unmap(pinned, host));
  const outcome there = take(api.map(device, 0, 64, TUTTI_MAP_READ, &host));
  BOOST_TEST(there.code == TUTTI_ERROR_UNSUPPORTED);
  BOOST_TEST(there.message.find("map: the buffer is in memory of") == 0u, there.message);
  BOOST_TEST(take(api.map(pinned, 32, 64, TUTTI_MAP_READ, &host)).code ==
             TUTTI_ERROR_INVALID_ARGUMENT);
  api.release(pinned);
  api.release(device);
}
