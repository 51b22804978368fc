// SPDX-License-Identifier: Apache-2.0
//
// Collectives in which one participant does not match, has waited for failed work, or aborts: the
// errors of all participants.
#include "byte_checks.hpp"
#include "collective_trials.hpp"

namespace tutti::conformance {
namespace {

void require_named(const outcome& told, const char* who) {
  require(static_cast<bool>(told), "{} is told of a success", who);
  const bool named = told.message.find("all_reduce") != std::string::npos &&
                     told.message.find("participant") != std::string::npos;
  require(named, "{} is told '{}', which does not name the collective and a participant", who,
          told.message);
}

// One participant calls another collective than the other.
void check_disagreement(session& s) {
  require_i32(s);
  with_devices(s, 2, [&](collective_rig& r) {
    if (r.size() < 2) throw skipped("one device alone");
    tutti_event *first = nullptr, *second = nullptr;
    const collective_array a(r.devices[0], ascending(TUTTI_I32, 16, 0)),
        b(r.devices[1], ascending(TUTTI_I32, 16, 0));
    const tutti_view sixteen = a.view(0, 16), nine = b.view(0, 9);
    check(r.calls().all_reduce(r.members[0], r.devices[0].main_stream.get(), &sixteen, &sixteen,
                               TUTTI_REDUCE_SUM, &first),
          "all_reduce");
    const auto first_held = r.own(first);
    const outcome refused = take(r.calls().all_reduce(r.members[1], r.devices[1].main_stream.get(),
                                                      &nine, &nine, TUTTI_REDUCE_SUM, &second));
    const auto second_held = r.own(second);
    require(!refused || second == nullptr, "a call that is refused hands an event out");
    require_named(refused ? refused : r.wait(second_held), "who disagrees");
    require_named(r.wait(first_held), "who has called before");
    for (const session& one : r.devices) take(one.api->stream->synchronize(one.main_stream.get()));
  });
}

// The work for which a participant's stream has waited fails.
void check_failed_input(session& s) {
  require_i32(s);
  with_devices(s, 2, [&](collective_rig& r) {
    if (!offers(s.api->stream, &tutti_stream_api::event_signal))
      throw skipped("the plugin has no events of the host");
    const tutti_status why = failed_by_host();
    const session& last = r.devices.back();
    tutti_event* gate = nullptr;
    check(s.api->stream->event_create(last.device.get(), &gate), "event create");
    const auto gate_held = r.own(gate);
    check(s.api->stream->wait(last.main_stream.get(), gate), "stream wait");
    // Its main stream is delayed: the data are transferred on others.
    std::vector<handle<tutti_stream>> streams;
    std::vector<handle<tutti_buffer>> buffers;
    std::vector<handle<tutti_event>> events;
    for (uint32_t n = 0; n < r.size(); ++n) {
      const session& one = r.devices[n];
      const image content = ascending(TUTTI_I32, 16, n);
      streams.push_back(one.stream());
      buffers.push_back(one.allocate(content.bytes.size()));
      one.write(buffers[n].get(), 0, content.bytes.data(), content.bytes.size(), streams[n].get());
      const tutti_view v = view_of(buffers[n].get(), TUTTI_I32, 0, 16);
      tutti_stream* const stream = &one == &last ? last.main_stream.get() : streams[n].get();
      tutti_event* event = nullptr;
      check(r.calls().all_reduce(r.members[n], stream, &v, &v, TUTTI_REDUCE_SUM, &event),
            "all_reduce");
      events.push_back(r.own(event));
    }
    check(s.api->stream->event_signal(gate, &why), "event signal");
    for (const auto& event : events) {
      const outcome told = r.wait(event);
      // The owner of the stream gets at least its message, the others also which participant
      // failed.
      if (&event != &events.back()) require_named(told, "a participant");
      require(told.message.find("parcel 17") != std::string::npos,
              "a participant is not told why: {}", told.message);
    }
    for (const session& one : r.devices) take(one.api->stream->synchronize(one.main_stream.get()));
    for (const auto& stream : streams) take(s.api->stream->synchronize(stream.get()));
  });
}

void check_abort(session& s) {
  require_i32(s);
  with_devices(s, 2, [&](collective_rig& r) {
    if (r.size() < 2) throw skipped("one device alone");
    const collective_array a(r.devices[0], ascending(TUTTI_I32, 16, 0));
    const tutti_view v = a.view(0, 16);
    tutti_stream* const stream = r.devices[0].main_stream.get();
    tutti_event* event = nullptr;
    check(r.calls().all_reduce(r.members[0], stream, &v, &v, TUTTI_REDUCE_SUM, &event),
          "all_reduce");
    const auto held = r.own(event);
    check(s.api->stream->flush(stream), "flush");
    int32_t done = 1;
    check(s.api->stream->event_query(event, &done), "event query");
    require(done == 0, "a collective is done before all have called");
    check(r.calls().abort(r.members[1]), "abort");
    require(static_cast<bool>(r.wait(held)), "an aborted collective succeeds");
    require(static_cast<bool>(take(
                r.calls().all_reduce(r.members[0], stream, &v, &v, TUTTI_REDUCE_SUM, nullptr))),
            "a communicator works after abort");
    take(s.api->stream->synchronize(stream));
    // A new group works, on the same streams.
    r.release(r.members);
    r.members = r.communicators();
    generator random(s.seed);
    experiment(r, {TUTTI_COLLECTIVE_ALL_REDUCE, TUTTI_I32, TUTTI_REDUCE_SUM, 33}, random).run();
  });
}

}  // namespace

void add_collective_failure_groups(groups& all, const session&) {
  all.push_back({"collective/disagreement", check_disagreement});
  all.push_back({"collective/failed_input", check_failed_input});
  all.push_back({"collective/abort", check_abort});
}

}  // namespace tutti::conformance
