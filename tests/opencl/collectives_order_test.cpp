// SPDX-License-Identifier: Apache-2.0
//
// The order of collectives among the work of streams and among each other, messages, and what
// participants are told when they disagree, give up or fail.
#define CL_TARGET_OPENCL_VERSION 120
#include <CL/cl.h>

#include <chrono>

#include "collectives_rig.hpp"

using namespace tutti::test;

namespace {

using std::chrono::milliseconds;

image numbers(uint64_t count, uint64_t value) {
  image content(TUTTI_U32, count);
  for (uint64_t i = 0; i < count; ++i) content.set(i, (value * (i + 1)) & 0xffffffffu);
  return content;
}

// An array of u32 on each device: participant n's element i is (n + 1) * (i + 1).
std::deque<array> arrays_on(const rig& r, uint64_t count) {
  std::deque<array> arrays;
  for (uint32_t n = 0; n < r.size(); ++n) arrays.emplace_back(r.devices[n], numbers(count, n + 1));
  return arrays;
}

handle<tutti_event> all_reduce(const rig& r, tutti_communicator* c, const array& a,
                               tutti_stream* stream, outcome* result = nullptr) {
  tutti_event* event = nullptr;
  const tutti_view v = a.view(0, a.data.size());
  const outcome found = take(r.calls().all_reduce(c, stream, &v, &v, TUTTI_REDUCE_SUM, &event));
  if (result != nullptr) {
    *result = found;
  } else {
    BOOST_REQUIRE_EQUAL(found.message, "");
  }
  return r.own(event);
}

handle<tutti_event> all_reduce(const rig& r, uint32_t n, const array& a) {
  return all_reduce(r, r.members[n], a, r.devices[n].main_stream.get());
}

handle<tutti_event> host_event(const session& s) {
  tutti_event* event = nullptr;
  check(s.api->stream->event_create(s.device.get(), &event), "event_create");
  return {event, s.api->stream->event_release};
}

// Fails instead of waiting for ever.
outcome wait_a_while(const rig& r, const handle<tutti_event>& event) {
  for (int tries = 0; tries < 1000; ++tries) {
    int32_t done = 0;
    const outcome found = take(r.api().stream->event_query(event.get(), &done));
    if (found || done != 0) return found;
    std::this_thread::sleep_for(milliseconds(5));
  }
  return {TUTTI_ERROR_TIMEOUT, "still not done"};
}

uint64_t triangle(uint64_t n) { return n * (n + 1) / 2; }

}  // namespace

BOOST_AUTO_TEST_CASE(work_before_and_after_stays_in_order) {
  rig r;
  const uint64_t count = 30011;
  auto arrays = arrays_on(r, count);
  const image before = numbers(count, 5), after = numbers(count, 9);
  std::vector<image> found(r.size(), after);
  const handle<tutti_event> gate = host_event(r.devices[0]);
  check(r.api().stream->wait(r.devices[0].main_stream.get(), gate.get()), "wait");
  std::vector<handle<tutti_event>> events;
  for (uint32_t n = 0; n < r.size(); ++n) {
    const tutti_transfer_api& api = *r.api().transfer;
    tutti_stream* const stream = r.devices[n].main_stream.get();
    tutti_buffer* const buffer = arrays[n].buffer.get();
    const uint64_t bytes = before.bytes.size();
    check(api.write(stream, buffer, 0, before.bytes.data(), bytes, 0, nullptr), "write");
    events.push_back(all_reduce(r, n, arrays[n]));
    check(api.read(stream, buffer, 0, found[n].bytes.data(), bytes, 0, nullptr), "read");
    check(api.write(stream, buffer, 0, after.bytes.data(), bytes, 0, nullptr), "write");
  }
  std::this_thread::sleep_for(milliseconds(20));
  for (const auto& event : events) BOOST_TEST(!r.done(event));
  check(r.api().stream->event_signal(gate.get(), nullptr), "signal");
  for (uint32_t n = 0; n < r.size(); ++n) {
    BOOST_TEST(wait_a_while(r, events[n]).message == "");
    check(r.api().stream->synchronize(r.devices[n].main_stream.get()), "synchronize");
    BOOST_TEST((found[n].bytes == numbers(count, 5 * r.size()).bytes));
    BOOST_TEST((arrays[n].read(r.devices[n]).bytes == after.bytes));
  }
}

BOOST_AUTO_TEST_CASE(the_last_caller_starts_it) {
  rig r;
  if (r.size() < 2) return;
  const auto arrays = arrays_on(r, 100);
  std::vector<handle<tutti_event>> events;
  for (uint32_t n = 1; n < r.size(); ++n) events.push_back(all_reduce(r, n, arrays[n]));
  std::this_thread::sleep_for(milliseconds(20));
  for (const auto& event : events) BOOST_TEST(!r.done(event));
  events.push_back(all_reduce(r, 0, arrays[0]));
  for (const auto& event : events) BOOST_TEST(wait_a_while(r, event).message == "");
  const image expected = numbers(100, triangle(r.size()));
  for (uint32_t n = 0; n < r.size(); ++n)
    BOOST_TEST((arrays[n].read(r.devices[n]).bytes == expected.bytes));
}

// One thread calls all; each participant runs ahead by the whole chain; two streams in turns.
BOOST_AUTO_TEST_CASE(many_in_flight) {
  rig r;
  constexpr int rounds = 12;
  auto first = arrays_on(r, 7001), second = arrays_on(r, 13);
  std::deque<handle<tutti_stream>> others;
  for (const session& s : r.devices) others.push_back(s.stream());
  for (uint32_t n = 0; n < r.size(); ++n) {
    for (int round = 0; round < rounds; ++round) {
      all_reduce(r, n, first[n]);
      all_reduce(r, r.members[n], second[n], others[n].get());
    }
  }
  uint64_t value = triangle(r.size());
  for (int round = 1; round < rounds; ++round) value *= r.size();
  for (uint32_t n = 0; n < r.size(); ++n) {
    check(r.api().stream->synchronize(r.devices[n].main_stream.get()), "synchronize");
    check(r.api().stream->synchronize(others[n].get()), "synchronize");
    BOOST_TEST((first[n].read(r.devices[n]).bytes == numbers(7001, value).bytes));
    BOOST_TEST((second[n].read(r.devices[n]).bytes == numbers(13, value).bytes));
  }
}

BOOST_AUTO_TEST_CASE(a_thread_for_each) {
  rig r;
  constexpr int rounds = 30;
  auto arrays = arrays_on(r, 1500);
  std::vector<std::thread> threads;
  for (uint32_t n = 0; n < r.size(); ++n) {
    threads.emplace_back([&, n] {
      const tutti_view v = arrays[n].view(0, 1500);
      for (int round = 0; round < rounds; ++round) {
        if ((round * 7 + n) % 5 == 0) std::this_thread::sleep_for(milliseconds(1));
        take(r.calls().broadcast(r.members[n], r.devices[n].main_stream.get(), &v,
                                 static_cast<uint32_t>(round) % r.size(), nullptr));
        const handle<tutti_event> done = all_reduce(r, n, arrays[n]);
        if (round % 4 == 0) r.wait(done);
      }
    });
  }
  for (std::thread& t : threads) t.join();
  uint64_t value = 1;
  for (int round = 0; round < rounds; ++round) value *= r.size();
  for (uint32_t n = 0; n < r.size(); ++n) {
    check(r.api().stream->synchronize(r.devices[n].main_stream.get()), "synchronize");
    BOOST_TEST((arrays[n].read(r.devices[n]).bytes == numbers(1500, value).bytes));
  }
}

BOOST_AUTO_TEST_CASE(messages_arrive_in_order) {
  rig r;
  if (r.size() < 2) return;
  const auto arrays = arrays_on(r, 60);
  tutti_stream* const from = r.devices[0].main_stream.get();
  tutti_stream* const to = r.devices[1].main_stream.get();
  const auto part = [&](int n, uint64_t first) { return arrays[n].view(first, 10); };
  std::deque<handle<tutti_event>> events;
  const auto send = [&](uint64_t first) {
    tutti_event* event = nullptr;
    const tutti_view v = part(0, first);
    check(r.calls().send(r.members[0], from, &v, 1, &event), "send");
    events.push_back(r.own(event));
  };
  const auto receive = [&](uint64_t first) {
    tutti_event* event = nullptr;
    const tutti_view v = part(1, first);
    check(r.calls().receive(r.members[1], to, &v, 0, &event), "receive");
    events.push_back(r.own(event));
  };
  // Sender first, receiver first, and two ahead.
  send(0), receive(10);
  receive(30), send(20);
  send(40), send(50), receive(0), receive(20);
  for (const auto& event : events) BOOST_TEST(wait_a_while(r, event).message == "");
  image expected = numbers(60, 2);
  const std::pair<int, int> moved[] = {{0, 10}, {20, 30}, {40, 0}, {50, 20}};
  for (const auto& [source, target] : moved)
    for (int i = 0; i < 10; ++i) expected.set(target + i, source + i + 1);
  BOOST_TEST((arrays[1].read(r.devices[1]).bytes == expected.bytes));
  BOOST_TEST((arrays[0].read(r.devices[0]).bytes == numbers(60, 1).bytes));

  const tutti_view ten = part(0, 0), nine = arrays[1].view(0, 9);
  tutti_event* event = nullptr;
  check(r.calls().send(r.members[0], from, &ten, 1, &event), "send");
  const handle<tutti_event> sent = r.own(event);
  const outcome refused = take(r.calls().receive(r.members[1], to, &nine, 0, nullptr));
  BOOST_TEST(refused.code == TUTTI_ERROR_INVALID_ARGUMENT);
  BOOST_TEST(refused.message ==
             "send/receive: the participants disagree: participant 0 has a message of 10 u32, "
             "participant 1 a message of 9 u32");
  BOOST_TEST(wait_a_while(r, sent).code == TUTTI_ERROR_INVALID_ARGUMENT);
}

BOOST_AUTO_TEST_CASE(disagreements_name_both) {
  rig r;
  if (r.size() < 2) return;
  const auto arrays = arrays_on(r, 64);
  const tutti_test::collective_calls api = r.calls();
  const auto disagree = [&](auto&& first, auto&& second, const std::string& message) {
    // Streams of their own: what waits for the failed collective fails as well.
    const handle<tutti_stream> s[2] = {r.devices[0].stream(), r.devices[1].stream()};
    tutti_event* event = nullptr;
    check(first(s[0].get(), arrays[0].view(0, 16), &event), "the first");
    const handle<tutti_event> waiting = r.own(event);
    const outcome refused = take(second(s[1].get(), arrays[1].view(0, 16)));
    BOOST_TEST(refused.code == TUTTI_ERROR_INVALID_ARGUMENT);
    BOOST_TEST(refused.message == message);
    const outcome told = wait_a_while(r, waiting);
    BOOST_TEST(told.code == TUTTI_ERROR_INVALID_ARGUMENT);
    BOOST_TEST(told.message.find("disagree") != std::string::npos);
    for (uint32_t n = 2; n < r.size(); ++n) {
      const tutti_view v = arrays[n].view(0, 16);
      BOOST_TEST(take(api.broadcast(r.members[n], r.devices[n].main_stream.get(), &v, 0, nullptr))
                     .message == message);
    }
  };
  const auto sum = [&](tutti_stream* s, const tutti_view& v, tutti_event** event) {
    return api.all_reduce(r.members[0], s, &v, &v, TUTTI_REDUCE_SUM, event);
  };
  const std::string has = "participant 0 has all_reduce of 16 u32, reduction 1, participant 1 ";
  disagree(
      sum,
      [&](tutti_stream* s, tutti_view v) {
        v.extent[0] = 9;
        return api.all_reduce(r.members[1], s, &v, &v, TUTTI_REDUCE_SUM, nullptr);
      },
      "all_reduce: the participants disagree: " + has + "all_reduce of 9 u32, reduction 1");
  disagree(
      sum,
      [&](tutti_stream* s, tutti_view v) {
        v.dtype = TUTTI_F32;
        return api.all_reduce(r.members[1], s, &v, &v, TUTTI_REDUCE_MAX, nullptr);
      },
      "all_reduce: the participants disagree: " + has + "all_reduce of 16 f32, reduction 4");
  disagree(
      sum,
      [&](tutti_stream* s, const tutti_view& v) {
        return api.broadcast(r.members[1], s, &v, 1, nullptr);
      },
      "broadcast: the participants disagree: " + has + "broadcast of 16 u32, root 1");
  disagree([&](tutti_stream* s, const tutti_view& v,
               tutti_event** event) { return api.broadcast(r.members[0], s, &v, 0, event); },
           [&](tutti_stream* s, const tutti_view& v) {
             return api.broadcast(r.members[1], s, &v, 1, nullptr);
           },
           "broadcast: the participants disagree: participant 0 has broadcast of 16 u32, root 0, "
           "participant 1 broadcast of 16 u32, root 1");
  std::vector<handle<tutti_event>> events;
  for (uint32_t n = 0; n < r.size(); ++n) events.push_back(all_reduce(r, n, arrays[n]));
  for (const auto& event : events) BOOST_TEST(wait_a_while(r, event).message == "");
  BOOST_TEST((arrays[0].read(r.devices[0]).bytes == numbers(64, triangle(r.size())).bytes));
}

// All participants in one call: one that is wrong keeps the others from beginning, one that
// disagrees fails the group, and the participants stay in step.
BOOST_AUTO_TEST_CASE(groups_begin_together) {
  rig r;
  if (r.size() < 2) return;
  const auto arrays = arrays_on(r, 64);
  const tutti_test::collective_calls api = r.calls();
  std::vector<tutti_view> views;
  std::vector<tutti_event*> events(r.size());
  for (uint32_t n = 0; n < r.size(); ++n) views.push_back(arrays[n].view(0, 64));
  std::vector<tutti_collective_call> group;
  for (uint32_t n = 0; n < r.size(); ++n)
    group.push_back({TUTTI_COLLECTIVE_ALL_REDUCE, TUTTI_REDUCE_SUM, 0, 0, r.members[n],
                     r.devices[n].main_stream.get(), &views[n], &views[n], &events[n]});
  tutti_collective_call& last = group.back();
  const std::string name = "participant " + std::to_string(r.size() - 1);
  last.kind = 4711;
  BOOST_TEST(take(api.group(group)).message == "collectives: kind 4711 is unknown");
  last.kind = TUTTI_COLLECTIVE_ALL_REDUCE;
  last.reduction = TUTTI_REDUCE_NONE;
  BOOST_TEST(take(api.group(group)).message.find("all_reduce, " + name + ": no reduction") == 0u);
  last.reduction = TUTTI_REDUCE_MAX;
  const outcome disagree = take(api.group(group));
  BOOST_TEST(disagree.code == TUTTI_ERROR_INVALID_ARGUMENT);
  BOOST_TEST(disagree.message.find("all_reduce: the participants disagree") == 0u);
  for (const tutti_event* event : events) BOOST_TEST(event == nullptr);
  last.reduction = TUTTI_REDUCE_SUM;
  check(api.group(group), "a group");
  for (tutti_event* event : events) BOOST_TEST(wait_a_while(r, r.own(event)).message == "");
  for (uint32_t n = 0; n < r.size(); ++n)
    BOOST_TEST((arrays[n].read(r.devices[n]).bytes == numbers(64, triangle(r.size())).bytes));
}

BOOST_AUTO_TEST_CASE(a_group_of_several_processes_is_unsupported) {
  rig r(1);
  const tutti_participant mine{r.devices[0].device.get(), 1, 0};
  tutti_communicator_desc desc{};
  desc.struct_size = sizeof desc;
  desc.identifier = "far away";
  desc.size = 2;
  desc.participant_count = 1;
  desc.participant_size = sizeof mine;
  desc.participants = &mine;
  tutti_communicator* made = nullptr;
  const outcome refused = take(r.api().collective->create(&desc, &made));
  BOOST_TEST(refused.code == TUTTI_ERROR_UNSUPPORTED);
  BOOST_TEST(refused.message ==
             "collectives: 1 of 2 participants are of this process, and OpenCL reaches no others");
}

BOOST_AUTO_TEST_CASE(abort_frees_those_who_wait) {
  rig r;
  if (r.size() < 2) return;
  const auto arrays = arrays_on(r, 50);
  // One has begun and is held up by work before it, one waits for the last caller.
  const handle<tutti_event> gate = host_event(r.devices[0]);
  check(r.api().stream->wait(r.devices[0].main_stream.get(), gate.get()), "wait");
  std::vector<handle<tutti_event>> events;
  for (uint32_t n = 0; n < r.size(); ++n) events.push_back(all_reduce(r, n, arrays[n]));
  for (uint32_t n = 1; n < r.size(); ++n) events.push_back(all_reduce(r, n, arrays[n]));
  const tutti_view v = arrays[1].view(0, 5);
  tutti_event* message = nullptr;
  check(r.calls().receive(r.members[1], r.devices[1].main_stream.get(), &v, 0, &message),
        "receive");
  events.push_back(r.own(message));
  check(r.calls().abort(r.members[1]), "abort");
  for (const auto& event : events) {
    const outcome told = wait_a_while(r, event);
    BOOST_TEST(told.code == TUTTI_ERROR_INVALID_ARGUMENT);
    BOOST_TEST(told.message.find("the collective was aborted") != std::string::npos, told.message);
  }
  for (uint32_t n = 0; n < r.size(); ++n) {
    outcome later{};
    all_reduce(r, r.members[n], arrays[n], r.devices[n].main_stream.get(), &later);
    BOOST_TEST(later.code == TUTTI_ERROR_INVALID_ARGUMENT);
    BOOST_TEST(later.message == "all_reduce, participant " + std::to_string(n) + ": was aborted");
  }
  check(r.calls().abort(r.members[0]), "abort again");
  check(r.api().stream->event_signal(gate.get(), nullptr), "signal");
}

BOOST_AUTO_TEST_CASE(a_released_participant_is_missed) {
  rig r;
  if (r.size() < 2) return;
  auto members = r.communicators();
  const auto arrays = arrays_on(r, 50);
  tutti_stream* const stream = r.devices[1].main_stream.get();
  const auto waiting = all_reduce(r, members[1], arrays[1], stream);
  r.calls().release(members[0]);
  members.erase(members.begin());
  BOOST_TEST(wait_a_while(r, waiting).code == TUTTI_ERROR_INVALID_ARGUMENT);
  outcome later{};
  all_reduce(r, members[0], arrays[1], stream, &later);
  BOOST_TEST(later.message == "all_reduce, participant 1: participant 0 was released");
  r.release(members);
}

// The stream of one participant fails after all have called.
BOOST_AUTO_TEST_CASE(a_failure_reaches_all_participants) {
  rig r;
  if (r.size() < 2) return;
  const auto arrays = arrays_on(r, 50);
  std::vector<handle<tutti_stream>> streams;
  for (const session& s : r.devices) streams.push_back(s.stream());
  void *context = nullptr, *device = nullptr, *queue = nullptr;
  check(r.api().native->device(r.devices[0].device.get(), &context, &device), "native device");
  check(r.api().native->stream(streams[0].get(), &queue), "native stream");
  cl_event held_up = nullptr;
  const cl_event doomed = clCreateUserEvent(static_cast<cl_context>(context), nullptr);
  clEnqueueBarrierWithWaitList(static_cast<cl_command_queue>(queue), 1, &doomed, &held_up);
  std::vector<handle<tutti_event>> events;
  for (int round = 0; round < 2; ++round) {
    for (uint32_t n = 0; n < r.size(); ++n)
      events.push_back(all_reduce(r, r.members[n], arrays[n], streams[n].get()));
  }
  clSetUserEventStatus(doomed, -9999);
  for (const auto& event : events) {
    const outcome told = wait_a_while(r, event);
    BOOST_TEST(told.code == TUTTI_ERROR_DRIVER);
    BOOST_TEST(told.message.find("before a collective failed") != std::string::npos, told.message);
  }
  outcome later{};
  all_reduce(r, r.members[0], arrays[0], r.devices[0].main_stream.get(), &later);
  BOOST_TEST(later.message.find("all_reduce, participant 0: an earlier one failed") == 0,
             later.message);
  // A failed event is refused instead of waited for.
  BOOST_TEST(take(r.api().stream->wait(streams[1].get(), events[0].get())).code ==
             TUTTI_ERROR_DRIVER);
  r.release(r.members);
  r.members = r.communicators();
  generator random(18);
  experiment(r, {kind::all_reduce, TUTTI_U32, TUTTI_REDUCE_SUM, 0, 33}, random).run();
  clReleaseEvent(held_up);
  clReleaseEvent(doomed);
}
