// SPDX-License-Identifier: Apache-2.0
//
// Training data: files of examples, and the loader, which prepares shuffled batches in threads and
// uploads them to a device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iterator>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/data/splits.hpp"
#include "tutti/data/table.hpp"
#include "tutti/host_array.hpp"
#include "tutti/job.hpp"
#include "tutti/random.hpp"

namespace tutti::data {

/// An array in the IDX format (of MNIST), plain or gzip: u8, i8, i16, i32, f32 or f64, any extents
/// of rank 1 to 8. Throws io_error for other formats, for a file whose length does not match its
/// extents, and for files that cannot be decompressed.
TUTTI_API host_array read_idx(const std::filesystem::path& path);

/// The arrays of one example, for instance an image and its label.
using item = std::vector<host_array>;

/// Examples by index. The functions are called concurrently from several threads.
struct dataset {
  std::int64_t size = 0;
  /// Item `index` in [0, size). The key is for random numbers: different for each item in each
  /// epoch, and the same in each run.
  std::function<item(std::int64_t index, random::key from)> get;
  /// Optional: returns several items at once, each array with an additional first axis, if that is
  /// cheaper than one by one. The loader then does not call `get`.
  std::function<item(std::span<const std::int64_t> indices)> get_batch{};
  /// Optional: the name of an item in messages, such as its file.
  std::function<std::string(std::int64_t index)> name{};
};

/// The rows of host arrays with the same first extent, which is the size: images [n,28,28] and
/// labels [n] make items of [28,28] and []. Throws shape_error if the first extents differ,
/// value_error for no arrays.
TUTTI_API dataset rows_of(std::vector<host_array> arrays);
TUTTI_API dataset rows_of(std::span<const array> arrays);
/// The items at these indices. Throws index_error for an invalid index.
TUTTI_API dataset subset(dataset of, std::vector<std::int64_t> indices);
/// Applies f to each item, in the loader's threads.
TUTTI_API dataset map(dataset of, std::function<item(item, random::key from)> f);

struct loader_options {
  std::int64_t batch_size = 32;
  /// In a random order, different in each epoch; otherwise in the order of their indices.
  bool shuffle = true;
  /// Source of all random numbers: epoch e has the key k = fold_in(key, e), the order
  /// permutation(fold_in(k, 0), size), and item i the key fold_in(fold_in(k, 1), i), all of
  /// tutti::random.
  random::key key{};
  /// Number of threads that prepare batches; 0: the caller's thread.
  int workers = 2;
  /// Number of batches that may be ready or in preparation, which also determines the memory
  /// usage.
  int prefetch = 4;
  /// Omits a last batch that is smaller than the others.
  bool drop_last = false;
  /// The device of the arrays; absent: default_device().
  std::optional<device> on{};
  /// Ranks that share each batch: each gets an equal part of its rows, the first ones one more, and
  /// no arrays if there are fewer rows than ranks. Together they process the batches of a single
  /// process.
  std::optional<tutti::job> job{};
};

struct batch {
  std::vector<array> arrays;          ///< those of the items, with an additional first axis
  std::vector<std::int64_t> indices;  ///< of the items
  std::int64_t number = 0;            ///< in its epoch, from 0
};

/// Time spent on loading in an epoch so far.
struct loader_report {
  std::int64_t batches = 0;
  std::int64_t items = 0;
  double seconds = 0;          ///< from the start of the epoch to the last call of next()
  double waiting_seconds = 0;  ///< part of it in which the caller waited within next()
  double working_seconds = 0;  ///< time in which workers prepared batches, summed over all
  /// waiting_seconds / seconds: an upper bound of the fraction in which loading made the device
  /// idle, since it may have had earlier work while the caller waited.
  double idle_share = 0;
};

/// The batches of one epoch, in order, prepared while they are read. Only one thread may read them.
/// If it is destroyed before the end, it waits until its threads have finished their current item.
class TUTTI_API epoch {
 public:
  epoch(epoch&&) noexcept;
  epoch& operator=(epoch&&) noexcept;
  ~epoch();

  /// Nothing after the last batch. An exception during the preparation of a batch is thrown here,
  /// with the same type of error.hpp (others: as a value_error) and a message that begins with
  /// "loader: item 3 (NAME)"; so is shape_error or dtype_error if the items of a batch differ, with
  /// both. After that the epoch can be read on: the batch is skipped. Throws value_error in a fork
  /// of the process that started it, which has none of its threads.
  std::optional<batch> next();
  loader_report report() const;

  /// For loops: for (batch& b : loader.start(e)). Nothing else may read the epoch meanwhile.
  class iterator {
   public:
    using iterator_concept = std::input_iterator_tag;
    using value_type = batch;
    using difference_type = std::ptrdiff_t;
    iterator() = default;
    explicit iterator(epoch* of) : of_(of) { ++*this; }
    batch& operator*() const { return *current_; }
    batch* operator->() const { return &*current_; }
    iterator& operator++() {
      current_ = of_->next();
      return *this;
    }
    void operator++(int) { ++*this; }
    friend bool operator==(const iterator& a, std::default_sentinel_t) {
      return !a.current_.has_value();
    }

   private:
    epoch* of_ = nullptr;
    mutable std::optional<batch> current_;
  };
  iterator begin() { return iterator(this); }
  std::default_sentinel_t end() const { return {}; }

 private:
  friend class loader;
  struct state;
  explicit epoch(std::unique_ptr<state> s);
  std::unique_ptr<state> state_;
};

/// Batches of a data set, epoch by epoch. The contents of a batch depend on the data set, the key
/// and the batch size, but not on the number of threads, their timing or the device.
class TUTTI_API loader {
 public:
  /// Throws value_error for options out of range and a data set without functions.
  explicit loader(dataset of, loader_options options = {});

  std::int64_t items() const { return of_.size; }
  std::int64_t batches() const;  ///< in an epoch

  /// Starts the threads. `first` is the first batch, to resume an interrupted run. Throws
  /// value_error for a negative epoch and a first batch after the last one.
  epoch start(std::int64_t number, std::int64_t first = 0) const;

 private:
  dataset of_;
  loader_options options_;
};

}  // namespace tutti::data
