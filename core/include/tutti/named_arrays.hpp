// SPDX-License-Identifier: Apache-2.0
//
// Arrays by name: what files of several arrays hold, and what models give and take as parameters.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "tutti/array.hpp"

namespace tutti::io {

/// Arrays by name: a std::map whose at() says what is there instead.
class TUTTI_API named_arrays : public std::map<std::string, array> {
 public:
  using std::map<std::string, array>::map;
  named_arrays() = default;
  named_arrays(std::map<std::string, array> arrays) : map(std::move(arrays)) {}

  /// Throws value_error naming the name, the names that there are, and `source`.
  const array& at(const std::string& name) const;
  array& at(const std::string& name);

  std::filesystem::path source{};  ///< the file that they were read from
};

}  // namespace tutti::io
