// SPDX-License-Identifier: Apache-2.0
//
// Arguments that make no sense, and the public functions to be called with them.
#pragma once

#include <functional>
#include <random>
#include <utility>
#include <vector>

#include "tutti/all.hpp"

namespace hostile {

/// Picks arguments, the same ones for the same round and seed.
class picker {
 public:
  explicit picker(std::uint64_t round);

  bool flag() { return below(2) == 1; }
  int below(int n) { return static_cast<int>(engine_() % static_cast<std::uint64_t>(n)); }
  std::int64_t size();
  std::int64_t axis();
  std::optional<std::int64_t> maybe_axis();
  double number();
  tutti::dtype type();
  tutti::shape extents();
  tutti::slice bounds();
  std::vector<tutti::slice> slices();
  std::vector<std::int64_t> sizes();
  std::vector<double> numbers();
  tutti::reduce_options axes();
  tutti::scan_options scan();

  /// Of any kind, size and dtype.
  tutti::array any();
  /// One whose elements may be looked at.
  tutti::array small();
  tutti::array indices();
  std::vector<tutti::array> several();

  /// Whether any() was too large to be computed with.
  bool picked_huge() const { return huge_; }

 private:
  tutti::array small_values();

  std::mt19937_64 engine_;
  bool huge_ = false;
};

/// The arrays that a call gave.
struct results {
  std::vector<tutti::array> all;
  results(tutti::array a) : all{std::move(a)} {}
  results(std::vector<tutti::array> a) : all(std::move(a)) {}
  results(tutti::sorted_values r) : all{r.values, r.indices} {}
  results(tutti::unique_all_result r) : all{r.values, r.indices, r.inverse_indices, r.counts} {}
  results(tutti::max_pool_result r) : all{r.values, r.indices} {}
  results(tutti::unique_result r) : all{r.values, r.inverse, r.counts} {}
  results(const tutti::sparse::matrix& m) : all{m.values(), m.row_indices(), m.column_indices()} {}
  results(tutti::histogram_result r) : all{r.counts, r.edges} {}
  template <class T>
  results(const std::vector<T>&) {}
};

struct entry {
  const char* name;
  std::function<results(picker&)> call;
};

std::vector<entry> entries();
// Parts of them that stand in a file of their own.
std::vector<entry> signals();
std::vector<entry> analysis();
std::vector<entry> images();
std::vector<entry> sparse_matrices();
std::vector<entry> networks();

}  // namespace hostile

/// An entry: what is called with a `picker & p`, named by its text.
#define ROW(...)                                                    \
  {                                                                 \
#__VA_ARGS__, [](picker & p) -> results { return __VA_ARGS__; } \
  }
