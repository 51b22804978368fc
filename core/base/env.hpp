// SPDX-License-Identifier: Apache-2.0
//
// The only code that reads environment variables. An empty variable counts as unset; an invalid
// value is an error with the variable, the value and the permitted values.
#pragma once

#include <cstdint>
#include <cstdlib>
#include <filesystem>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/export.hpp"

namespace tutti::base {

inline std::optional<std::string> env(const char* name) {
  const char* value = std::getenv(name);
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

/// The entries of a list separated by colons.
std::vector<std::filesystem::path> split_paths(std::string_view list);
/// The variable's value, which must be one of `allowed`; otherwise value_error.
std::optional<std::string> env_word(const char* name,
                                    std::initializer_list<std::string_view> allowed);
/// A number of MiB, as bytes; value_error for anything else.
std::optional<std::uint64_t> env_megabytes(const char* name);

/// TUTTI_FALLBACK=error: operators that a device lacks fail.
bool fallback_is_error();
/// TUTTI_TRANSFER=auto: operands are moved automatically.
bool operands_move();
/// TUTTI_PROOF is not `off`: devices are checked before they are used.
bool devices_prove_themselves();
/// Time limit in seconds for an answer of a device: a number in TUTTI_PROOF, or 120.
double proof_time_limit();
/// TUTTI_CHECK_INDICES is not `off`.
bool indices_are_checked();
/// Seconds of TUTTI_TIMEOUT, `usual` if it is not set.
double time_limit(double usual = 0);
/// TUTTI_POOL_MB in bytes.
std::optional<std::uint64_t> pool_limit();

/// Reads all variables of the core: value_error for the first invalid one. Plugins check their own
/// variables.
TUTTI_INTERNAL_API void check_environment();

}  // namespace tutti::base
