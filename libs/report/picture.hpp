// SPDX-License-Identifier: Apache-2.0
//
// Pictures as elements of HTML.
#pragma once

#include <string>

#include "tutti/report/page.hpp"

namespace tutti::report {

/// A figure with the pixels inside it, or with the reason where the library cannot encode them.
std::string html_of(const picture& shown);

}  // namespace tutti::report
