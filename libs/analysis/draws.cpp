// SPDX-License-Identifier: Apache-2.0
//
// Draws from tables of probabilities (A. J. Walker's alias method, TOMS 1977): one integer, one
// word and two gathers per number, for any table.

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "base/fail.hpp"
#include "tutti/analysis/distributions.hpp"
#include "tutti/extension.hpp"
#include "tutti/host_memory.hpp"

namespace tutti::random {
namespace {

// Of the 2^32 values of a word in each column, `own` select it and the others select `other`.
struct alias_table {
  std::vector<std::int64_t> own, other;
};

// M. D. Vose, "A linear algorithm for generating random numbers with a given distribution", 1991.
alias_table make_alias_table(std::span<const double> weights, double sum) {
  const std::size_t n = weights.size();
  alias_table table;
  std::vector<double> level(n);
  std::vector<std::size_t> low, high;
  for (std::size_t i = 0; i < n; ++i) {
    level[i] = weights[i] / sum * static_cast<double>(n);
    (level[i] < 1 ? low : high).push_back(i);
    table.other.push_back(static_cast<std::int64_t>(i));
  }
  table.own.assign(n, std::int64_t{1} << 32);
  while (!low.empty() && !high.empty()) {
    const std::size_t small = low.back();
    const std::size_t large = high.back();
    low.pop_back();
    table.own[small] = std::llround(std::ldexp(level[small], 32));
    table.other[small] = static_cast<std::int64_t>(large);
    level[large] -= 1 - level[small];
    if (level[large] < 1) {
      high.pop_back();
      low.push_back(large);
    }
  }
  return table;
}

array draw(key from, const alias_table& table, const shape& extents, const device& on) {
  const auto n = static_cast<std::int64_t>(table.own.size());
  if (extents.size() == 0) return zeros(extents, dtype::i64, on);
  const std::vector<key> keys = split(from, 2);
  const array column = integers(keys[0], extents, 0, n, dtype::i64, on);
  const array word = astype(bits(keys[1], extents, on), dtype::i64);
  return where(word < take(array::from(table.own, on), column), column,
               take(array::from(table.other, on), column));
}

// The positions of the smallest log(-log(u)) - log(weight), in that order; u has 53 bits from two
// words.
std::vector<std::int64_t> draw_without_replacement(key from, std::span<const double> weights,
                                                   std::int64_t wanted, const device& on) {
  const auto n = static_cast<std::int64_t>(weights.size());
  const std::vector<std::uint32_t> words = bits(from, {2 * n}, on).to_vector<std::uint32_t>();
  std::vector<std::pair<double, std::int64_t>> order;
  for (std::size_t i = 0; i < weights.size(); ++i) {
    if (weights[i] == 0) continue;
    const std::uint64_t wide = std::uint64_t{words[2 * i]} << 21 | words[2 * i + 1] >> 11;
    const double u = (static_cast<double>(wide) + 1) * 0x1p-53;
    order.emplace_back(std::log(-std::log(u)) - std::log(weights[i]), i);
  }
  if (wanted > static_cast<std::int64_t>(order.size()))
    base::fail<value_error>("choice: {} of {} things with a positive weight, without replacement",
                            wanted, order.size());
  std::partial_sort(order.begin(), order.begin() + wanted, order.end());
  std::vector<std::int64_t> out;
  for (std::int64_t i = 0; i < wanted; ++i)
    out.push_back(order[static_cast<std::size_t>(i)].second);
  return out;
}

// Entries of a list 0, 1, 2, ... that were accessed; others are not stored. Open addressing,
// because std::unordered_map allocates for each entry.
class place_table {
 public:
  // For `swaps` swaps, each of which accesses two positions.
  explicit place_table(std::size_t swaps)
      : slots_(std::bit_ceil(4 * swaps + 1), slot{-1, 0}), mask_(slots_.size() - 1) {}
  std::int64_t& number_at(std::int64_t place) {
    // Fibonacci hashing (D. Knuth, "The Art of Computer Programming", vol. 3, 6.4).
    std::size_t at = (static_cast<std::uint64_t>(place) * 0x9E3779B97F4A7C15u >> 32) & mask_;
    while (slots_[at].place != place && slots_[at].place >= 0) at = (at + 1) & mask_;
    if (slots_[at].place < 0) slots_[at] = {place, place};
    return slots_[at].number;
  }

 private:
  struct slot {
    std::int64_t place, number;
  };
  std::vector<slot> slots_;
  std::size_t mask_;
};

// If at most n / few of n items are chosen, no list of all of them is made.
constexpr std::int64_t few = 16;

// The last `wanted` numbers of permutation(), the last one first: they are determined by its first
// swaps.
std::vector<std::int64_t> end_of_permutation(key from, std::int64_t n, std::int64_t wanted) {
  if (wanted > n / few) {
    const std::vector<std::int64_t> order = permutation(from, n);
    return {order.rbegin(), order.rbegin() + wanted};
  }
  std::vector<std::int64_t> out;
  out.reserve(static_cast<std::size_t>(wanted));
  place_table places(static_cast<std::size_t>(wanted));
  for (std::int64_t i = n - 1; i >= n - wanted; --i) {
    const std::int64_t last = places.number_at(i), j = swap_partner(from, i);
    std::int64_t& chosen = places.number_at(j);
    out.push_back(chosen);
    chosen = last;
  }
  return out;
}

}  // namespace

array poisson(key from, const shape& shape, double mean, dtype type, const device& on) {
  if (!is_integral(type)) base::fail<dtype_error>("poisson: needs an integer dtype, got {}", type);
  if (!(mean >= 0 && mean <= 1e9))
    base::fail<value_error>("poisson: the mean {} is not in [0, 1e9]", mean);
  graph::checked_elements(shape, dtype::i64, "poisson");
  // Outwards from the most likely value, whose weight is 1.
  constexpr double smallest = 1e-18;
  const auto mode = static_cast<std::int64_t>(mean);
  std::vector<double> weights;
  std::int64_t first = mode;
  for (double w = 1; first > 0 && w > smallest; --first) {
    w *= static_cast<double>(first) / mean;
    weights.push_back(w);
  }
  std::reverse(weights.begin(), weights.end());
  std::int64_t last = mode;
  for (double w = 1; w > smallest;) {
    weights.push_back(w);
    w *= mean / static_cast<double>(++last);
  }
  --last;
  if (!op::holds(type, last))
    base::fail<value_error>("poisson: numbers up to {} do not fit {}", last, type);
  double sum = 0;
  for (double w : weights) sum += w;
  return astype(draw(from, make_alias_table(weights, sum), shape, on) + first, type);
}

array choice(key from, std::int64_t n, const shape& shape, replacement replace, const device& on) {
  if (n < 1) base::fail<value_error>("choice: there are {} things to choose from", n);
  graph::checked_elements(shape, dtype::i64, "choice");
  if (replace == replacement::yes) return integers(from, shape, 0, n, dtype::i64, on);
  const std::int64_t wanted = shape.size();
  if (wanted > n) base::fail<value_error>("choice: {} of {} things without replacement", wanted, n);
  const std::int64_t words = wanted > n / few ? n : 17 * wanted;
  detail::require_host_memory("choice", static_cast<std::uint64_t>(words), sizeof(std::int64_t));
  return array::from(end_of_permutation(from, n, wanted), shape, on);
}

array choice(key from, std::span<const double> weights, const shape& shape, replacement replace,
             const device& on) {
  graph::checked_elements(shape, dtype::i64, "choice");
  double sum = 0;
  for (double w : weights) {
    if (!(w >= 0) || !std::isfinite(w))
      base::fail<value_error>("choice: the weight {} is not usable", w);
    sum += w;
  }
  if (!(sum > 0) || !std::isfinite(sum))
    base::fail<value_error>("choice: the weights sum to {}", sum);
  if (replace == replacement::no)
    return array::from(draw_without_replacement(from, weights, shape.size(), on), shape, on);
  return draw(from, make_alias_table(weights, sum), shape, on);
}

}  // namespace tutti::random
