// SPDX-License-Identifier: Apache-2.0
//
// Images drawn by the samples: shapes for training, contact sheets, visualised features.
#pragma once

#include <cstdint>
#include <tutti/data.hpp>

namespace samples {

/// Discs, squares, triangles and crosses in turn, labels 0 to 3, with random positions, sizes and
/// colours: u8 [height, width, 3], 48 to 79 pixels each way. The images depend only on the
/// arguments.
tutti::data::dataset drawn_shapes(std::int64_t count, std::uint64_t seed);

/// The first rows * columns of u8 images [n, height, width, channels] side by side, fewer if there
/// are fewer; the rest of the last row is black.
tutti::array contact_sheet(const tutti::array& pictures, std::int64_t rows, std::int64_t columns);

/// Features of image::hog(), u8 [n, rows, columns, block, block, orientations], as u8 images [n, 8
/// rows, 8 columns, 1]: each cell has a stroke along each edge orientation, whose brightness shows
/// its weight.
tutti::array hog_strokes(const tutti::array& features);

}  // namespace samples
