// SPDX-License-Identifier: Apache-2.0
//
// Arrays by name, with errors that list the existing names.
#include "tutti/named_arrays.hpp"

#include <fmt/format.h>

#include <utility>

#include "base/one_line.hpp"
#include "tutti/error.hpp"

namespace tutti::io {

using detail::printable;

const array& named_arrays::at(const std::string& name) const {
  const auto found = find(name);
  if (found != end()) return found->second;
  constexpr std::size_t most = 20;
  std::string names;
  std::size_t told = 0;
  for (auto other = begin(); other != end() && told < most; ++other, ++told)
    names += (names.empty() ? "" : ", ") + printable(other->first);
  if (told < size()) names += fmt::format(" and {} more", size() - told);
  throw value_error(fmt::format("{}no array is called {}; there {}",
                                source.empty() ? "" : source.string() + ": ", printable(name),
                                empty() ? "are none" : "are " + names));
}

array& named_arrays::at(const std::string& name) {
  return const_cast<array&>(std::as_const(*this).at(name));
}

named_arrays& named_arrays::add(std::string_view prefix, const std::map<std::string, array>& more) {
  for (const auto& [name, a] : more) {
    const std::string full = std::string(prefix) + name;
    if (!emplace(full, a).second)
      throw value_error(
          fmt::format("named_arrays::add: an array is called {} already", printable(full)));
  }
  return *this;
}

named_arrays named_arrays::take(std::string_view prefix) {
  named_arrays out;
  out.source = source;
  for (auto at = lower_bound(std::string(prefix)); at != end() && at->first.starts_with(prefix);) {
    out.emplace(at->first.substr(prefix.size()), at->second);
    at = erase(at);
  }
  return out;
}

}  // namespace tutti::io
