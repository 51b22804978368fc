// SPDX-License-Identifier: Apache-2.0
//
// Tables of text for people.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace samples {

/// Cells padded to common widths: the first column to the left, the others to the right, a rule
/// under the first row. Rows may have different lengths.
std::string text_table(const std::vector<std::vector<std::string>>& rows);

/// `counts`, names.size() squared, as a table with the share of right ones at the end of each row;
/// rows: truth, columns: prediction. Throws tutti::shape_error where the sizes differ.
std::string confusion_table(std::span<const std::int64_t> counts,
                            const std::vector<std::string>& names);

}  // namespace samples
