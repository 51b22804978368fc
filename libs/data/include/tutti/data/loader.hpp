// SPDX-License-Identifier: Apache-2.0
//
// Data to learn from: files of examples, and the loader, which brings them to a device in shuffled
// batches that threads prepare meanwhile.
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
/// of rank 1 to 8. Throws io_error for other formats, for a file that is shorter or longer than its
/// extents say, and what cannot be decompressed.
TUTTI_API host_array read_idx(const std::filesystem::path& path);

/// What one example consists of: a picture and its label, say.
using item = std::vector<host_array>;

/// Examples by number. The functions are called from several threads at a time.
struct dataset {
  std::int64_t size = 0;
  /// Item `index` in [0, size). The key is for random numbers: another one for each item in each
  /// epoch, the same ones in each run.
  std::function<item(std::int64_t index, random::key from)> get;
  /// Absent, or the items at these indices at once, each array of the item with an axis before the
  /// others: where that is cheaper than one by one. The loader then does not call `get`.
  std::function<item(std::span<const std::int64_t> indices)> get_batch{};
  /// Absent, or what messages call an item, such as its file.
  std::function<std::string(std::int64_t index)> name{};
};

/// The rows of host arrays with the same first extent, which is the size: images [n,28,28] and
/// labels [n] make items of [28,28] and []. Throws shape_error where the first extents differ,
/// value_error for no arrays.
TUTTI_API dataset rows_of(std::vector<host_array> arrays);
TUTTI_API dataset rows_of(std::span<const array> arrays);
/// The items at these indices. Throws index_error for one that is not there.
TUTTI_API dataset subset(dataset of, std::vector<std::int64_t> indices);
/// With f applied to each item, in the loader's threads.
TUTTI_API dataset map(dataset of, std::function<item(item, random::key from)> f);

struct loader_options {
  std::int64_t batch_size = 32;
  /// In a random order, another one in each epoch; else in the order of their numbers.
  bool shuffle = true;
  /// All random numbers come from it: epoch e has the key k = fold_in(key, e), the order
  /// permutation(fold_in(k, 0), size), and item i the key fold_in(fold_in(k, 1), i), all of
  /// tutti::random.
  random::key key{};
  /// Threads that prepare batches, 0: the caller's own.
  int workers = 2;
  /// Batches that may be ready or in preparation ahead of the caller. The memory that it takes is
  /// that many batches.
  int prefetch = 4;
  /// Leaves out a last batch that would be smaller than the others.
  bool drop_last = false;
  /// Where the arrays are to be; absent: default_device().
  std::optional<device> on{};
  /// Ranks that share each batch: everyone gets an equal part of its rows, the first ones one more,
  /// and no arrays where there are fewer rows than ranks. Together they see what one alone would.
  std::optional<tutti::job> job{};
};

struct batch {
  std::vector<array> arrays;          ///< those of the items, with an axis before the others
  std::vector<std::int64_t> indices;  ///< of the items
  std::int64_t number = 0;            ///< in its epoch, from 0
};

/// What loading has cost in an epoch so far.
struct loader_report {
  std::int64_t batches = 0;
  std::int64_t items = 0;
  double seconds = 0;          ///< from the start of the epoch to the last call of next()
  double waiting_seconds = 0;  ///< of it, in which the caller waited within next()
  double working_seconds = 0;  ///< in which workers prepared batches, all of them together
  /// waiting_seconds / seconds: the device idles for no larger share because of loading, since it
  /// may have had earlier work while the caller waited.
  double idle_share = 0;
};

/// The batches of one epoch, in order, being prepared while they are read. One thread reads them.
/// What goes away before the end lets its threads finish the item that they are at, and waits for
/// that.
class TUTTI_API epoch {
 public:
  epoch(epoch&&) noexcept;
  epoch& operator=(epoch&&) noexcept;
  ~epoch();

  /// Nothing behind the last one. What preparing it threw is thrown here, as the same exception of
  /// error.hpp (others: as a value_error) whose message begins with "loader: item 3 (NAME)"; so is
  /// shape_error or dtype_error where the items of a batch differ, naming both. The epoch can be
  /// read on then: the batch is left out. Throws value_error in a fork of the process that started
  /// it, where none of the threads are.
  std::optional<batch> next();
  loader_report report() const;

  /// For loops: for (batch& b : loader.start(e)). Nothing else reads the epoch meanwhile.
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

/// Batches of a data set, epoch by epoch. What a batch holds depends on the data set, the key and
/// the batch size, not on the number of threads, their timing or the device.
class TUTTI_API loader {
 public:
  /// Throws value_error for options out of range and a data set without its functions.
  explicit loader(dataset of, loader_options options = {});

  std::int64_t items() const { return of_.size; }
  std::int64_t batches() const;  ///< in an epoch

  /// Starts the threads. `first` is the batch to begin with, to go on where a run was interrupted.
  /// Throws value_error for a negative number of the epoch and a first batch beyond the last one.
  epoch start(std::int64_t number, std::int64_t first = 0) const;

 private:
  dataset of_;
  loader_options options_;
};

}  // namespace tutti::data
