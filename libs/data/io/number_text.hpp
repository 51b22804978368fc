// SPDX-License-Identifier: Apache-2.0
//
// Numbers in the text of tables: which texts are numbers, and which of them a double cannot
// represent.
#pragma once

#include <cstdint>
#include <string_view>

namespace tutti::io {

/// Without blanks, tabs and carriage returns around it.
std::string_view trimmed(std::string_view text);

enum class number_kind : std::uint8_t { number, no_number, too_large };

struct parsed_number {
  number_kind kind = number_kind::no_number;
  double value = 0;
};

/// Decimal point in any locale, nan and inf, surrounding blanks. Numbers that are too small for a
/// double are 0 with their sign.
parsed_number parse_number(std::string_view field);

}  // namespace tutti::io
