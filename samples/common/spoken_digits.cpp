// SPDX-License-Identifier: Apache-2.0
//
// Recordings of spoken digits, and their spectra.
#include "common/spoken_digits.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numbers>
#include <numeric>
#include <optional>
#include <tutti/data.hpp>

#include "common/data_files.hpp"

namespace samples {

using tutti::array;
using tutti::host_array;
namespace fs = std::filesystem;

namespace {

constexpr std::int64_t rate = 8000, window = 256, hop = 128;

struct recording {
  fs::path file;
  std::int64_t digit = 0;
  int index = 0;
  std::vector<float> sound{};  // if there is no file
};

/// Parses a name like 7_theo_12.wav.
std::optional<recording> parsed(const fs::path& file) {
  const std::string name = file.stem().string();
  const std::size_t last = name.rfind('_');
  if (file.extension() != ".wav" || name.size() < 5 || name[0] < '0' || name[0] > '9' ||
      name[1] != '_' || last < 2)
    return std::nullopt;
  recording out{file, name[0] - '0', 0};
  const char* const end = name.data() + name.size();
  const auto [at, error] = std::from_chars(name.data() + last + 1, end, out.index);
  return error == std::errc() && at == end ? std::optional(out) : std::nullopt;
}

std::vector<recording> recordings_in(const fs::path& folder) {
  std::vector<recording> out;
  std::error_code code;
  for (const auto& entry : fs::directory_iterator(folder, code))
    if (const auto found = parsed(entry.path())) out.push_back(*found);
  if (code) throw tutti::io_error(fmt::format("{}: {}", folder.string(), code.message()));
  std::sort(out.begin(), out.end(), [](const auto& a, const auto& b) { return a.file < b.file; });
  return out;
}

/// The first second at 8,000 samples per second, padded with silence.
std::vector<float> one_second(const fs::path& file, const tutti::device& on) {
  const tutti::data::sound sound = tutti::data::read_sound(file);
  const host_array samples = tutti::data::mono(sound);
  const auto values = samples.values<float>();
  if (values.empty() || !std::all_of(values.begin(), values.end(), [](float v) { return v == v; }))
    throw tutti::io_error(file.string() + ": holds no sound, or samples that are no numbers");
  const auto count = std::min(std::ssize(values), std::int64_t{sound.rate});
  std::vector<float> out(values.begin(), values.begin() + count);
  if (sound.rate != rate) {
    const std::int64_t shared = std::gcd(rate, sound.rate);
    try {
      out = tutti::signal::resample_poly(array::from(out, on), rate / shared, sound.rate / shared)
                .to_vector<float>();
    } catch (const tutti::value_error& e) {
      throw tutti::io_error(
          fmt::format("{}: {} samples a second: {}", file.string(), sound.rate, e.what()));
    }
  }
  out.resize(static_cast<std::size_t>(rate));
  return out;
}

/// The spectra of all; threads read files while the spectra of earlier ones are computed.
spectra_part part_of(const std::vector<recording>& all, const tutti::device& on) {
  const auto sound = [&](std::int64_t i, tutti::random::key) {
    const recording& r = all[static_cast<std::size_t>(i)];
    return tutti::data::item{
        host_array::from(r.sound.empty() ? one_second(r.file, on) : r.sound, {rate})};
  };
  const tutti::data::loader batches({.size = std::ssize(all), .get = sound},
                                    {.batch_size = 200, .shuffle = false, .on = on});
  std::vector<float> values;
  tutti::shape extents;
  for (const tutti::data::batch& b : batches.start(0)) {
    const array some = spectra(b.arrays[0], rate);
    const std::vector<float> own = some.to_vector<float>();
    values.insert(values.end(), own.begin(), own.end());
    extents = some.shape();
  }
  extents[0] = std::ssize(all);
  std::vector<std::int64_t> labels;
  for (const recording& r : all) labels.push_back(r.digit);
  return {host_array::from(values, extents), host_array::from(labels, {extents[0]})};
}

/// Two consecutive tones per digit, 60 times, with noise.
std::vector<recording> made_sounds() {
  std::vector<recording> out;
  for (int index = 0; index < 60; ++index) {
    const std::vector<float> noise =
        tutti::random::normal({static_cast<std::uint64_t>(index)}, {10 * rate}, 0, 0.05)
            .to_vector<float>();
    for (int digit = 0; digit < 10; ++digit) {
      std::vector<float> sound(noise.begin() + digit * rate, noise.begin() + (digit + 1) * rate);
      for (std::int64_t t = 0; t < rate / 2; ++t) {
        const double hertz = t < rate / 4 ? 300 + 90 * digit : 1500 - 110 * digit;
        const double bent = hertz * (1 + 0.004 * (index % 9 - 4));
        const auto at = static_cast<std::size_t>(t + 40 * (index % 50));
        sound[at] += static_cast<float>(
            0.2 * std::sin(2 * std::numbers::pi * bent * static_cast<double>(t) / rate));
      }
      out.push_back({{}, digit, index, std::move(sound)});
    }
  }
  return out;
}

}  // namespace

array spectra(const array& sounds, double at_rate) {
  const array energy =
      tutti::signal::mel_spectrogram(sounds, at_rate, window, {.hop = hop}, {.bands = mel_bands});
  const array levels = log(energy + 1e-6);
  const array centered = levels - mean(levels, {{1, 2}, true});
  return centered / sqrt(mean(square(centered), {{1, 2}, true}) + 1e-6);
}

array spectrum_of(const fs::path& file, const tutti::device& on) {
  return spectra(array::from(one_second(file, on), {1, rate}, on), rate);
}

spoken_digits load_spoken_digits(const fs::path& folder, int test_indices,
                                 const tutti::device& on) {
  std::vector<recording> all;
  spoken_digits out;
  for (const fs::path& place : data_places(folder, "spoken_digits")) {
    if (fs::is_directory(place)) all = recordings_in(place);
    if (all.empty()) continue;
    out.source = "recordings in " + place.string();
    break;
  }
  if (all.empty() && !folder.empty())
    throw tutti::io_error(folder.string() + ": no recordings DIGIT_SPEAKER_INDEX.wav");
  if (all.empty()) {
    all = made_sounds();
    out.source = "two tones a digit, made here (scripts/get-data spoken_digits fetches recordings)";
  }
  for (const recording& r : all) {
    const std::string made(reinterpret_cast<const char*>(r.sound.data()),
                           r.sound.size() * sizeof(float));
    out.contents +=
        fmt::format("{} ", std::hash<std::string>{}(r.file.empty() ? made : read_text(r.file)));
  }
  std::vector<recording> training, test;
  for (recording& r : all) (r.index < test_indices ? test : training).push_back(std::move(r));
  if (training.empty() || test.empty())
    throw tutti::io_error(fmt::format("{}: no recording with an index {} {}", out.source,
                                      test.empty() ? "below" : "of at least", test_indices));
  out.training = part_of(training, on);
  out.test = part_of(test, on);
  for (int digit = 0; digit < 10; ++digit) out.classes.push_back(std::to_string(digit));
  return out;
}

}  // namespace samples
