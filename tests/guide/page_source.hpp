// SPDX-License-Identifier: Apache-2.0
//
// The test program's source of a page: one Boost.Test case that runs its snippets in their order
// and compares what they print (page.hpp).
#pragma once

#include <string>
#include <vector>

#include "markdown.hpp"

namespace tutti_test::guide {

/// The case is called page_NAME, "-" as "_"; `path` is where compilers are to find mistakes.
std::string page_source(std::string name, const std::string& path, const std::vector<part>& parts);

}  // namespace tutti_test::guide
