// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints: round trips of every dtype, damage of every byte's kind, keys, full disks, and which
// files stay.
#include "tutti/data/checkpoint.hpp"

#include <sodium.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>

#include "tutti_test/arrays.hpp"

using tutti::checkpoint;
using tutti::checkpoint_key;
using tutti::checkpoint_options;
using tutti::checkpoints;
using tutti::io_error;

namespace {

namespace fs = std::filesystem;

/// The bytes of a checkpoint with the checksum that they would have been written with.
std::string with_new_sum(std::string bytes) {
  constexpr std::size_t sum = 32;
  auto* const data = reinterpret_cast<unsigned char*>(bytes.data());
  crypto_generichash(data + bytes.size() - sum, sum, data, bytes.size() - sum, nullptr, 0);
  return bytes;
}

checkpoint some_state(std::int64_t step) {
  checkpoint out;
  out.step = step;
  out.metadata = {{"epoch", "3"}, {"text \"quoted\"\n", "\xc3\xab"}};
  for (const dtype type :
       {dtype::boolean, dtype::i8, dtype::i16, dtype::i32, dtype::i64, dtype::u8, dtype::u16,
        dtype::u32, dtype::u64, dtype::f16, dtype::bf16, dtype::f32, dtype::c64})
    out.arrays.emplace(std::string(tutti::name(type)),
                       (tutti::arange(6, dtype::i32) + step).reshape({2, 3}).astype(type));
  out.arrays.emplace("view", tutti::arange(12, dtype::f32).reshape({3, 4}).T());
  out.arrays.emplace("scalar", tutti::full({}, 2.5f, dtype::f32));
  out.arrays.emplace("empty", tutti::zeros({0, 4}));
  return out;
}

void check_same(const checkpoint& got, const checkpoint& expected) {
  BOOST_TEST(got.step == expected.step);
  BOOST_TEST((got.metadata == expected.metadata));
  BOOST_TEST(got.arrays.size() == expected.arrays.size());
  for (const auto& [name, a] : expected.arrays) {
    const array& b = got.arrays.at(name);
    BOOST_TEST((a.shape() == b.shape()), name);
    BOOST_TEST((a.dtype() == b.dtype()), name);
    BOOST_TEST((bytes_of(a) == bytes_of(b)), name);
  }
}

std::vector<std::int64_t> steps_of(const std::vector<tutti::checkpoint_file>& files) {
  std::vector<std::int64_t> out;
  for (const auto& f : files) out.push_back(f.step);
  return out;
}

checkpoint_key new_key(const temporary_folder& folder) {
  static int number = 0;
  const fs::path path = folder / ("key" + std::to_string(++number));
  checkpoint_key::create(path);
  return checkpoint_key::from_file(path);
}

fs::path only_file(const fs::path& folder) {
  BOOST_TEST_REQUIRE(std::distance(fs::directory_iterator(folder), {}) == 1);
  return fs::directory_iterator(folder)->path();
}

void write_bytes(const fs::path& path, const std::string& bytes) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
}

std::vector<checkpoint_options> ways(const temporary_folder& folder) {
  std::vector<checkpoint_options> out{{}, {.key = new_key(folder)}};
#if TUTTI_TEST_ZSTD
  out.push_back({.compress = true});
  out.push_back({.compress = true, .key = out[1].key});
#endif
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(what_is_saved_is_read) {
  const temporary_folder outside;
  for (const checkpoint_options& way : ways(outside)) {
    const fs::path folder = outside / "run/of mine";
    fs::remove_all(folder);
    const checkpoints kept(folder, way);
    BOOST_TEST(!kept.newest().has_value());
    kept.save(some_state(7));
    check_same(*kept.newest(), some_state(7));
    check_same(kept.load(7), some_state(7));
    kept.save(checkpoint{.step = 8});
    check_same(*kept.newest(), checkpoint{.step = 8});
    const auto files = kept.verify();
    BOOST_TEST(steps_of(files) == (std::vector<std::int64_t>{7, 8}), same);
    for (const auto& f : files) {
      BOOST_TEST(f.problem == "");
      BOOST_TEST(f.bytes == fs::file_size(f.path));
      BOOST_TEST(f.is_compressed == way.compress);
      BOOST_TEST(f.is_encrypted == way.key.has_value());
    }
    FAILS(io_error, kept.load(9), "cannot open");
  }
}

// Several chunks of the encryption and of the file's pieces, and what compresses well.
BOOST_AUTO_TEST_CASE(large_content) {
  const temporary_folder outside;
  checkpoint state;
  state.arrays.emplace("bits", tutti::random::bits({1}, {300001}));
  state.arrays.emplace("zeros", tutti::zeros({400000}, dtype::u8));
  for (const checkpoint_options& way : ways(outside)) {
    const checkpoints kept(outside / "run", way);
    kept.save(state);
    check_same(*kept.newest(), state);
    const auto bytes = fs::file_size(kept.list()[0].path);
    BOOST_TEST((bytes < 1250000) == way.compress);
    BOOST_TEST(bytes > 1200000u);
  }
}

BOOST_AUTO_TEST_CASE(damage_is_found_and_passed_over) {
  const temporary_folder outside;
  for (const checkpoint_options& way : ways(outside)) {
    const fs::path folder = outside / "run";
    fs::remove_all(folder);
    const checkpoints kept(folder, way);
    checkpoint state{.step = 1, .arrays = {{"a", tutti::arange(5)}}, .metadata = {{"k", "v"}}};
    kept.save(state);
    state.step = 2;
    kept.save(state);
    const fs::path newest = kept.list()[1].path;
    const std::string sound = tutti_test::read_bytes(newest);
    const auto check_passed = [&](const std::string& bytes, std::size_t at) {
      write_bytes(newest, bytes);
      std::vector<tutti::checkpoint_file> passed;
      const auto found = kept.newest(tutti::default_device(), &passed);
      BOOST_TEST_REQUIRE((found && found->step == 1), "byte " << at);
      BOOST_TEST(passed.size() == 1u);
      BOOST_TEST(passed[0].problem.find(newest.string()) != std::string::npos);
    };
    // Of each byte one of its bits; and each length.
    for (std::size_t at = 0; at < sound.size(); ++at) {
      std::string bytes = sound;
      bytes[at] = static_cast<char>(bytes[at] ^ (1 << at % 8));
      check_passed(bytes, at);
    }
    for (std::size_t length = 0; length < sound.size(); length += 7)
      check_passed(sound.substr(0, length), length);
    check_passed(sound + "x", sound.size());
    check_passed(sound + sound, sound.size());
    // The file of another step under this name.
    check_passed(tutti_test::read_bytes(kept.list()[0].path), 0);
    FAILS(io_error, kept.load(2), "is of step 1");
    const auto files = kept.verify();
    BOOST_TEST(files[0].problem == "");
    BOOST_TEST(files[1].problem != "");
    BOOST_CHECK_THROW(kept.load(2), io_error);
    write_bytes(newest, sound);
    BOOST_TEST(kept.newest()->step == 2);
  }
  // A version that is not known is not passed over: a newer library wrote it.
  const checkpoints kept(outside / "versions");
  kept.save({.step = 1});
  kept.save({.step = 2});
  const fs::path newest = kept.list()[1].path;
  std::string bytes = tutti_test::read_bytes(newest);
  bytes[8] = 9;
  write_bytes(newest, with_new_sum(bytes));
  FAILS(io_error, kept.newest(), "version 9");
}

BOOST_AUTO_TEST_CASE(a_forged_size_is_named_with_its_file) {
  const temporary_folder outside;
  const checkpoints kept(outside / "run");
  kept.save({.step = 1});
  const fs::path file = only_file(outside / "run");
  std::string bytes = tutti_test::read_bytes(file);
  bytes[24 + 6] = 0x40;
  write_bytes(file, with_new_sum(bytes));
  FAILS(out_of_memory, kept.newest(), file.string());
}

BOOST_AUTO_TEST_CASE(a_run_that_goes_back_leaves_the_later_ones) {
  const temporary_folder outside;
  const checkpoints kept(outside / "run");
  for (const std::int64_t step : {7, 8, 9}) kept.save({.step = step});
  const tutti::array complex = tutti::zeros({2}, dtype::c128);
  FAILS(io_error, kept.save({4, {{"w", complex}}}), "c128");
  BOOST_TEST(steps_of(kept.list()) == (std::vector<std::int64_t>{7, 8, 9}), same);
  kept.save({.step = 4});
  BOOST_TEST(kept.newest()->step == 4);
  BOOST_TEST(steps_of(kept.list()) == (std::vector<std::int64_t>{4}), same);
  BOOST_TEST(std::distance(fs::directory_iterator(outside / "run"), {}) == 4);
  kept.save({.step = 8});  // 7 and 8 of the earlier run are passed
  BOOST_TEST(kept.newest()->step == 8);
  BOOST_TEST(std::distance(fs::directory_iterator(outside / "run"), {}) == 3);
  fs::rename(outside / "run/checkpoint-0000000000000000009.tutti.retired",
             outside / "run/checkpoint-0000000000000000009.tutti");
  BOOST_TEST(kept.newest()->step == 9);
}

BOOST_AUTO_TEST_CASE(the_last_ones_stay) {
  const temporary_folder outside;
  const checkpoints kept(outside / "run", {.keep = 2});
  for (const std::int64_t step : {5, 40, 300, 2000}) kept.save({.step = step});
  BOOST_TEST(steps_of(kept.list()) == (std::vector<std::int64_t>{300, 2000}), same);
  // A damaged one does not count, so that two sound ones are there.
  const fs::path newest = kept.list()[1].path;
  write_bytes(newest, tutti_test::read_bytes(newest).substr(0, 70));
  kept.save({.step = 3000});
  BOOST_TEST(steps_of(kept.list()) == (std::vector<std::int64_t>{300, 2000, 3000}), same);
  kept.save({.step = 4000});
  BOOST_TEST(steps_of(kept.list()) == (std::vector<std::int64_t>{3000, 4000}), same);
  // One of the same step takes its place.
  kept.save({.step = 4000, .metadata = {{"again", "yes"}}});
  BOOST_TEST(kept.newest()->metadata.at("again") == "yes");
  BOOST_TEST(steps_of(kept.prune(1)) == (std::vector<std::int64_t>{3000}), same);
  BOOST_TEST(steps_of(kept.list()) == (std::vector<std::int64_t>{4000}), same);
  // Files of others are left alone.
  for (const char* name :
       {"checkpoint-x.tutti", "checkpoint-.tutti", "checkpoint-5.tutti.bak", "model.safetensors"})
    write_bytes(outside / "run" / name, "mine");
  kept.save({.step = 5000});
  kept.save({.step = 6000});
  kept.save({.step = 7000});
  BOOST_TEST(std::distance(fs::directory_iterator(outside / "run"), {}) == 6);
  // Damage within, which only the sum tells: prune() does not count the file.
  const fs::path last = kept.list()[1].path;
  std::string bytes = tutti_test::read_bytes(last);
  bytes[66] = static_cast<char>(bytes[66] ^ 1);
  write_bytes(last, bytes);
  BOOST_TEST(kept.prune(1).empty());
  BOOST_TEST(kept.newest()->step == 6000);
}

BOOST_AUTO_TEST_CASE(temporary_files_of_the_dead_go) {
  const temporary_folder outside;
  const checkpoints kept(outside / "run");
  const fs::path dead = outside / "run/checkpoint-0000000000000000003.tutti.0123456789abcdef.tmp";
  const fs::path held = dead.parent_path() / "checkpoint-4.tutti.0.tmp";
  write_bytes(dead, "half");
  write_bytes(held, "half");
  const int fd = ::open(held.c_str(), O_RDONLY);
  BOOST_TEST_REQUIRE(fd >= 0);
  BOOST_TEST_REQUIRE(::flock(fd, LOCK_EX) == 0);
  kept.save({.step = 5});
  BOOST_TEST(!fs::exists(dead));
  BOOST_TEST(fs::exists(held));
  ::close(fd);
  BOOST_TEST(steps_of(kept.list()) == (std::vector<std::int64_t>{5}), same);
}

BOOST_AUTO_TEST_CASE(a_full_disk_keeps_the_old_one) {
  const temporary_folder outside;
  const checkpoints kept(outside / "run");
  kept.save({.step = 1});
  rlimit before{};
  ::getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{4096, before.rlim_max};
  ::setrlimit(RLIMIT_FSIZE, &small);
  const checkpoint large{.step = 2, .arrays = {{"a", tutti::zeros({100000})}}};
  FAILS(io_error, kept.save(large), "cannot be written");
  ::setrlimit(RLIMIT_FSIZE, &before);
  BOOST_TEST(only_file(outside / "run").filename().string().find("1.tutti") != std::string::npos);
  BOOST_TEST(kept.newest()->step == 1);
  kept.save(large);
  BOOST_TEST(kept.newest()->step == 2);
}

BOOST_AUTO_TEST_CASE(keys) {
  const temporary_folder outside;
  const checkpoint_key key = new_key(outside), other = new_key(outside);
  BOOST_TEST((key.bytes() != other.bytes()));
  const checkpoint state{
      .step = 1, .arrays = {{"a", tutti::ones({1000})}}, .metadata = {{"secret", "plain text"}}};
  checkpoints(outside / "run", {.key = key}).save(state);
  const fs::path file = only_file(outside / "run");
  const std::string bytes = tutti_test::read_bytes(file);
  BOOST_TEST(bytes.find("plain text") == std::string::npos);
  check_same(tutti::read_checkpoint(file, key), state);
  // A sound file that cannot be opened is not passed over.
  FAILS(io_error, checkpoints(outside / "run").newest(), "no key is given");
  FAILS(io_error, checkpoints(outside / "run", {.key = other}).newest(),
        "the key does not open it");
  BOOST_TEST(checkpoints(outside / "run", {.key = other}).verify()[0].problem != "");
  BOOST_TEST(checkpoints(outside / "run").verify()[0].problem == "");
  // Two files of the same state have nothing in common.
  checkpoints(outside / "run", {.key = key}).save({.step = 2, .arrays = state.arrays});
  const auto files = checkpoints(outside / "run").list();
  BOOST_TEST(tutti_test::read_bytes(files[0].path).substr(32, 24) !=
             tutti_test::read_bytes(files[1].path).substr(32, 24));

  const auto reading = [&](const char* name, const std::string& text, mode_t mode) {
    const fs::path path = outside.write(name, text);
    ::chmod(path.c_str(), mode);
    return [path] { checkpoint_key::from_file(path); };
  };
  const std::string digits(64, 'a');
  BOOST_CHECK_NO_THROW(reading("good", digits + "\n", 0600)());
  BOOST_CHECK_NO_THROW(reading("read_only", digits, 0400)());
  BOOST_TEST(fails<io_error>(reading("open", digits, 0640), "others may use it (mode 0640)"));
  BOOST_TEST(fails<io_error>(reading("short", digits.substr(2), 0600), "64 hexadecimal digits"));
  BOOST_TEST(fails<io_error>(reading("long", digits + "aa", 0600), "64 hexadecimal digits"));
  BOOST_TEST(fails<io_error>(reading("odd", digits + "a", 0600), "64 hexadecimal digits"));
  BOOST_TEST(fails<io_error>(reading("words", "a key", 0600), "64 hexadecimal digits"));
  FAILS(io_error, checkpoint_key::from_file("none"), "there is no such file");
  // The key in the place of its name is not shown.
  for (const auto& show :
       {std::function<void()>([&] { checkpoint_key::from_file(digits); }),
        std::function<void()>([&] { checkpoint_key::from_file("./" + digits + "\n"); }),
        std::function<void()>([&] { checkpoint_key::from_file("0x" + digits.substr(1)); }),
        std::function<void()>([&] { checkpoint_key::create("/nowhere/" + digits); }),
        std::function<void()>([&] { checkpoint_key::from_environment(digits + "\n"); }),
        std::function<void()>([&] { checkpoint_key::from_environment(digits); })})
    try {
      show();
      BOOST_TEST(false);
    } catch (const tutti::error& e) {
      BOOST_TEST(std::string(e.what()).find(digits.substr(1)) == std::string::npos);
    }
  FAILS(io_error, checkpoint_key::create(outside / "good"), "cannot be made");
  ::setenv("TUTTI_TEST_KEY", digits.c_str(), 1);
  BOOST_TEST(checkpoint_key::from_environment("TUTTI_TEST_KEY").bytes()[31] == 0xaa);
  ::setenv("TUTTI_TEST_KEY", "short", 1);
  FAILS(value_error, checkpoint_key::from_environment("TUTTI_TEST_KEY"),
        "TUTTI_TEST_KEY: is no key");
  ::unsetenv("TUTTI_TEST_KEY");
  FAILS(value_error, checkpoint_key::from_environment("TUTTI_TEST_KEY"), "has no TUTTI_TEST_KEY");
}

BOOST_AUTO_TEST_CASE(exported_as_safetensors) {
  const temporary_folder outside;
  for (const checkpoint_options& way : ways(outside)) {
    const checkpoints kept(outside / "run", way);
    kept.save(some_state(3));
    tutti::export_checkpoint(kept.list()[0].path, outside / "a.safetensors", way.key);
    check_same({3, tutti::io::load_safetensors(outside / "a.safetensors"), some_state(3).metadata},
               some_state(3));
  }
}

BOOST_AUTO_TEST_CASE(bad_arguments) {
  const temporary_folder outside;
  FAILS(value_error, checkpoints(outside / "a", {.keep = 0}), "0 checkpoints");
  FAILS(io_error, checkpoints(outside.write("f", "")), "checkpoints: ");
  const checkpoints kept(outside / "run");
  FAILS(value_error, kept.save({.step = -1}), "step -1");
  FAILS(value_error, kept.prune(0), "prune: 0");
  FAILS(io_error, kept.save({.step = 1, .arrays = {{"a", tutti::ones({2}).astype(dtype::c128)}}}),
        "no dtype c128");
  FAILS(io_error, kept.save({.step = 1, .arrays = {{"\xff", tutti::ones({2})}}}), "not UTF-8");
  BOOST_TEST(fs::is_empty(outside / "run"));
#if !TUTTI_TEST_ZSTD
  FAILS(value_error, checkpoints(outside / "a", {.compress = true}), "zstd");
#endif
  fs::create_directory(outside / "run/checkpoint-0000000000000000009.tutti");
  BOOST_TEST(!kept.newest().has_value());
  kept.save({.step = std::numeric_limits<std::int64_t>::max()});
  BOOST_TEST(kept.newest()->step == std::numeric_limits<std::int64_t>::max());
}
