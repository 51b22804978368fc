// SPDX-License-Identifier: Apache-2.0
//
// Random transformations of batches of images and spectra, on their device. The same key gives the
// same transformation on every device, and a different one for each example of the batch. All are
// compositions of other operations: lazy, fused, with gradients.
//
// Images are [n, height, width, channels], as in image/basics.hpp; shape_error for other ranks.
#pragma once

#include <cstdint>

#include "tutti/array.hpp"
#include "tutti/random.hpp"

namespace tutti::data {

/// Crops `height` x `width` pixels at a random position from each image, after padding it with
/// `padding` zeros: [n, height, width, channels]. Any dtype. Throws shape_error if that is larger
/// than the padded image, value_error for negative extents or padding.
TUTTI_API array random_crop(random::key from, const array& pictures, integer height, integer width,
                            integer padding = 0);
/// Mirrors each image horizontally with this probability. Any dtype. Throws value_error for a
/// probability outside [0, 1].
TUTTI_API array random_flip(random::key from, const array& pictures, double probability = 0.5);

/// Strength of the colour changes: 0 is no change.
struct color_jitter_options {
  double brightness = 0;  ///< factor in [max(0, 1 - brightness), 1 + brightness]
  double contrast = 0;    ///< the same for the distance to the image's mean grey
  double saturation = 0;  ///< the same for the distance to the pixel's grey
  double hue = 0;         ///< turns added to HSV's hue, in [-hue, hue]; at most 0.5
};
/// RGB in [0, 1], floating: brightness, contrast, saturation and hue in this order, each with one
/// uniform number per image, values clipped to [0, 1] after each. Grey is image::rgb_to_grey().
/// Throws dtype_error for other dtypes, shape_error unless there are 3 channels, value_error for
/// options that are negative, not finite or, for hue, above 0.5.
TUTTI_API array color_jitter(random::key from, const array& pictures,
                             const color_jitter_options& options);

/// a plus normally distributed noise with this standard deviation. Floating, any shape. Throws
/// dtype_error, value_error for a deviation that is negative or not finite.
TUTTI_API array add_noise(random::key from, const array& a, double deviation);

/// Masks of SpecAugment (D. S. Park et al., "SpecAugment: a simple data augmentation method for
/// automatic speech recognition", Interspeech 2019), without its time warping.
struct spec_augment_options {
  std::int64_t frequency_masks = 2, frequency_width = 8;  ///< F of the paper
  std::int64_t time_masks = 2, time_width = 16;           ///< T of the paper
  double value = 0;                                       ///< value of masked positions
};
/// Spectra [n, frequencies, times]: for each mask and example a width uniform in [0, F], at most
/// the extent, and a first position uniform in [0, extent - width]. Integers and floats. Throws
/// shape_error for other ranks, dtype_error for other dtypes, value_error for negative numbers,
/// more than 1024 masks of a kind, and a value that an integer dtype cannot represent.
TUTTI_API array spec_augment(random::key from, const array& spectra,
                             const spec_augment_options& options = {});

}  // namespace tutti::data
