// SPDX-License-Identifier: Apache-2.0
#include "multi/job/rank_link.hpp"

#include <algorithm>

namespace tutti::multi {
namespace {

// Of one piece of a message: its arrival is a sign of life.
constexpr std::uint64_t most_bytes = std::uint64_t{16} << 20;

}  // namespace

rank_link::rank_link(job_state& job, int peer) : job_(job), peer_(peer) { expect_header(); }

void rank_link::exchange(tutti_exchange_kind kind, std::byte* data, std::uint64_t bytes,
                         const std::shared_ptr<void>& memory,
                         std::vector<tutti_request*>& requests) {
  for (std::uint64_t at = 0; at < bytes; at += most_bytes) {
    tutti_exchange what = exchange_of(kind, peer_, tag_of_links);
    what.data = data + at;
    what.bytes = std::min(most_bytes, bytes - at);
    requests.push_back(job_.post(what, memory));
  }
}

bool rank_link::done(std::vector<tutti_request*>& requests) {
  while (!requests.empty() && job_.done(requests.front())) requests.erase(requests.begin());
  return requests.empty();
}

void rank_link::expect_header() {
  header_ = std::make_shared<header>();
  exchange(TUTTI_EXCHANGE_RECEIVE, reinterpret_cast<std::byte*>(header_.get()), sizeof(header),
           header_, received_);
}

void rank_link::send(message m) {
  const auto first =
      std::make_shared<header>(header{m.kind, m.number, m.begin, m.end, m.body.size(), m.is_last});
  const auto body = std::make_shared<std::vector<std::byte>>(std::move(m.body));
  exchange(TUTTI_EXCHANGE_SEND, reinterpret_cast<std::byte*>(first.get()), sizeof(header), first,
           sent_);
  exchange(TUTTI_EXCHANGE_SEND, body->data(), body->size(), body, sent_);
  last_sent_ = steady::now();
}

std::optional<rank_link::message> rank_link::poll() {
  done(sent_);
  if (closed_) return {};
  const std::size_t outstanding = received_.size();
  const bool arrived = done(received_);
  if (received_.size() < outstanding) last_received_ = steady::now();
  if (!arrived) return {};
  if (!body_) {
    body_ = std::make_shared<std::vector<std::byte>>(header_->bytes);
    exchange(TUTTI_EXCHANGE_RECEIVE, body_->data(), body_->size(), body_, received_);
    if (!done(received_)) return {};
  }
  message m{header_->kind, header_->number,   header_->begin,
            header_->end,  std::move(*body_), header_->is_last != 0};
  body_.reset();
  closed_ = m.is_last;
  if (!closed_) expect_header();
  return m;
}

double rank_link::silence() const {
  return std::chrono::duration<double>(steady::now() - last_received_).count();
}

void rank_link::keep_alive(std::int32_t kind) {
  if (std::chrono::duration<double>(steady::now() - last_sent_).count() > job_.time_limit() / 4)
    send({.kind = kind});
}

}  // namespace tutti::multi
