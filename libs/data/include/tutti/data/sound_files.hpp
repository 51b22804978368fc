// SPDX-License-Identifier: Apache-2.0
//
// Sound files: WAV and FLAC, with libsndfile. A library that was built without it throws io_error
// for both.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string_view>

#include "tutti/host_array.hpp"

namespace tutti::data {

struct sound {
  host_array samples{dtype::f32, {0, 1}};  ///< [frames, channels], f32; full scale is [-1, 1)
  std::int64_t rate = 0;                   ///< frames per second
};

/// A complete WAV (RIFF, WAVEX and RF64; samples of any width that libsndfile decodes) or FLAC
/// file. Integers are divided by the largest magnitude of their width, so that those of up to 24
/// bits are exact; floats are not changed. Throws io_error for other formats, for damage, and for
/// files with fewer frames than their header states.
TUTTI_API sound read_sound(const std::filesystem::path& path);
/// The same for bytes in memory.
TUTTI_API sound decode_sound(std::string_view bytes);

/// The mean of the channels, [frames]; for one channel the samples themselves.
TUTTI_API host_array mono(const sound& s);

enum class sound_format : std::uint8_t {
  wav_pcm16,  ///< rounded to 16 bits, clipped to [-1, 1)
  wav_float,  ///< without loss
  flac16,     ///< rounded to 16 bits, clipped to [-1, 1)
};

/// Replaces the file as described in io.hpp. Samples of rank 1 are one channel. Throws value_error
/// for a rate that is not positive or does not fit 32 bits, dtype_error for other samples than f32,
/// shape_error for other ranks than 1 and 2, and for no channels or more than the format supports
/// (FLAC 8, WAV 1024).
TUTTI_API void write_sound(const std::filesystem::path& path, const sound& s,
                           sound_format format = sound_format::wav_pcm16);

}  // namespace tutti::data
