// SPDX-License-Identifier: Apache-2.0
//
// data::read_sound on files whose samples are known, what it writes, and malformed files.
#include "tutti/data/io.hpp"
#include "tutti/data/sound_files.hpp"
#include "tutti_test/arrays.hpp"
#include "tutti_test/data.hpp"

namespace sound_test {

using namespace tutti::data;
using tutti::host_array;
using tutti::io_error;

namespace {

const std::filesystem::path vectors = data(paths::vectors);

std::vector<float> values(const host_array& a) {
  return {a.values<float>().begin(), a.values<float>().end()};
}

sound stereo() {
  return {host_array::from(std::vector<float>{0, 1.5f, -0.5f, -2, 0.25f, 1.0f / 32768}, {3, 2}),
          8000};
}

}  // namespace

BOOST_AUTO_TEST_CASE(mean_of_channels) {
  const host_array m = mono(stereo());
  BOOST_TEST((m.shape() == shape{3}));
  BOOST_TEST(values(m) == (std::vector<float>{0.75f, -1.25f, 0.125f + 0.5f / 32768}), same);
  const sound one{host_array::from(std::vector<float>{1, 2}, {2, 1}), 8000};
  BOOST_TEST(values(mono(one)) == (std::vector<float>{1, 2}), same);
  BOOST_TEST((mono({}).shape() == shape{0}));
  FAILS(dtype_error, mono({host_array(dtype::f64, {2, 1}), 1}), "f64");
  FAILS(shape_error, mono({host_array(dtype::f32, {2, 0}), 1}), "[2,0]");
}

#if TUTTI_TEST_SOUND

BOOST_AUTO_TEST_CASE(reads_known_samples) {
  for (const auto& [file, rate] : {std::pair{"pcm16.wav", 8000},
                                   {"pcm16_mono.wav", 8000},
                                   {"pcm24.wav", 8000},
                                   {"pcm8.wav", 8000},
                                   {"flac16.flac", 44100},
                                   {"float.wav", 16000}}) {
    BOOST_TEST_CONTEXT(file) {
      const sound s = read_sound(vectors / file);
      const host_array expected = host_array::of(
          tutti::io::load_npy(vectors / (std::filesystem::path(file).stem().string() + ".npy")));
      BOOST_TEST(s.rate == rate);
      BOOST_TEST((s.samples.shape() == expected.shape()));
      BOOST_TEST(values(s.samples) == values(expected), same);
    }
  }
}

BOOST_AUTO_TEST_CASE(written_sound_reads_the_same) {
  const temporary_folder folder;
  const auto back = [&](const sound& s, sound_format format) {
    write_sound(folder / "a", s, format);
    const sound read = read_sound(folder / "a");
    BOOST_TEST(read.rate == s.rate);
    return values(read.samples);
  };
  BOOST_TEST(back(stereo(), sound_format::wav_float) == values(stereo().samples), same);
  const float most = 32767.0f / 32768;
  const std::vector<float> rounded{0, most, -0.5f, -1, 0.25f, 1.0f / 32768};
  BOOST_TEST(back(stereo(), sound_format::wav_pcm16) == rounded, same);
  BOOST_TEST(back(stereo(), sound_format::flac16) == rounded, same);
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const sound odd{host_array::from(std::vector<float>{nan, 0.3f}, {2}), 1};
  BOOST_TEST(back(odd, sound_format::wav_pcm16) ==
                 (std::vector<float>{0, std::round(0.3f * 32768) / 32768}),
             same);
  const sound silent{host_array(dtype::f32, {0, 1}), 8000};
  BOOST_TEST(back(silent, sound_format::wav_pcm16).empty());
}

BOOST_AUTO_TEST_CASE(malformed_sound) {
  const std::string wav = read_bytes(vectors / "pcm16.wav");
  const std::string flac = read_bytes(vectors / "flac16.flac");
  FAILS(io_error, decode_sound(""), "decode_sound");
  FAILS(io_error, decode_sound("RIFF"), "decode_sound");
  FAILS(io_error, read_sound(vectors / "other.aiff"), "neither WAV nor FLAC");
  FAILS(io_error, read_sound("no_such_file"), "no_such_file");
  FAILS(io_error, decode_sound(wav.substr(0, wav.size() - 1)), "truncated");
  FAILS(io_error, decode_sound(wav.substr(0, 50)), "truncated");
  BOOST_CHECK_THROW(decode_sound(flac.substr(0, flac.size() - 20)), io_error);
  std::string changed = flac;
  changed[flac.size() - 30] = static_cast<char>(changed[flac.size() - 30] ^ 0x55);
  BOOST_CHECK_THROW(decode_sound(changed), io_error);
}

BOOST_AUTO_TEST_CASE(sound_that_cannot_be_written) {
  const temporary_folder folder;
  const auto writing = [&](host_array a, std::int64_t rate, sound_format format) {
    return [&, a, rate, format] { write_sound(folder / "a", {a, rate}, format); };
  };
  const host_array one(dtype::f32, {2, 1});
  constexpr sound_format wav = sound_format::wav_pcm16;
  BOOST_TEST(fails<tutti::value_error>(writing(one, 0, wav), "0 frames a second"));
  BOOST_TEST(fails<tutti::value_error>(writing(one, 1ll << 40, wav), "frames a second"));
  BOOST_TEST(fails<tutti::value_error>(writing(one, 1, static_cast<sound_format>(9)),
                                       "write_sound: unknown format 9"));
  BOOST_TEST(fails<tutti::dtype_error>(writing(host_array(dtype::i16, {2, 1}), 1, wav), "i16"));
  BOOST_TEST(
      fails<tutti::shape_error>(writing(host_array(dtype::f32, {2, 1, 1}), 1, wav), "[2,1,1]"));
  BOOST_TEST(fails<tutti::shape_error>(
      writing(host_array(dtype::f32, {2, 9}), 8000, sound_format::flac16), "more than 8"));
  BOOST_TEST(folder.file_count() == 0u);
}

#else

BOOST_AUTO_TEST_CASE(sound_is_refused) {
  FAILS(io_error, read_sound(vectors / "pcm16.wav"), "no libsndfile");
  FAILS(io_error, read_sound("no_such_file"), "no_such_file: cannot open");
}

#endif

}  // namespace sound_test
