// SPDX-License-Identifier: Apache-2.0
#include "checks.hpp"

#include <algorithm>

namespace tutti::conformance {
namespace {

bool is_dtype(std::string_view word) {
  for (int32_t dtype = TUTTI_BOOL; dtype <= TUTTI_C128; ++dtype)
    if (word == sdk::dtype_name(dtype)) return true;
  return false;
}

groups all_groups(const session& s) {
  groups all;
#define TUTTI_GROUPS(name) add_##name##_groups(all, s);
#include "verify_groups.inc"
#undef TUTTI_GROUPS
  return all;
}

// The name up to its first dtype, or the whole name of a random chain; empty for others.
std::string_view family_of(std::string_view name) {
  if (name.starts_with("chain/random")) return name;
  for (size_t from = 0; from < name.size();) {
    const size_t to = std::min(name.find('/', from), name.size());
    if (is_dtype(name.substr(from, to - from))) return name.substr(0, to);
    from = to + 1;
  }
  return {};
}

bool is_sampled(std::string_view name, const sampling& sample) {
  const std::string_view family = family_of(name);
  if (family.empty()) return true;
  const bool is_program = name.starts_with("op/") || name.starts_with("cast/") ||
                          name.starts_with("layout/") || name.starts_with("reduce/");
  const uint64_t every = family.ends_with("/f32") ? sample.every_f32
                         : is_program             ? sample.every
                                                  : sample.every_operator;
  uint64_t hash = 14695981039346656037u;  // FNV-1a
  for (char c : family) hash = (hash ^ static_cast<unsigned char>(c)) * 1099511628211u;
  // Names that differ in their last letter only fall into different shares.
  hash = (hash ^ (hash >> 33)) * 0xff51afd7ed558ccdu;
  return (hash >> 33) % every == sample.share % every;
}

bool is_chosen(const std::string& name, const selection& chosen) {
  const auto has = [&](const std::string& text) { return name.find(text) != std::string::npos; };
  if (!is_sampled(name, chosen.sample) || std::ranges::any_of(chosen.excluded, has)) return false;
  return chosen.filters.empty() || std::ranges::any_of(chosen.filters, has);
}

}  // namespace

groups chosen_groups(const session& s, const selection& chosen, const fuzzing& fuzz) {
  groups all;
  if (fuzz.count > 0)
    add_fuzz_groups(all, s, fuzz.first_seed, fuzz.count);
  else
    all = all_groups(s);
  std::erase_if(all, [&](const group& g) { return !is_chosen(g.name, chosen); });
  return all;
}

group_result run(const group& g, session& s) {
  try {
    g.run(s);
  } catch (const skipped& reason) {
    return {verdict::left_out, reason.what()};
  } catch (const std::exception& error) {
    take(s.api->stream->synchronize(s.main_stream.get()));
    return {verdict::failed, error.what()};
  } catch (...) {
    take(s.api->stream->synchronize(s.main_stream.get()));
    return {verdict::failed, "something was thrown that is no std::exception"};
  }
  return {verdict::passed, ""};
}

}  // namespace tutti::conformance
