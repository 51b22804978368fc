// SPDX-License-Identifier: Apache-2.0
//
// Collectives between the first devices of the plugin, at most three: values of all kinds, dtypes
// and positions compared with loops on the host, messages, communicators, refused calls. With one
// device the groups have one member. Failures are tested in collective_failure_groups.cpp.
#include <array>

#include "collective_trials.hpp"

namespace tutti::conformance {
namespace {

bool supports(const collective_rig& r, int32_t kind, uint8_t dtype, int32_t reduction) {
  int32_t support = -1;
  const char* reason = nullptr;
  check(r.api().collective->supports(r.members[0], kind, dtype, reduction, &support, &reason),
        "supports");
  require(support == TUTTI_SUPPORT_YES || (reason != nullptr && *reason != 0),
          "supports says no without a reason");
  return support == TUTTI_SUPPORT_YES;
}

// With two devices, so that the order of additions does not matter.
void check_reductions(session& s) {
  with_devices(s, 2, [&](collective_rig& r) {
    generator random(s.seed);
    bool any = false;
    for (uint8_t dtype = TUTTI_BOOL; dtype <= TUTTI_F64; ++dtype) {
      if (!s.stores(dtype)) continue;
      for (int32_t reduction = TUTTI_REDUCE_SUM; reduction <= TUTTI_REDUCE_ALL; ++reduction) {
        if (!sdk::has_reduction(sdk::collective_kind::all_reduce, reduction, dtype)) continue;
        if (!supports(r, TUTTI_COLLECTIVE_ALL_REDUCE, dtype, reduction)) continue;
        experiment(r, {trial_kind::all_reduce, dtype, reduction, 0, 1009}, random).run();
        any = true;
      }
    }
    if (!any) throw skipped("collectives without reductions");
  });
}

void check_kinds(session& s) {
  with_devices(s, 3, [&](collective_rig& r) {
    generator random(s.seed);
    const std::pair<uint8_t, int32_t> samples[] = {{TUTTI_I32, TUTTI_REDUCE_SUM},
                                                   {TUTTI_F32, TUTTI_REDUCE_MAX}};
    for (const auto& [dtype, reduction] : samples) {
      if (!s.stores(dtype)) continue;
      for (const trial_kind kind : every_kind) {
        if (!supports(r, number_of(kind), dtype,
                      sdk::reduces(kind) ? reduction : TUTTI_REDUCE_NONE))
          continue;
        for (const uint64_t share : {0, 1, 7, 1021}) {
          for (const where out : {where::apart, where::same, where::own_share}) {
            trial t{kind, dtype, reduction, 0, share, out, share == 7};
            t.root = static_cast<uint32_t>(random() % r.size());
            experiment(r, t, random).run();
          }
        }
      }
    }
  });
}

// Messages keep their order, whichever side calls first.
void check_messages(session& s) {
  require_i32(s);
  with_devices(s, 2, [&](collective_rig& r) {
    if (r.size() < 2) throw skipped("one device alone");
    constexpr uint64_t count = 300;
    for (const bool sender_first : {true, false}) {
      std::deque<collective_array> from, to;
      for (uint64_t n = 0; n < 3; ++n) {
        from.emplace_back(r.devices[0], ascending(TUTTI_I32, count, 1000 * n));
        to.emplace_back(r.devices[1], ascending(TUTTI_I32, count, 7));
      }
      std::vector<handle<tutti_event>> events;
      const auto each = [&](bool sends) {
        for (size_t n = 0; n < from.size(); ++n) {
          tutti_event* event = nullptr;
          tutti_stream* const stream = r.devices[sends ? 0 : 1].main_stream.get();
          const tutti_view view = (sends ? from : to)[n].view(0, count);
          check(sends ? r.calls().send(r.members[0], stream, &view, 1, &event)
                      : r.calls().receive(r.members[1], stream, &view, 0, &event),
                sends ? "send" : "receive");
          events.push_back(r.own(event));
        }
      };
      each(sender_first);
      each(!sender_first);
      for (const auto& event : events) {
        const outcome end = r.wait(event);
        require(!end, "a message failed: " + end.message);
      }
      for (size_t n = 0; n < to.size(); ++n)
        require(to[n].read(r.devices[1]).bytes == from[n].data.bytes,
                "message " + std::to_string(n) + " did not arrive as it was sent");
    }
  });
}

// Messages in both directions as one group, whose calls stand in any order.
void check_exchange(session& s) {
  require_i32(s);
  with_devices(s, 2, [&](collective_rig& r) {
    if (r.size() < 2) throw skipped("one device alone");
    constexpr uint64_t count = 100;
    // Numbers of the calls: 0 and 1 are sends of the ranks, 2 and 3 receipts.
    for (const auto& order :
         {std::array{0, 2, 1, 3}, std::array{0, 1, 2, 3}, std::array{2, 0, 3, 1},
          std::array{3, 2, 1, 0}, std::array{0, 3, 2, 1}}) {
      std::deque<collective_array> from, to;
      std::vector<tutti_view> views;
      for (uint32_t n = 0; n < 2; ++n)
        from.emplace_back(r.devices[n], ascending(TUTTI_I32, count, 1000 * n));
      for (uint32_t n = 0; n < 2; ++n)
        to.emplace_back(r.devices[n], ascending(TUTTI_I32, count, 7));
      for (const auto* list : {&from, &to})
        for (const collective_array& a : *list) views.push_back(a.view(0, count));
      tutti_event* events[4] = {};
      std::vector<tutti_collective_call> calls;
      for (const int number : order) {
        const auto n = static_cast<uint32_t>(number);
        const uint32_t rank = n % 2;
        calls.push_back({n < 2 ? TUTTI_COLLECTIVE_SEND : TUTTI_COLLECTIVE_RECEIVE,
                         TUTTI_REDUCE_NONE, 1 - rank, 0, r.members[rank],
                         r.devices[rank].main_stream.get(), n < 2 ? &views[n] : nullptr,
                         n < 2 ? nullptr : &views[n], &events[n]});
      }
      check(r.calls().group(calls), "a group of messages");
      for (tutti_event* const event : events) {
        const outcome end = r.wait(r.own(event));
        require(!end, "a message failed: " + end.message);
      }
      for (uint32_t n = 0; n < 2; ++n)
        require(to[n].read(r.devices[n]).bytes == from[1 - n].data.bytes,
                "a message did not arrive as it was sent");
    }
  });
}

void require_refused(tutti_status* status, std::initializer_list<int32_t> codes, const char* what) {
  const outcome found = take(status);
  require(std::find(codes.begin(), codes.end(), found.code) != codes.end(), [&] {
    return std::string(what) + " gives code " + std::to_string(found.code) + ": " + found.message;
  });
  require(!found.message.empty(),
          [&] { return std::string(what) + ": refused without a message"; });
}

void check_communicators(session& s) {
  require_i32(s);
  with_devices(s, 3, [&](collective_rig& r) {
    std::vector<tutti_participant> all;
    for (uint32_t n = 0; n < r.size(); ++n) all.push_back({r.devices[n].device.get(), n, 0});
    tutti_communicator_desc desc{};
    desc.struct_size = sizeof desc;
    desc.identifier = "another group";
    desc.size = desc.participant_count = r.size();
    desc.participants = all.data();
    desc.participant_size = sizeof all[0];
    const tutti_communicator_desc good = desc;
    const auto refused = [&](std::initializer_list<int32_t> codes, const char* what) {
      std::vector<tutti_communicator*> made(r.size());
      require_refused(r.api().collective->create(&desc, made.data()), codes, what);
      for (const tutti_communicator* one : made)
        require(one == nullptr, std::string(what) + ": a communicator was handed out");
      desc = good;
    };
    desc.identifier = nullptr;
    refused({TUTTI_ERROR_INVALID_ARGUMENT}, "a group without an identifier");
    desc.participant_count = 0;
    refused({TUTTI_ERROR_INVALID_ARGUMENT}, "a group without participants");
    desc.size += 1;  // without a store
    refused({TUTTI_ERROR_INVALID_ARGUMENT, TUTTI_ERROR_UNSUPPORTED},
            "a participant who is nowhere");
    all[0].rank = r.size();
    refused({TUTTI_ERROR_INVALID_ARGUMENT}, "a rank beyond the group");
    all[0].rank = 0;
    if (r.size() > 1) {
      all[1].rank = 0;
      refused({TUTTI_ERROR_INVALID_ARGUMENT}, "a rank that stands there twice");
      all[1].rank = 1;
    }
    // Ranks in another order than the devices, as far apart as participant_size says.
    longer<tutti_participant> wide[3];
    for (uint32_t n = 0; n < r.size(); ++n) {
      wide[n].known = {all[n].device, r.size() - 1 - n, 0};
      std::ranges::fill(wide[n].beyond, ~uint64_t{0});
    }
    desc.participants = &wide[0].known;
    desc.participant_size = sizeof wide[0];
    std::vector<tutti_communicator*> members(r.size());
    check(r.api().collective->create(&desc, members.data()), "create");
    std::deque<collective_array> in, out;
    for (uint32_t n = 0; n < r.size(); ++n) {
      in.emplace_back(r.devices[n], ascending(TUTTI_I32, 4, 100 * n));
      out.emplace_back(r.devices[n], ascending(TUTTI_I32, 4 * r.size(), 0));
      const tutti_view from = in[n].view(0, 4), to = out[n].view(0, 4 * r.size());
      check(r.calls().all_gather(members[n], r.devices[n].main_stream.get(), &from, &to, nullptr),
            "all_gather");
    }
    for (uint32_t n = 0; n < r.size(); ++n) {
      const image found = out[n].read(r.devices[n]);
      for (uint64_t i = 0; i < found.size(); ++i)
        require(found.get(i) == 100 * (r.size() - 1 - i / 4) + i % 4,
                "an all_gather is not in the order of the ranks");
    }
    for (tutti_communicator* one : members) r.api().collective->release(one);
  });
}

void check_refusals(session& s) {
  require_i32(s);
  with_devices(s, 2, [&](collective_rig& r) {
    const collective_array a(r.devices[0], ascending(TUTTI_I32, 64, 0));
    tutti_stream* const stream = r.devices[0].main_stream.get();
    tutti_communicator* const c = r.members[0];
    const tutti_view sixteen = a.view(0, 16), nine = a.view(16, 9), beyond = a.view(60, 5);
    tutti_view spread = sixteen;
    spread.stride[0] = 2;
    const collective_calls calls = r.calls();
    const std::initializer_list<int32_t> wrong = {TUTTI_ERROR_INVALID_ARGUMENT};
    const std::initializer_list<int32_t> lacking = {TUTTI_ERROR_UNSUPPORTED,
                                                    TUTTI_ERROR_INVALID_ARGUMENT};
    require_refused(calls.all_reduce(c, stream, &sixteen, &nine, TUTTI_REDUCE_SUM, nullptr), wrong,
                    "an output of another extent");
    require_refused(calls.all_reduce(c, stream, &spread, &spread, TUTTI_REDUCE_SUM, nullptr), wrong,
                    "a view that is not contiguous");
    require_refused(calls.broadcast(c, stream, &beyond, 0, nullptr), wrong,
                    "a view beyond its buffer");
    require_refused(calls.broadcast(c, stream, nullptr, 0, nullptr), wrong, "no view");
    require_refused(calls.broadcast(c, stream, &nine, r.size(), nullptr), wrong,
                    "a root beyond the group");
    require_refused(calls.all_reduce(c, stream, &nine, &nine, TUTTI_REDUCE_ARGMIN, nullptr),
                    lacking, "a reduction that collectives do not have");
    require_refused(calls.all_reduce(nullptr, stream, &nine, &nine, TUTTI_REDUCE_SUM, nullptr),
                    wrong, "no communicator");
    require_refused(calls.group({{77, TUTTI_REDUCE_NONE, 0, 0, c, stream, &nine, &nine, nullptr}}),
                    lacking, "a kind that nobody knows");
    if (r.size() > 1)
      require_refused(calls.broadcast(r.members[1], stream, &nine, 0, nullptr), wrong,
                      "a stream of another device");
    // Refused calls had no effect.
    generator random(s.seed);
    experiment(r, {trial_kind::broadcast, TUTTI_I32, TUTTI_REDUCE_NONE, 0, 33}, random).run();
  });
}

}  // namespace

void add_collective_groups(groups& all, const session&) {
  all.push_back({"collective/reductions", check_reductions});
  all.push_back({"collective/kinds", check_kinds});
  all.push_back({"collective/messages", check_messages});
  all.push_back({"collective/exchange", check_exchange});
  all.push_back({"collective/communicators", check_communicators});
  all.push_back({"collective/refusals", check_refusals});
}

}  // namespace tutti::conformance
