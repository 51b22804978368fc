// SPDX-License-Identifier: Apache-2.0
//
// Recordings of spoken digits, and their spectra.
#pragma once

#include <filesystem>
#include <string>
#include <tutti/signal.hpp>
#include <tutti/tutti.hpp>
#include <vector>

namespace samples {

constexpr std::int64_t mel_bands = 40;

struct spectra_part {
  tutti::host_array x;       ///< spectra, f32 [n, bands, frames]
  tutti::host_array labels;  ///< i64 [n]
};

struct spoken_digits {
  spectra_part training, test;
  std::vector<std::string> classes;
  std::string source;    ///< readable description
  std::string contents;  ///< a number for each recording; other recordings have another number
};

/// Spectra [n, bands, frames] of sounds [n, samples] at this rate: log energies in mel bands, each
/// spectrum normalised to mean 0 and deviation 1.
tutti::array spectra(const tutti::array& sounds, double rate);

/// The spectrum of a file, [1, bands, frames]: its first second, padded with silence. Throws
/// tutti::io_error if the file is not a sound or has another rate.
tutti::array spectrum_of(const std::filesystem::path& file, const tutti::device& on);

/// The recordings DIGIT_SPEAKER_INDEX.wav in data_places(folder, "spoken_digits"); those with an
/// index below `test_indices` are the test part. If no directory is given and none are found,
/// generated sounds: two tones per digit, with noise. Throws tutti::io_error if a part is
/// empty.
spoken_digits load_spoken_digits(const std::filesystem::path& folder, int test_indices,
                                 const tutti::device& on);

}  // namespace samples
