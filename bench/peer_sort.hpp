// SPDX-License-Identifier: Apache-2.0
//
// The usual choices for scans and sorts in C++: the standard library on one thread, and
// Boost.Compute on the OpenCL device if both are available.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace tutti::bench::peer {

void inclusive_scan(const std::vector<std::int32_t>& a, std::vector<std::int32_t>& out);
/// out[n] = a[n] out[n-1] + x[n] along the columns or the rows of a square matrix.
void recurrence(const std::vector<float>& a, const std::vector<float>& x, std::size_t edge,
                bool along_columns, std::vector<float>& out);
/// Sorts a copy; the copy is included in the time.
void sort(const std::vector<std::uint32_t>& a, std::vector<std::uint32_t>& out);
void argsort(const std::vector<std::uint32_t>& a, std::vector<std::int64_t>& out);
void largest(const std::vector<float>& a, std::size_t k, std::vector<float>& out);
void unique(const std::vector<std::int32_t>& a, std::vector<std::int32_t>& out);
/// `bins` equal parts of [-1, 1].
void histogram(const std::vector<float>& a, std::size_t bins, std::vector<std::int64_t>& counts);

/// Sorts on the first OpenCL device with Boost.Compute, upload included; false if it is missing.
bool boost_compute_sort(const std::vector<std::uint32_t>& a, std::vector<std::uint32_t>& out);

}  // namespace tutti::bench::peer
