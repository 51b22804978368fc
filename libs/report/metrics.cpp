// SPDX-License-Identifier: Apache-2.0
//
// Named values as JSON and as text.
#include "tutti/report/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <type_traits>

#include "tutti/data/io.hpp"

namespace tutti::report {
namespace {

std::string dumped(const nlohmann::json& value) {
  return value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

/// A list of numbers is written on one line.
std::string json_of(const metrics& object, int depth) {
  if (object.empty()) return "{}";
  const std::string indent(static_cast<std::size_t>(2 * depth), ' ');
  std::string out = "{";
  for (const auto& [name, value] : object.entries()) {
    out += fmt::format("{}\n{}  {}: ", out.size() > 1 ? "," : "", indent, dumped(name));
    out += std::visit(
        [&](const auto& held) {
          if constexpr (std::is_same_v<std::decay_t<decltype(held)>, metric_value::object>)
            return json_of(*held, depth + 1);
          else
            return dumped(held);
        },
        value.get());
  }
  return out + "\n" + indent + "}";
}

std::string text_of(bool value) { return value ? "yes" : "no"; }
std::string text_of(const std::string& value) { return value; }
std::string text_of(double value) { return fmt::format("{:.6g}", value); }
std::string text_of(std::int64_t value) { return fmt::to_string(value); }
std::string text_of(std::uint64_t value) { return fmt::to_string(value); }
std::string text_of(const std::vector<double>& values) {
  std::string out;
  for (const double value : values) out += (out.empty() ? "" : ", ") + text_of(value);
  return out;
}

void add_rows(const metrics& object, const std::string& before,
              std::vector<std::vector<std::string>>& out) {
  for (const auto& [name, value] : object.entries()) {
    std::visit(
        [&, full = before + name](const auto& held) {
          if constexpr (std::is_same_v<std::decay_t<decltype(held)>, metric_value::object>)
            add_rows(*held, full + ".", out);
          else
            out.push_back({full, text_of(held)});
        },
        value.get());
  }
}

}  // namespace

metric_value::metric_value(const metrics& of) : value_(std::make_shared<metrics>(of)) {}

metrics::metrics(std::initializer_list<entry> entries) {
  for (const entry& e : entries) set(e.first, e.second);
}

metrics& metrics::set(std::string name, metric_value value) {
  const auto same = std::find_if(entries_.begin(), entries_.end(),
                                 [&](const entry& e) { return e.first == name; });
  if (same == entries_.end())
    entries_.emplace_back(std::move(name), std::move(value));
  else
    same->second = std::move(value);
  return *this;
}

std::vector<std::vector<std::string>> metrics::rows() const {
  std::vector<std::vector<std::string>> out;
  add_rows(*this, "", out);
  return out;
}

std::string metrics::json() const { return json_of(*this, 0) + "\n"; }

void metrics::save(const std::filesystem::path& path) const { io::write_file(path, json()); }

}  // namespace tutti::report
