// SPDX-License-Identifier: Apache-2.0
//
// Trees grown on the host with a histogram per node: one pass over the rows of the smaller child,
// and subtraction from the parent's histogram for the larger one (G. Ke et al., "LightGBM: a highly
// efficient gradient boosting decision tree", NIPS 2017, algorithm 1 and section 2.1).
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <utility>

#include "ml/samples.hpp"
#include "ml/trees.hpp"

namespace tutti::ml {

namespace {

// Sums over rows.
struct totals {
  double g = 0, h = 0, rows = 0;
};
using histogram = std::vector<totals>;  // [features, bins]
using row_list = std::span<std::uint32_t>;

totals operator-(const totals& a, const totals& b) {
  return {a.g - b.g, a.h - b.h, a.rows - b.rows};
}

struct split {
  std::size_t feature = 0, bin = 0;  // the last bin of the left child
  bool found = false;
};

class grower {
 public:
  grower(const binned_samples& x, std::vector<double> g, std::vector<double> h, dtype type,
         const tree_options& o)
      : x_(x),
        g_(std::move(g)),
        h_(std::move(h)),
        o_(o),
        noise_(rounding_of_gains(type)),
        rows_(static_cast<std::size_t>(x.rows)),
        bins_(static_cast<std::size_t>(x.bins)),
        features_(static_cast<std::size_t>(x.features)),
        inner_((std::size_t{1} << o.depth) - 1),
        chosen(inner_, 0),
        thresholds(inner_, std::numeric_limits<double>::infinity()),
        values(inner_ + 1, 0.0),
        fitted(rows_) {
    std::vector<std::uint32_t> all(rows_);
    std::iota(all.begin(), all.end(), 0u);
    histogram whole = sums_of(all);
    grow(0, all, whole);
  }

 private:
  const binned_samples& x_;
  const std::vector<double> g_, h_;  // h empty: ones
  const tree_options& o_;
  const double noise_;
  const std::size_t rows_, bins_, features_, inner_;
  std::vector<double> ordered_g_, ordered_h_;
  std::vector<std::uint32_t> to_the_right_;

 public:
  std::vector<std::int64_t> chosen;
  std::vector<double> thresholds, values, fitted;

 private:
  const std::uint8_t* column(std::size_t feature) const { return &x_.columns[feature * rows_]; }

  histogram sums_of(row_list rows) {
    ordered_g_.clear();
    ordered_h_.clear();
    for (const std::uint32_t r : rows) {
      ordered_g_.push_back(g_[r]);
      if (!h_.empty()) ordered_h_.push_back(h_[r]);
    }
    histogram out(features_ * bins_);
    for (std::size_t f = 0; f < features_; ++f) {
      totals* const own = &out[f * bins_];
      const std::uint8_t* const bins = column(f);
      if (h_.empty()) {
        for (std::size_t i = 0; i < rows.size(); ++i) {
          totals& at = own[bins[rows[i]]];
          at.g += ordered_g_[i];
          at.rows += 1;
        }
        for (std::size_t b = 0; b < bins_; ++b) own[b].h = own[b].rows;
      } else {
        for (std::size_t i = 0; i < rows.size(); ++i) {
          totals& at = own[bins[rows[i]]];
          at.g += ordered_g_[i];
          at.h += ordered_h_[i];
          at.rows += 1;
        }
      }
    }
    return out;
  }

  double gain(const totals& t) const {
    const double weight = t.h + o_.l2;
    return t.g * t.g / (weight > 0 ? weight : 1);
  }
  bool is_leaf(const totals& t) const { return t.rows >= o_.min_samples && t.h >= least_curvature; }

  // The first split with the largest gain.
  split best_split(const histogram& sums) const {
    split best;
    double most = 0;
    for (std::size_t f = 0; f < features_; ++f) {
      const std::span<const totals> own(&sums[f * bins_], bins_);
      totals whole, left;
      for (const totals& t : own) whole = {whole.g + t.g, whole.h + t.h, whole.rows + t.rows};
      const double parent = gain(whole);
      for (std::size_t b = 0; b + 1 < bins_; ++b) {
        left = {left.g + own[b].g, left.h + own[b].h, left.rows + own[b].rows};
        const totals right = whole - left;
        if (!is_leaf(left)) continue;
        if (!is_leaf(right)) break;
        const double gained = gain(left) + gain(right) - parent;
        if (!(gained > parent * noise_) || !(gained > most)) continue;
        most = gained;
        best = {f, b, true};
      }
    }
    return best;
  }

  // Partitions the rows, left ones first, keeping their order; returns the number of left ones.
  std::size_t divide(row_list rows, const split& at) {
    const std::uint8_t* const bins = column(at.feature);
    to_the_right_.clear();
    std::size_t left = 0;
    for (const std::uint32_t r : rows) {
      if (bins[r] <= at.bin)
        rows[left++] = r;
      else
        to_the_right_.push_back(r);
    }
    std::copy(to_the_right_.begin(), to_the_right_.end(), rows.begin() + std::ptrdiff_t(left));
    return left;
  }

  void end_at(std::size_t node, row_list rows) {
    while (node < inner_) node = 2 * node + 1;
    totals sum;
    for (const std::uint32_t r : rows) {
      sum.g += g_[r];
      sum.h += h_.empty() ? 1 : h_[r];
    }
    const double weight = sum.h + o_.l2;
    const double value = weight > 0 ? -o_.rate * sum.g / weight : 0;
    values[node - inner_] = value;
    for (const std::uint32_t r : rows) fitted[r] = value;
  }

  // Overwrites the histogram.
  void grow(std::size_t node, row_list rows, histogram& sums) {
    const split at = node < inner_ ? best_split(sums) : split{};
    if (!at.found) return end_at(node, rows);
    chosen[node] = static_cast<std::int64_t>(at.feature);
    thresholds[node] = x_.edge_values[at.feature * bins_ + at.bin];
    const std::size_t left = divide(rows, at);
    const std::size_t children[] = {2 * node + 1, 2 * node + 2};
    const row_list parts[] = {rows.first(left), rows.subspan(left)};
    if (children[0] >= inner_) {
      for (int side = 0; side < 2; ++side) end_at(children[side], parts[side]);
      return;
    }
    const int small = parts[0].size() <= parts[1].size() ? 0 : 1;
    {
      histogram own = sums_of(parts[small]);
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] = sums[i] - own[i];
      grow(children[small], parts[small], own);
    }
    grow(children[1 - small], parts[1 - small], sums);
  }
};

std::vector<double> on_host(const array& a) {
  return a.valid() ? host_values(contiguous(a)) : std::vector<double>();
}

}  // namespace

tree grow_on_host(const binned_samples& x, const array& g, const array& h, const tree_options& o) {
  const grower done(x, on_host(g), on_host(h), g.dtype(), o);
  const auto as_array = [&](const std::vector<double>& v) {
    return numbers_like(g, v, {std::ssize(v)});
  };
  return {array::from(done.chosen, g.device()), as_array(done.thresholds), as_array(done.values),
          as_array(done.fitted)};
}

}  // namespace tutti::ml
