// SPDX-License-Identifier: Apache-2.0
//
// The spdlog logger behind tutti::logging. It is registered under "tutti", so an application may
// replace its sinks, and it is never destroyed, so late messages are safe.
#include "base/log.hpp"

#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <iterator>
#include <memory>
#include <string>

#include "base/env.hpp"

namespace tutti::logging {
namespace {

struct known_level {
  std::string_view word;
  level at;
  spdlog::level::level_enum of_spdlog;
};
constexpr known_level levels[] = {{"off", level::off, spdlog::level::off},
                                  {"error", level::error, spdlog::level::err},
                                  {"warn", level::warn, spdlog::level::warn},
                                  {"info", level::info, spdlog::level::info},
                                  {"debug", level::debug, spdlog::level::debug}};

spdlog::level::level_enum to_spdlog(level at) noexcept {
  const auto* const found = std::ranges::find(levels, at, &known_level::at);
  return found != std::end(levels) ? found->of_spdlog : spdlog::level::off;
}

std::shared_ptr<spdlog::logger> make_logger() {
  if (auto existing = spdlog::get("tutti")) return existing;
  auto sink = std::make_shared<spdlog::sinks::stderr_sink_mt>();
  auto made = std::make_shared<spdlog::logger>("tutti", std::move(sink));
  made->set_pattern("tutti: %l: %v");
  made->set_level(spdlog::level::warn);
  if (const auto word = base::env("TUTTI_LOG")) {
    const auto* const chosen = std::ranges::find(levels, *word, &known_level::word);
    if (chosen != std::end(levels))
      made->set_level(chosen->of_spdlog);
    else
      made->warn("TUTTI_LOG={}: expected off, error, warn, info or debug; using warn", *word);
  }
  try {
    spdlog::register_logger(made);
  } catch (const spdlog::spdlog_ex&) {
    // Another thread registered the name meanwhile; this logger works without the registry.
  }
  return made;
}

spdlog::logger& logger() {
  static auto* const instance = new std::shared_ptr<spdlog::logger>(make_logger());
  return **instance;
}

}  // namespace

bool enabled(level at) noexcept {
  try {
    return at != level::off && logger().should_log(to_spdlog(at));
  } catch (...) {
    return false;
  }
}

void write(level at, std::string_view message) noexcept {
  try {
    logger().log(to_spdlog(at), "{}", message);
  } catch (...) {
    // A failure to log must not affect the program.
  }
}

void set_level(level at) noexcept {
  try {
    logger().set_level(to_spdlog(at));
  } catch (...) {
  }
}

}  // namespace tutti::logging
