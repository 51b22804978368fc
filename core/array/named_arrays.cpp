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

}  // namespace tutti::io
