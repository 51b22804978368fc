// SPDX-License-Identifier: Apache-2.0
//
// Patterns: compression, swapping the axes, and adding values of repeated positions. All of this is
// done by the device of the indices.
#include "sparse/pattern.hpp"

#include <limits>

#include "tutti/extension.hpp"
#include "tutti/sorting.hpp"

namespace tutti::sparse {
namespace {

constexpr const char* room = "sparse";  // in messages of what cannot happen

dtype smallest_index(std::int64_t majors, std::int64_t minors, std::int64_t count) {
  const std::int64_t most = std::max({majors, minors, count});
  return most <= std::numeric_limits<std::int32_t>::max() ? dtype::i32 : dtype::i64;
}

// Contiguous, without history, known to be in [0, extent).
array as_index(const array& given, dtype type, std::int64_t extent) {
  array index = contiguous(graph::detach(op::cast(op::index_values(given, room), type, room)));
  if (index.size() == 0) return op::zeros_on({0}, type, op::device_of(given));
  if (!op::known_range(index)) {
    // A separate node carries the bounds: this one may be the application's.
    if (op::is_same(index, given)) index = index + full({}, 0, type, index.device());
    op::set_known_range(index, {0, extent - 1});
  }
  return index;
}

array running_sum(const array& counts, dtype type) { return op::running_sum(counts, type, room); }

}  // namespace

array starts_of(const array& major, std::int64_t majors) {
  if (major.size() == 0 || majors == 0)
    return op::zeros_on({majors + 1}, dtype::i64, op::device_of(major), room);
  const array counts = op::count_numbers(major, majors, room);
  return concatenate(
      {op::zeros_on({1}, dtype::i64, op::device_of(major)), running_sum(counts, dtype::i64)});
}

array picked(const array& x, const array& index) {
  if (index.size() == 0) return op::zeros_on({0}, x.dtype(), op::device_of(x));
  return reshape(op::take_rows(reshape(x, {1, x.size(), 1}), index), {index.size()});
}

array in_order(const array& x, const array& order) { return order.valid() ? picked(x, order) : x; }

std::shared_ptr<const pattern> pattern::of_starts(std::int64_t majors, std::int64_t minors,
                                                  const array& starts, const array& minor,
                                                  bool is_canonical) {
  auto made = std::make_shared<pattern>();
  made->majors_ = majors;
  made->minors_ = minors;
  made->count_ = minor.size();
  made->is_compressed_ = true;
  made->is_canonical_ = is_canonical || made->count_ == 0;
  const dtype type = smallest_index(majors, minors, made->count_);
  made->starts_ = as_index(starts, type, made->count_ + 1);
  made->minor_ = as_index(minor, type, minors);
  return made;
}

std::shared_ptr<const pattern> pattern::of_coordinates(std::int64_t majors, std::int64_t minors,
                                                       const array& major, const array& minor,
                                                       bool is_canonical) {
  auto made = std::make_shared<pattern>();
  made->majors_ = majors;
  made->minors_ = minors;
  made->count_ = minor.size();
  made->is_canonical_ = is_canonical || made->count_ == 0;
  const dtype type = smallest_index(majors, minors, made->count_);
  made->major_ = as_index(major, type, majors);
  made->minor_ = as_index(minor, type, minors);
  return made;
}

array pattern::major() const {
  if (!is_compressed_) return major_;
  const std::lock_guard hold(lock_);
  if (expanded_.valid()) return expanded_;
  if (count_ == 0 || majors_ == 1) {
    expanded_ = op::zeros_on({count_}, index_type(), device(), room);
    return expanded_;
  }
  // Counts one row for each start up to an element; starts after all elements are not counted.
  const array inner = contiguous(starts_({slice{1, majors_, 1}}));
  expanded_ = running_sum(op::count_numbers(inner, count_, room), index_type());
  op::set_known_range(expanded_, {0, majors_ - 1});
  return expanded_;
}

array pattern::keys() const {
  const auto wide = [](const array& index) { return op::cast(index, dtype::i64, room); };
  return wide(major()) * minors_ + wide(minor_);
}

arranged pattern::compressed() const {
  if (is_compressed_) throw value_error("sparse: compressed places are not compressed again");
  const std::lock_guard hold(lock_);
  if (compressed_.places) return compressed_;
  arranged made;
  if (!is_canonical_) made.order = argsort(major_);
  made.places = of_starts(majors_, minors_, starts_of(major_, majors_),
                          in_order(minor_, made.order), is_canonical_);
  compressed_ = made;
  return compressed_;
}

arranged pattern::flipped() const {
  const array rows = major();
  const std::lock_guard hold(lock_);
  if (flipped_.places) return flipped_;
  arranged made;
  if (count_ > 0) made.order = argsort(minor_);
  // The sort is stable, so elements ordered by rows are still ordered within each column.
  made.places = of_starts(minors_, majors_, starts_of(minor_, minors_), in_order(rows, made.order),
                          is_canonical_);
  flipped_ = made;
  return flipped_;
}

placed coalesced(std::int64_t majors, std::int64_t minors, const array& keys, array order,
                 const array& values) {
  const std::int64_t n = keys.size();
  if (n == 0) {
    const array none = op::zeros_on({0}, dtype::i64, op::device_of(keys));
    return {pattern::of_starts(majors, minors, starts_of(none, majors), none, true), values};
  }
  if (!order.valid()) order = argsort(keys);
  const array sorted = picked(keys, order);
  array begins = full({1}, 1, dtype::boolean, sorted.device());
  if (n > 1)
    begins = concatenate({begins, sorted({slice{1, n, 1}}) != sorted({slice{0, n - 1, 1}})});
  const array numbers = running_sum(begins, dtype::i64);
  const auto total = numbers({slice{n - 1, n, 1}}).item<std::int64_t>();
  array distinct = sorted, sums = picked(values, order);
  if (total < n) {
    const array first = op::first_positions(numbers, total, room);
    distinct = picked(sorted, first);
    sums = reshape(op::scatter_rows(reshape(sums, {1, n, 1}), numbers - 1, total), {total});
  }
  const array major = floor_divide(distinct, minors), minor = distinct - major * minors;
  return {pattern::of_starts(majors, minors, starts_of(major, majors), minor, true), sums};
}

placed canonical_of(const matrix& a) {
  const pattern& p = *a.places();
  if (p.is_canonical() && p.is_compressed()) return {a.places(), a.values()};
  if (p.is_canonical()) return {p.compressed().places, a.values()};
  return coalesced(p.majors(), p.minors(), p.keys(), {}, a.values());
}

placed compressed_along(const matrix& a, bool rows) {
  arranged found{a.places(), {}};
  if (!found.places->is_compressed()) found = found.places->compressed();
  if (a.by_rows() == rows) return {found.places, in_order(a.values(), found.order)};
  const arranged flipped = found.places->flipped();
  return {flipped.places, in_order(in_order(a.values(), found.order), flipped.order)};
}

}  // namespace tutti::sparse
