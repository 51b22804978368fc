// SPDX-License-Identifier: Apache-2.0
//
// Communicators, and a thread that executes calls: it waits for the inputs of all members, enqueues
// the members' parts on their copy streams as one group and enforces the time limit.
#include "runtime/transfer/collectives.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <exception>
#include <map>
#include <optional>
#include <utility>

#include "base/background_thread.hpp"
#include "base/exit.hpp"
#include "base/log.hpp"
#include "base/trace.hpp"
#include "graph/build.hpp"
#include "graph/collective.hpp"
#include "runtime/execute/launch.hpp"
#include "runtime/transfer/copy_engine.hpp"
#include "runtime/transfer/event_wait.hpp"
#include "tutti/error.hpp"

namespace tutti::runtime {
namespace {

using detail::opened_device;
using graph::collective_call;
using members_list = std::vector<const opened_device*>;

struct known_communicators {
  std::mutex mutex;
  std::map<members_list, communicators> all;
  std::uint64_t made = 0;
};

known_communicators& known() {
  static auto* const groups = new known_communicators;
  return *groups;
}

// The members get the ranks from `first` on. Throws device_error.
communicators create(const members_list& members, std::size_t first, tutti_communicator_desc desc) {
  std::vector<tutti_communicator*> made(members.size());
  std::vector<tutti_participant> participants;
  for (const opened_device* d : members)
    participants.push_back({d->handle, static_cast<std::uint32_t>(first++), 0});
  desc.struct_size = sizeof desc;
  desc.participant_count = static_cast<std::uint32_t>(participants.size());
  desc.participant_size = sizeof(tutti_participant);
  desc.participants = participants.data();
  plugins::check(members[0]->plugin->collective.create(&desc, made.data()), *members[0],
                 "set up collectives");
  for (const tutti_communicator* communicator : made)
    plugins::require_made(members[0]->plugin->collective.create, communicator, *members[0]);
  return {new std::vector(std::move(made)), [of = members[0]->plugin](const auto* all) {
            for (tutti_communicator* p : *all) of->collective.release(p);
            delete all;
          }};
}

communicators participants_of(const members_list& members) {
  const std::lock_guard lock(known().mutex);
  const auto [found, is_new] = known().all.try_emplace(members);
  if (!is_new) return found->second;
  // Different from those of all other groups, in this process and in others.
  const std::string identifier =
      fmt::format("tutti-{}-{}-{}", getpid(),
                  std::chrono::system_clock::now().time_since_epoch().count(), ++known().made);
  tutti_communicator_desc desc{};
  desc.identifier = identifier.c_str();
  desc.size = static_cast<std::uint32_t>(members.size());
  try {
    found->second = create(members, 0, desc);
  } catch (const device_error& e) {
    logging::info("collectives go by copies: {}", e.what());
  }
  return found->second;
}

// After a failure the participants may be at different calls: those that wait fail, and the next
// call creates a new group.
void abandon(const members_list& members, const communicators& failed) {
  plugins::ignore(members[0]->plugin->collective.abort(failed->front()));
  const std::lock_guard lock(known().mutex);
  const auto found = known().all.find(members);
  if (found != known().all.end() && found->second == failed) known().all.erase(found);
}

// ---- a call in progress

struct member_work {
  device_context* context;
  buffer_block *source, *target;       // one reference each
  std::shared_ptr<tutti_event> ready;  // null: the input is available
  arrivals upstream;
  tutti_view in, out;
  tutti_event* event = nullptr;
};

struct running_call : graph::collective_kind {
  members_list devices;
  communicators participants;
  time_point deadline;
  std::vector<member_work> members;
  arrivals ends;
};

// Enqueues all members' parts as one group, from this thread.
void enqueue_all(running_call& call) {
  std::map<std::mutex*, std::unique_lock<std::mutex>> locks;  // in one order in all threads
  for (const member_work& m : call.members) locks[&m.context->copies_mutex];
  for (auto& [mutex, lock] : locks) lock = std::unique_lock(*mutex);
  std::vector<tutti_collective_call> calls;
  for (std::size_t i = 0; i < call.members.size(); ++i) {
    member_work& m = call.members[i];
    calls.push_back({call.kind, call.reduction, (*call.participants)[i], m.context->copies(), &m.in,
                     &m.out, &m.event});
  }
  const opened_device& first = call.members[0].context->device;
  plugins::check(
      first.plugin->collective.enqueue(calls.data(), static_cast<std::uint32_t>(calls.size()),
                                       sizeof(tutti_collective_call)),
      "collectives of " + first.plugin->name + ": launch " + call.label);
  for (const member_work& m : call.members)
    plugins::require_event(first.plugin->collective.enqueue, m.event, m.context->device,
                           m.context->copies());
  for (const member_work& m : call.members)
    plugins::check(first.plugin->stream.flush(m.context->copies()), m.context->device, "launch",
                   call.label);
}

void wait_member(const running_call& call, const member_work& m, tutti_event* event) {
  const opened_device& device = m.context->device;
  if (!wait_until(device, event, call.deadline, "run", call.label))
    throw device_error(
        fmt::format("{}: {} did not finish within {} s{}", call.label, device.name, call.time_limit,
                    call.ranks != nullptr ? ": a rank has died, or does something else" : ""),
        TUTTI_ERROR_TIMEOUT, 0, false, device.name);
}

// From inputs that are being computed to results that are available.
void carry_out(running_call& call) {
  for (member_work& m : call.members) {
    if (m.ready != nullptr) wait_member(call, m, m.ready.get());
    for (const auto& a : m.upstream) a->wait();
  }
  enqueue_all(call);
  for (const member_work& m : call.members) wait_member(call, m, m.event);
}

void follow(running_call& call) {
  std::optional<arrival::failure> why;
  const std::uint64_t begin = base::trace_enabled() ? base::trace_now_ns() : 0;
  try {
    carry_out(call);
  } catch (const device_error& e) {
    why = arrival::failure{e.what(), e.code(), e.vendor_code(), e.device()};
  } catch (const std::exception& e) {
    why = arrival::failure{e.what(), TUTTI_ERROR_INTERNAL, 0, {}};
  }
  for (const member_work& m : call.members)
    if (m.event != nullptr) m.context->device.plugin->stream.event_release(m.event);
  if (why) {
    if (call.ranks != nullptr)
      call.ranks->abort();
    else
      abandon(call.devices, call.participants);
    for (member_work& m : call.members) m.context->renew_copies();
  }
  for (member_work& m : call.members) {
    if (begin != 0 && !why)
      base::trace_complete(base::trace_track(m.context->device.name, "copies"), call.label, begin,
                           base::trace_now_ns(), {"", m.target->bytes(), 0});
    // A device that hangs may still write there later: its memory is not reused.
    if (why) continue;
    m.source->release();
    m.target->release();
  }
  for (const auto& end : call.ends) end->finish(why);
}

// ---- the launch

tutti_view flat_view(const buffer_block& block, std::int64_t offset, dtype type,
                     std::int64_t elements) {
  tutti_view v{};
  v.buffer = block.handle();
  v.offset = static_cast<std::uint64_t>(offset) * size_of(type);
  v.dtype = static_cast<std::int32_t>(type);
  v.rank = 1;
  v.extent[0] = static_cast<std::uint64_t>(elements);
  v.stride[0] = 1;
  return v;
}

void launch_all(graph::node& n) {
  // One lock for all, so that all members see the calls in the same order.
  static auto* const thread = new base::background_thread<std::shared_ptr<running_call>>(
      [](auto& call) { follow(*call); }, base::wait_at_exit);
  collective_call& call = *n.collective().call;
  call.drop_results();  // those of a launch that failed
  members_list devices;
  for (const auto& input : n.inputs) devices.push_back(graph::base_of(*input).device);
  const communicators participants =
      call.ranks != nullptr ? call.ranks->participants() : participants_of(devices);
  if (participants == nullptr)
    throw device_error(
        call.label + ": the collectives of " + devices[0]->plugin->name + " have failed before",
        TUTTI_ERROR_UNSUPPORTED, 0, false, devices[0]->name);
  const auto running = std::make_shared<running_call>(
      running_call{{call}, devices, participants, deadline_after(call.time_limit), {}, {}});
  for (std::size_t i = 0; i < devices.size(); ++i) {
    const graph::node& input = *n.inputs[i];
    const graph::node& base = graph::base_of(input);
    device_context& context = context_of(*devices[i]);
    context.check_health(base.sequence);
    context.flush();  // as in launch_transfer
    buffer_block* const block = context.allocate_idle(graph::bytes_of(n));
    call.results.push_back(block);
    member_work m{&context, block_of(base), block, context.event_of(base.sequence), {}, {}, {}};
    merge(m.upstream, base.arriving);
    m.in = flat_view(*block_of(base), base.storage_offset + layout_of(input).offset, n.type,
                     input.elements);
    m.out = flat_view(*block, 0, n.type, n.elements);
    running->members.push_back(std::move(m));
    running->ends.push_back(expect_from_host(*devices[i]));
  }
  for (const member_work& m : running->members) {
    m.source->retain();
    m.target->retain();
  }
  call.ends = running->ends;
  try {
    if (call.ranks != nullptr)
      call.ranks->add([running] { follow(*running); });
    else
      thread->add(running);
  } catch (...) {
    call.ends.clear();
    for (const member_work& m : running->members) {
      m.source->release();
      m.target->release();
    }
    throw;
  }
}

// By all participants, of which there are some.
bool is_supported(const opened_device& member, const communicators& participants,
                  tutti_collective kind, dtype type, tutti_reduction reduction) {
  return std::all_of(participants->begin(), participants->end(), [&](tutti_communicator* p) {
    std::int32_t support = TUTTI_SUPPORT_NO;
    return !plugins::ignore(member.plugin->collective.supports(
               p, kind, static_cast<std::int32_t>(type), reduction, &support, nullptr)) &&
           support == TUTTI_SUPPORT_YES;
  });
}

std::chrono::milliseconds patience_of(double seconds) {
  return std::chrono::milliseconds(static_cast<std::int64_t>(std::min(seconds, 1e9) * 1e3));
}

}  // namespace

// ---- of the ranks of a job

bool rank_communicator::create(const std::string& identifier,
                               std::shared_ptr<const tutti_store> store, double seconds) {
  const auto done = std::make_shared<graph::arrival>(nullptr, nullptr);
  add([this, identifier, store = std::move(store), seconds, done] {
    tutti_communicator_desc desc{};
    desc.identifier = identifier.c_str();
    desc.size = static_cast<std::uint32_t>(size_);
    desc.store = store.get();
    desc.timeout_ns = static_cast<std::uint64_t>(std::min(seconds, 1e9) * 1e9);
    std::optional<arrival::failure> why;
    try {
      participants_ = runtime::create(own_, first_, desc);
    } catch (const std::exception& e) {
      why = arrival::failure{e.what(), TUTTI_ERROR_UNSUPPORTED, 0, own_[0]->name};
    }
    done->finish(why);
  });
  try {
    if (!done->is_done_within(patience_of(seconds)))
      throw device_error(fmt::format("nothing within {} s", seconds), TUTTI_ERROR_TIMEOUT);
    done->wait();
    return true;
  } catch (const device_error& e) {
    logging::info("device {} of {}: the devices of the ranks are not connected: {}", first_, size_,
                  e.what());
    return false;
  }
}

bool rank_communicator::supports(tutti_collective kind, dtype type,
                                 tutti_reduction reduction) const {
  return is_supported(*own_[0], participants_, kind, type, reduction);
}

std::vector<array> rank_communicator::all_reduce(std::span<const array> flat,
                                                 tutti_reduction reduction, double time_limit) {
  auto call = std::make_shared<collective_call>();
  call->kind = TUTTI_COLLECTIVE_ALL_REDUCE;
  call->reduction = reduction;
  call->time_limit = time_limit;
  call->label = "all_reduce";
  call->ranks = this;
  std::vector<array> results = graph::collective(call, flat, flat[0].size());
  eval(results);
  return results;
}

void rank_communicator::finish(std::span<const array> results, double time_limit) {
  // The thread enforces the limit, unless the plugin itself waits for other ranks.
  const auto patience = patience_of(1.25 * time_limit);
  for (const array& result : results) {
    for (const auto& a : graph::base_of(*result.node()).arriving)
      if (!a->is_done_within(patience)) abort();
    result.wait();
  }
}

void rank_communicator::abort() {
  plugins::ignore(own_[0]->plugin->collective.abort(participants_->front()));
}

bool offers_collectives(std::span<const opened_device* const> members, tutti_collective kind,
                        dtype type, tutti_reduction reduction) {
  if (members.size() < 2) return false;
  for (const opened_device* d : members)
    if (d->plugin != members[0]->plugin) return false;
  if (!members[0]->plugin->has_collective) return false;
  const communicators participants = participants_of({members.begin(), members.end()});
  return participants != nullptr && is_supported(*members[0], participants, kind, type, reduction);
}

void launch_collective(graph::node& n) {
  collective_call& call = *n.collective().call;
  if (call.ends.empty()) launch_all(n);
  const std::size_t member = n.collective().member;
  auto* const block = static_cast<buffer_block*>(std::exchange(call.results[member], nullptr));
  publish({&n, block}, 0, {call.ends[member]});
}

}  // namespace tutti::runtime
