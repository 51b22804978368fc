// SPDX-License-Identifier: Apache-2.0
//
// A host that offers a plugin its settings and nothing else, for tests that call plugins
// themselves.
#pragma once

#include <cstdlib>
#include <string>

#include "tutti/plugin.h"

namespace tutti_test {

/// Options are those of the environment, as in the library.
inline const tutti_host* environment_host() {
  static const tutti_host host = [] {
    tutti_host h{};
    h.struct_size = sizeof h;
    h.abi_major = TUTTI_ABI_MAJOR;
    h.abi_minor = TUTTI_ABI_MINOR;
    h.option = [](void*, const char* name) -> const char* {
      return std::getenv(("TUTTI_" + std::string(name)).c_str());
    };
    return h;
  }();
  return &host;
}

}  // namespace tutti_test
