// SPDX-License-Identifier: Apache-2.0
//
// Arrays by name, with errors that list the existing names.
#include "tutti/named_arrays.hpp"

#include <utility>

#include "base/fail.hpp"
#include "base/one_line.hpp"
#include "tutti/error.hpp"

namespace tutti::io {

using base::printable;

const array& named_arrays::at(const std::string& name) const {
  const auto found = find(name);
  if (found != end()) return found->second;
  constexpr std::size_t most = 20;
  std::string names;
  std::size_t told = 0;
  for (auto other = begin(); other != end() && told < most; ++other, ++told)
    names += (names.empty() ? "" : ", ") + printable(other->first);
  if (told < size()) names += fmt::format(" and {} more", size() - told);
  base::fail<value_error>("{}no array is called {}; there {}",
                          source.empty() ? "" : source.string() + ": ", printable(name),
                          empty() ? "are none" : "are " + names);
}

array& named_arrays::at(const std::string& name) {
  return const_cast<array&>(std::as_const(*this).at(name));
}

named_arrays& named_arrays::add(std::string_view prefix, const std::map<std::string, array>& more) {
  std::map<std::string, array> renamed;
  for (const auto& [name, a] : more) renamed.emplace(std::string(prefix) + name, a);
  for (const auto& [name, a] : renamed)
    if (contains(name))
      base::fail<value_error>("named_arrays::add: there is already an array called {}",
                              printable(name));
  merge(renamed);
  return *this;
}

named_arrays named_arrays::take(std::string_view prefix) {
  const std::string start(prefix);
  named_arrays out;
  out.source = source;
  for (auto at = lower_bound(start); at != end() && at->first.starts_with(start);) {
    out.emplace(at->first.substr(start.size()), at->second);
    at = erase(at);
  }
  return out;
}

}  // namespace tutti::io
