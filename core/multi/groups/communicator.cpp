// SPDX-License-Identifier: Apache-2.0
//
// Messages between threads that each drive one device: arrays in mailboxes.
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <string>
#include <tuple>

#include "multi/groups/participants.hpp"
#include "tutti/collective.hpp"
#include "tutti/error.hpp"
#include "tutti/plugin.h"

namespace tutti::collective {

struct communicator::mailboxes {
  explicit mailboxes(device_group g) : group(std::move(g)) {}

  using address = std::tuple<std::size_t, std::size_t, int>;  // sender, receiver, tag

  device_group group;
  options how;
  std::mutex mutex;
  std::condition_variable arrived;
  std::map<address, std::deque<array>> waiting;
};

communicator::communicator(device_group group, const options& how)
    : state_(std::make_shared<mailboxes>(std::move(group))) {
  multi::check_options(how, "communicator");
  if (state_->group.ranks())
    base::fail<value_error>(
        "communicator: a group over several ranks, {}; use job::send and job::receive",
        state_->group.names());
  state_->how = how;
}

const device_group& communicator::group() const { return state_->group; }

void communicator::send(const array& value, const device& to, int tag) {
  mailboxes& boxes = *state_;
  const std::size_t receiver = boxes.group.index_of(to, "send");
  const std::size_t sender = multi::owner(boxes.group, value, "send");
  const array own = multi::on_member(value, boxes.group[sender], "send", "the value");
  const array moved = multi::move(own, to, boxes.how.time_limit, "send");
  moved.eval();
  {
    const std::lock_guard lock(boxes.mutex);
    boxes.waiting[{sender, receiver, tag}].push_back(moved);
  }
  boxes.arrived.notify_all();
}

array communicator::receive(const device& from, const device& at, int tag) {
  mailboxes& boxes = *state_;
  const mailboxes::address key{boxes.group.index_of(from, "receive"),
                               boxes.group.index_of(at, "receive"), tag};
  const double seconds = boxes.how.time_limit;
  const std::chrono::duration<double> limit(std::isinf(seconds) ? 300 : std::min(seconds, 1e9));
  std::unique_lock lock(boxes.mutex);
  const auto present = [&] { return boxes.waiting.contains(key); };
  if (!boxes.arrived.wait_for(lock, limit, present))
    throw device_error("receive: nothing from " + from.name() + " for " + at.name() + " with tag " +
                           std::to_string(tag) + " within " + std::to_string(limit.count()) + " s",
                       TUTTI_ERROR_TIMEOUT, 0, true, from.name());
  const auto box = boxes.waiting.find(key);
  const array message = box->second.front();
  box->second.pop_front();
  if (box->second.empty()) boxes.waiting.erase(box);
  return message;
}

}  // namespace tutti::collective
