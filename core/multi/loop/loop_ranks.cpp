// SPDX-License-Identifier: Apache-2.0
#include "multi/loop/loop_ranks.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cstring>
#include <sstream>
#include <thread>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "tutti/error.hpp"
#include "tutti/host_memory.hpp"

namespace tutti::multi {

/// Chunks in the order in which rank 0 assigned them.
class assigned_chunks : public schedule_policy {
 public:
  explicit assigned_chunks(std::size_t workers) : queues_(workers) {}
  void add(std::size_t worker, const index_range& chunk) { queues_.at(worker).push_back(chunk); }
  std::optional<index_range> next(std::size_t worker, double) override {
    std::deque<index_range>& queue = queues_[worker];
    if (queue.empty()) return {};
    const index_range first = queue.front();
    queue.pop_front();
    return first;
  }
  void done(std::size_t, const index_range&, double, double) override {}
  void failed(std::size_t, std::span<const index_range>, double) override {}

 private:
  std::vector<std::deque<index_range>> queues_;
};

namespace {

using message = rank_link::message;

enum message_kind : std::int32_t { hello, alive, assignment, result, failure, end_of_loop };

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto* const first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size()};
}

std::string text_of(const message& m) {
  return {reinterpret_cast<const char*>(m.body.data()), m.body.size()};
}

std::vector<std::string> lines_of(const message& m) {
  std::istringstream text(text_of(m));
  std::vector<std::string> lines;
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

[[noreturn]] void throw_told(const message& m, int rank) {
  std::string text = text_of(m);
  if (text.find("(on rank ") == std::string::npos) text += fmt::format(" (on rank {})", rank);
  if (m.number == TUTTI_ERROR_INVALID_ARGUMENT) throw value_error(text);
  throw device_error(text, m.number);
}

// Why a loop ends, for other ranks.
message last_message(const std::exception_ptr& error) {
  message m{.kind = end_of_loop, .number = TUTTI_OK, .is_last = true};
  if (error == nullptr) return m;
  try {
    std::rethrow_exception(error);
  } catch (const device_error& e) {
    m.number = e.code();
    m.body = bytes_of(e.what());
  } catch (const std::exception& e) {
    m.number = TUTTI_ERROR_INVALID_ARGUMENT;
    m.body = bytes_of(e.what());
  } catch (...) {
    m.number = TUTTI_ERROR_INTERNAL;
    m.body = bytes_of("an exception of unknown type");
  }
  return m;
}

}  // namespace

loop_ranks::loop_ranks(const device_group& group, const loop_options& options,
                       const index_range& range)
    : options_(options), range_(range) {
  if (!group.ranks() || range.size() <= 0) return;
  job_ = group.ranks()->state();
  if (!options.fetch)
    base::fail<value_error>("{}: results of several ranks are fetched (loop_options::fetch)",
                            options.label);
}

std::vector<std::string> loop_ranks::meet(const std::vector<std::string>& own) {
  own_workers_ = own.size();
  const std::string loop = fmt::format("{} [{}, {})", options_.label, range_.begin, range_.end);
  for (int r = 0; r < (follows() ? 1 : job_->size()); ++r)
    if (r != job_->rank() && !job_->is_lost(r))
      peers_.push_back({.link = std::make_unique<rank_link>(*job_, r)});
  if (follows()) {
    if (peers_.empty())
      throw device_error(options_.label + ": rank 0 is lost", TUTTI_ERROR_TIMEOUT);
    peers_[0].link->send(
        {.kind = hello, .body = bytes_of(loop + '\n' + fmt::format("{}", fmt::join(own, "\n")))});
    return own;
  }

  std::vector<std::string> workers = own;
  std::string different;
  for (peer& p : peers_) {
    rank_link& link = *p.link;
    std::optional<message> m;
    while (!(m = link.poll()) && !is_silent(link)) {
      for (const peer& other : peers_) other.link->keep_alive(alive);
      std::this_thread::sleep_for(pause_time);
    }
    if (!m) continue;
    const std::vector<std::string> lines = lines_of(*m);
    if (lines[0] != loop && different.empty())
      different = fmt::format("{}: rank 0 runs {} and rank {} runs {}", options_.label, loop,
                              link.peer(), lines[0]);
    p.first = workers.size();
    p.held.resize(lines.size() - 1);
    for (std::size_t i = 1; i < lines.size(); ++i)
      workers.push_back(fmt::format("rank {} {}", link.peer(), lines[i]));
  }
  if (!different.empty()) throw value_error(different);
  return workers;
}

std::unique_ptr<schedule_policy> loop_ranks::assigned() {
  if (!follows()) return nullptr;
  auto made = std::make_unique<assigned_chunks>(own_workers_);
  assigned_ = made.get();
  return made;
}

void loop_ranks::lose(const rank_link& link, const std::string& why) {
  logging::warn("{}: rank {} is lost: {}", options_.label, link.peer(), why);
  job_->lose(link.peer(), why);
}

bool loop_ranks::is_silent(const rank_link& link) {
  if (link.closed() || link.silence() < job_->time_limit()) return false;
  lose(link, fmt::format("nothing has come from it for {} s", job_->time_limit()));
  return true;
}

void loop_ranks::follow() {
  rank_link& link = *peers_[0].link;
  while (auto m = link.poll()) {
    if (m->kind == assignment)
      assigned_->add(static_cast<std::size_t>(m->number),
                     {m->begin - range_.begin, m->end - range_.begin});
    if (m->kind != end_of_loop) continue;
    ended_ = true;
    if (m->number != TUTTI_OK) throw_told(*m, 0);
    closing_ = std::move(m->body);
  }
  for (; !outbox_.empty(); outbox_.pop_front()) link.send(std::move(outbox_.front()));
  link.keep_alive(alive);
  if (!is_silent(link)) return;
  ended_ = true;
  throw device_error(options_.label + ": rank 0 is lost", TUTTI_ERROR_TIMEOUT);
}

std::optional<loop_ranks::message> loop_ranks::receive(peer& from, loop_state& state, double now) {
  while (auto m = from.link->poll()) {
    if (m->kind == end_of_loop) return m;
    if (m->kind == result) inbox_.emplace_back(&from, std::move(*m));
    if (m->kind == failure) {
      const std::string why = text_of(*m);
      logging::warn("{}: rank {} takes out a device: {}", options_.label, from.link->peer(), why);
      state.fail(from.first + static_cast<std::size_t>(m->number), why, now);
    }
  }
  return {};
}

void loop_ranks::assign(peer& to, loop_state& state, double now) {
  for (std::size_t i = 0; i < to.held.size(); ++i) {
    for (; to.held[i] < options_.depth; ++to.held[i]) {
      const auto range = state.next(to.first + i, now);
      if (!range) break;
      to.link->send({assignment, static_cast<std::int32_t>(i), range->begin, range->end});
    }
  }
  to.link->keep_alive(alive);
}

void loop_ranks::exchange(loop_state& state, double now) {
  if (follows()) return follow();
  for (peer& p : peers_) {
    if (job_->is_lost(p.link->peer())) continue;
    std::optional<message> error;
    bool lost = false;
    try {
      error = receive(p, state, now);
      if (!error) assign(p, state, now);
      lost = is_silent(*p.link);
    } catch (const device_error& e) {  // of the connection
      lose(*p.link, e.what());
      lost = true;
    }
    if (error) throw_told(*error, p.link->peer());
    for (std::size_t i = 0; lost && i < p.held.size(); ++i)
      state.fail(p.first + i, "the rank is lost", now);
  }
}

bool loop_ranks::is_over(const loop_state& state) const {
  if (follows()) return ended_;
  for (const peer& p : peers_)
    for (std::size_t i = 0; i < p.held.size(); ++i)
      if (!state.is_out(p.first + i)) return state.complete();
  return inbox_.empty();
}

void loop_ranks::end(const std::exception_ptr& error, std::vector<std::byte>* closing) {
  const auto for_all = [&](auto&& f) {
    for (const peer& p : peers_) {
      if (job_->is_lost(p.link->peer())) continue;
      try {
        f(*p.link);
      } catch (const device_error& e) {
        lose(*p.link, e.what());
      }
    }
  };
  for_all([&](rank_link& link) {
    message last = last_message(error);
    if (closing != nullptr && error == nullptr && !follows()) last.body = *closing;
    link.send(std::move(last));
  });
  for_all([&](rank_link& link) {
    while (!(link.closed() && link.sent()) && link.silence() < job_->time_limit())
      if (!link.poll()) std::this_thread::sleep_for(pause_time);
    is_silent(link);
  });
  // Now, because an abandoned thread may release this object while the job is used again.
  inbox_.clear();
  peers_.clear();
  if (closing != nullptr && follows()) *closing = std::move(closing_);
}

void loop_ranks::post(std::size_t worker, const chunk& done, const chunk_results& results) {
  message m{result, static_cast<std::int32_t>(worker), done.begin, done.end};
  std::size_t bytes = 0;
  for (const array& a : results.arrays()) bytes += sizeof(array_record) + a.nbytes();
  m.body = detail::host_vector<std::byte>(options_.label, bytes);
  std::byte* at = m.body.data();
  for (std::size_t i = 0; i < results.size(); ++i) {
    const array_record record = describe(results.arrays()[i]);
    const std::span<const std::byte> values = results.bytes(i);
    at = std::copy_n(reinterpret_cast<const std::byte*>(&record), sizeof record, at);
    at = std::copy(values.begin(), values.end(), at);
  }
  outbox_.push_back(std::move(m));
}

void loop_ranks::post_failure(std::size_t worker, const std::string& why) {
  outbox_.push_back({failure, static_cast<std::int32_t>(worker), 0, 0, bytes_of(why)});
}

std::optional<loop_ranks::delivery> loop_ranks::next_result() {
  if (inbox_.empty()) return {};
  auto [from, m] = std::move(inbox_.front());
  inbox_.pop_front();
  const auto number = static_cast<std::size_t>(m.number);
  --from->held.at(number);
  return delivery{from->first + number, from->link->peer(), {m.begin, m.end}, std::move(m.body)};
}

chunk_results unpack(const std::vector<std::byte>& values, const device& on) {
  std::vector<array> arrays;
  std::vector<std::vector<std::byte>> host;
  for (const std::byte* at = values.data(); at != values.data() + values.size();) {
    array_record record;
    std::memcpy(&record, at, sizeof record);
    at += sizeof record;
    const shape extents = extents_of(record);
    const auto type = static_cast<dtype>(record.dtype);
    const auto elements = static_cast<std::size_t>(extents.size());
    host.emplace_back(at, at + elements * size_of(type));
    at += host.back().size();
    arrays.push_back(array::from_bytes(host.back().data(), elements, type, extents, on));
  }
  return {std::move(arrays), std::move(host)};
}

}  // namespace tutti::multi
