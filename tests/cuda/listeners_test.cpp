// SPDX-License-Identifier: Apache-2.0
//
// event_notify over the stub of the driver: who is told of failures. The rest is stream/listeners
// of `tutti verify` over the emulator.
#include <boost/test/unit_test.hpp>

#include "plugin.hpp"

using namespace tutti::test;

namespace {

struct heard {
  int calls = 0;
  int code = TUTTI_OK;
  std::string message;

  static void listen(void* self, const tutti_status* failure) {
    auto& mine = *static_cast<heard*>(self);
    ++mine.calls;
    if (failure == nullptr) return;
    mine.code = failure->code;
    mine.message = failure->message;
  }
};

struct rig {
  tutti_device* device = nullptr;
  tutti_stream* stream = nullptr;
  const tutti_stream_api& api = *plugin().stream;
  rig() {
    good(plugin().device->open(0, &device));
    good(create_stream(device, 0, &stream));
  }
  ~rig() {
    STUB_CALL(stub_heal)();
    api.release(stream);
    plugin().device->release(device);
  }
  tutti_event* record() const {
    tutti_event* event = nullptr;
    good(api.record(stream, &event));
    return event;
  }
  // Of an event whose work is not done yet.
  void notify_pending(tutti_event* event, heard& who) const {
    STUB_CALL(stub_fail)("cuEventQuery", 600, 1);  // CUDA_ERROR_NOT_READY
    good(api.event_notify(event, heard::listen, &who));
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_failure_of_the_device_is_told) {
  heard who, later;
  {
    const rig r;
    tutti_event* const event = r.record();
    STUB_CALL(stub_hold_callbacks)(true, 0);
    r.notify_pending(event, who);
    STUB_CALL(stub_hold_callbacks)(false, 700);  // CUDA_ERROR_ILLEGAL_ADDRESS
    BOOST_TEST(who.calls == 1);
    BOOST_TEST(who.code == TUTTI_ERROR_DEVICE_LOST);
    BOOST_TEST(who.message.find("700") != std::string::npos, who.message);
    BOOST_TEST(take(r.api.event_notify(event, heard::listen, &later)).code ==
               TUTTI_ERROR_DEVICE_LOST);
    BOOST_TEST(later.calls == 0);
    r.api.event_release(event);
  }
}

BOOST_AUTO_TEST_CASE(what_the_driver_refuses_is_returned_and_never_told) {
  const rig r;
  heard who;
  tutti_event* const event = r.record();
  for (const char* function : {"cuStreamWaitEvent", "cuStreamAddCallback"}) {
    STUB_CALL(stub_fail)(function, 999, 1);
    STUB_CALL(stub_fail)("cuEventQuery", 600, 1);
    BOOST_TEST(take(r.api.event_notify(event, heard::listen, &who)).code == TUTTI_ERROR_DRIVER);
  }
  BOOST_TEST(who.calls == 0);
  r.notify_pending(event, who);
  BOOST_TEST(who.calls == 1);
  r.api.event_release(event);
}
