// SPDX-License-Identifier: Apache-2.0
//
// Environment variables of the core and their permitted values.
#include "base/env.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "base/fail.hpp"
#include "tutti/error.hpp"

namespace tutti::base {
namespace {

[[noreturn]] void refuse(const char* name, const std::string& value, const std::string& allowed) {
  base::fail<value_error>("{}={}: expected {}", name, value, allowed);
}

double seconds_of(const char* name, const std::string& text, const char* wanted) {
  double seconds = 0;  // in any locale
  const char* const end = text.data() + text.size();
  const auto [stop, failed] = std::from_chars(text.data(), end, seconds);
  if (failed != std::errc() || stop != end || !(seconds > 0) || !std::isfinite(seconds))
    refuse(name, text, wanted);
  return seconds;
}

}  // namespace

std::vector<std::filesystem::path> split_paths(std::string_view list) {
  std::vector<std::filesystem::path> entries;
  for (size_t begin = 0; begin <= list.size();) {
    const size_t end = std::min(list.find(':', begin), list.size());
    entries.emplace_back(list.substr(begin, end - begin));
    begin = end + 1;
  }
  return entries;
}

std::optional<std::string> env_word(const char* name,
                                    std::initializer_list<std::string_view> allowed) {
  auto value = env(name);
  if (!value || std::find(allowed.begin(), allowed.end(), *value) != allowed.end()) return value;
  std::string list;
  for (const std::string_view word : allowed) {
    const bool is_last = word.data() == (allowed.end() - 1)->data();
    list += list.empty() ? "" : is_last ? " or " : ", ";
    list += word;
  }
  refuse(name, *value, list + ", or nothing");
}

std::optional<std::uint64_t> env_megabytes(const char* name) {
  const auto text = env(name);
  if (!text) return std::nullopt;
  constexpr std::uint64_t most = std::uint64_t{1} << 40;
  std::uint64_t megabytes = 0;
  const char* const end = text->data() + text->size();
  const auto [stop, failed] = std::from_chars(text->data(), end, megabytes);
  if (failed != std::errc() || stop != end || megabytes > most)
    refuse(name, *text, "a whole number of MiB from 0 to " + std::to_string(most));
  return megabytes << 20;
}

bool fallback_is_error() { return env_word("TUTTI_FALLBACK", {"error"}).has_value(); }

bool operands_move() { return env_word("TUTTI_TRANSFER", {"auto"}).has_value(); }

bool devices_prove_themselves() { return env("TUTTI_PROOF") != "off"; }

double proof_time_limit() {
  constexpr double usual = 120;  // on a busy machine a compilation takes a minute
  const auto text = env("TUTTI_PROOF");
  if (!text || *text == "on" || *text == "off") return usual;
  return seconds_of("TUTTI_PROOF", *text, "on, off or a positive number of seconds, or nothing");
}

bool indices_are_checked() {
  return env_word("TUTTI_CHECK_INDICES", {"on", "off"}).value_or("on") == "on";
}

double time_limit(double usual) {
  const auto text = env("TUTTI_TIMEOUT");
  return text ? seconds_of("TUTTI_TIMEOUT", *text, "a positive number of seconds") : usual;
}

std::optional<std::uint64_t> pool_limit() { return env_megabytes("TUTTI_POOL_MB"); }

void check_environment() {
  fallback_is_error();
  operands_move();
  proof_time_limit();
  indices_are_checked();
  time_limit();
  pool_limit();
  env_megabytes("TUTTI_CACHE_MB");
  env_word("TUTTI_LOG", {"off", "error", "warn", "info", "debug"});
  // Read by the plugins that support other precisions than the highest.
  env_word("TUTTI_MATMUL_PRECISION", {"highest", "high", "medium"});
}

}  // namespace tutti::base
