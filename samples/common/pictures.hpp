// SPDX-License-Identifier: Apache-2.0
//
// Pictures that the samples draw: shapes to learn from, many pictures on one sheet, features that
// can be looked at.
#pragma once

#include <cstdint>
#include <tutti/data.hpp>

namespace samples {

/// Discs, squares, triangles and crosses by turns, labels 0 to 3, of random places, sizes and
/// colours: u8 [height, width, 3], 48 to 79 pixels each way. The same numbers give the same
/// pictures everywhere.
tutti::data::dataset drawn_shapes(std::int64_t count, std::uint64_t seed);

/// The first rows * columns of u8 pictures [n, height, width, channels] side by side, fewer where
/// there are fewer; what is left of the last row is black.
tutti::array contact_sheet(const tutti::array& pictures, std::int64_t rows, std::int64_t columns);

/// Features of image::hog(), u8 [n, rows, columns, block, block, orientations], as u8 pictures
/// [n, 8 rows, 8 columns, 1]: in each cell a stroke along each orientation of edges, the brighter
/// the more of them there are.
tutti::array hog_strokes(const tutti::array& features);

}  // namespace samples
