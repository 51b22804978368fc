// SPDX-License-Identifier: Apache-2.0
//
// event_notify: who is told of failures. The rest is stream/listeners of `tutti verify`.
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <thread>

#include "plugin.hpp"

using namespace tutti::test;

namespace {

struct heard {
  outcome what;
  std::atomic<int> calls = 0;

  static void listen(void* self, const tutti_status* failure) {
    auto& mine = *static_cast<heard*>(self);
    if (failure != nullptr) mine.what = {failure->code, 0, false, failure->message};
    ++mine.calls;
  }
  const outcome& wait() const {
    while (calls == 0) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    return what;
  }
};

const tutti_stream_api& api() { return *plugin().stream; }

tutti_event* record(const open_device& d) {
  tutti_event* event = nullptr;
  good(api().record(d.stream, &event));
  return event;
}

// Of an event whose work is not done yet.
outcome notify_pending(tutti_event* event, heard& who) {
  CALL(emulator_fail)("cuEventQuery", 600, 1);  // CUDA_ERROR_NOT_READY
  return take(api().event_notify(event, heard::listen, &who));
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_failure_of_the_device_is_told) {
  const open_device d(6);
  // A copy of memory that another owner has freed.
  tutti_buffer *owner = d.buffer(256), *to = d.buffer(256), *lent = nullptr;
  void* address = nullptr;
  good(plugin().native->buffer(owner, &address));
  good(plugin().native->wrap(d.device, address, 256, nullptr, nullptr, &lent));
  plugin().memory->release(owner);
  plugin().memory->release(d.buffer(256));  // waits for that
  good(plugin().transfer->copy(d.stream, lent, 0, to, 0, 256, nullptr));
  tutti_event* const event = record(d);
  heard who, later;
  BOOST_TEST(notify_pending(event, who).message == "");
  const outcome told = who.wait();
  BOOST_TEST(told.code == TUTTI_ERROR_DEVICE_LOST);
  BOOST_TEST(told.message.find("700") != std::string::npos, told.message);
  BOOST_TEST(take(api().event_notify(event, heard::listen, &later)).code ==
             TUTTI_ERROR_DEVICE_LOST);
  BOOST_TEST(later.calls == 0);
  api().event_release(event);
  for (tutti_buffer* each : {to, lent}) plugin().memory->release(each);
}

BOOST_AUTO_TEST_CASE(what_the_driver_refuses_is_returned_and_never_told) {
  const open_device d;
  heard who;
  tutti_event* const event = record(d);
  for (const char* function : {"cuStreamWaitEvent", "cuStreamAddCallback"}) {
    CALL(emulator_fail)(function, 999, 1);
    BOOST_TEST(notify_pending(event, who).code == TUTTI_ERROR_DRIVER);
  }
  BOOST_TEST(who.calls == 0);
  BOOST_TEST(notify_pending(event, who).message == "");
  BOOST_TEST(who.wait().code == TUTTI_OK);
  api().event_release(event);
}
