// SPDX-License-Identifier: Apache-2.0
//
// Collectives with NCCL, of devices in one process or several: the table, the creation of
// communicators, and the calls of NCCL.
#include "cuda/collectives.hpp"

#include <algorithm>

#include "sdk/op_info.hpp"

namespace tutti::cuda {
namespace {

void release(tutti_communicator* participant) {
  if (participant == nullptr) return;
  participant->team->remove(participant);
  tutti_device& device = *participant->device;
  const scoped_context context(device, std::nothrow);
  if (participant->lane != nullptr) {
    cu().stream_synchronize(participant->lane);
    cu().stream_destroy(participant->lane);
  }
  for (const pinned_word& word : participant->words) device.words.give(word);
  if (void* const handle = participant->handle->exchange(nullptr)) nccl().destroy(handle);
  delete participant;
}

// The first participant creates the id of the group; its process puts it into the store for others.
nccl_id meet(const tutti_communicator_desc& desc,
             const std::vector<tutti_participant>& participants) {
  const bool makes_it = std::any_of(participants.begin(), participants.end(),
                                    [](const tutti_participant& p) { return p.rank == 0; });
  nccl_id id{};
  nccl();  // throws if it is not installed, before other processes wait for this one
  if (makes_it) check_nccl(nccl().unique_id(&id), "collectives");
  if (participants.size() == desc.size) return id;
  if (desc.store == nullptr)
    sdk::throw_invalid("collectives: ", participants.size(), " of ", desc.size,
                       " participants, and no store to meet the others");
  const tutti_store store = sdk::read_struct(desc.store, "collectives: store");
  const std::string key = std::string("tutti/nccl/") + desc.identifier;
  tutti_status* const status =
      makes_it ? store.set(store.context, key.c_str(), id.bytes.data(), id.bytes.size())
               : store.get(store.context, key.c_str(), id.bytes.data(), id.bytes.size(),
                           desc.timeout_ns);
  sdk::throw_status(status, "collectives: " + key);
  return id;
}

std::vector<nccl_comm> join(const std::vector<tutti_participant>& participants, uint32_t size,
                            const nccl_id& id) {
  std::vector<nccl_comm> handles(participants.size());
  nccl_group group("collectives");
  for (size_t n = 0; n < participants.size(); ++n) {
    const scoped_context context(*participants[n].device);
    check_nccl(nccl().init_rank(&handles[n], static_cast<int>(size), id,
                                static_cast<int>(participants[n].rank)),
               "collectives");
  }
  group.end();
  return handles;
}

tutti_status* create(const tutti_communicator_desc* desc, tutti_communicator** communicators) {
  return sdk::guarded([&] {
    const tutti_communicator_desc wanted = sdk::read_struct(desc, "communicator description");
    sdk::deref(communicators, "communicators");
    const std::vector<tutti_participant> participants = sdk::validate_communicator(wanted);
    std::fill_n(communicators, participants.size(), nullptr);
    const auto team = std::make_shared<collective_team>(
        wanted.size, join(participants, wanted.size, meet(wanted, participants)));
    using owned = std::unique_ptr<tutti_communicator, void (*)(tutti_communicator*)>;
    std::vector<owned> made;
    for (size_t n = 0; n < participants.size(); ++n) {
      made.emplace_back(new tutti_communicator, release);
      tutti_communicator& one = *made.back();
      one.device = participants[n].device;
      one.rank = participants[n].rank;
      one.team = team;
      one.handle = team->handle(n);
      team->add(&one);
      const scoped_context context(*one.device);
      check(one.device, cu().stream_create(&one.lane, CU_STREAM_NON_BLOCKING), "cuStreamCreate");
    }
    for (size_t n = 0; n < made.size(); ++n) communicators[n] = made[n].release();
  });
}

tutti_status* abort(tutti_communicator* participant) {
  return sdk::guarded([&] { sdk::deref(participant, "communicator").team->abort(); });
}

using calls = sdk::collective_functions<backend, tutti_communicator>;  // of the table

// Element types of NCCL: dtypes that it lacks are moved as bytes.
struct elements {
  int type;
  uint64_t count;
};
elements elements_of(int32_t dtype, uint64_t count) {
  const int type = nccl_type_of(dtype);
  if (type >= 0) return {type, count};
  return {nccl_type_of(TUTTI_U8), count * sdk::dtype_size(dtype)};
}

int exchange_all(const collective_call& call, const char* in, char* out, nccl_comm handle,
                 CUstream stream) {
  const uint32_t size = call.communicator->size();
  const uint64_t share = call.shape.count / size;
  const elements of = elements_of(call.shape.dtype, share);
  for (uint32_t peer = 0; peer < size; ++peer) {
    const uint64_t at = share * sdk::dtype_size(call.shape.dtype) * peer;
    const int number = static_cast<int>(peer);
    if (const int code = nccl().send(in + at, of.count, of.type, number, handle, stream))
      return code;
    if (const int code = nccl().receive(out + at, of.count, of.type, number, handle, stream))
      return code;
  }
  return 0;
}

}  // namespace

int exchange(const collective_meeting::part& part, nccl_comm handle, CUstream stream) {
  const collective_call& call = part.call;
  const auto* const in =
      reinterpret_cast<const char*>(part.copy != 0 ? part.copy : call.in.memory + call.in.offset);
  auto* const out = reinterpret_cast<char*>(call.out.memory + call.out.offset);
  const auto [type, count] = elements_of(call.shape.dtype, call.shape.count);
  const int operation = nccl_operation_of(call.shape.reduction);
  switch (call.shape.kind) {
    case TUTTI_COLLECTIVE_ALL_REDUCE:
      return nccl().all_reduce(in, out, count, type, operation, handle, stream);
    case TUTTI_COLLECTIVE_REDUCE_SCATTER:
      return nccl().reduce_scatter(in, out, call.out.count, type, operation, handle, stream);
    case TUTTI_COLLECTIVE_ALL_GATHER:
      return nccl().all_gather(in, out, count, type, handle, stream);
    default:
      return exchange_all(call, in, out, handle, stream);
  }
}

const tutti_collective_api collective_api = {
    sizeof(tutti_collective_api), create, release, calls::supports, calls::enqueue, abort};

}  // namespace tutti::cuda

uint32_t tutti_communicator::size() const { return team->size(); }

const char* tutti_communicator::against(int32_t dtype, int32_t reduction) const {
  if (reduction == TUTTI_REDUCE_NONE) return nullptr;
  if (tutti::cuda::nccl_type_of(dtype) < 0) return "NCCL does not have it";
  const bool extremum = reduction == TUTTI_REDUCE_MIN || reduction == TUTTI_REDUCE_MAX;
  if (extremum && tutti::sdk::is_floating(tutti::sdk::register_dtype(dtype)))
    return "NCCL's minima and maxima lose NaN";
  return nullptr;
}

void tutti_communicator::enqueue(std::span<call> calls) {
  using namespace tutti::cuda;
  std::vector<std::pair<std::shared_ptr<collective_team>, std::vector<collective_call*>>> teams;
  for (call& one : calls) {
    const auto same = [&](const auto& each) { return each.first == one.communicator->team; };
    auto at = std::find_if(teams.begin(), teams.end(), same);
    if (at == teams.end()) at = teams.insert(at, {one.communicator->team, {}});
    at->second.push_back(&one);
  }
  std::exception_ptr first;
  for (const auto& [team, its] : teams) {
    try {
      team->enqueue(its);
    } catch (...) {
      if (first == nullptr) first = std::current_exception();
    }
  }
  if (first == nullptr) return;
  for (call& one : calls)
    if (one.event != nullptr) stream_api.event_release(std::exchange(*one.event, nullptr));
  std::rethrow_exception(first);
}
