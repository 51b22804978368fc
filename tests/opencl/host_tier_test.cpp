// SPDX-License-Identifier: Apache-2.0
//
// The host tier of the opencl plugin through its tables: work of the host among that of the driver
// keeps the order of streams, waits for events of others, and passes failures on.
#include <algorithm>
#include <atomic>
#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cstring>
#include <random>
#include <thread>
#include <vector>
#if defined(__x86_64__)
#include <immintrin.h>
#endif

#include "tutti_test/paths.hpp"
#include "verify/harness.hpp"

namespace tutti::test {
namespace {

using namespace tutti::conformance;

session& opened() {
  static session s(tutti_test::paths::opencl_plugin, 0, 1);
  return s;
}

const tutti_tier_api& tier() { return *opened().api->tier; }

handle<tutti_event> own(tutti_event* event) { return {event, opened().api->stream->event_release}; }

handle<tutti_event> record(const handle<tutti_stream>& stream) {
  tutti_event* made = nullptr;
  check(opened().api->stream->record(stream.get(), &made), "record");
  return own(made);
}

void wait_for(const handle<tutti_stream>& stream, const handle<tutti_event>& event) {
  check(opened().api->stream->wait(stream.get(), event.get()), "wait");
}

handle<tutti_event> host_event() {
  tutti_event* made = nullptr;
  check(opened().api->stream->event_create(opened().device.get(), &made), "event create");
  return own(made);
}

/// x * 3 + 1 over i32, in place.
program_spec step_spec() {
  program_spec spec;
  const uint32_t x = spec.input(TUTTI_I32), three = spec.scalar(TUTTI_I32),
                 one = spec.scalar(TUTTI_I32);
  const uint32_t product = spec.op(TUTTI_OP_multiply, TUTTI_I32, {x, three});
  spec.output(spec.op(TUTTI_OP_add, TUTTI_I32, {product, one}), TUTTI_I32);
  spec.label = "step";
  return spec;
}

uint32_t stepped(uint32_t x) { return x * 3 + 1; }

handle<tutti_event> launch_step(const handle<tutti_stream>& stream, tutti_program* program,
                                tutti_buffer* memory, uint64_t count) {
  tutti_operand x{};
  x.buffer = memory;
  x.stride[0] = 1;
  tutti_scalar scalars[2]{};
  scalars[0].i32 = 3;
  scalars[1].i32 = 1;
  tutti_program_launch l{};
  l.struct_size = sizeof l;
  l.operand_size = sizeof x;
  l.extent[0] = count;
  l.inputs = l.outputs = &x;
  l.scalars = scalars;
  tutti_event* event = nullptr;
  check(opened().api->program->launch(stream.get(), program, &l, &event), "launch");
  return own(event);
}

void write(const handle<tutti_stream>& stream, tutti_buffer* to, const std::vector<uint32_t>& from,
           bool blocking) {
  check(opened().api->transfer->write(stream.get(), to, 0, from.data(), from.size() * 4,
                                      blocking ? 1 : 0, nullptr),
        "write");
}

std::vector<uint32_t> read(const handle<tutti_stream>& stream, tutti_buffer* from, uint64_t count) {
  std::vector<uint32_t> to(count);
  check(opened().api->transfer->read(stream.get(), from, 0, to.data(), count * 4, 1, nullptr),
        "read");
  return to;
}

bool is_done(const handle<tutti_event>& event) {
  int32_t done = 0;
  check(opened().api->stream->event_query(event.get(), &done), "query");
  return done != 0;
}

std::vector<uint32_t> numbers(uint64_t count, uint32_t first) {
  std::vector<uint32_t> all(count);
  for (uint64_t i = 0; i < count; ++i) all[i] = first + static_cast<uint32_t>(i) * 7;
  return all;
}

}  // namespace

BOOST_AUTO_TEST_CASE(small_work_on_an_idle_stream_is_done_at_once) {
  session& s = opened();
  BOOST_REQUIRE_EQUAL(tier().begins_on_host(s.device.get()), 1);
  const auto program = s.program(step_spec().desc());
  BOOST_TEST(tier().program_is_on_host(program.get()) == 1);
  const auto stream = s.stream();
  const auto memory = s.allocate(1000 * 4);
  std::vector<uint32_t> expected = numbers(1000, 5);
  write(stream, memory.get(), expected, true);
  const auto event = launch_step(stream, program.get(), memory.get(), 1000);
  BOOST_TEST(is_done(event));
  BOOST_TEST(tier().ran_on_host(event.get()) == 1);
  BOOST_TEST(tier().ran_on_host(record(stream).get()) == 0);
  std::transform(expected.begin(), expected.end(), expected.begin(), stepped);
  BOOST_TEST(read(stream, memory.get(), 1000) == expected, boost::test_tools::per_element());
}

// Behind a gate that the host opens, everything waits; it fails as the gate does.
BOOST_AUTO_TEST_CASE(work_behind_an_event_waits_for_it_and_fails_with_it) {
  session& s = opened();
  const tutti_stream_api& streams = *s.api->stream;
  const auto program = s.program(step_spec().desc());
  const auto stream = s.stream();
  const auto memory = s.allocate(64 * 4);
  for (const bool fails : {false, true}) {
    const std::vector<uint32_t> before = numbers(64, 1);
    write(stream, memory.get(), before, true);
    const auto gate = host_event();
    wait_for(stream, gate);
    const auto behind = launch_step(stream, program.get(), memory.get(), 64);
    const auto later = launch_step(stream, program.get(), memory.get(), 64);
    BOOST_TEST(!is_done(behind));
    BOOST_TEST(take(streams.event_wait(later.get(), 20'000'000)).code == TUTTI_ERROR_TIMEOUT);
    BOOST_TEST(tier().ran_on_host(later.get()) == 1);
    tutti_status why{};
    why.struct_size = sizeof why;
    why.code = TUTTI_ERROR_DRIVER;
    why.message = "the gate fell";
    check(streams.event_signal(gate.get(), fails ? &why : nullptr), "signal");
    const outcome met = take(streams.event_wait(later.get(), TUTTI_FOREVER));
    const outcome after = take(streams.synchronize(stream.get()));
    if (fails) {
      BOOST_TEST(met.code == TUTTI_ERROR_DRIVER);
      BOOST_TEST(met.message.find("the gate fell") != std::string::npos, met.message);
      BOOST_TEST(after.code == TUTTI_ERROR_DRIVER);
      // The stream is sound again.
      write(stream, memory.get(), before, true);
      const auto sound = launch_step(stream, program.get(), memory.get(), 64);
      check(streams.event_wait(sound.get(), TUTTI_FOREVER), "work after a failure");
      BOOST_TEST(read(stream, memory.get(), 64)[3] == stepped(before[3]));
    } else {
      BOOST_TEST(met.code == TUTTI_OK, met.message);
      BOOST_TEST(after.code == TUTTI_OK, after.message);
      BOOST_TEST(read(stream, memory.get(), 64)[3] == stepped(stepped(before[3])));
    }
  }
}

BOOST_AUTO_TEST_CASE(times_of_work_on_the_host_are_on_the_clock_of_the_device) {
  session& s = opened();
  const tutti_profile_api& profile = *s.api->profile;
  const auto program = s.program(step_spec().desc());
  const auto stream = s.stream(TUTTI_STREAM_PROFILE);
  const auto memory = s.allocate(4096 * 4);
  write(stream, memory.get(), numbers(4096, 1), true);
  const auto now = [&] {
    uint64_t ns = 0;
    check(profile.clock(s.device.get(), &ns), "clock");
    return ns;
  };
  const auto times_of = [&](const handle<tutti_event>& event) {
    check(s.api->stream->event_wait(event.get(), TUTTI_FOREVER), "wait");
    tutti_event_times times{};
    times.struct_size = sizeof times;
    check(profile.event_times(event.get(), &times), "times");
    return times;
  };
  const uint64_t before = now();
  const auto at_once = times_of(launch_step(stream, program.get(), memory.get(), 4096));
  const auto gate = host_event();
  wait_for(stream, gate);
  const auto in_lane = launch_step(stream, program.get(), memory.get(), 4096);
  check(s.api->stream->event_signal(gate.get(), nullptr), "signal");
  const auto later = times_of(in_lane);
  const uint64_t after = now();
  constexpr uint64_t apart = 5'000'000;  // two readings of two clocks
  BOOST_TEST(before <= at_once.begin_ns + apart);
  BOOST_TEST(at_once.begin_ns <= at_once.end_ns);
  BOOST_TEST(at_once.end_ns <= later.begin_ns);
  BOOST_TEST(later.begin_ns <= later.end_ns);
  BOOST_TEST(later.end_ns <= after + apart);
}

BOOST_AUTO_TEST_CASE(promoted_programs_run_either_way) {
  session& s = opened();
  constexpr uint64_t many = 1 << 21;
  const auto program = s.program(step_spec().desc());
  const auto stream = s.stream();
  const auto memory = s.allocate(many * 4);
  std::vector<uint32_t> expected = numbers(many, 9);
  write(stream, memory.get(), expected, true);
  const auto step = [&] {
    auto event = launch_step(stream, program.get(), memory.get(), many);
    check(s.api->stream->event_wait(event.get(), TUTTI_FOREVER), "wait");
    std::transform(expected.begin(), expected.end(), expected.begin(), stepped);
    return tier().ran_on_host(event.get());
  };
  BOOST_TEST(step() == 1);
  BOOST_TEST(tier().program_cost(program.get()) > 0u);
  check(tier().promote_program(program.get()), "promote");
  check(tier().promote_program(program.get()), "promote again");
  BOOST_TEST(tier().program_is_on_host(program.get()) == 0);
  BOOST_TEST(tier().program_cost(program.get()) == 0u);
  BOOST_TEST(step() == 0);
  BOOST_TEST(read(stream, memory.get(), many) == expected);
  check(s.api->stream->synchronize(stream.get()), "synchronize");
  const auto small = launch_step(stream, program.get(), memory.get(), 16);
  BOOST_TEST(tier().ran_on_host(small.get()) == 1);
}

BOOST_AUTO_TEST_CASE(streams_for_compiled_work_leave_nothing_to_the_host) {
  session& s = opened();
  const auto program = s.program(step_spec().desc());
  const auto stream = s.stream(TUTTI_STREAM_COMPILED);
  const auto memory = s.allocate(64 * 4);
  const std::vector<uint32_t> before = numbers(64, 2);
  write(stream, memory.get(), before, true);
  const auto event = launch_step(stream, program.get(), memory.get(), 64);
  BOOST_TEST(tier().ran_on_host(event.get()) == 0);
  BOOST_TEST(read(stream, memory.get(), 64)[5] == stepped(before[5]));
}

#if defined(__x86_64__)
// An application built with -ffast-math has its threads flush denormal numbers.
BOOST_AUTO_TEST_CASE(the_mode_of_the_thread_is_no_part_of_the_arithmetic) {
  session& s = opened();
  program_spec spec;
  const uint32_t x = spec.input(TUTTI_F32);
  spec.output(spec.op(TUTTI_OP_add, TUTTI_F32, {x, x}), TUTTI_F32);
  std::vector<operand> in{packed(TUTTI_F32, {100})}, out{packed(TUTTI_F32, {100})};
  for (uint64_t i = 0; i < 100; ++i) in[0].data.set(in[0].offset + i, 1 + i);  // tiny
  constexpr unsigned flushing = 0x8040;
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | flushing);
  launch(s, spec, {100}, in, {}, out);
  const unsigned after = _mm_getcsr();
  _mm_setcsr(before);
  BOOST_TEST((after & flushing) == flushing);
  for (uint64_t i = 0; i < 100; ++i) BOOST_TEST(out[0].data.get(out[0].offset + i) == 2 * (1 + i));
}
#endif

namespace {

/// A stream with memory of its own, and what that should hold.
struct side {
  handle<tutti_stream> stream = opened().stream();
  handle<tutti_buffer> memory;
  std::vector<uint32_t> expected;
};

/// Signals gates one after the other, some time after they were made.
class gatekeeper {
 public:
  explicit gatekeeper(std::vector<handle<tutti_event>>& gates)
      : thread_([this, &gates] {
          for (size_t n = 0; n < gates.size(); ++n) {
            while (opened_.load() <= n && !stops_) std::this_thread::yield();
            if (n % 3 == 0) std::this_thread::sleep_for(std::chrono::microseconds(200));
            check(opened().api->stream->event_signal(gates[n].get(), nullptr), "signal");
          }
        }) {}
  ~gatekeeper() {
    stops_ = true;
    thread_.join();
  }
  void next() { ++opened_; }

 private:
  std::atomic<size_t> opened_{0};
  std::atomic<bool> stops_{false};
  std::thread thread_;
};

/// One operation of a random kind on `a`, some of them with what `b` holds.
void one_of_many(side& a, side& b, tutti_program* fresh, tutti_program* promoted,
                 std::vector<std::vector<uint32_t>>& sources, gatekeeper& keeper,
                 std::vector<handle<tutti_event>>& gates, size_t& next_gate,
                 std::mt19937_64& random) {
  session& s = opened();
  const uint64_t count = a.expected.size();
  const auto step = [&](tutti_program* program) {
    launch_step(a.stream, program, a.memory.get(), count);
    std::transform(a.expected.begin(), a.expected.end(), a.expected.begin(), stepped);
  };
  switch (random() % 8) {
    case 0:
    case 1:
    case 2:
      return step(fresh);
    case 3:
      return step(promoted);
    case 4: {
      const bool blocking = random() % 2 == 0;
      sources.push_back(numbers(count, static_cast<uint32_t>(random())));
      write(a.stream, a.memory.get(), sources.back(), blocking);
      a.expected = sources.back();
      return;
    }
    case 5: {
      wait_for(a.stream, record(b.stream));
      check(s.api->transfer->copy(a.stream.get(), b.memory.get(), 0, a.memory.get(), 0, count * 4,
                                  nullptr),
            "copy");
      wait_for(b.stream, record(a.stream));
      a.expected = b.expected;
      return;
    }
    case 6:
      if (next_gate == gates.size()) return step(fresh);
      wait_for(a.stream, gates[next_gate++]);
      keeper.next();
      return;
    default:
      if (random() % 4 == 0) check(s.api->stream->synchronize(a.stream.get()), "synchronize");
      check(s.api->stream->flush(a.stream.get()), "flush");
  }
}

}  // namespace

// The driver's commands, the host's work at once and in lanes, and events between two streams, two
// threads at a time; one program has code, the other never.
BOOST_AUTO_TEST_CASE(work_of_both_tiers_keeps_the_order_of_streams) {
  session& s = opened();
  const auto fresh = s.program(step_spec().desc()), promoted = s.program(step_spec().desc());
  check(tier().promote_program(promoted.get()), "promote");
  const auto work = [&](uint64_t seed) {
    std::mt19937_64 random(seed);
    for (const uint64_t count : {uint64_t{50}, uint64_t{70'000}}) {
      std::vector<handle<tutti_event>> gates;
      for (int n = 0; n < 30; ++n) gates.push_back(host_event());
      std::vector<std::vector<uint32_t>> sources;  // which writes may read until the end
      side sides[2];
      for (side& one : sides) {
        one.memory = s.allocate(count * 4);
        one.expected = numbers(count, static_cast<uint32_t>(random()));
        write(one.stream, one.memory.get(), one.expected, true);
      }
      size_t next_gate = 0;
      {
        gatekeeper keeper(gates);
        for (int n = 0; n < 150; ++n) {
          const size_t which = random() % 2;
          one_of_many(sides[which], sides[1 - which], fresh.get(), promoted.get(), sources, keeper,
                      gates, next_gate, random);
        }
      }
      for (side& one : sides) {
        const std::vector<uint32_t> got = read(one.stream, one.memory.get(), count);
        require(got == one.expected, "a stream of " + std::to_string(count) + " elements, seed " +
                                         std::to_string(seed) + ", went out of order");
        check(s.api->stream->synchronize(one.stream.get()), "synchronize");
      }
    }
  };
  std::exception_ptr failed;
  std::thread other([&] {
    try {
      for (const uint64_t seed : {1, 2, 3}) work(seed);
    } catch (...) {
      failed = std::current_exception();
    }
  });
  for (const uint64_t seed : {4, 5, 6}) work(seed);
  other.join();
  if (failed) std::rethrow_exception(failed);
}

}  // namespace tutti::test
