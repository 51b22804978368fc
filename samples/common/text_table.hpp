// SPDX-License-Identifier: Apache-2.0
//
// Text tables.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace samples {

/// Pads cells to common widths: the first column left-aligned, the others right-aligned, with a
/// rule under the first row. Rows may have different lengths.
std::string text_table(const std::vector<std::vector<std::string>>& rows);

/// `counts`, names.size() squared, as a table with the fraction of correct answers at the end of
/// each row; rows: truth, columns: prediction. Throws tutti::shape_error if the sizes differ.
std::string confusion_table(std::span<const std::int64_t> counts,
                            const std::vector<std::string>& names);

}  // namespace samples
