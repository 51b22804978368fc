// SPDX-License-Identifier: Apache-2.0
//
// Members that hang, disappear or fail in the middle of a collective: every other member is told
// which one and why, in time, and goes on working.
#include "faulty_control.hpp"
#include "members.hpp"
#include "tutti/plugin.h"

namespace collective = tutti::collective;

namespace {

constexpr int broken = 2;  // of the plugin's devices

device_group members() { return device_group("reference,faulty:0,faulty:1,faulty:2,faulty:3"); }

struct sound_again {
  ~sound_again() { disarm_all(); }
};

/// What each member's wait for its result throws; empty where nothing.
std::vector<std::string> outcomes(const std::vector<array>& results, std::int32_t code) {
  try {
    tutti::eval(results);
  } catch (const tutti::device_error&) {  // also fine: every wait below says it again
  }
  std::vector<std::string> out;
  for (const array& a : results) {
    try {
      a.wait();
      out.emplace_back();
    } catch (const tutti::device_error& e) {
      BOOST_TEST(e.code() == code);
      out.emplace_back(e.what());
    }
  }
  return out;
}

std::vector<array> pending_on(const device_group& group) {
  std::vector<array> out;
  for (const tutti::device& member : group)
    out.push_back(put({{8}, std::vector<double>(8, 1)}, member) + 1);
  return out;
}

/// Where the broken member is not needed, everything still works.
void check_the_others() {
  const device_group rest("reference,faulty:0,faulty:1");
  for (const array& a : collective::all_reduce(rest, pending_on(rest)))
    BOOST_TEST(matches(a, {{8}, std::vector<double>(8, 6)}));
}

}  // namespace

BOOST_AUTO_TEST_SUITE(collective_failures)

BOOST_AUTO_TEST_CASE(a_member_that_hangs) {
  const sound_again after;
  const device_group group = members();
  for (const auto a : {collective::algorithm::direct, collective::algorithm::ring}) {
    const auto values = pending_on(group);
    arm(fault_hang, 1, broken);
    const auto begin = std::chrono::steady_clock::now();
    const auto results = collective::all_reduce(group, values, collective::reduction::sum,
                                                {.algorithm = a, .time_limit = 0.5});
    for (std::size_t m = 0; m < group.size(); ++m) {
      if (group[m] == tutti::device("faulty:2")) continue;  // its own work never ends
      const std::string said = outcomes({results[m]}, TUTTI_ERROR_TIMEOUT)[0];
      BOOST_TEST_CONTEXT(group[m].name() << ": " << said) {
        BOOST_TEST(said.find("all_reduce") != std::string::npos);
        BOOST_TEST(said.find("faulty:2") != std::string::npos);
      }
    }
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
    BOOST_TEST(taken.count() < 20);
    check_the_others();
    disarm_all();
  }
}

BOOST_AUTO_TEST_CASE(a_member_that_disappears_or_whose_work_fails) {
  const std::pair<fault, std::int32_t> faults[] = {{fault_disappear, TUTTI_ERROR_DEVICE_LOST},
                                                   {fault_run, TUTTI_ERROR_DRIVER}};
  for (const auto& [kind, code] : faults) {
    const sound_again after;
    const device_group group = members();
    const auto values = pending_on(group);
    const auto results = collective::all_reduce(group, values);
    arm(kind, 1, broken);
    const std::vector<std::string> said = outcomes(results, code);
    for (std::size_t m = 0; m < group.size(); ++m)
      BOOST_TEST(said[m].find("faulty:2") != std::string::npos, group[m].name() << ": " << said[m]);
    check_the_others();
  }
}

BOOST_AUTO_TEST_CASE(a_slow_member_is_waited_for) {
  const sound_again after;
  const device_group group = members();
  arm(fault_slow, 20, broken);
  for (const array& a :
       all_reduce(group, pending_on(group), collective::reduction::sum, {.time_limit = 30}))
    BOOST_TEST(matches(a, {{8}, std::vector<double>(8, 10)}));
}

BOOST_AUTO_TEST_CASE(a_barrier_waits_for_everyone) {
  const sound_again after;
  const device_group group = members();
  const std::vector<array> values = pending_on(group);
  arm(fault_slow, 300, broken);
  const auto begin = std::chrono::steady_clock::now();
  tutti::eval(values);
  collective::barrier(group);
  const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - begin;
  BOOST_TEST(taken.count() > 0.3);
  disarm_all();

  arm(fault_hang, 1, broken);
  try {
    collective::barrier(group, {.time_limit = 0.3});
    BOOST_ERROR("a barrier passed a device that hangs");
  } catch (const tutti::device_error& e) {
    BOOST_TEST(e.code() == TUTTI_ERROR_TIMEOUT);
    BOOST_TEST(std::string(e.what()).find("barrier: faulty:2 did not deliver") !=
               std::string::npos);
  }
}

BOOST_AUTO_TEST_SUITE_END()
