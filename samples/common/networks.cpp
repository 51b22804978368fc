// SPDX-License-Identifier: Apache-2.0
//
// Parts of networks for images and spectra.
#include "common/networks.hpp"

namespace samples {

namespace nn = tutti::nn;
using tutti::dtype;

namespace {

nn::layer convolution(std::int64_t in, std::int64_t out, int size, int stride,
                      tutti::random::key key, const tutti::device& on) {
  const nn::conv_options options{.stride = stride, .padding = size / 2, .bias = false};
  return nn::sequential({nn::conv2d(in, out, size, key, options, dtype::f32, on),
                         nn::batch_norm(out, {}, dtype::f32, on)});
}

nn::layer residual_block(std::int64_t in, std::int64_t out, int stride, tutti::random::key key,
                         const tutti::device& on) {
  const auto keys = tutti::random::split(key, 3);
  const nn::layer body =
      nn::sequential({convolution(in, out, 3, stride, keys[0], on), nn::activate(tutti::relu),
                      convolution(out, out, 3, 1, keys[1], on)});
  const nn::layer shortcut = convolution(in, out, 1, stride, keys[2], on);
  return nn::sequential({nn::residual(body, shortcut), nn::activate(tutti::relu)});
}

}  // namespace

std::vector<nn::layer> convolutions(std::int64_t channels, const std::vector<std::int64_t>& widths,
                                    tutti::random::key key, const tutti::device& on) {
  std::vector<nn::layer> out;
  for (std::size_t i = 0; i < widths.size(); ++i) {
    const tutti::random::key own = tutti::random::fold_in(key, static_cast<std::int64_t>(i));
    out.push_back(convolution(i == 0 ? channels : widths[i - 1], widths[i], 3, 1, own, on));
    out.push_back(nn::activate(tutti::relu));
    out.push_back(nn::max_pool(2));
  }
  return out;
}

std::vector<nn::layer> residual_blocks(std::int64_t channels, tutti::random::key key,
                                       const tutti::device& on) {
  const auto keys = tutti::random::split(key, 4);
  return {convolution(channels, 16, 3, 1, keys[0], on), nn::activate(tutti::relu),
          residual_block(16, 16, 1, keys[1], on),       residual_block(16, 32, 2, keys[2], on),
          residual_block(32, 64, 2, keys[3], on),       nn::global_avg_pool()};
}

}  // namespace samples
