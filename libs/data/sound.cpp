// SPDX-License-Identifier: Apache-2.0
//
// Sound with libsndfile, from and to bytes in memory: files are read and replaced like all others.
// libsndfile treats missing samples of a WAV file as its end, so this is checked here.
#include <fmt/format.h>

#include "base/fail.hpp"
#include "data/io/file.hpp"
#include "tutti/data/sound_files.hpp"
#include "tutti/host_memory.hpp"

#if TUTTI_HAVE_SNDFILE
#include <sndfile.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <memory>
#include <new>
#endif

namespace tutti::data {

namespace {

void require_samples(const host_array& samples, std::string_view op) {
  if (samples.dtype() != dtype::f32)
    base::fail<dtype_error>("{}: samples are f32, not {}", op, samples.dtype());
  const shape& s = samples.shape();
  if (s.rank() != 1 && s.rank() != 2)
    base::fail<shape_error>("{}: samples are [frames, channels], not {}", op, s);
  if (s.rank() == 2 && s[1] < 1)
    base::fail<shape_error>("{}: samples without a channel: {}", op, s);
}

std::int64_t channels_of(const host_array& samples) {
  return samples.shape().rank() == 2 ? samples.shape()[1] : 1;
}

}  // namespace

#if TUTTI_HAVE_SNDFILE

namespace {

/// A file in memory, for libsndfile's callbacks: for reading or writing.
struct memory_file {
  std::string_view in;
  std::string out{};
  std::int64_t at = 0;
  bool is_written = false, has_no_memory = false;

  std::int64_t size() const {
    return static_cast<std::int64_t>(is_written ? out.size() : in.size());
  }
};

memory_file& file_of(void* user) { return *static_cast<memory_file*>(user); }

sf_count_t length_of(void* user) { return file_of(user).size(); }
sf_count_t position_of(void* user) { return file_of(user).at; }

sf_count_t seek_in(sf_count_t offset, int whence, void* user) {
  memory_file& f = file_of(user);
  std::int64_t to = whence == SEEK_CUR ? f.at : whence == SEEK_END ? f.size() : 0;
  if (__builtin_add_overflow(to, offset, &to) || to < 0) return -1;
  return f.at = to;
}

sf_count_t read_from(void* to, sf_count_t count, void* user) {
  memory_file& f = file_of(user);
  count = std::clamp<sf_count_t>(f.size() - f.at, 0, std::max<sf_count_t>(count, 0));
  if (count > 0) std::memcpy(to, f.in.data() + f.at, static_cast<std::size_t>(count));
  f.at += count;
  return count;
}

sf_count_t write_to(const void* from, sf_count_t count, void* user) {
  memory_file& f = file_of(user);
  try {
    const auto begin = static_cast<std::size_t>(f.at), size = static_cast<std::size_t>(count);
    if (f.out.size() < begin + size) f.out.resize(begin + size);
    std::memcpy(f.out.data() + begin, from, size);
    f.at += count;
    return count;
  } catch (const std::bad_alloc&) {  // exceptions must not cross a C library
    f.has_no_memory = true;
    return 0;
  }
}

SF_VIRTUAL_IO callbacks() { return {length_of, seek_in, read_from, write_to, position_of}; }

using open_sound = std::unique_ptr<SNDFILE, decltype([](SNDFILE* f) { sf_close(f); })>;

std::uint32_t little_endian(std::string_view bytes) {
  std::uint32_t out = 0;
  std::memcpy(&out, bytes.data(), sizeof out);
  return out;
}

/// Whether the file ends within the chunk of samples. Sizes that a writer to a pipe did not know (0
/// and all bits set) are ignored.
bool is_cut_wav(std::string_view bytes) {
  constexpr std::size_t riff_header = 12, chunk_header = 8;
  if (!bytes.starts_with("RIFF")) return false;
  for (std::size_t at = riff_header;
       bytes.size() >= chunk_header && at <= bytes.size() - chunk_header;) {
    const std::size_t size = little_endian(bytes.substr(at + 4));
    const bool is_unknown = size == 0 || size == 0xffffffffu;
    if (bytes.substr(at, 4) == "data")
      return !is_unknown && size > bytes.size() - at - chunk_header;
    at += chunk_header + size + size % 2;
  }
  return false;
}

bool is_supported(int format) {
  const int kind = format & SF_FORMAT_TYPEMASK;
  return kind == SF_FORMAT_WAV || kind == SF_FORMAT_WAVEX || kind == SF_FORMAT_RF64 ||
         kind == SF_FORMAT_FLAC;
}

struct sound_source {
  std::string_view op;
  std::filesystem::path path;
  template <class... V>
  [[noreturn]] void fail(fmt::format_string<const V&...> what, const V&... values) const {
    io::fail(op, path, what, values...);
  }
};

sound decoded_sound(std::string_view bytes, const sound_source& from) {
  if (is_cut_wav(bytes)) from.fail("truncated: it ends within its samples");
  memory_file memory{bytes};
  SF_VIRTUAL_IO io = callbacks();
  SF_INFO info{};
  const open_sound file(sf_open_virtual(&io, SFM_READ, &info, &memory));
  if (!file) from.fail("is no sound that is read: {}", sf_strerror(nullptr));
  if (!is_supported(info.format)) from.fail("is neither WAV nor FLAC");
  constexpr int most_channels = 1024;
  if (info.channels < 1 || info.channels > most_channels || info.samplerate < 1)
    from.fail("has {} channels and {} frames a second", info.channels, info.samplerate);
  // In pieces: the number of frames in the header may be wrong.
  constexpr std::int64_t frames_at_once = 4096;
  const auto channels = static_cast<std::size_t>(info.channels);
  std::vector<float> samples;
  std::vector<float> piece(static_cast<std::size_t>(frames_at_once) * channels);
  for (;;) {
    const sf_count_t count = sf_readf_float(file.get(), piece.data(), frames_at_once);
    if (count <= 0) break;
    const auto size = static_cast<std::ptrdiff_t>(static_cast<std::size_t>(count) * channels);
    samples.insert(samples.end(), piece.begin(), piece.begin() + size);
  }
  if (sf_error(file.get()) != SF_ERR_NO_ERROR)
    from.fail("as sound it is malformed: {}", sf_strerror(file.get()));
  const auto frames = static_cast<std::int64_t>(samples.size() / channels);
  constexpr sf_count_t unknown = std::numeric_limits<sf_count_t>::max();
  if (info.frames != unknown && frames != info.frames)
    from.fail("truncated: it has {} of {} frames", frames, info.frames);
  return {host_array::from(samples, {frames, info.channels}), info.samplerate};
}

sound decoded_within_memory(std::string_view bytes, const sound_source& from) {
  try {
    return decoded_sound(bytes, from);
  } catch (const std::bad_alloc&) {
    detail::host_memory_ran_out(from.op, bytes.size(), 1);
  }
}

std::int16_t as_pcm16(float sample) {
  constexpr float full = 32768;
  if (std::isnan(sample)) return 0;
  return static_cast<std::int16_t>(std::lrint(std::clamp(sample * full, -full, full - 1)));
}

int format_number(sound_format format) {
  base::require_known("write_sound", "format", format, sound_format::flac16);
  constexpr int numbers[] = {SF_FORMAT_WAV | SF_FORMAT_PCM_16, SF_FORMAT_WAV | SF_FORMAT_FLOAT,
                             SF_FORMAT_FLAC | SF_FORMAT_PCM_16};
  return numbers[static_cast<int>(format)];
}

std::string encoded_sound(const sound& s, sound_format format, const io::writer& to) {
  const std::span<const float> samples = s.samples.values<float>();
  SF_INFO info{};
  info.samplerate = static_cast<int>(s.rate);
  info.channels = static_cast<int>(channels_of(s.samples));
  info.format = format_number(format);
  memory_file memory;
  memory.is_written = true;
  SF_VIRTUAL_IO io = callbacks();
  open_sound file(sf_open_virtual(&io, SFM_WRITE, &info, &memory));
  if (!file) to.fail("cannot be written as sound: {}", sf_strerror(nullptr));
  const auto count = static_cast<sf_count_t>(samples.size());
  sf_count_t written = 0;
  if (format == sound_format::wav_float) {
    written = sf_write_float(file.get(), samples.data(), count);
  } else {
    auto numbers = detail::host_vector<std::int16_t>("write_sound", samples.size());
    std::transform(samples.begin(), samples.end(), numbers.begin(), as_pcm16);
    written = sf_write_short(file.get(), numbers.data(), count);
  }
  const bool is_closed = sf_close(file.release()) == 0;  // buffered data, and the header
  if (memory.has_no_memory) detail::host_memory_ran_out("write_sound", samples.size(), 4);
  if (written != count || !is_closed) to.fail("cannot be written as sound");
  return std::move(memory.out);
}

}  // namespace

sound read_sound(const std::filesystem::path& path) {
  constexpr std::string_view op = "read_sound";
  const std::string bytes = io::read_whole(op, path, "the sound");
  return decoded_within_memory(bytes, {op, path});
}

sound decode_sound(std::string_view bytes) {
  return decoded_within_memory(bytes, {"decode_sound", "bytes in memory"});
}

void write_sound(const std::filesystem::path& path, const sound& s, sound_format format) {
  constexpr std::string_view op = "write_sound";
  require_samples(s.samples, op);
  if (s.rate < 1 || s.rate > std::numeric_limits<std::int32_t>::max())
    base::fail<value_error>("{}: {} frames a second", op, s.rate);
  const std::int64_t most = format == sound_format::flac16 ? 8 : 1024;
  if (channels_of(s.samples) > most)
    base::fail<shape_error>("{}: {} has more than {} channels", op, s.samples.shape(), most);
  io::writer out(op, path);
  out.write(encoded_sound(s, format, out));
  out.commit();
}

#else

namespace {
[[noreturn]] void refuse(std::string_view op, const std::filesystem::path& path) {
  io::fail(op, path, "sound is not supported: this build of the library has no libsndfile");
}
}  // namespace

sound read_sound(const std::filesystem::path& path) {
  io::read_whole("read_sound", path, "the sound");  // reports a missing file
  refuse("read_sound", path);
}
sound decode_sound(std::string_view) { refuse("decode_sound", "bytes in memory"); }
void write_sound(const std::filesystem::path& path, const sound& s, sound_format) {
  require_samples(s.samples, "write_sound");
  refuse("write_sound", path);
}

#endif

host_array mono(const sound& s) {
  require_samples(s.samples, "mono");
  const std::int64_t channels = channels_of(s.samples), frames = s.samples.shape()[0];
  if (channels == 1) return host_array(s.samples).reshape({frames});
  host_array out(dtype::f32, {frames});
  const float* from = s.samples.values<float>().data();
  for (float& mean : out.values<float>()) {
    double sum = 0;
    for (std::int64_t c = 0; c < channels; ++c) sum += *from++;
    mean = static_cast<float>(sum / static_cast<double>(channels));
  }
  return out;
}

}  // namespace tutti::data
