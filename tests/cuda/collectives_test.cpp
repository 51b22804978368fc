// SPDX-License-Identifier: Apache-2.0
//
// When the collectives call NCCL, and how processes meet. What they compute, and refuse, `tutti
// verify` judges. A missing library comes first: what is found is kept.
#include <boost/test/unit_test.hpp>
#include <map>

#include "plugin.hpp"
#include "verify/collective_calls.hpp"

using namespace tutti::test;
using tutti::conformance::collective_calls;

namespace {

std::string calls() { return CALL(emulator_notes)(); }

struct pair_of_devices {
  open_device opened[2] = {open_device(0), open_device(1)};
  tutti_device* device[2] = {opened[0].device, opened[1].device};
  tutti_stream* stream[2] = {opened[0].stream, opened[1].stream};
  tutti_buffer* memory[2] = {opened[0].buffer(1024), opened[1].buffer(1024)};
  ~pair_of_devices() {
    for (int n = 0; n < 2; ++n) {
      (void)take(plugin().stream->synchronize(stream[n]));
      plugin().memory->release(memory[n]);
    }
  }
  tutti_view view(int n, int32_t dtype, uint64_t count) const {
    tutti_view v{};
    v.buffer = memory[n];
    v.dtype = dtype;
    v.rank = 1;
    v.extent[0] = count;
    v.stride[0] = 1;
    return v;
  }
};

}  // namespace

BOOST_AUTO_TEST_CASE(a_missing_library_is_named) {
  const std::string kept = std::getenv("TUTTI_CUDA_LIBRARIES");
  {
    pair_of_devices d;
    setenv("TUTTI_CUDA_LIBRARIES", "/nowhere", 1);
    tutti_communicator* participants[2] = {};
    const outcome result =
        take(collective_calls{*plugin().collective}.create(d.device, 2, participants));
    BOOST_TEST(result.code == TUTTI_ERROR_UNSUPPORTED);
    BOOST_TEST(result.message.find("libnccl.so.2 not found (searched: /nowhere/)") !=
               std::string::npos);
  }
  setenv("TUTTI_CUDA_LIBRARIES", kept.c_str(), 1);
}

// A thread that brings calls one after the other would wait in NCCL for those it is yet to make.
BOOST_AUTO_TEST_CASE(nccl_is_called_when_all_have_called) {
  pair_of_devices d;
  tutti_communicator* p[2] = {};
  const collective_calls api{*plugin().collective};
  good(api.create(d.device, 2, p));
  calls();
  const tutti_view here = d.view(0, TUTTI_F32, 16), there = d.view(1, TUTTI_F32, 16);
  tutti_event* event = nullptr;
  good(api.all_reduce(p[1], d.stream[1], &there, &there, TUTTI_REDUCE_SUM, &event));
  BOOST_TEST((event != nullptr));
  plugin().stream->event_release(event);
  BOOST_TEST(calls() == "");
  good(api.all_reduce(p[0], d.stream[0], &here, &here, TUTTI_REDUCE_SUM, nullptr));
  BOOST_TEST(calls() == "start\nall_reduce@1 16\nall_reduce@0 16\nend\n");
  good(api.abort(p[1]));
  for (int n = 0; n < 2; ++n)
    BOOST_TEST(take(api.all_reduce(p[n], d.stream[n], n == 0 ? &here : &there,
                                   n == 0 ? &here : &there, TUTTI_REDUCE_SUM, nullptr))
                   .message == "all_reduce, participant " + std::to_string(n) + ": was aborted");
  BOOST_TEST(calls() == "abort\nabort\n");
  for (tutti_communicator* one : p) api.release(one);
}

// The participants of a process in one call, by one thread.
BOOST_AUTO_TEST_CASE(a_group_is_one_of_nccl) {
  pair_of_devices d;
  tutti_communicator* p[2] = {};
  const collective_calls api{*plugin().collective};
  good(api.create(d.device, 2, p));
  calls();
  const tutti_view views[2] = {d.view(0, TUTTI_F32, 16), d.view(1, TUTTI_F32, 16)};
  tutti_event* events[2] = {};
  std::vector<tutti_collective_call> group;
  for (int n = 0; n < 2; ++n)
    group.push_back({TUTTI_COLLECTIVE_ALL_REDUCE, TUTTI_REDUCE_SUM, p[n], d.stream[n], &views[n],
                     &views[n], n == 0 ? &events[n] : nullptr});
  good(api.group(group));
  BOOST_TEST(calls() == "start\nall_reduce@0 16\nall_reduce@1 16\nend\n");
  BOOST_TEST(events[0] != nullptr);
  plugin().stream->event_release(events[0]);
  // One wrong call, and nothing of the group begins.
  const tutti_view nine = d.view(1, TUTTI_F32, 9);
  group[1].out = &nine;
  BOOST_TEST(take(api.group(group)).message == "all_reduce, participant 1: 16 f32 in, 9 f32 out");
  BOOST_TEST(events[0] == nullptr);
  BOOST_TEST(calls() == "");
  // What NCCL refuses has begun: the participants are of no use any more.
  group[1].out = &views[1];
  CALL(emulator_fail)("all_reduce", 3, 1);
  const outcome failed = take(api.group(group));
  BOOST_TEST(failed.code == TUTTI_ERROR_DRIVER);
  BOOST_TEST(failed.message.find("all_reduce, participant 0: NCCL: ") == 0, failed.message);
  BOOST_TEST(events[0] == nullptr);
  BOOST_TEST(calls() == "start\nend\nabort\nabort\n");
  for (int n = 0; n < 2; ++n)
    BOOST_TEST(
        take(api.all_reduce(p[n], d.stream[n], &views[n], &views[n], TUTTI_REDUCE_SUM, nullptr))
            .message == "all_reduce, participant " + std::to_string(n) + ": was aborted");
  for (tutti_communicator* one : p) api.release(one);
}

// The second waits on the stream for the end of the first, though both can begin at once.
BOOST_AUTO_TEST_CASE(calls_of_a_stream_are_groups_one_after_the_other) {
  pair_of_devices d;
  const open_device third(2);
  tutti_buffer* const memory = third.buffer(1024);
  tutti_device* const devices[] = {d.device[0], d.device[1], third.device};
  tutti_communicator* p[3] = {};
  const collective_calls api{*plugin().collective};
  good(api.create(devices, 3, p));
  calls();
  for (int n = 0; n < 2; ++n) {
    const tutti_view in = d.view(n, TUTTI_F32, 16), out = d.view(n, TUTTI_F32, 48);
    good(api.all_reduce(p[n], d.stream[n], &in, &in, TUTTI_REDUCE_SUM, nullptr));
    if (n == 0) good(api.all_gather(p[n], d.stream[n], &in, &out, nullptr));
  }
  tutti_view last = d.view(0, TUTTI_F32, 16), gathered = d.view(0, TUTTI_F32, 48);
  last.buffer = gathered.buffer = memory;
  good(api.group(
      {{TUTTI_COLLECTIVE_ALL_REDUCE, TUTTI_REDUCE_SUM, p[2], third.stream, &last, &last, nullptr},
       {TUTTI_COLLECTIVE_ALL_GATHER, 0, p[2], third.stream, &last, &gathered, nullptr}}));
  BOOST_TEST(calls() == "start\nall_reduce@0 16\nall_reduce@1 16\nall_reduce@2 16\nend\n");
  const tutti_view in = d.view(1, TUTTI_F32, 16), out = d.view(1, TUTTI_F32, 48);
  good(api.all_gather(p[1], d.stream[1], &in, &out, nullptr));
  BOOST_TEST(calls() == "start\nall_gather@0 16\nall_gather@2 16\nall_gather@1 16\nend\n");
  // Both are complete at once.
  for (int n = 0; n < 2; ++n) {
    const tutti_view mine = d.view(n, TUTTI_F32, 16), all = d.view(n, TUTTI_F32, 48);
    good(api.all_reduce(p[n], d.stream[n], &mine, &mine, TUTTI_REDUCE_SUM, nullptr));
    good(api.all_gather(p[n], d.stream[n], &mine, &all, nullptr));
  }
  BOOST_TEST(calls() == "");
  good(api.group(
      {{TUTTI_COLLECTIVE_ALL_REDUCE, TUTTI_REDUCE_SUM, p[2], third.stream, &last, &last, nullptr},
       {TUTTI_COLLECTIVE_ALL_GATHER, 0, p[2], third.stream, &last, &gathered, nullptr}}));
  BOOST_TEST(calls() ==
             "start\nall_reduce@0 16\nall_reduce@1 16\nall_reduce@2 16\nend\n"
             "start\nall_gather@0 16\nall_gather@1 16\nall_gather@2 16\nend\n");
  for (tutti_stream* stream : {d.stream[0], d.stream[1], third.stream})
    good(plugin().stream->synchronize(stream));
  for (tutti_communicator* one : p) api.release(one);
  plugin().memory->release(memory);
}

// Each brings both of its calls, on one stream.
BOOST_AUTO_TEST_CASE(calls_of_a_group_do_not_wait_for_each_other) {
  pair_of_devices d;
  tutti_communicator* p[2] = {};
  const collective_calls api{*plugin().collective};
  good(api.create(d.device, 2, p));
  calls();
  const tutti_view views[2] = {d.view(0, TUTTI_F32, 16), d.view(1, TUTTI_F32, 16)};
  for (uint32_t n = 0; n < 2; ++n)
    good(api.group(
        {{TUTTI_COLLECTIVE_ALL_TO_ALL, 0, p[n], d.stream[n], &views[n], &views[n], nullptr},
         {TUTTI_COLLECTIVE_ALL_REDUCE, TUTTI_REDUCE_SUM, p[n], d.stream[n], &views[n], &views[n],
          nullptr}}));
  BOOST_TEST(calls() ==
             "start\nsend@0 8\nreceive@0 8\nsend@0 8\nreceive@0 8\n"
             "send@1 8\nreceive@1 8\nsend@1 8\nreceive@1 8\n"
             "all_reduce@0 16\nall_reduce@1 16\nend\n");
  for (tutti_stream* stream : d.stream) good(plugin().stream->synchronize(stream));
  for (tutti_communicator* one : p) api.release(one);
}

namespace {

// A store of this process, which stands for one between processes.
struct fake_store {
  std::map<std::string, std::string> words;
  tutti_store table{sizeof table, this, set, get};

  static tutti_status* set(void* self, const char* key, const void* data, uint64_t bytes) {
    static_cast<fake_store*>(self)->words[key] = {static_cast<const char*>(data), bytes};
    return nullptr;
  }
  static tutti_status* get(void* self, const char* key, void* data, uint64_t bytes, uint64_t) {
    const auto& all = static_cast<fake_store*>(self)->words;
    const auto found = all.find(key);
    if (found == all.end() || found->second.size() != bytes) {
      static tutti_status late = {sizeof late,   TUTTI_ERROR_TIMEOUT, 0, 1, 0,
                                  "nobody came", [](tutti_status*) {}};
      return &late;
    }
    found->second.copy(static_cast<char*>(data), bytes);
    return nullptr;
  }
};

}  // namespace

// Two processes of one participant each, one after the other.
BOOST_AUTO_TEST_CASE(processes_meet_in_the_store) {
  pair_of_devices d;
  fake_store store;
  const tutti_collective_api& api = *plugin().collective;
  const auto create = [&](uint32_t rank, const tutti_store* with, tutti_communicator** made) {
    const tutti_participant mine{d.device[rank], rank, 0};
    tutti_communicator_desc desc{};
    desc.struct_size = sizeof desc;
    desc.identifier = "group seven";
    desc.size = 2;
    desc.participant_count = 1;
    desc.participant_size = sizeof mine;
    desc.participants = &mine;
    desc.store = with;
    return take(api.create(&desc, made));
  };
  calls();
  tutti_communicator* p[2] = {};
  const outcome alone = create(1, &store.table, &p[1]);
  BOOST_TEST(alone.code == TUTTI_ERROR_TIMEOUT);
  BOOST_TEST(alone.message == "collectives: tutti/nccl/group seven: nobody came");
  BOOST_TEST(create(0, nullptr, &p[0]).message ==
             "collectives: 1 of 2 participants, and no store to meet the others");
  calls();
  BOOST_TEST(create(0, &store.table, &p[0]).message == "");
  BOOST_TEST(create(1, &store.table, &p[1]).message == "");
  BOOST_TEST(store.words.size() == 1u);
  // Both by the id that the first has made.
  const std::string said = calls();
  const std::string id =
      said.substr(said.find("by id"), said.find('\n', said.find("by id")) - said.find("by id"));
  BOOST_TEST(said ==
             "id\nstart\ninit@0 of 2 " + id + "\nend\nstart\ninit@1 of 2 " + id + "\nend\n");
  for (tutti_communicator* one : p) api.release(one);
}

// What a participant calls reaches NCCL in that order, or two processes would wait for each other.
BOOST_AUTO_TEST_CASE(calls_of_a_participant_keep_their_order_between_processes) {
  pair_of_devices d;
  fake_store store;
  const tutti_participant mine[] = {{d.device[0], 0, 0}, {d.device[1], 1, 0}};
  tutti_communicator_desc desc{};
  desc.struct_size = sizeof desc;
  desc.identifier = "group eight";
  desc.size = 3;
  desc.participant_count = 2;
  desc.participant_size = sizeof mine[0];
  desc.participants = mine;
  desc.store = &store.table;
  tutti_communicator* p[2] = {};
  good(plugin().collective->create(&desc, p));
  const collective_calls api{*plugin().collective};
  calls();
  const tutti_view here = d.view(0, TUTTI_F32, 16), there = d.view(1, TUTTI_F32, 16);
  const tutti_view all_here = d.view(0, TUTTI_F32, 48), all_there = d.view(1, TUTTI_F32, 48);
  good(api.all_reduce(p[0], d.stream[0], &here, &here, TUTTI_REDUCE_SUM, nullptr));
  good(api.all_gather(p[0], d.stream[0], &here, &all_here, nullptr));
  BOOST_TEST(calls() == "");
  good(api.all_reduce(p[1], d.stream[1], &there, &there, TUTTI_REDUCE_SUM, nullptr));
  BOOST_TEST(calls() == "start\nall_reduce@0 16\nall_reduce@1 16\nend\n");
  good(api.all_gather(p[1], d.stream[1], &there, &all_there, nullptr));
  BOOST_TEST(calls() == "start\nall_gather@0 16\nall_gather@1 16\nend\n");
  // The other process cannot be told, so the whole group is given up.
  const tutti_view nine = d.view(1, TUTTI_F32, 9);
  good(api.all_reduce(p[0], d.stream[0], &here, &here, TUTTI_REDUCE_SUM, nullptr));
  const outcome refused =
      take(api.all_reduce(p[1], d.stream[1], &nine, &nine, TUTTI_REDUCE_SUM, nullptr));
  BOOST_TEST(refused.message ==
             "all_reduce, participant 1: the participants disagree: 9 f32, reduction 1, but "
             "all_reduce, participant 0: 16 f32, reduction 1");
  BOOST_TEST(calls() == "abort\nabort\n");
  BOOST_TEST(
      take(api.all_reduce(p[0], d.stream[0], &here, &here, TUTTI_REDUCE_SUM, nullptr)).message ==
      "all_reduce, participant 0: an earlier one failed: " + refused.message);
  for (tutti_communicator* one : p) api.release(one);
}
