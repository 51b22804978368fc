// SPDX-License-Identifier: Apache-2.0
//
// The collective function group of a plugin, one function for each kind: groups of one call, and
// communicators of devices in this process.
#pragma once

#include <vector>

#include "tutti/plugin.h"

namespace tutti::conformance {

struct collective_calls {
  const tutti_collective_api& api;

  /// Ranks are the positions of the devices.
  tutti_status* create(tutti_device* const* devices, uint32_t count,
                       tutti_communicator** communicators) const {
    std::vector<tutti_participant> participants;
    for (uint32_t n = 0; n < count; ++n) participants.push_back({devices[n], n, 0});
    tutti_communicator_desc desc{};
    desc.struct_size = sizeof desc;
    desc.identifier = "a trial";
    desc.size = desc.participant_count = count;
    desc.participant_size = sizeof(tutti_participant);
    desc.participants = participants.data();
    return api.create(&desc, communicators);
  }
  void release(tutti_communicator* c) const { api.release(c); }
  tutti_status* abort(tutti_communicator* c) const { return api.abort(c); }

  tutti_status* all_reduce(tutti_communicator* c, tutti_stream* s, const tutti_view* in,
                           const tutti_view* out, int32_t reduction, tutti_event** event) const {
    return one({TUTTI_COLLECTIVE_ALL_REDUCE, reduction, c, s, in, out, event});
  }
  tutti_status* all_gather(tutti_communicator* c, tutti_stream* s, const tutti_view* in,
                           const tutti_view* out, tutti_event** event) const {
    return one({TUTTI_COLLECTIVE_ALL_GATHER, 0, c, s, in, out, event});
  }
  tutti_status* group(const std::vector<tutti_collective_call>& calls) const {
    return api.enqueue(calls.data(), static_cast<uint32_t>(calls.size()),
                       sizeof(tutti_collective_call));
  }

 private:
  tutti_status* one(const tutti_collective_call& call) const { return group({call}); }
};

}  // namespace tutti::conformance
