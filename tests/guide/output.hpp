// SPDX-License-Identifier: Apache-2.0
//
// What a snippet printed, held against what its page shows. Devices may differ in last digits, and
// pages show one device's name, so both are compared as what they are.
#pragma once

#include <boost/test/tools/assertion_result.hpp>
#include <string_view>

namespace tutti_test::guide {

/// Word by word within lines. Numbers agree to the tolerance, relative to the larger; a device's
/// name agrees with that of any device; a line "..." stands for any lines.
boost::test_tools::assertion_result agrees(std::string_view printed, std::string_view shown,
                                           double tolerance);

}  // namespace tutti_test::guide
