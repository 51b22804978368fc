// SPDX-License-Identifier: Apache-2.0
//
// The opencl plugin's collectives beyond the groups of `tutti verify`: their order among the work
// of streams and among each other, threads, groups, more devices than one launch takes arrays of.
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <deque>
#include <thread>

#include "tutti_test/paths.hpp"
#include "tutti_test/threads.hpp"
#include "verify/collective_trials.hpp"

namespace {

using namespace tutti::conformance;
using array = collective_array;

struct rig : collective_rig {
  explicit rig(uint32_t most = 64) : collective_rig(tutti_test::paths::opencl_plugin, most) {}
};

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
  const uint64_t share = 500, count = share * r.size();
  std::deque<array> arrays;  // each has its share of the numbers, and others beside it
  for (uint32_t n = 0; n < r.size(); ++n) {
    image content = numbers(count, n + 2);
    for (uint64_t i = n * share; i < (n + 1) * share; ++i) content.set(i, i + 1);
    arrays.emplace_back(r.devices[n], content);
  }
  tutti_test::at_once(static_cast<int>(r.size()), [&](int member) {
    const auto n = static_cast<uint32_t>(member);
    const tutti_view mine = arrays[n].view(n * share, share), all = arrays[n].view(0, count);
    for (int round = 0; round < rounds; ++round) {
      if ((round * 7 + n) % 5 == 0) std::this_thread::sleep_for(milliseconds(1));
      take(
          r.calls().all_gather(r.members[n], r.devices[n].main_stream.get(), &mine, &all, nullptr));
      const handle<tutti_event> done = all_reduce(r, n, arrays[n]);
      if (round % 4 == 0) r.wait(done);
    }
  });
  uint64_t value = 1;
  for (int round = 0; round < rounds; ++round) value *= r.size();
  for (uint32_t n = 0; n < r.size(); ++n) {
    check(r.api().stream->synchronize(r.devices[n].main_stream.get()), "synchronize");
    BOOST_TEST((arrays[n].read(r.devices[n]).bytes == numbers(count, value).bytes));
  }
}

// All participants in one call: one that is wrong keeps the others from beginning, one that
// disagrees fails the group, and the participants stay in step.
BOOST_AUTO_TEST_CASE(groups_begin_together) {
  rig r;
  if (r.size() < 2) return;
  const auto arrays = arrays_on(r, 64);
  const collective_calls api = r.calls();
  std::vector<tutti_view> views;
  std::vector<tutti_event*> events(r.size());
  for (uint32_t n = 0; n < r.size(); ++n) views.push_back(arrays[n].view(0, 64));
  std::vector<tutti_collective_call> group;
  for (uint32_t n = 0; n < r.size(); ++n)
    group.push_back({TUTTI_COLLECTIVE_ALL_REDUCE, TUTTI_REDUCE_SUM, r.members[n],
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

// More arrays than one launch takes, where there are as many devices.
BOOST_AUTO_TEST_CASE(reductions_by_many) {
  rig r;
  generator random(19);
  for (const int32_t what : {TUTTI_COLLECTIVE_ALL_REDUCE, TUTTI_COLLECTIVE_REDUCE_SCATTER}) {
    experiment(r, {what, TUTTI_F16, TUTTI_REDUCE_SUM, 1021}, random).run();
    experiment(r, {what, TUTTI_U8, TUTTI_REDUCE_MAX, 7, where::same}, random).run();
  }
}

// The copied pieces of a slice are 4 MiB.
BOOST_AUTO_TEST_CASE(slices_longer_than_a_piece) {
  rig r(2);
  if (!r.devices[0].stores(TUTTI_F64)) return;
  generator random(13);
  trial t{TUTTI_COLLECTIVE_ALL_REDUCE, TUTTI_F64, TUTTI_REDUCE_SUM, 0, where::same};
  t.share = r.size() * (uint64_t{4} << 20) / sizeof(double) + 5;
  experiment(r, t, random).run();
}
