// SPDX-License-Identifier: Apache-2.0
//
// Recordings of spoken digits, and the spectra that a network sees of them.
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
  std::string source;  ///< for people
};

/// Spectra [n, bands, frames] of sounds [n, samples] at this rate: logarithms of the energy in mel
/// bands, each spectrum shifted and scaled to mean 0 and deviation 1.
tutti::array spectra(const tutti::array& sounds, double rate);

/// The spectrum of a file, [1, bands, frames]: its first second, with silence behind if it is
/// shorter. Throws tutti::io_error for a file that is no sound, and for one of another rate.
tutti::array spectrum_of(const std::filesystem::path& file, const tutti::device& on);

/// The recordings DIGIT_SPEAKER_INDEX.wav in `folder`; those with an index below `test_indices` are
/// the test. Where `folder` is empty, those in TUTTI_DATA or its folder spoken_digits, else sounds
/// that are made here: two tones a digit, in noise. Throws tutti::io_error where there are none for
/// one of the parts.
spoken_digits load_spoken_digits(const std::filesystem::path& folder, int test_indices,
                                 const tutti::device& on);

}  // namespace samples
