// SPDX-License-Identifier: Apache-2.0
//
// Checks of what is refused.
#pragma once

#include <boost/test/unit_test.hpp>

#include "tutti/error.hpp"
#include "tutti_test/files.hpp"

/// Checks that the expression throws tutti::EXCEPTION with the text in its message.
#define FAILS(exception, expression, text) \
  BOOST_TEST(tutti_test::fails<tutti::exception>([&] { expression; }, text))
