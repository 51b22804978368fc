// SPDX-License-Identifier: Apache-2.0
//
// Arrays by name: the contents of files with several arrays, and the parameters of models.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "tutti/array.hpp"

namespace tutti::io {

/// Arrays by name: a std::map whose at() lists the existing names in its error.
class TUTTI_API named_arrays : public std::map<std::string, array> {
 public:
  using std::map<std::string, array>::map;
  named_arrays() = default;
  named_arrays(std::map<std::string, array> arrays) : map(std::move(arrays)) {}

  /// Throws value_error with the name, the existing names, and `source`.
  const array& at(const std::string& name) const;
  array& at(const std::string& name);

  /// Adds arrays, with `prefix` before their names, so that one file may have those of a model, its
  /// state and a scaler. Throws value_error for a name that exists, and then adds none.
  named_arrays& add(std::string_view prefix, const std::map<std::string, array>& more);
  /// The reverse of add(): removes the arrays whose names start with `prefix`, and returns them
  /// without it.
  named_arrays take(std::string_view prefix);

  std::filesystem::path source{};  ///< the file from which they were read
};

}  // namespace tutti::io
