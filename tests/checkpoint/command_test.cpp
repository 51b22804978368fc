// SPDX-License-Identifier: Apache-2.0
//
// `tutti checkpoint`: what is told, removed and exported, and its exit status.
#include "tutti_test/command.hpp"

#include "tutti/data/checkpoint.hpp"
#include "tutti_test/arrays.hpp"

namespace {

namespace fs = std::filesystem;
using tutti::checkpoint_key;
using tutti::checkpoints;

outcome tutti_checkpoint(const std::string& arguments, const std::string& environment = "") {
  return tutti_test::run("env " + environment + " '" + tutti_test::paths::tutti_program +
                         "' checkpoint " + arguments);
}

void save_some(const fs::path& folder, const tutti::checkpoint_options& options = {}) {
  const checkpoints kept(folder, options);
  for (const std::int64_t step : {10, 20, 30})
    kept.save({.step = step, .arrays = {{"a", tutti::arange(4, tutti::dtype::i32) + step}}});
}

}  // namespace

BOOST_AUTO_TEST_CASE(lists_verifies_and_prunes) {
  const tutti_test::temporary_folder outside;
  const fs::path folder = outside / "run" / "checkpoints";
  save_some(folder);
  const outcome list = tutti_checkpoint("list " + quoted(folder));
  BOOST_TEST(tutti_checkpoint("list " + quoted(outside / "run")).output == list.output);
  BOOST_TEST(list.status == 0, list.output);
  for (const char* part : {"step", "10", "20", "30", "plain"}) BOOST_TEST(has(list, part), part);
  BOOST_TEST(tutti_checkpoint("verify " + quoted(folder)).status == 0);

  const fs::path newest = checkpoints(folder).list()[2].path;
  std::string bytes = tutti_test::read_bytes(newest);
  bytes[80] = static_cast<char>(bytes[80] ^ 4);
  std::ofstream(newest, std::ios::binary) << bytes;
  BOOST_TEST(tutti_checkpoint("list " + quoted(folder)).status == 0);
  const outcome damaged = tutti_checkpoint("verify " + quoted(folder));
  BOOST_TEST(damaged.status == 1);
  BOOST_TEST(has(damaged, newest.string() + ": its checksum is another one"), damaged.output);

  const outcome exported =
      tutti_checkpoint("export " + quoted(folder) + " " + quoted(outside / "a.safetensors"));
  BOOST_TEST(exported.status == 0, exported.output);
  const auto arrays = tutti::io::load_safetensors(outside / "a.safetensors");
  BOOST_TEST(arrays.at("a")[0].item<int>() == 20);

  const outcome pruned = tutti_checkpoint("prune --keep 1 " + quoted(folder));
  BOOST_TEST(pruned.status == 0, pruned.output);
  BOOST_TEST(has(pruned, "1 removed"), pruned.output);
  BOOST_TEST(checkpoints(folder).list().size() == 2u);  // the sound one and the damaged newer one
}

BOOST_AUTO_TEST_CASE(keys_come_from_files_and_the_environment) {
  const tutti_test::temporary_folder outside;
  const fs::path folder = outside / "run", key = outside / "key";
  BOOST_TEST(tutti_checkpoint("key " + quoted(key)).status == 0);
  BOOST_TEST(tutti_checkpoint("key " + quoted(key)).status == 1);
  save_some(folder, {.key = checkpoint_key::from_file(key)});
  const std::string to = " " + quoted(outside / "b.safetensors");
  const std::string without = "export " + quoted(folder) + to;
  BOOST_TEST(has(tutti_checkpoint(without), "no key is given"));
  BOOST_TEST(tutti_checkpoint(without).status == 1);
  BOOST_TEST(tutti_checkpoint(without + " --key-file " + quoted(key)).status == 0);
  BOOST_TEST(tutti::io::load_safetensors(outside / "b.safetensors").at("a")[0].item<int>() == 30);
  const std::string digits = tutti_test::read_bytes(key).substr(0, 64);
  const outcome verified = tutti_checkpoint("verify --key-from-environment " + quoted(folder),
                                            "TUTTI_CHECKPOINT_KEY=" + digits);
  BOOST_TEST(verified.status == 0, verified.output);
  BOOST_TEST(has(tutti_checkpoint("list " + quoted(folder)), "plain, encrypted"));
  const outcome wrong = tutti_checkpoint("verify --key-from-environment " + quoted(folder),
                                         "TUTTI_CHECKPOINT_KEY=" + std::string(64, '0'));
  BOOST_TEST(wrong.status == 1);
  BOOST_TEST(!has(wrong, std::string(64, '0')));
  // The key where something else belongs is not shown.
  for (const std::string& words : {"list --key-file " + digits + " " + quoted(folder),
                                   "list " + digits, "list " + quoted(folder) + " " + digits}) {
    const outcome misplaced = tutti_checkpoint(words);
    BOOST_TEST(misplaced.status != 0);
    BOOST_TEST(!has(misplaced, digits), misplaced.output);
  }
}

BOOST_AUTO_TEST_CASE(wrong_usage) {
  const tutti_test::temporary_folder outside;
  BOOST_TEST(tutti_checkpoint("").status == 2);
  BOOST_TEST(tutti_checkpoint("list").status == 2);
  BOOST_TEST(tutti_checkpoint("prune --keep 0 " + quoted(outside.path())).status == 2);
  const outcome none = tutti_checkpoint("list " + quoted(outside / "none"));
  BOOST_TEST(none.status == 1);
  BOOST_TEST(has(none, "none: is no folder"));
  BOOST_TEST(!fs::exists(outside / "none"));
  BOOST_TEST(has(tutti_checkpoint("list " + quoted(outside.path())), "no checkpoints"));
  BOOST_TEST(tutti_checkpoint("export " + quoted(outside.path()) + " x").status == 1);
  BOOST_TEST(tutti_checkpoint("list --key-file /none " + quoted(outside.path())).status == 1);
}
