// SPDX-License-Identifier: Apache-2.0
//
// Utilities for numerical samples: checked options, dtypes, and time.
#pragma once

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <chrono>
#include <cstdint>
#include <string>
#include <tutti/array.hpp>
#include <vector>

namespace samples {

/// An option check: a number in the closed range. Unlike CLI::Range it refuses NaN.
inline CLI::Validator within(double low, double high) {
  return CLI::Validator(
      [low, high](const std::string& text) -> std::string {
        double value = 0;
        if (CLI::detail::lexical_cast(text, value) && value >= low && value <= high) return {};
        return fmt::format("{} is not a number in [{} - {}]", text, low, high);
      },
      fmt::format("NUMBER in [{} - {}]", low, high));
}

inline void number_option(CLI::App& app, const std::string& name, double& to, double low,
                          double high, const std::string& text) {
  app.add_option(name, to, text)->check(within(low, high))->capture_default_str();
}

inline void count_option(CLI::App& app, const std::string& name, std::int64_t& to, std::int64_t low,
                         std::int64_t high, const std::string& text) {
  app.add_option(name, to, text)->check(CLI::Range(low, high))->capture_default_str();
}

inline void choice_option(CLI::App& app, const std::string& name, std::string& to,
                          const std::vector<std::string>& choices, const std::string& text) {
  app.add_option(name, to, text)->check(CLI::IsMember(choices))->capture_default_str();
}

/// f64 if the device computes in it, else f32.
inline tutti::dtype widest_float(const tutti::device& device) {
  const auto bit = std::uint32_t{1} << static_cast<unsigned>(tutti::dtype::f64);
  return (device.properties().computed_dtypes & bit) != 0 ? tutti::dtype::f64 : tutti::dtype::f32;
}

/// The values of an array as f64, row-major; dtypes other than f64 are converted to f32 first.
inline std::vector<double> values_of(const tutti::array& a) {
  if (a.dtype() == tutti::dtype::f64) return a.to_vector<double>();
  const auto narrow = a.astype(tutti::dtype::f32).to_vector<float>();  // any device has f32
  return {narrow.begin(), narrow.end()};
}

class stopwatch {
 public:
  double seconds() const {
    const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start_;
    return passed.count();
  }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

}  // namespace samples
