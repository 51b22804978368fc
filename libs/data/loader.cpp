// SPDX-License-Identifier: Apache-2.0
//
// The loader: threads prepare batches ahead of the reader. Batches use slots of a ring buffer, so
// that threads allocate no memory to pass them on, and cannot fail there.
#include "tutti/data/loader.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstring>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <utility>

#include "base/fail.hpp"
#include "base/signals.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/plugin.h"

namespace tutti::data {

namespace {

using clock = std::chrono::steady_clock;

double seconds_since(clock::time_point begin) {
  return std::chrono::duration<double>(clock::now() - begin).count();
}

/// Rethrows the exception being handled, with its location. An exception of another library is
/// nested in a value_error.
[[noreturn]] void rethrow_within(const std::string& where) {
  const auto text = [&](const std::exception& e) { return fmt::format("{}: {}", where, e.what()); };
  try {
    throw;
  } catch (const out_of_memory& e) {
    throw out_of_memory(text(e), e.code(), e.vendor_code(), e.retryable(), e.device());
  } catch (const device_error& e) {
    throw device_error(text(e), e.code(), e.vendor_code(), e.retryable(), e.device());
  } catch (const io_error& e) {
    throw io_error(text(e));
  } catch (const shape_error& e) {
    throw shape_error(text(e));
  } catch (const dtype_error& e) {
    throw dtype_error(text(e));
  } catch (const index_error& e) {
    throw index_error(text(e));
  } catch (const plugin_error& e) {
    throw plugin_error(text(e));
  } catch (const value_error& e) {
    throw value_error(text(e));
  } catch (const std::bad_alloc&) {
    throw out_of_memory(where + ": the host has no memory for it", TUTTI_ERROR_OUT_OF_MEMORY);
  } catch (const std::exception& e) {
    std::throw_with_nested(value_error(text(e)));
  } catch (...) {
    std::throw_with_nested(value_error(where + ": an exception without a message"));
  }
}

std::string item_text(const dataset& of, std::int64_t index) {
  std::string name;
  try {
    if (of.name) name = of.name(index);
  } catch (const std::exception&) {  // its index identifies it
  }
  return name.empty() ? fmt::format("item {}", index) : fmt::format("item {} ({})", index, name);
}

/// Arrays of `count` items each, filled one by one.
class collector {
 public:
  collector(const dataset& of, std::int64_t count) : of_(of), count_(count) {}

  void add(const item& one, std::int64_t index) {
    if (added_ == 0) begin(one, index);
    if (one.size() != arrays_.size())
      base::fail<shape_error>("loader: {} has {} arrays, {} has {}", item_text(of_, index),
                              one.size(), item_text(of_, first_), arrays_.size());
    for (std::size_t a = 0; a < one.size(); ++a) {
      require_same(one[a], index, a);
      const std::span<const std::byte> from = one[a].bytes();
      if (!from.empty())
        std::memcpy(arrays_[a].bytes().data() + from.size() * added_, from.data(), from.size());
    }
    ++added_;
  }
  item finish() { return std::move(arrays_); }

 private:
  void begin(const item& one, std::int64_t index) {
    first_ = index;
    for (const host_array& a : one) {
      shape extents = a.shape();
      if (extents.rank() == max_rank)
        base::fail<shape_error>(
            "loader: array {} of {} is {}: a batch has an axis more, and "
            "at most {} are possible",
            arrays_.size(), item_text(of_, index), extents, max_rank);
      extents.insert(0, count_);
      arrays_.emplace_back(a.dtype(), extents);
      shapes_.push_back(a.shape());
    }
  }

  void require_same(const host_array& a, std::int64_t index, std::size_t number) const {
    if (a.shape() != shapes_[number])
      base::fail<shape_error>("loader: array {} of {} is {}, that of {} is {}", number,
                              item_text(of_, index), a.shape(), item_text(of_, first_),
                              shapes_[number]);
    if (a.dtype() != arrays_[number].dtype())
      base::fail<dtype_error>("loader: array {} of {} holds {}, that of {} {}", number,
                              item_text(of_, index), a.dtype(), item_text(of_, first_),
                              arrays_[number].dtype());
  }

  const dataset& of_;
  const std::int64_t count_;
  item arrays_;
  std::vector<shape> shapes_;
  std::int64_t first_ = 0;
  std::size_t added_ = 0;
};

std::int64_t batches_of(std::int64_t items, const loader_options& o) {
  const std::int64_t whole = items / o.batch_size;
  return o.drop_last || items % o.batch_size == 0 ? whole : whole + 1;
}

}  // namespace

struct epoch::state {
  state(const dataset& of, const loader_options& options, std::int64_t number, std::int64_t first)
      : of_(of),
        options_(options),
        on_(options.on ? *options.on : default_device()),
        total_(batches_of(of.size, options)),
        to_make_(first),
        to_read_(first),
        slots_(static_cast<std::size_t>(options.prefetch)) {
    const random::key own = random::fold_in(options.key, number);
    if (options.shuffle) order_ = random::permutation(random::fold_in(own, 0), of.size);
    items_key_ = random::fold_in(own, 1);
  }

  ~state() {
    {
      const std::lock_guard lock(mutex_);
      stop_ = true;
    }
    room_.notify_all();
    for (std::thread& t : threads_) t.join();
  }
  state(const state&) = delete;
  state& operator=(const state&) = delete;

  /// False in a fork, which has none of the threads, and possibly a lock that one of them held.
  bool is_ours() const { return process_ == ::getpid(); }

  void start_threads() {
    try {
      threads_.reserve(static_cast<std::size_t>(options_.workers));
      for (int i = 0; i < options_.workers; ++i)
        threads_.push_back(base::start_thread([this] { work(); }));
    } catch (const std::system_error& e) {
      throw out_of_memory(std::string("loader: no thread for its work: ") + e.what(),
                          TUTTI_ERROR_OUT_OF_MEMORY, 0, true);
    }
  }

  std::optional<batch> next() {
    if (to_read_ == total_) return std::nullopt;
    if (options_.workers > 0 && !is_ours())
      throw value_error(
          "loader: this process is a fork of the one that started the epoch, whose threads prepare "
          "its batches: start it after the fork");
    const clock::time_point begin = clock::now();
    made result = options_.workers == 0 ? make_here() : take();
    const double took = seconds_since(begin);
    waiting_seconds_ += took;
    if (options_.workers == 0) working_seconds_ += took;
    seconds_ = seconds_since(start_);
    if (result.error) std::rethrow_exception(result.error);
    ++batches_;
    items_ += static_cast<std::int64_t>(result.value.indices.size());
    return std::move(result.value);
  }

  loader_report report() const {
    loader_report out;
    out.batches = batches_;
    out.items = items_;
    out.seconds = seconds_;
    out.waiting_seconds = waiting_seconds_;
    {
      const std::lock_guard lock(mutex_);
      out.working_seconds = working_seconds_;
    }
    out.idle_share = seconds_ > 0 ? waiting_seconds_ / seconds_ : 0;
    return out;
  }

 private:
  struct made {
    batch value;
    std::exception_ptr error;
    bool is_there = false;
  };

  made& slot(std::int64_t number) {
    return slots_[static_cast<std::size_t>(number % options_.prefetch)];
  }

  made make_here() {
    made result = make(to_read_);
    ++to_read_;
    return result;
  }

  made take() {
    std::unique_lock lock(mutex_);
    made& place = slot(to_read_);
    ready_.wait(lock, [&] { return place.is_there; });
    made result = std::exchange(place, made{});
    ++to_read_;
    lock.unlock();
    room_.notify_all();
    return result;
  }

  void work() noexcept {
    std::unique_lock lock(mutex_);
    for (;;) {
      room_.wait(lock, [&] {
        return stop_ || to_make_ == total_ || to_make_ - to_read_ < options_.prefetch;
      });
      if (stop_ || to_make_ == total_) return;
      const std::int64_t number = to_make_++;
      lock.unlock();
      const clock::time_point begin = clock::now();
      made result = make(number);
      const double took = seconds_since(begin);
      lock.lock();
      working_seconds_ += took;
      slot(number) = std::move(result);
      ready_.notify_all();
    }
  }

  made make(std::int64_t number) noexcept {
    made result;
    result.is_there = true;
    try {
      result.value.number = number;
      result.value.indices = indices_of(number);
      if (result.value.indices.empty()) return result;  // more ranks than rows
      const item collected = collect(result.value.indices, number);
      if (stop_) return result;  // this batch is not read
      upload(collected, result.value);
    } catch (...) {
      result.value = {};
      result.error = std::current_exception();
    }
    return result;
  }

  void upload(const item& collected, batch& to) const {
    try {
      for (const host_array& a : collected) to.arrays.push_back(a.to(on_));
    } catch (...) {
      rethrow_within(fmt::format("loader: batch {}", to.number));
    }
  }

  std::vector<std::int64_t> indices_of(std::int64_t number) const {
    std::int64_t begin = number * options_.batch_size;
    std::int64_t end = begin + std::min(of_.size - begin, options_.batch_size);
    if (options_.job) {
      const std::int64_t ranks = options_.job->size(), rank = options_.job->rank();
      const std::int64_t least = (end - begin) / ranks, longer = (end - begin) % ranks;
      begin += rank * least + std::min(rank, longer);
      end = begin + least + (rank < longer ? 1 : 0);
    }
    auto out = detail::host_vector<std::int64_t>("loader", static_cast<std::uint64_t>(end - begin));
    for (std::int64_t i = begin; i < end; ++i)
      out[static_cast<std::size_t>(i - begin)] =
          options_.shuffle ? order_[static_cast<std::size_t>(i)] : i;
    return out;
  }

  item collect(std::span<const std::int64_t> indices, std::int64_t number) const {
    if (of_.get_batch) {
      try {
        return checked(of_.get_batch(indices), indices);
      } catch (...) {
        rethrow_within(fmt::format("loader: batch {}", number));
      }
    }
    collector all(of_, static_cast<std::int64_t>(indices.size()));
    for (const std::int64_t index : indices) {
      if (stop_) break;
      item one;
      try {
        one = of_.get(index, random::fold_in(items_key_, index));
      } catch (...) {
        rethrow_within("loader: " + item_text(of_, index));
      }
      all.add(one, index);
    }
    return all.finish();
  }

  static item checked(item all, std::span<const std::int64_t> indices) {
    for (const host_array& a : all)
      if (a.shape().rank() == 0 || a.shape()[0] != static_cast<std::int64_t>(indices.size()))
        base::fail<shape_error>("get_batch() gave {} for {} items", a.shape(), indices.size());
    return all;
  }

  const dataset of_;
  const loader_options options_;
  const device on_;
  const std::int64_t total_;
  std::vector<std::int64_t> order_;
  random::key items_key_;

  mutable std::mutex mutex_;
  std::condition_variable room_, ready_;
  std::int64_t to_make_, to_read_;  // batches that no thread has begun, and batches not yet read
  std::vector<made> slots_;
  std::atomic<bool> stop_ = false;
  double working_seconds_ = 0;

  // Used by the reading thread.
  const pid_t process_ = ::getpid();
  const clock::time_point start_ = clock::now();
  std::int64_t batches_ = 0, items_ = 0;
  double seconds_ = 0, waiting_seconds_ = 0;

  std::vector<std::thread> threads_;
};

epoch::epoch(std::unique_ptr<state> s) : state_(std::move(s)) {}
epoch::epoch(epoch&&) noexcept = default;
epoch& epoch::operator=(epoch&& other) noexcept {
  std::swap(state_, other.state_);
  return *this;
}
epoch::~epoch() {
  if (state_ && !state_->is_ours()) (void)state_.release();  // its threads cannot be waited for
}

std::optional<batch> epoch::next() {
  if (!state_) throw value_error("loader: the epoch was moved from");
  return state_->next();
}

loader_report epoch::report() const {
  if (!state_) throw value_error("loader: the epoch was moved from");
  return state_->report();
}

loader::loader(dataset of, loader_options options)
    : of_(std::move(of)), options_(std::move(options)) {
  const auto require = [](bool is_fine, std::string_view what, std::int64_t value) {
    if (!is_fine) base::fail<value_error>("loader: {} {}", what, value);
  };
  if (!of_.get && !of_.get_batch) throw value_error("loader: a data set without get()");
  require(of_.size >= 0, "a data set of size", of_.size);
  require(options_.batch_size >= 1, "a batch size of", options_.batch_size);
  constexpr int most_threads = 1024, most_prefetch = 1 << 20;
  require(options_.workers >= 0 && options_.workers <= most_threads, "workers:", options_.workers);
  require(options_.prefetch >= 1 && options_.prefetch <= most_prefetch,
          "prefetch:", options_.prefetch);
}

std::int64_t loader::batches() const { return batches_of(of_.size, options_); }

epoch loader::start(std::int64_t number, std::int64_t first) const {
  if (number < 0) base::fail<value_error>("loader: epoch {}", number);
  if (first < 0 || first > batches())
    base::fail<value_error>("loader: to begin with batch {} of {}", first, batches());
  auto state = std::make_unique<epoch::state>(of_, options_, number, first);
  state->start_threads();
  return epoch(std::move(state));
}

}  // namespace tutti::data
