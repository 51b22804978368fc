// SPDX-License-Identifier: Apache-2.0
//
// Errors of a job: ranks that disagree, that throw, that do not come, and what a job refuses.
#include <csignal>

#include "thread_job.hpp"
#include "tutti_test/arrays.hpp"

namespace {

using namespace tutti;
using collective::reduction;

void require_text(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    require(text.find(part) != std::string::npos, "\"" + text + "\" lacks \"" + part + "\"");
}

}  // namespace

BOOST_AUTO_TEST_CASE(ranks_that_disagree_are_named_and_go_on) {
  on_ranks([](const job& j) {
    if (j.size() == 1) return;
    const std::string last = "rank " + std::to_string(j.rank() == 0 ? 1 : j.rank());
    const bool first = j.rank() == 0;
    require_text(
        message_of<dtype_error>([&] { j.all_reduce(first ? zeros({2}) : zeros({2}, dtype::f64)); }),
        {"all_reduce", "f32 [2] on rank 0", "f64 [2] on rank 1"});
    require_text(message_of<shape_error>([&] {
                   j.broadcast(first ? zeros({4}) : zeros({2, 2}));
                 }),
                 {"broadcast", "f32 [4] on rank 0", "f32 [2,2] on rank 1"});
    require_text(message_of<shape_error>([&] {
                   j.all_gather(first ? zeros({4, 3}) : zeros({4, 2}));
                 }),
                 {"all_gather", "[4,3] on rank 0", "[4,2] on rank 1"});
    require_text(message_of<value_error>([&] {
                   if (first)
                     j.barrier();
                   else
                     j.all_reduce(zeros({2}));
                 }),
                 {"rank 0 calls barrier", "rank 1 calls all_reduce"});
    require_text(message_of<value_error>(
                     [&] { j.all_reduce(std::vector<array>(first ? 2 : 3, zeros({1}))); }),
                 {"2 arrays on rank 0", "3 on rank 1"});
    require_text(message_of<value_error>([&] { j.broadcast(zeros({1}), first ? 0 : 1); }),
                 {"broadcast", "root 0 on rank 0", "root 1 on rank 1"});
    require_text(message_of<value_error>([&] {
                   j.all_gather(ones({3, 4}), first ? 0 : 1);
                 }),
                 {"all_gather: axis 0 on rank 0 and axis 1 on rank 1"});
    require_text(message_of<value_error>([&] {
                   j.all_reduce({zeros({2}), zeros({3})}, reduction::sum, first ? 100 : 4);
                 }),
                 {"all_reduce: sum with bucket_bytes = 100,", "after 2 arrays on rank 0",
                  "bucket_bytes = 4,", "after 1, 2 arrays on rank 1"});
    // The last rank has the second array on another device.
    const device here = default_device();
    const device other(here.name().starts_with("reference") ? "cpu" : "reference");
    const array second = zeros({3}, dtype::f32, j.rank() + 1 == j.size() ? other : here);
    require_text(message_of<value_error>([&] {
                   j.all_reduce({zeros({2}, dtype::f32, here), second});
                 }),
                 {"of one device and dtype that end after 2 arrays on rank 0 and",
                  "after 1, 2 arrays on rank " + std::to_string(j.size() - 1)});
    // Arrays and another call differ on two ranks.
    if (j.size() > 2)
      require_text(message_of<value_error>([&] {
                     if (j.rank() == 2)
                       j.barrier();
                     else
                       j.all_reduce(zeros({first ? 2 : 3}));
                   }),
                   {"rank 0 calls all_reduce and rank 2 calls barrier"});
    require(j.all_reduce(ones({1})).item() == j.size(), "the job goes on");
  });
}

BOOST_AUTO_TEST_CASE(what_one_rank_throws_the_others_are_told) {
  on_ranks([](const job& j) {
    if (j.size() == 1) return;
    const int last = j.size() - 1;
    const bool bad = j.rank() == last;
    const std::string thrown = ": rank " + std::to_string(last) + " has thrown: ";
    // The rank throws what it would throw alone.
    const auto check = [&](const std::string& call, const std::string& text, auto&& f) {
      require_text(bad ? message_of<error>(f) : message_of<value_error>(f),
                   {bad ? text : call + thrown + text});
      require(j.all_reduce(ones({1})).item() == j.size(), "the job goes on after " + text);
    };
    check("all_reduce", "all_reduce: bool is not reduced by sum",
          [&] { j.all_reduce(zeros({2}, bad ? dtype::boolean : dtype::f32)); });
    check("all_reduce", "all_reduce: an array is invalid", [&] {
      j.all_reduce({zeros({2}), bad ? array() : zeros({2})});
    });
    check("all_gather", "all_gather: 0-d arrays have no axis",
          [&] { j.all_gather(bad ? zeros({}) : zeros({1})); });
    check("broadcast", "broadcast: rank -1 of", [&] { j.broadcast(zeros({1}), bad ? -1 : 0); });
    const device here = default_device();
    check("device_group", "device_group: no devices",
          [&] { const device_group g(bad ? std::vector<device>() : std::vector{here}, j); });
    const device_group group({here}, j);
    check("reduce_scatter (all_reduce)", "reduce_scatter: 0 arrays for 1 devices", [&] {
      collective::reduce_scatter(group, bad ? std::vector<array>() : std::vector{zeros({2})});
    });
    check("shard", "shard: axis", [&] { shard(zeros({4, 4}), group, bad ? 2 : 0); });
    check("sharded", "sharded: 2 arrays for 1 devices",
          [&] { sharded::from_parts(group, std::vector<array>(bad ? 2 : 1, zeros({2})), 0); });
    check("call (barrier)", "mine", [&] {
      j.call("call", [&] {
        try {  // which all ranks throw
          j.all_reduce(zeros({bad ? 2 : 3}));
        } catch (const shape_error&) {
        }
        if (bad) throw value_error("mine");
        j.barrier();
      });
    });
    // In a function of the application, after some exchanges of the call.
    const data_parallel gradient(
        [bad](const std::vector<array>& p, const std::vector<array>& b) -> array {
          if (bad) throw value_error("mine");
          return sum(p[0] * b[0]);
        },
        group);
    const std::vector<sharded> parameters = replicate(std::vector{ones({1})}, group);
    check("data_parallel (all_reduce)", "mine", [&] {
      gradient(parameters, std::vector{ones({2, 1})});
    });
    // All throw: each its own.
    require_text(message_of<dtype_error>([&] {
                   j.all_reduce(zeros({2}, bad ? dtype::boolean : dtype::c64), reduction::prod);
                 }),
                 {bad ? "bool" : "c64"});
  });
}

BOOST_AUTO_TEST_CASE(what_is_thrown_after_the_last_exchange_the_next_call_tells) {
  run_ranks(2, [](const job& j) {
    // Rank 1 comes without the others, which have nothing left to do in their call.
    if (j.rank() == 1)
      require_text(
          message_of<value_error>([&] { j.call("mine", [] { throw value_error("why"); }); }),
          {"why"});
    else
      require_text(message_of<value_error>([&] { j.barrier(); }),
                   {"barrier: rank 1 has thrown: why"});
    j.barrier();
  });
}

BOOST_AUTO_TEST_CASE(refuses_what_it_does_not_do) {
  on_ranks([](const job& j) {
    require_text(message_of<dtype_error>([&] { j.all_reduce(zeros({2}, dtype::boolean)); }),
                 {"bool"});
    require_text(
        message_of<dtype_error>([&] { j.all_reduce(zeros({2}, dtype::c64), reduction::max); }),
        {"c64", "max"});
    require_text(
        message_of<dtype_error>([&] { j.all_reduce(zeros({2}, dtype::i32), reduction::avg); }),
        {"i32", "avg"});
    require_text(message_of<value_error>([&] { j.all_reduce(array()); }), {"all_reduce"});
    require_text(message_of<value_error>([&] { j.broadcast(zeros({1}), j.size()); }),
                 {"rank " + std::to_string(j.size()) + " of"});
    require_text(message_of<value_error>([&] { j.send(zeros({1}), -1); }), {"rank -1 of"});
    require_text(message_of<value_error>([&] { j.send(zeros({1}), 0, 8192); }), {"tag 8192"});
    require_text(message_of<index_error>([&] { j.all_gather(zeros({1}), 1); }), {"all_gather"});
    require_text(message_of<shape_error>([&] { j.all_gather(zeros({})); }), {"all_gather"});
    require_text(message_of<value_error>([&] { j.receive(j.rank(), 9); }), {"tag 9"});
    const array x = zeros({1});
    const int own = j.rank();
    require_text(message_of<value_error>([&] { j.exchange({x}, {}, {}); }),
                 {"exchange: 1 arrays for 0 ranks"});
    require_text(message_of<value_error>([&] { j.exchange({x}, {j.size()}, {}); }),
                 {"exchange: rank", "of"});
    require_text(message_of<value_error>([&] { j.exchange({}, {}, {-1}); }),
                 {"exchange: rank -1 of"});
    require_text(message_of<value_error>([&] { j.exchange({array()}, {own}, {own}); }),
                 {"exchange: an array is invalid"});
    require_text(message_of<value_error>([&] {
                   j.exchange({x, x}, {own, own}, {own});
                 }),
                 {"sends itself 2 arrays and receives 1"});
  });
}

BOOST_AUTO_TEST_CASE(a_rank_that_does_not_come_is_named) {
  run_ranks(
      3,
      [](const job& j) {
        if (j.rank() == 1) return;
        const std::string text = message_of<device_error>([&] { j.all_reduce(zeros({2})); });
        require_text(text, {"all_reduce", "rank 1"});
        require_text(message_of<device_error>([&] { j.barrier(); }), {"barrier", "rank 1"});
      },
      0.2);
  run_ranks(
      3,
      [](const job& j) {
        if (j.rank() == 1) return;
        // The function that was called, not the one by which it exchanges something.
        require_text(message_of<device_error>([&] { const device_group group(j); }),
                     {"device_group: rank 1 did not come"});
        require_text(message_of<device_error>([&] { const device_group group(j); }),
                     {"device_group: the job has failed: device_group: rank 1"});
      },
      0.2);
}

// Run by itself, as ranks that go on without one (mpirun --enable-recovery).
BOOST_AUTO_TEST_CASE(rank_1_is_killed, *boost::unit_test::disabled()) {
  const job j;
  if (j.rank() == 1) std::raise(SIGKILL);
  std::cout << message_of<device_error>([&] { j.all_reduce(zeros({2})); }) << std::endl;
}

BOOST_AUTO_TEST_CASE(ranks_of_different_programs_do_not_start) {
  try {
    run_ranks(
        2, [](const job&) {}, 60, [](int r) { return r == 0 ? "first 1.0" : "other 2.0"; });
    BOOST_ERROR("nothing was thrown");
  } catch (const value_error& e) {
    BOOST_TEST(std::string(e.what()).find("first 1.0 on rank 0") != std::string::npos, e.what());
    BOOST_TEST(std::string(e.what()).find("other 2.0 on rank 1") != std::string::npos, e.what());
  }
}
