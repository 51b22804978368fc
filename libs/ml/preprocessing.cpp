// SPDX-License-Identifier: Apache-2.0
//
// Feature scalers, imputation of missing values, encoders of categories and classes.
#include "tutti/ml/preprocessing.hpp"

#include <algorithm>
#include <cmath>
#include <functional>

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "ml/samples.hpp"
#include "tutti/ops.hpp"

namespace tutti::ml {

using base::named;

simple_imputer& simple_imputer::fit(const array& given) {
  named("simple_imputer::fit", [&] {
    const array x = as_samples(given, "simple_imputer::fit");
    const array present = !isnan(x);
    const array count = maximum(sum(present.astype(x.dtype()), 0), 1);
    statistics_ = sum(where(present, x, zeros_like(x)), 0) / count;
  });
  return *this;
}

array simple_imputer::transform(const array& given) const {
  return named("simple_imputer::transform", [&] {
    const array x = as_samples(given, statistics_, "simple_imputer::transform");
    return where(isnan(x), statistics_, x);
  });
}

io::named_arrays simple_imputer::parameters() const {
  require_fitted(statistics_, "simple_imputer::parameters");
  return {{"statistics", statistics_}};
}

void simple_imputer::load_parameters(const io::named_arrays& arrays) {
  statistics_ = parameter_reader(arrays, {"statistics"}, "simple_imputer::load_parameters")
                    .floats("statistics", 1);
}

standard_scaler& standard_scaler::fit(const array& given) {
  named("standard_scaler::fit", [&] {
    const array x = as_samples(given, "standard_scaler::fit");
    const shape features{x.dim(1)};
    const array no_mean = zeros(features, x.dtype(), x.device());
    const array no_scale = ones(features, x.dtype(), x.device());
    array middle = options_.with_mean ? tutti::mean(x, 0) : no_mean;
    array scale = no_scale;
    if (options_.with_std) {
      // Rounding may give constant features a mean off by one unit, and thus a deviation.
      const array is_constant = max(x, 0) == min(x, 0);
      const array variance = where(is_constant, no_scale, var(x, 0));
      scale = sqrt(where(variance == 0, no_scale, variance));
    }
    mean_ = std::move(middle);
    scale_ = std::move(scale);
  });
  return *this;
}

array standard_scaler::transform(const array& given) const {
  return named("standard_scaler::transform", [&] {
    const array x = as_samples(given, mean_, "standard_scaler::transform");
    return (x - mean_) / scale_;
  });
}

array standard_scaler::inverse_transform(const array& given) const {
  return named("standard_scaler::inverse_transform", [&] {
    const array x = as_samples(given, mean_, "standard_scaler::inverse_transform");
    return x * scale_ + mean_;
  });
}

io::named_arrays standard_scaler::parameters() const {
  require_fitted(mean_, "standard_scaler::parameters");
  return {{"mean", mean_}, {"scale", scale_}};
}

void standard_scaler::load_parameters(const io::named_arrays& arrays) {
  const parameter_reader reader(arrays, {"mean", "scale"}, "standard_scaler::load_parameters");
  const array middle = reader.floats("mean", 1), scale = reader.floats("scale", 1);
  reader.require_shape("scale", scale, middle.shape());
  mean_ = middle;
  scale_ = scale;
}

min_max_scaler::min_max_scaler(const min_max_scaler_options& options) : options_(options) {
  if (!std::isfinite(options.low) || !std::isfinite(options.high) || !(options.low < options.high))
    base::fail<value_error>("min_max_scaler: a range from {} to {}", options.low, options.high);
}

min_max_scaler& min_max_scaler::fit(const array& given) {
  named("min_max_scaler::fit", [&] {
    const array x = as_samples(given, "min_max_scaler::fit");
    min_ = min(x, 0);
    max_ = max(x, 0);
  });
  return *this;
}

array min_max_scaler::range() const {
  const array found = max_ - min_;
  return where(found == 0, ones_like(found), found);
}

array min_max_scaler::transform(const array& given) const {
  return named("min_max_scaler::transform", [&] {
    const array x = as_samples(given, min_, "min_max_scaler::transform");
    const array out = (x - min_) / range() * (options_.high - options_.low) + options_.low;
    return options_.clip ? tutti::clip(out, options_.low, options_.high) : out;
  });
}

array min_max_scaler::inverse_transform(const array& given) const {
  return named("min_max_scaler::inverse_transform", [&] {
    const array x = as_samples(given, min_, "min_max_scaler::inverse_transform");
    return (x - options_.low) / (options_.high - options_.low) * range() + min_;
  });
}

io::named_arrays min_max_scaler::parameters() const {
  require_fitted(min_, "min_max_scaler::parameters");
  return {{"data_min", min_}, {"data_max", max_}};
}

void min_max_scaler::load_parameters(const io::named_arrays& arrays) {
  const parameter_reader reader(arrays, {"data_min", "data_max"},
                                "min_max_scaler::load_parameters");
  const array low = reader.floats("data_min", 1), high = reader.floats("data_max", 1);
  reader.require_shape("data_max", high, low.shape());
  min_ = low;
  max_ = high;
}

namespace {

template <class T>
bool ascend(const std::vector<T>& values) {
  return std::adjacent_find(values.begin(), values.end(), std::greater_equal<T>()) == values.end();
}

// Integers or bool [rows, features] as i64.
array as_categories(const array& x, std::int64_t features, const char* op) {
  if (!is_integral(x.dtype()) && !is_bool(x.dtype()))
    base::fail<dtype_error>("{}: categories must be integers or bool, got {}", op, x.dtype());
  if (x.ndim() != 2 || x.size() == 0 || (features > 0 && x.dim(1) != features))
    base::fail<shape_error>("{}: categories {}, must be [rows, {}]", op, x.shape(),
                            features > 0 ? std::to_string(features) : "features");
  return x.astype(dtype::i64);
}

// The index of each label in the ascending classes. Evaluates to check that all are known.
array places_of(const array& labels, const array& classes, const char* op) {
  const array places = minimum(searchsorted(classes, labels), classes.size() - 1);
  const array known = take(classes, places) == labels;
  if (labels.size() > 0 && !all(known).item<bool>()) {
    const array first = reshape(labels, {-1})[argmin(reshape(known, {-1})).item<std::int64_t>()];
    base::fail<value_error>("{}: a class {} that was not fitted", op, first.item<std::int64_t>());
  }
  return places;
}

}  // namespace

one_hot_encoder& one_hot_encoder::fit(const array& given) {
  named("one_hot_encoder::fit", [&] {
    const array x = as_categories(given, 0, "one_hot_encoder::fit");
    std::vector<array> found;
    for (std::int64_t f = 0; f < x.dim(1); ++f) found.push_back(unique_values(x(all(), f)));
    categories_ = std::move(found);
  });
  return *this;
}

array one_hot_encoder::transform(const array& given) const {
  constexpr const char* op = "one_hot_encoder::transform";
  return named(op, [&] {
    if (categories_.empty()) require_fitted({}, op);
    const array x = as_categories(given, static_cast<std::int64_t>(categories_.size()), op);
    std::vector<array> columns;
    for (std::size_t f = 0; f < categories_.size(); ++f) {
      const array column = x(all(), f);
      if (unknown_category::error == options_.unknown) places_of(column, categories_[f], op);
      columns.push_back((expand_dims(column, 1) == categories_[f]).astype(options_.type));
    }
    return concatenate(columns, 1);
  });
}

array one_hot_encoder::inverse_transform(const array& given) const {
  constexpr const char* op = "one_hot_encoder::inverse_transform";
  return named(op, [&] {
    if (categories_.empty()) require_fitted({}, op);
    std::int64_t whole = 0;
    for (const array& list : categories_) whole += list.size();
    const array x = as_samples(given, whole, op);
    std::vector<array> columns;
    std::int64_t first = 0;
    for (const array& list : categories_) {
      const array part = x(all(), slice{first, first + list.size(), 1});
      columns.push_back(take(list, argmax(part, 1)));
      first += list.size();
    }
    return stack(columns, 1);
  });
}

io::named_arrays one_hot_encoder::parameters() const {
  if (categories_.empty()) require_fitted({}, "one_hot_encoder::parameters");
  std::vector<std::int64_t> counts;
  for (const array& list : categories_) counts.push_back(list.size());
  return {{"categories", concatenate(categories_)},
          {"counts", array::from(counts, categories_[0].device())}};
}

void one_hot_encoder::load_parameters(const io::named_arrays& arrays) {
  constexpr const char* op = "one_hot_encoder::load_parameters";
  const parameter_reader reader(arrays, {"categories", "counts"}, op);
  const array lists = reader.integers("categories", 1);
  const auto counts = reader.integers("counts", 1).to_vector<std::int64_t>();
  std::vector<array> found;
  std::int64_t first = 0;
  for (const std::int64_t count : counts) {
    if (count < 1 || count > lists.size() - first)
      base::fail<shape_error>("{}: counts do not fit categories {}", op, lists.shape());
    found.push_back(lists({{first, first + count}}));
    if (!ascend(found.back().to_vector<std::int64_t>()))
      base::fail<value_error>("{}: categories of feature {} do not ascend", op, found.size() - 1);
    first += count;
  }
  if (found.empty() || first != lists.size())
    base::fail<shape_error>("{}: counts of {} for categories {}", op, first, lists.shape());
  categories_ = std::move(found);
}

label_encoder& label_encoder::fit(const array& labels) {
  named("label_encoder::fit", [&] {
    classes_ = unique_values(as_labels(labels, -1, "label_encoder::fit"));
    words_.clear();
  });
  return *this;
}

label_encoder& label_encoder::fit(std::span<const std::string> labels) {
  if (labels.empty()) throw shape_error("label_encoder::fit: no labels");
  std::vector<std::string> found(labels.begin(), labels.end());
  std::sort(found.begin(), found.end());
  found.erase(std::unique(found.begin(), found.end()), found.end());
  words_ = std::move(found);
  classes_ = {};
  return *this;
}

array label_encoder::transform(const array& labels) const {
  constexpr const char* op = "label_encoder::transform";
  return named(op, [&] {
    require_fitted(classes_, op);
    if (!is_integral(labels.dtype()) && !is_bool(labels.dtype()))
      base::fail<dtype_error>("{}: labels must be integers or bool, got {}", op, labels.dtype());
    return places_of(labels.astype(dtype::i64), classes_, op);
  });
}

array label_encoder::transform(std::span<const std::string> labels, const device& on) const {
  if (words_.empty()) throw value_error("label_encoder::transform: no words have been fitted yet");
  std::vector<std::int64_t> places;
  for (const std::string& word : labels) {
    const auto found = std::lower_bound(words_.begin(), words_.end(), word);
    if (found == words_.end() || *found != word)
      base::fail<value_error>("label_encoder::transform: a class \"{}\" that was not fitted", word);
    places.push_back(found - words_.begin());
  }
  return array::from(places, on);
}

array label_encoder::inverse_transform(const array& numbers) const {
  constexpr const char* op = "label_encoder::inverse_transform";
  return named(op, [&] {
    require_fitted(classes_, op);
    return take(classes_, numbers);
  });
}

std::vector<std::string> label_encoder::names(const array& numbers) const {
  if (words_.empty()) throw value_error("label_encoder::names: no words have been fitted yet");
  const array places = as_labels(numbers, -1, "label_encoder::names");
  std::vector<std::string> out;
  for (const std::int64_t place : places.to_vector<std::int64_t>()) {
    if (place < 0 || place >= class_count())
      base::fail<index_error>("label_encoder::names: class {} is not in [0, {})", place,
                              class_count());
    out.push_back(words_[static_cast<std::size_t>(place)]);
  }
  return out;
}

std::int64_t label_encoder::class_count() const {
  return classes_.valid() ? classes_.size() : static_cast<std::int64_t>(words_.size());
}

io::named_arrays label_encoder::parameters() const {
  if (classes_.valid()) return {{"classes", classes_}};
  if (words_.empty()) require_fitted({}, "label_encoder::parameters");
  std::vector<std::uint8_t> text;
  std::vector<std::int64_t> ends;
  for (const std::string& word : words_) {
    text.insert(text.end(), word.begin(), word.end());
    ends.push_back(static_cast<std::int64_t>(text.size()));
  }
  return {{"text", array::from(text)}, {"ends", array::from(ends)}};
}

void label_encoder::load_parameters(const io::named_arrays& arrays) {
  constexpr const char* op = "label_encoder::load_parameters";
  if (!arrays.contains("text")) {
    const parameter_reader reader(arrays, {"classes"}, op);
    const array classes = reader.integers("classes", 1);
    const auto values = classes.to_vector<std::int64_t>();
    if (values.empty() || !ascend(values))
      base::fail<value_error>("{}: classes {} do not ascend", op, classes.shape());
    classes_ = classes;
    words_.clear();
    return;
  }
  const parameter_reader reader(arrays, {"text", "ends"}, op);
  const auto text = reader.integers("text", 1).to_vector<std::int64_t>();
  std::vector<std::string> words;
  std::size_t first = 0;
  for (const std::int64_t end : reader.integers("ends", 1).to_vector<std::int64_t>()) {
    if (end < static_cast<std::int64_t>(first) || end > static_cast<std::int64_t>(text.size()))
      base::fail<value_error>("{}: an end {} of words in {} bytes", op, end, text.size());
    std::string word;
    for (; first < static_cast<std::size_t>(end); ++first)
      word += static_cast<char>(static_cast<std::uint8_t>(text[first]));
    words.push_back(word);
  }
  if (words.empty() || first != text.size() || !ascend(words))
    base::fail<value_error>("{}: {} words that do not ascend", op, words.size());
  words_ = std::move(words);
  classes_ = {};
}

}  // namespace tutti::ml
