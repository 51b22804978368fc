// SPDX-License-Identifier: Apache-2.0
//
// Parts of networks for images and spectra, [n, channels, rows, columns].
#pragma once

#include <cstdint>
#include <tutti/nn.hpp>
#include <tutti/tutti.hpp>
#include <vector>

namespace samples {

/// For each width: a 3 x 3 convolution to that number of channels, batch norm, ReLU, and max
/// pooling, which halves rows and columns.
std::vector<tutti::nn::layer> convolutions(std::int64_t channels,
                                           const std::vector<std::int64_t>& widths,
                                           tutti::random::key key, const tutti::device& on);

/// A convolution to 16 channels, three residual blocks (K. He et al., "Deep Residual Learning for
/// Image Recognition", CVPR 2016) with 16, 32 and 64 channels, the last two of which halve rows and
/// columns, and the mean over all positions: [n, 64].
std::vector<tutti::nn::layer> residual_blocks(std::int64_t channels, tutti::random::key key,
                                              const tutti::device& on);

}  // namespace samples
