// SPDX-License-Identifier: Apache-2.0
//
// What backends of the host share: loops over several threads, queues with their failures, memory,
// and programs and operators whose results do not depend on the number of threads.
#include <sched.h>

#include <atomic>
#include <boost/test/unit_test.hpp>
#include <cctype>
#include <cstring>
#include <memory>
#include <set>
#include <span>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "sdk/host_layer/host_operator.hpp"
#include "sdk/host_layer/program_interpreter.hpp"
#include "sdk/host_layer/thread_team.hpp"
#include "sdk/host_layer/work_queue.hpp"
#include "verify/program_spec.hpp"

struct tutti_buffer {
  std::vector<std::byte> bytes;
};

namespace {

using namespace tutti::sdk;

int32_t code_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const plugin_error& error) {
    return error.code;
  }
  return TUTTI_OK;
}

void fail() { throw plugin_error(TUTTI_ERROR_DRIVER, "the driver says no", -7); }

host_block memory_of(const tutti_buffer& buffer) {
  return {const_cast<std::byte*>(buffer.bytes.data()), buffer.bytes.size()};
}

tutti_buffer floats(size_t count) {
  tutti_buffer buffer{std::vector<std::byte>(count * sizeof(float))};
  for (size_t i = 0; i < count; ++i) {
    const float value = 0.37f + 1.0f / static_cast<float>(i % 1013 + 1);
    std::memcpy(&buffer.bytes[i * sizeof(float)], &value, sizeof value);
  }
  return buffer;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(host_layer)

BOOST_AUTO_TEST_CASE(loops_cover_every_item_once) {
  for (const unsigned threads : {1u, 2u, 5u}) {
    thread_team team(threads);
    for (const uint64_t count : {0u, 1u, 7u, 64u, 1000u, 4097u}) {
      std::vector<std::atomic<int>> seen(count);
      std::atomic<bool> empty = false;
      for (const uint64_t least : {0u, 1u, 3u, 5000u}) {
        team.split(count, least, [&](uint64_t begin, uint64_t end) {
          if (begin >= end) empty = true;
          for (uint64_t i = begin; i < end; ++i) ++seen[i];
        });
      }
      BOOST_CHECK(!empty);
      for (const auto& times : seen) BOOST_REQUIRE_EQUAL(times.load(), 4);
    }
  }
}

BOOST_AUTO_TEST_CASE(a_loop_throws_what_its_body_throws_and_the_team_goes_on) {
  thread_team team(3);
  for (int round = 0; round < 20; ++round) {
    BOOST_CHECK_EQUAL(code_of([&] {
                        team.split(1000, 1, [](uint64_t begin, uint64_t end) {
                          if (begin <= 500 && 500 < end) fail();
                        });
                      }),
                      TUTTI_ERROR_DRIVER);
    std::atomic<uint64_t> sum = 0;
    team.split(1000, 1, [&](uint64_t begin, uint64_t end) { sum += end - begin; });
    BOOST_CHECK_EQUAL(sum.load(), 1000u);
  }
}

BOOST_AUTO_TEST_CASE(loops_of_several_threads_do_not_wait_for_each_other) {
  thread_team team(2);
  std::atomic<uint64_t> sum = 0;
  std::vector<std::thread> callers;
  for (int n = 0; n < 4; ++n) {
    callers.emplace_back([&] {
      for (int round = 0; round < 50; ++round) {
        team.split(100, 1, [&](uint64_t begin, uint64_t end) {
          // A loop within a loop finds the team taken, and runs where it is.
          team.split(end - begin, 1, [&](uint64_t b, uint64_t e) { sum += e - b; });
        });
      }
    });
  }
  for (std::thread& caller : callers) caller.join();
  BOOST_CHECK_EQUAL(sum.load(), 4u * 50 * 100);
}

namespace {

std::vector<int> allowed_cores() {
  cpu_set_t set;
  sched_getaffinity(0, sizeof set, &set);
  std::vector<int> cores;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &set)) cores.push_back(core);
  return cores;
}

/// Runs a loop in which all threads take part; returns the cores that each worker may use.
std::vector<std::vector<int>> cores_of_workers(thread_team& team) {
  const auto caller = std::this_thread::get_id();
  std::vector<std::vector<int>> cores(team.size());
  std::atomic<unsigned> arrived = 0;
  team.split(team.size(), 1, [&](uint64_t begin, uint64_t) {
    if (std::this_thread::get_id() != caller) cores[begin] = allowed_cores();
    ++arrived;
    while (arrived < team.size()) std::this_thread::yield();
  });
  std::erase(cores, std::vector<int>());
  return cores;
}

}  // namespace

// In a thread, whose cores the test limits.
BOOST_AUTO_TEST_CASE(each_thread_has_a_core_of_its_own_if_there_are_enough) {
  std::thread([] {
    const std::vector<int> all = allowed_cores();
    if (all.size() < 2) return;
    thread_team few(2), team(static_cast<unsigned>(all.size()));
    if (all.size() > 2) BOOST_TEST((cores_of_workers(few) == std::vector<std::vector<int>>{all}));
    cores_of_workers(team);
    for (const int caller : {all[0], all[1], all[0]}) {
      cpu_set_t set;
      CPU_ZERO(&set);
      CPU_SET(caller, &set);
      BOOST_REQUIRE_EQUAL(sched_setaffinity(0, sizeof set, &set), 0);
      std::set<int> taken{caller};
      for (const std::vector<int>& cores : cores_of_workers(team)) {
        BOOST_REQUIRE_EQUAL(cores.size(), 1u);
        BOOST_TEST(taken.insert(cores[0]).second);
      }
      BOOST_TEST(taken.size() == all.size());
    }
  }).join();
}

BOOST_AUTO_TEST_CASE(failures_go_to_the_completion_and_once_to_the_queue) {
  work_queue queue;
  const auto failed = queue.add(fail);
  BOOST_CHECK_EQUAL(code_of([&] { failed->wait(); }), TUTTI_ERROR_DRIVER);
  BOOST_CHECK_EQUAL(code_of([&] { failed->query(); }), TUTTI_ERROR_DRIVER);
  BOOST_CHECK_EQUAL(code_of([&] { queue.record()->wait(); }), TUTTI_ERROR_DRIVER);
  const auto after = queue.add([] {});
  after->wait();  // later work runs
  BOOST_CHECK_EQUAL(code_of([&] { queue.drain(); }), TUTTI_ERROR_DRIVER);
  queue.drain();
  queue.synchronize();
  const auto odd = queue.add([] { throw std::runtime_error("odd"); });
  BOOST_CHECK_EQUAL(code_of([&] { odd->wait(); }), TUTTI_ERROR_INTERNAL);
  const auto full = queue.add([] { throw std::bad_alloc(); });
  BOOST_CHECK_EQUAL(code_of([&] { full->wait(); }), TUTTI_ERROR_OUT_OF_MEMORY);
  BOOST_CHECK_EQUAL(code_of([&] { queue.synchronize(); }), TUTTI_ERROR_INTERNAL);
  queue.synchronize();
}

BOOST_AUTO_TEST_CASE(what_waits_for_a_failure_fails_alike_until_synchronize) {
  work_queue first, second;
  bool ran = false;
  second.wait_for(first.add(fail));
  const auto skipped = second.add([&] { ran = true; });
  BOOST_CHECK_EQUAL(code_of([&] { skipped->wait(); }), TUTTI_ERROR_DRIVER);
  BOOST_CHECK(!ran);
  BOOST_CHECK_EQUAL(code_of([&] { second.synchronize(); }), TUTTI_ERROR_DRIVER);
  second.add([&] { ran = true; })->wait();
  BOOST_CHECK(ran);
}

namespace {

// Writes its name, in brackets with those of others, to a text; runs together with its own kind.
struct noted_work : joint_work {
  noted_work(std::string& to, char n, bool is_bad = false) : text(to), name(n), fails(is_bad) {}
  void run() const override {
    text += name;
    if (fails) fail();
  }
  bool begins() const override { return true; }
  bool takes(std::span<const joint_work* const> all, const joint_work& next) const override {
    const bool is_small = std::islower(static_cast<const noted_work*>(&next)->name) != 0;
    return !all.empty() && is_small == (std::islower(name) != 0);
  }
  std::vector<uint64_t> run_together(std::span<const joint_work* const> all) const override {
    text += '(';
    for (const joint_work* one : all) one->run();
    text += ')';
    return std::vector<uint64_t>(all.size(), 7);
  }

  std::string& text;
  const char name;
  const bool fails;
};

}  // namespace

BOOST_AUTO_TEST_CASE(held_work_runs_with_what_follows_when_somebody_asks) {
  std::string text;
  const auto work = [&](char name) { return std::make_shared<noted_work>(text, name); };
  std::shared_ptr<completion> last;
  {
    work_queue queue;
    const auto a = queue.hold(work('a'));
    BOOST_CHECK(queue.holds() && a != nullptr && text.empty());
    const auto b = queue.hold(work('b'));
    BOOST_CHECK(text.empty());
    const auto c = queue.hold(work('C'));  // another kind
    BOOST_CHECK_EQUAL(text, "(ab)");
    BOOST_CHECK(a->query() && b->query());
    BOOST_CHECK_EQUAL(a->end_ns - a->begin_ns, 7u);
    BOOST_CHECK_EQUAL(b->begin_ns, a->end_ns);
    BOOST_CHECK_EQUAL(text, "(ab)");
    std::thread([&] { c->wait(); }).join();
    BOOST_CHECK_EQUAL(text, "(ab)C");
    queue.hold(work('d'));
    queue.run([&] { text += 'e'; });
    queue.hold(work('f'));
    queue.add([&] { text += 'g'; })->wait();
    queue.hold(work('h'));
    queue.start();
    BOOST_CHECK(queue.is_idle() && !queue.holds());
    BOOST_CHECK_EQUAL(text, "(ab)Cdefgh");
    work_queue other;
    other.wait_for(queue.hold(work('i')));
    BOOST_CHECK_EQUAL(text, "(ab)Cdefghi");
    std::atomic<bool> go = false;
    const auto running = queue.add([&] { go.wait(false); });
    BOOST_CHECK(queue.hold(work('j')) == nullptr);  // it is busy
    go = true;
    go.notify_all();
    running->wait();
    queue.synchronize();
    last = queue.hold(work('k'));
  }
  last->wait();
  BOOST_CHECK_EQUAL(text, "(ab)Cdefghik");
}

BOOST_AUTO_TEST_CASE(held_work_that_fails_fails_together) {
  std::string text;
  work_queue queue;
  const auto a = queue.hold(std::make_shared<noted_work>(text, 'a'));
  const auto b = queue.hold(std::make_shared<noted_work>(text, 'b', true));
  BOOST_CHECK_EQUAL(code_of([&] { a->wait(); }), TUTTI_ERROR_DRIVER);
  BOOST_CHECK_EQUAL(code_of([&] { b->wait(); }), TUTTI_ERROR_DRIVER);
  BOOST_CHECK(queue.hold(std::make_shared<noted_work>(text, 'c')) == nullptr);
  BOOST_CHECK_EQUAL(code_of([&] { queue.synchronize(); }), TUTTI_ERROR_DRIVER);
  BOOST_CHECK(queue.is_idle());
}

BOOST_AUTO_TEST_CASE(a_queue_that_goes_away_finishes_its_work) {
  std::shared_ptr<completion> done;
  std::atomic<bool> go = false;
  {
    work_queue queue;
    queue.add([&] { go.wait(false); });
    done = queue.add([] {});
  }
  go = true;
  go.notify_all();
  done->wait();
}

namespace {

// sqrt(x) * x, summed over the last of two dimensions or not at all.
std::vector<std::byte> run_program(uint8_t reduction, uint64_t rows, uint64_t columns,
                                   unsigned threads) {
  const bool reduces = reduction != TUTTI_REDUCE_NONE;
  tutti::conformance::program_spec p;
  p.kept_rank = reduces ? 1 : 2;
  p.reduced_rank = reduces ? 1 : 0;
  p.reduction = reduction;
  if (reduces) p.accumulator = TUTTI_F32;
  const uint32_t x = p.input(TUTTI_F32), root = p.op(TUTTI_OP_sqrt, TUTTI_F32, {x});
  p.output(p.op(TUTTI_OP_multiply, TUTTI_F32, {x, root}), TUTTI_F32);
  const tutti_program_desc desc = p.desc();
  const program_interpreter program(program_description(&desc, {1, 1, 2}));

  tutti_buffer from = floats(rows * columns), to = floats(reduces ? rows : rows * columns);
  tutti_operand in{&from, 0, {static_cast<int64_t>(columns), 1}}, out = in;
  out.buffer = &to;
  if (reduces) out.stride[0] = 1, out.stride[1] = 0;
  tutti_program_launch launch{};
  launch.struct_size = sizeof launch;
  launch.operand_size = sizeof in;
  launch.extent[0] = rows;
  launch.extent[1] = columns;
  launch.inputs = &in;
  launch.outputs = &out;
  thread_team team(threads);
  program.run(launch, memory_of, team);
  launch.extent[0] = rows + 1;
  BOOST_CHECK_EQUAL(code_of([&] { program.run(launch, memory_of, team); }),
                    TUTTI_ERROR_INVALID_ARGUMENT);
  return to.bytes;
}

std::vector<std::byte> run_operator(int32_t kind, unsigned threads) {
  const uint64_t rows = 70, depth = 33, columns = 129;
  const bool product = kind == TUTTI_OPERATOR_MATMUL;
  tutti_view_desc views[3] = {};
  const auto view = [](uint64_t i, uint64_t j, uint64_t k) {
    tutti_view_desc v{};
    v.dtype = TUTTI_F32;
    v.rank = 3;
    v.extent[0] = i, v.extent[1] = j, v.extent[2] = k;
    v.stride[0] = static_cast<int64_t>(j * k), v.stride[1] = static_cast<int64_t>(k);
    v.stride[2] = 1;
    return v;
  };
  views[0] = product ? view(2, rows, columns) : view(rows, depth, columns);
  views[1] = product ? view(2, rows, depth) : views[0];
  views[2] = view(2, depth, columns);
  tutti_scan_params scan{sizeof scan, TUTTI_SCAN_SUM, 0, 0, 0};
  tutti_operator_desc desc{};
  desc.struct_size = sizeof desc;
  desc.kind = kind;
  desc.output_count = 1;
  desc.input_count = product ? 2 : 1;
  desc.view_size = sizeof views[0];
  desc.views = views;
  desc.params = product ? nullptr : &scan;
  const char* against = nullptr;
  const auto what = read_for_host(&desc, against);
  BOOST_REQUIRE_MESSAGE(what, against);

  tutti_buffer memory[3];
  operator_memory ranges{};
  for (uint32_t n = 0; n < desc.output_count + desc.input_count; ++n) {
    memory[n] = floats(views[n].extent[0] * views[n].extent[1] * views[n].extent[2]);
    ranges.operands[n] = {&memory[n], 0};
  }
  thread_team team(threads);
  host_operator(what, ranges, memory_of).run(team);
  std::vector<std::byte> result = memory[0].bytes;
  memory[0].bytes.pop_back();
  BOOST_CHECK_EQUAL(code_of([&] { host_operator(what, ranges, memory_of).run(team); }),
                    TUTTI_ERROR_INVALID_ARGUMENT);
  return result;
}

}  // namespace

BOOST_AUTO_TEST_CASE(results_do_not_depend_on_the_number_of_threads) {
  for (const uint8_t reduction : {TUTTI_REDUCE_NONE, TUTTI_REDUCE_SUM, TUTTI_REDUCE_MAX}) {
    const auto alone = run_program(reduction, 301, 257, 1);
    BOOST_CHECK(alone == run_program(reduction, 301, 257, 2));
    BOOST_CHECK(alone == run_program(reduction, 301, 257, 7));
  }
  for (const int32_t kind : {TUTTI_OPERATOR_MATMUL, TUTTI_OPERATOR_SCAN}) {
    const auto alone = run_operator(kind, 1);
    BOOST_CHECK(alone == run_operator(kind, 2));
    BOOST_CHECK(alone == run_operator(kind, 7));
  }
}

BOOST_AUTO_TEST_SUITE_END()
