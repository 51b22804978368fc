// SPDX-License-Identifier: Apache-2.0
//
// The rows as a Markdown table on stdout and as JSON in a file.
#pragma once

#include <string>
#include <vector>

#include "harness.hpp"

namespace tutti::bench {

/// The context of the numbers: date, processor, cores, memory, device, library.
void print_heading();
void print_table_head();
void print_row(const row& r);

/// Throws std::runtime_error if the file cannot be written.
void write_json(const std::string& path, const std::vector<row>& rows);

}  // namespace tutti::bench
