// SPDX-License-Identifier: Apache-2.0
//
// Names of the functions that a header of this project declares in namespaces. No parser of C++: it
// knows comments, preprocessor lines, strings, brackets and namespaces, which these headers get by
// with.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace tutti_test {

/// In their order, each name once; those in namespace tutti without it ("random::normal").
/// Operators and members of classes are left out.
std::vector<std::string> public_functions(std::string_view header);

}  // namespace tutti_test
