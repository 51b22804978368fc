// SPDX-License-Identifier: Apache-2.0
#include "collective_trials.hpp"

#include <cstddef>
#include <optional>
#include <thread>

#include "oracle.hpp"
#include "sdk/host_types.hpp"

namespace tutti::conformance {

void with_devices(session& s, uint32_t most, const std::function<void(collective_rig&)>& body) {
  if (s.api->struct_size < offsetof(tutti_plugin_api, collective) + sizeof(void*) ||
      s.api->collective == nullptr)
    throw skipped("the plugin has no collectives");
  for (const auto& [there, name] :
       {std::pair(offers(s.api->collective, &tutti_collective_api::create), "create"),
        std::pair(offers(s.api->collective, &tutti_collective_api::release), "release"),
        std::pair(offers(s.api->collective, &tutti_collective_api::supports), "supports"),
        std::pair(offers(s.api->collective, &tutti_collective_api::enqueue), "enqueue"),
        std::pair(offers(s.api->collective, &tutti_collective_api::abort), "abort")})
    require(there, "the plugin lacks collective.{}", name);
  std::optional<collective_rig> rig;
  try {
    rig.emplace(s.plugin_path, most);
  } catch (const failure& e) {
    if (std::string_view(e.what()).find("code " + std::to_string(TUTTI_ERROR_UNSUPPORTED)) ==
        std::string_view::npos)
      throw;
    throw skipped(e.what());
  }
  body(*rig);
}

void require_i32(const session& s) {
  if (!s.stores(TUTTI_I32)) throw skipped("the device does not store i32");
}

image ascending(uint8_t dtype, uint64_t count, uint64_t first) {
  image content(dtype, count);
  for (uint64_t i = 0; i < count; ++i) content.set(i, first + i);
  return content;
}

namespace {

uint64_t joined(uint8_t stored, int32_t reduction, uint64_t a, uint64_t b) {
  return sdk::with_real_type(sdk::register_dtype(stored), [&](auto tag) -> uint64_t {
    using T = typename decltype(tag)::type;
    T x, y, result{};
    std::memcpy(&x, &a, sizeof(T));
    std::memcpy(&y, &b, sizeof(T));
    const auto wide = [](T v) { return static_cast<uint64_t>(v); };
    if (reduction == TUTTI_REDUCE_ANY) result = static_cast<T>(x || y);
    if (reduction == TUTTI_REDUCE_ALL) result = static_cast<T>(x && y);
    if (reduction == TUTTI_REDUCE_MIN) result = y < x || y != y ? y : x;
    if (reduction == TUTTI_REDUCE_MAX) result = y > x || y != y ? y : x;
    if constexpr (std::is_floating_point_v<T>) {
      if (reduction == TUTTI_REDUCE_SUM) result = x + y;
      if (reduction == TUTTI_REDUCE_PROD) result = x * y;
    } else {
      if (reduction == TUTTI_REDUCE_SUM) result = static_cast<T>(wide(x) + wide(y));
      if (reduction == TUTTI_REDUCE_PROD) result = static_cast<T>(wide(x) * wide(y));
    }
    uint64_t bits = 0;
    std::memcpy(&bits, &result, sizeof(T));
    return bits;
  });
}

// The same bits, but for NaN and the sign of zero.
bool same_value(uint8_t dtype, uint64_t a, uint64_t b) {
  return a == b || (sdk::is_floating(dtype) && ulp_distance(dtype, a, b) == 0);
}

std::string text_of(const trial& t) {
  static constexpr const char* places[] = {"apart", "in place", "among its share"};
  return std::string(sdk::collective_name(t.what)) + " of " + std::to_string(t.share) + " " +
         sdk::dtype_name(t.dtype) + ", reduction " + std::to_string(t.reduction) + ", output " +
         places[static_cast<size_t>(t.out)];
}

}  // namespace

experiment::experiment(collective_rig& r, const trial& t, generator& random)
    : r_(r), t_(t), n_(r.size()) {
  for (uint32_t n = 0; n < n_; ++n) {
    image content(t.dtype, t.in_count(n_) + t.out_count(n_) + 2 * guard);
    for (uint64_t i = 0; i < content.size(); ++i) content.set(i, value(random));
    arrays_.emplace_back(r.devices[n], content);
    const uint64_t between = t.in_count(n_) + guard;
    in_.push_back(guard);
    out_.push_back(t.out == where::apart ? between : guard);
    if (t.out != where::own_share) continue;
    if (t.what == TUTTI_COLLECTIVE_ALL_GATHER) in_[n] += n * t.share;
    if (t.what == TUTTI_COLLECTIVE_REDUCE_SCATTER) out_[n] += n * t.share;
  }
}

void experiment::run() {
  std::vector<outcome> results(n_);
  const auto one = [&](uint32_t n) {
    tutti_event* event = nullptr;
    const session& s = r_.devices[n];
    const tutti_view in = arrays_[n].view(in_[n], t_.in_count(n_)),
                     out = arrays_[n].view(out_[n], t_.out_count(n_));
    results[n] =
        take(r_.calls().group({{t_.what, sdk::reduces(t_.what) ? t_.reduction : TUTTI_REDUCE_NONE,
                                r_.members[n], s.main_stream.get(), &in, &out, &event}}));
    events_.at(n) = r_.own(event);
  };
  events_.resize(n_);
  std::vector<std::thread> threads;
  for (uint32_t n = 0; n < n_; ++n) {
    if (t_.threads) {
      threads.emplace_back(one, n);
    } else {
      one(n_ - 1 - n);
    }
  }
  for (std::thread& thread : threads) thread.join();
  for (const outcome& result : results) require(!result, "refused: {}", result.message);
  for (const auto& event : events_) {
    const outcome end = r_.wait(event);
    require(!end, "failed: {}", end.message);
  }
  for (uint32_t n = 0; n < n_; ++n) compare(n);
}

uint64_t experiment::value(generator& random) const {
  const uint8_t in_register = sdk::register_dtype(t_.dtype);
  const auto& special = special_values(in_register);
  if (random() % 8 == 0) return special[random() % special.size()];
  return random_value(t_.dtype, -9, 9, random);
}

uint64_t experiment::expected(uint32_t n, uint64_t i) const {
  const auto input = [&](uint64_t from, uint64_t at) {
    return arrays_[from].data.get(in_[from] + at);
  };
  switch (t_.what) {
    case TUTTI_COLLECTIVE_ALL_GATHER:
      return input(i / t_.share, i % t_.share);
    case TUTTI_COLLECTIVE_ALL_TO_ALL:
      return input(i / t_.share, n * t_.share + i % t_.share);
    default: {
      const uint64_t at = t_.what == TUTTI_COLLECTIVE_REDUCE_SCATTER ? n * t_.share + i : i;
      uint64_t total = input(0, at);
      for (uint32_t from = 1; from < n_; ++from)
        total = joined(t_.dtype, t_.reduction, total, input(from, at));
      return total;
    }
  }
}

void experiment::compare(uint32_t n) const {
  image wanted = arrays_[n].data;
  for (uint64_t i = 0; i < t_.out_count(n_); ++i) wanted.set(out_[n] + i, expected(n, i));
  const image found = arrays_[n].read(r_.devices[n]);
  const uint8_t in_register = sdk::register_dtype(t_.dtype);
  for (uint64_t i = 0; i < found.size(); ++i) {
    if (same_value(in_register, found.get(i), wanted.get(i))) continue;
    fail("{}: participant {} has {} at {}, expected {}", text_of(t_), n,
         value_text(in_register, found.get(i)), i, value_text(in_register, wanted.get(i)));
  }
}

}  // namespace tutti::conformance
