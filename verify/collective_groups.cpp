// SPDX-License-Identifier: Apache-2.0
//
// Collectives between the first devices of the plugin, at most three: values of all kinds, dtypes
// and positions compared with loops on the host, order, communicators, refused calls. With one
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
        if (!sdk::has_reduction(TUTTI_COLLECTIVE_ALL_REDUCE, reduction, dtype)) continue;
        if (!supports(r, TUTTI_COLLECTIVE_ALL_REDUCE, dtype, reduction)) continue;
        experiment(r, {TUTTI_COLLECTIVE_ALL_REDUCE, dtype, reduction, 1009}, random).run();
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
      for (const int32_t kind : every_kind) {
        if (!supports(r, kind, dtype, sdk::reduces(kind) ? reduction : TUTTI_REDUCE_NONE)) continue;
        for (const uint64_t share : {0, 1, 7, 1021}) {
          for (const where out : {where::apart, where::same, where::own_share}) {
            experiment(r, {kind, dtype, reduction, share, out, share == 7}, random).run();
          }
        }
      }
    }
  });
}

// Collectives keep their order, whichever participant calls first, alone or as one group.
void check_order(session& s) {
  require_i32(s);
  with_devices(s, 2, [&](collective_rig& r) {
    if (r.size() < 2) throw skipped("one device alone");
    constexpr uint64_t count = 300;
    // The ranks that call, in turn.
    for (const auto& order :
         {std::array{0u, 0u, 0u, 1u, 1u, 1u}, std::array{1u, 1u, 1u, 0u, 0u, 0u},
          std::array{0u, 1u, 1u, 0u, 1u, 0u}}) {
      for (const bool grouped : {false, true}) {
        // Of each rank: three inputs and outputs.
        std::deque<collective_array> from[2], to[2];
        std::vector<tutti_view> views[2];
        for (uint32_t n = 0; n < 2; ++n) {
          for (uint64_t i = 0; i < 3; ++i) {
            from[n].emplace_back(r.devices[n], ascending(TUTTI_I32, count, 1000 * (3 * n + i)));
            to[n].emplace_back(r.devices[n], ascending(TUTTI_I32, 2 * count, 7));
            views[n].push_back(from[n][i].view(0, count));
            views[n].push_back(to[n][i].view(0, 2 * count));
          }
        }
        size_t called[2] = {};
        tutti_event* events[6] = {};
        std::vector<tutti_collective_call> calls;
        for (const uint32_t n : order) {
          const tutti_view* const view = &views[n][2 * called[n]++];
          calls.push_back({TUTTI_COLLECTIVE_ALL_GATHER, TUTTI_REDUCE_NONE, r.members[n],
                           r.devices[n].main_stream.get(), view, view + 1, &events[calls.size()]});
        }
        if (grouped) {
          check(r.calls().group(calls), "a group of collectives");
        } else {
          for (const tutti_collective_call& call : calls)
            check(r.calls().group({call}), "all_gather");
        }
        for (tutti_event* const event : events) {
          const outcome end = r.wait(r.own(event));
          require(!end, "a collective failed: {}", end.message);
        }
        for (size_t i = 0; i < 3; ++i) {
          std::vector<std::byte> both;
          for (const auto& inputs : from)
            both.insert(both.end(), inputs[i].data.bytes.begin(), inputs[i].data.bytes.end());
          for (uint32_t n = 0; n < 2; ++n)
            require(to[n][i].read(r.devices[n]).bytes == both,
                    "collective {} does not have the data of its callers", i);
        }
      }
    }
  });
}

void require_refused(tutti_status* status, std::initializer_list<int32_t> codes, const char* what) {
  const outcome found = take(status);
  require(std::find(codes.begin(), codes.end(), found.code) != codes.end(), "{} gives code {}: {}",
          what, found.code, found.message);
  require(!found.message.empty(), "{}: refused without a message", what);
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
        require(one == nullptr, "{}: a communicator was handed out", what);
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
    const std::initializer_list<int32_t> lacking = {TUTTI_ERROR_UNSUPPORTED,
                                                    TUTTI_ERROR_INVALID_ARGUMENT};
    const auto refused = [&](tutti_communicator* of, const tutti_view* in, const tutti_view* out,
                             const char* what) {
      require_refused(calls.all_reduce(of, stream, in, out, TUTTI_REDUCE_SUM, nullptr),
                      {TUTTI_ERROR_INVALID_ARGUMENT}, what);
    };
    refused(c, &sixteen, &nine, "an output of another extent");
    refused(c, &spread, &spread, "a view that is not contiguous");
    refused(c, &beyond, &beyond, "a view beyond its buffer");
    refused(c, nullptr, &nine, "no input");
    refused(c, &nine, nullptr, "no output");
    refused(nullptr, &nine, &nine, "no communicator");
    if (r.size() > 1) refused(r.members[1], &nine, &nine, "a stream of another device");
    require_refused(calls.all_reduce(c, stream, &nine, &nine, TUTTI_REDUCE_ARGMIN, nullptr),
                    lacking, "a reduction that collectives do not have");
    require_refused(calls.group({{77, TUTTI_REDUCE_NONE, c, stream, &nine, &nine, nullptr}}),
                    lacking, "a kind that nobody knows");
    // Refused calls had no effect.
    generator random(s.seed);
    experiment(r, {TUTTI_COLLECTIVE_ALL_GATHER, TUTTI_I32, TUTTI_REDUCE_NONE, 33}, random).run();
  });
}

}  // namespace

void add_collective_groups(groups& all, const session&) {
  all.push_back({"collective/reductions", check_reductions});
  all.push_back({"collective/kinds", check_kinds});
  all.push_back({"collective/order", check_order});
  all.push_back({"collective/communicators", check_communicators});
  all.push_back({"collective/refusals", check_refusals});
}

}  // namespace tutti::conformance
