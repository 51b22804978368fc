// SPDX-License-Identifier: Apache-2.0
//
// Pictures of several sizes and recordings of several rates and lengths become alike.
#include <numbers>
#include <tutti/data.hpp>

#include "common/picture_data.hpp"
#include "common/spoken_digits.hpp"
#include "tutti_test/arrays.hpp"

namespace training_data_test {

using tutti::host_array;

namespace {

/// A grey picture of one value.
std::string picture(int height, int width, int value) {
  std::string text = "P2 " + std::to_string(width) + " " + std::to_string(height) + " 255\n";
  for (int i = 0; i < height * width; ++i) text += std::to_string(value) + "\n";
  return text;
}

/// Three tones in the first second, then one of another height.
std::vector<float> tones(std::int64_t rate, double seconds) {
  std::vector<float> out(static_cast<std::size_t>(seconds * static_cast<double>(rate)));
  for (std::size_t i = 0; i < out.size(); ++i) {
    const double t = static_cast<double>(i) / static_cast<double>(rate);
    for (const double hertz : {300.0, 1100.0, 2700.0})
      out[i] += static_cast<float>(
          0.2 * std::sin(2 * std::numbers::pi * (t < 1 ? hertz : hertz + 500) * t));
  }
  return out;
}

std::vector<float> spectrum(const temporary_folder& folder, std::int64_t rate, double seconds) {
  const std::vector<float> samples = tones(rate, seconds);
  tutti::data::write_sound(folder / "tones.wav",
                           {host_array::from(samples, {std::ssize(samples)}), rate},
                           tutti::data::sound_format::wav_float);
  return samples::spectrum_of(folder / "tones.wav", tutti::default_device()).to_vector<float>();
}

double mean_difference(const std::vector<float>& a, const std::vector<float>& b) {
  BOOST_TEST_REQUIRE(a.size() == b.size());
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) sum += std::abs(a[i] - b[i]);
  return sum / static_cast<double>(a.size());
}

}  // namespace

BOOST_AUTO_TEST_CASE(pictures_become_as_large_as_the_first_or_as_is_asked) {
  const temporary_folder outside;
  for (const char* part : {"train/a", "train/b", "test/a"})
    std::filesystem::create_directories(outside / part);
  outside.write("train/a/1.pgm", picture(8, 10, 7));
  outside.write("train/b/1.pgm", picture(30, 20, 99));
  outside.write("test/a/1.pgm", picture(3, 3, 200));
  for (const std::int64_t side : {0, 16}) {
    const samples::picture_data got = samples::load_pictures(outside.path(), side, {1});
    const std::int64_t height = side == 0 ? 8 : side, width = side == 0 ? 10 : side;
    BOOST_TEST((got.training.x.shape() == tutti::shape{2, height, width, 3}));
    BOOST_TEST((got.test.x.shape() == tutti::shape{1, height, width, 3}));
    const auto training = got.training.x.values<std::uint8_t>();
    BOOST_TEST(int{training.front()} == 7);
    BOOST_TEST(int{training.back()} == 99);
    BOOST_TEST(int{got.test.x.values<std::uint8_t>()[5]} == 200);
  }
  FAILS(value_error, samples::load_pictures({}, 16, {1}), "--size");
  FAILS(io_error, samples::load_pictures(outside / "no", 0, {1}), "no is no folder");
}

// Levels are normalised to a deviation of 1. Resampling leaves its ripples below the loud bands,
// and the ends of the recording.
BOOST_AUTO_TEST_CASE(recordings_of_any_rate_and_length_have_one_spectrum) {
  const temporary_folder folder;
  const std::vector<float> expected = spectrum(folder, 8000, 1);
  BOOST_TEST(spectrum(folder, 8000, 2.5) == expected, same);
  for (const std::int64_t rate : {11025, 16000, 44100, 48000})
    BOOST_TEST(mean_difference(spectrum(folder, rate, 1.5), expected) < 0.1);
  BOOST_TEST(mean_difference(spectrum(folder, 8000, 0.5), expected) > 0.3);  // silence is seen
  const std::vector<float> none, nan(100, NAN);
  for (const auto& samples : {none, nan}) {
    tutti::data::write_sound(folder / "bad.wav",
                             {host_array::from(samples, {std::ssize(samples)}), 8000},
                             tutti::data::sound_format::wav_float);
    FAILS(io_error, samples::spectrum_of(folder / "bad.wav", tutti::default_device()),
          "bad.wav: holds no sound");
  }
}

BOOST_AUTO_TEST_CASE(other_recordings_of_the_same_names_are_told_apart) {
  const temporary_folder folder;
  const auto contents = [&](double seconds) {
    for (const char* name : {"3_a_0.wav", "4_a_1.wav"}) {
      const std::vector<float> samples = tones(8000, name[0] == '3' ? 1 : seconds);
      tutti::data::write_sound(folder / name,
                               {host_array::from(samples, {std::ssize(samples)}), 8000},
                               tutti::data::sound_format::wav_float);
    }
    return samples::load_spoken_digits(folder.path(), 1, tutti::default_device()).contents;
  };
  const std::string first = contents(1);
  BOOST_TEST(contents(1) == first);
  BOOST_TEST(contents(0.5) != first);
}

}  // namespace training_data_test
