// SPDX-License-Identifier: Apache-2.0
//
// Images as HTML elements.
#pragma once

#include <string>

#include "tutti/report/page.hpp"

namespace tutti::report {

/// A figure with the image, or with the reason if the library cannot encode it.
std::string html_of(const picture& shown);

}  // namespace tutti::report
