// SPDX-License-Identifier: Apache-2.0
//
// Mutations of sound files, read by every reader: each gives a tutti::io_error (or out_of_memory)
// or well-formed arrays, within bounds of time and memory. Also DLPack tensors with mutated fields.
// The seed is TUTTI_TEST_SEED.
#include <sodium.h>
#include <sys/resource.h>
#include <zlib.h>

#include "mutations.hpp"
#include "tutti/data.hpp"
#include "tutti/data/checkpoint.hpp"
#include "tutti/data/image_files.hpp"
#include "tutti/data/io.hpp"
#include "tutti/data/sound_files.hpp"
#include "tutti/dlpack_structs.h"
#include "tutti_test/arrays.hpp"

namespace io = tutti::io;
namespace fs = std::filesystem;

namespace {

constexpr int rounds = TUTTI_TEST_EVERYTHING ? 20000 : 400;
constexpr double most_seconds = 5;
constexpr std::uint64_t most_bytes = std::uint64_t{64} << 20;  // that a few kB may become

std::vector<array> some_arrays() {
  return {tutti::arange(12, dtype::f32).reshape({3, 4}), tutti::zeros({300}, dtype::u8),
          array::from(std::vector<bool>{true, false, true}, {3}), array::from<double>({2.5}),
          tutti::zeros({2, 0}, dtype::i64)};
}

io::named_arrays named() {
  io::named_arrays out;
  for (const array& a : some_arrays()) out.emplace("a" + std::to_string(out.size()), a);
  return out;
}

std::string bytes_of(const std::function<void(const fs::path&)>& save) {
  const temporary_folder folder;
  save(folder / "a");
  return tutti_test::read_bytes(folder / "a");
}

std::string gzip(const std::string& text) {
  return bytes_of([&](const fs::path& path) {
    gzFile out = gzopen(path.c_str(), "wb");
    BOOST_REQUIRE(out != nullptr);
    gzwrite(out, text.data(), static_cast<unsigned>(text.size()));
    gzclose(out);
  });
}

void check_sound(const array& a) {
  BOOST_TEST(a.nbytes() <= most_bytes);
  BOOST_TEST(static_cast<std::uint64_t>(a.shape().size()) * tutti::size_of(a.dtype()) ==
             a.nbytes());
  std::vector<std::byte> values(a.nbytes());
  a.copy_to(values.data(), values.size());
}

void check_sound(const tutti::host_array& a) {
  BOOST_TEST(a.bytes().size() <= most_bytes);
  BOOST_TEST(static_cast<std::uint64_t>(a.size()) * tutti::size_of(a.dtype()) == a.bytes().size());
}

void check_sound(const io::named_arrays& arrays) {
  for (const auto& [name, a] : arrays) check_sound(a);
}

void check_sound(const io::table& t) {
  BOOST_TEST(t.rows > 0);
  BOOST_TEST(t.columns > 0);
  BOOST_TEST(t.values.size() == static_cast<std::size_t>(t.rows * t.columns));
}

void within_bounds(const std::function<void()>& body) {
  const auto begin = std::chrono::steady_clock::now();
  try {
    body();
  } catch (const tutti::io_error& e) {
    BOOST_TEST(std::string_view(e.what()).size() < 1000u);
  } catch (const tutti::out_of_memory& e) {
    BOOST_TEST(std::string_view(e.what()).size() < 1000u);
  } catch (const std::exception& e) {
    BOOST_ERROR("neither io_error nor out_of_memory: " << e.what());
  }
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  BOOST_TEST(took.count() < most_seconds);
}

// In kB. Sanitizers keep what is freed for a while, so that this bounds them only loosely.
long peak_memory() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss;
}

void fuzz(const std::vector<std::string>& sound, const std::function<void(const fs::path&)>& read) {
  const temporary_folder folder;
  const long before = peak_memory();
  for (const std::string& bytes : sound) BOOST_CHECK_NO_THROW(read(folder.write("sound", bytes)));
  for (int round = 0; round < rounds; ++round) {
    mutator change(static_cast<std::uint64_t>(round));
    BOOST_TEST_CHECKPOINT("round " << round);
    BOOST_TEST_CONTEXT("round " << round) {
      const auto path = folder.write("changed", change(sound));
      within_bounds([&] { read(path); });
    }
  }
  BOOST_TEST(peak_memory() - before < 1 << 20);
}

}  // namespace

BOOST_AUTO_TEST_CASE(npy) {
  std::vector<std::string> sound;
  for (const array& a : some_arrays())
    sound.push_back(bytes_of([&](const fs::path& path) { io::save_npy(path, a); }));
  fuzz(sound, [](const fs::path& path) { check_sound(io::load_npy(path)); });
}

BOOST_AUTO_TEST_CASE(npz) {
  std::vector<std::string> sound;
  for (const io::compression packed : {io::compression::none, io::compression::deflate})
    sound.push_back(bytes_of([&](const fs::path& path) { io::save_npz(path, named(), packed); }));
  fuzz(sound, [](const fs::path& path) { check_sound(io::load_npz(path)); });
}

BOOST_AUTO_TEST_CASE(safetensors) {
  const auto save = [](const fs::path& path) {
    io::save_safetensors(path, named(), {{"key", "value"}});
  };
  fuzz({bytes_of(save)}, [](const fs::path& path) { check_sound(io::load_safetensors(path)); });
}

BOOST_AUTO_TEST_CASE(csv) {
  const std::string text = "1,-2.5,3e2\n+4, 5\t,.5\r\nnan,inf,-0.0\n";
  const std::string packed = gzip(text);
  fuzz({text, packed, packed + gzip("7,8,9\n"), packed + std::string(20, '\0')},
       [](const fs::path& path) { check_sound(io::read_csv(path)); });
}

BOOST_AUTO_TEST_CASE(tables) {
  const std::string text =
      "name,\"n\",t\r\na,1,\"x \"\"y\"\"\"\nb,NA,\"two\nlines\"\n\n\"c,d\",-3e2,\n";
  const std::string packed = gzip(text);
  fuzz({text, packed, packed + gzip("e,4,z\n")}, [](const fs::path& path) {
    const auto t = tutti::data::read_table(path);
    for (const auto& c : t.columns()) BOOST_TEST(c.size() == t.rows());
  });
}

BOOST_AUTO_TEST_CASE(idx) {
  std::string bytes("\0\0\xB\2\0\0\0\3\0\0\0\2", 12);
  bytes += "0123456789ab";
  fuzz({bytes, gzip(bytes)},
       [](const fs::path& path) { check_sound(tutti::data::read_idx(path)); });
}

namespace {

// Damage behind which somebody has written the right length and checksum.
std::string resealed(std::string bytes) {
  constexpr std::size_t head = 64, length = 8, sum = 32;
  if (bytes.size() < head + length + sum) return bytes;
  const std::uint64_t stored = bytes.size() - head - length - sum;
  std::memcpy(bytes.data() + head + stored, &stored, length);
  auto* const data = reinterpret_cast<unsigned char*>(bytes.data());
  crypto_generichash(data + head + stored + length, sum, data, head + stored + length, nullptr, 0);
  return bytes;
}

}  // namespace

BOOST_AUTO_TEST_CASE(checkpoints) {
  const temporary_folder folder;
  tutti::checkpoint_key::create(folder / "key");
  const auto key = tutti::checkpoint_key::from_file(folder / "key");
  const auto saved = [&](const tutti::checkpoint_options& options) {
    const temporary_folder run;
    const tutti::checkpoints kept(run.path(), options);
    kept.save({1, named(), {{"name", "value"}}});
    return tutti_test::read_bytes(kept.list()[0].path);
  };
  std::vector<std::string> sound{saved({}), saved({.key = key})};
#if TUTTI_TEST_ZSTD
  sound.push_back(saved({.compress = true}));
#endif
  fuzz(sound, [&](const fs::path& path) {
    const auto text = resealed(tutti_test::read_bytes(path));
    check_sound(tutti::read_checkpoint(folder.write("resealed", text), key).arrays);
  });
}

#if TUTTI_TEST_SOUND
BOOST_AUTO_TEST_CASE(recordings) {
  tutti::host_array ramp(dtype::f32, {300, 2});
  for (std::size_t i = 0; i < 600; ++i)
    ramp.values<float>()[i] = static_cast<float>(i * 7919 % 1000) / 1000;
  const auto encoded = [&](tutti::data::sound_format format) {
    return bytes_of([&](const fs::path& path) {
      tutti::data::write_sound(path, {ramp, 8000}, format);
    });
  };
  const auto read = [](const fs::path& path) {
    check_sound(tutti::data::read_sound(path).samples);
  };
  using tutti::data::sound_format;
  fuzz({encoded(sound_format::wav_pcm16), encoded(sound_format::wav_float)}, read);
  fuzz({encoded(sound_format::flac16)}, read);
}
#endif

#if TUTTI_TEST_PICTURES
BOOST_AUTO_TEST_CASE(images) {
  using tutti::image::encode_image;
  using tutti::image::file_format;
  const array grey = tutti::arange(20 * 17, dtype::i32).reshape({20, 17, 1}).astype(dtype::u8);
  const array colours = tutti::broadcast_to(grey, {20, 17, 3}), wide = colours.astype(dtype::u16);
  const std::string plain = "P3 # colours\n2 2 255\n1 2 3 4 5 6 7 8 9 10 11 12\n";
  const auto read = [](const fs::path& path) { check_sound(tutti::image::read_image(path)); };
  // Apart, since nearly all damage of PNG is found by checksums.
  fuzz({encode_image(grey, file_format::png), encode_image(wide, file_format::png)}, read);
  fuzz({encode_image(grey, file_format::jpeg), encode_image(colours, file_format::jpeg)}, read);
  fuzz({plain, encode_image(colours, file_format::pnm), encode_image(wide, file_format::pnm)},
       read);
}
#endif

// What lies within the tensor's memory is read as well.
BOOST_AUTO_TEST_CASE(dlpack) {
  std::vector<double> memory(64, 1);
  for (int round = 0; round < rounds; ++round) {
    mutator change(static_cast<std::uint64_t>(round));
    std::int64_t extents[8] = {2, 3, 1, 1, 1, 1, 1, 1}, strides[8] = {3, 1, 1, 1, 1, 1, 1, 1};
    DLManagedTensorVersioned tensor{};
    tensor.version = {DLPACK_MAJOR_VERSION, 0};
    tensor.dl_tensor = {memory.data(), {kDLCPU, 0}, 2, {kDLFloat, 64, 1}, extents, strides, 0};
    DLTensor& t = tensor.dl_tensor;
    for (int n = 1 + change.below(3); n > 0; --n) {
      switch (change.below(7)) {
        case 0:
          t.ndim = static_cast<std::int32_t>(change.number());
          break;
        case 1:
          extents[change.below(8)] = change.number();
          break;
        case 2:
          strides[change.below(8)] = change.number();
          break;
        case 3:
          // Aligned, since what is not is copied at once, whether it is there or not.
          t.byte_offset = static_cast<std::uint64_t>(change.number()) & ~std::uint64_t{15};
          break;
        case 4:
          t.dtype = {static_cast<std::uint8_t>(change.below(9)),
                     static_cast<std::uint8_t>(8 << change.below(5)),
                     static_cast<std::uint16_t>(change.below(3))};
          break;
        case 5:
          t.ndim = 1 + change.below(8);
          break;
        default:
          t.strides = nullptr;
      }
    }
    const bool inside = t.byte_offset == 0 && t.strides == nullptr && t.ndim >= 0 && t.ndim <= 8;
    BOOST_TEST_CONTEXT("round " << round) {
      try {
        const array a = tutti::from_dlpack(&tensor);
        BOOST_TEST(a.ndim() == t.ndim);
        for (int i = 0; i < a.ndim(); ++i) BOOST_TEST(a.shape()[i] == extents[i]);
        if (inside && a.nbytes() <= memory.size() * sizeof(double)) check_sound(a);
      } catch (const tutti::error& e) {
        BOOST_TEST(std::string_view(e.what()).size() < 1000u);
      }
    }
  }
}
