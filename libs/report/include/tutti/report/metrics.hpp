// SPDX-License-Identifier: Apache-2.0
//
// Named values of a run, in the order in which they were set, as JSON.
#pragma once

#include <concepts>
#include <cstdint>
#include <filesystem>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "tutti/export.hpp"

namespace tutti::report {

class metrics;

/// The value of a name: a boolean, an integer, a number, text, numbers, or nested metrics.
class metric_value {
 public:
  using object = std::shared_ptr<const metrics>;
  using variant = std::variant<bool, std::int64_t, std::uint64_t, double, std::string,
                               std::vector<double>, object>;

  template <std::same_as<bool> T>
  metric_value(T value) : value_(value) {}
  template <std::signed_integral T>
  metric_value(T value) : value_(static_cast<std::int64_t>(value)) {}
  template <std::unsigned_integral T>
  requires(!std::same_as<T, bool>) metric_value(T value)
      : value_(static_cast<std::uint64_t>(value)) {}
  template <std::floating_point T>
  metric_value(T value) : value_(static_cast<double>(value)) {}
  metric_value(const char* text) : value_(std::string(text)) {}
  metric_value(std::string_view text) : value_(std::string(text)) {}
  metric_value(std::string text) : value_(std::move(text)) {}
  metric_value(std::vector<double> numbers) : value_(std::move(numbers)) {}
  TUTTI_API metric_value(const metrics& object);

  const variant& get() const { return value_; }

 private:
  variant value_;
};

class metrics {
 public:
  using entry = std::pair<std::string, metric_value>;

  metrics() = default;
  /// metrics{{"accuracy", 0.97}, {"epochs", 30}}
  TUTTI_API metrics(std::initializer_list<entry> entries);

  /// Adds a value, or replaces that of the same name in its position.
  TUTTI_API metrics& set(std::string name, metric_value value);

  const std::vector<entry>& entries() const { return entries_; }
  bool empty() const { return entries_.empty(); }

  /// Names and values as text for a table; names of nested values are joined with dots.
  TUTTI_API std::vector<std::vector<std::string>> rows() const;

  /// A JSON object, indented, with a newline at the end. NaN and infinities are null; invalid UTF-8
  /// becomes U+FFFD.
  TUTTI_API std::string json() const;

  /// Replaces the file atomically. Throws io_error.
  TUTTI_API void save(const std::filesystem::path& path) const;

 private:
  std::vector<entry> entries_;
};

}  // namespace tutti::report
