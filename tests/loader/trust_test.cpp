// SPDX-License-Identifier: Apache-2.0
//
// Which plugins are loaded: each rule of trust.hpp, with manifests and signatures that `tutti sign`
// makes and that are then damaged or exchanged.
#include "plugin/trust.hpp"

#include <sys/stat.h>

#include <boost/test/unit_test.hpp>
#include <nlohmann/json.hpp>
#include <thread>

#include "plugin/loader.hpp"
#include "signed_world.hpp"

using namespace loader_test;
using level = tutti::plugins::trust_rules::level;

namespace {

// The hashes of files are kept in the cache, which is made at its first use.
struct own_cache {
  temporary_folder folder;
  own_cache() {
    ::setenv("TUTTI_CACHE_MB", "512", 1);
    ::setenv("TUTTI_CACHE_DIR", (folder.path() / "cache").c_str(), 1);
  }
};
BOOST_TEST_GLOBAL_FIXTURE(own_cache);

/// The refusal of the plugin "vendorx"; empty where it is loaded.
std::string refusal(const signed_world& w, level what, bool any_owner = false) {
  tutti::plugins::plugin_loader loader({w.folder}, nullptr, w.rules(what, any_owner));
  try {
    loader.load("vendorx");
    return "";
  } catch (const tutti::plugin_error& e) {
    const auto failures = loader.failures();
    BOOST_REQUIRE(failures.size() == 1u);
    BOOST_TEST(loader.loaded().empty());
    if (!failures[0].advice.empty()) BOOST_TEST(has(e.what(), failures[0].advice));
    BOOST_TEST(has(e.what(), w.plugin.string() + ": "), e.what());
    BOOST_TEST(!has(e.what(), "\n"));
    BOOST_TEST(std::string(e.what()).size() < 1000u);
    return failures[0].message;
  }
}

constexpr level all_levels[] = {level::any, level::owner, level::manifest, level::signature};

}  // namespace

BOOST_AUTO_TEST_CASE(what_each_level_asks_for) {
  const signed_world w;
  for (const level what : {level::any, level::owner}) BOOST_TEST(refusal(w, what) == "");
  for (const level what : {level::manifest, level::signature})
    BOOST_TEST(refusal(w, what) ==
               "TUTTI_PLUGIN_TRUST=" + std::string(to_string(what)) +
                   ", and there is no manifest libtutti_vendorx.so.json beside it");
  w.sign("");
  BOOST_TEST(refusal(w, level::owner) == "");
  BOOST_TEST(refusal(w, level::manifest) == "");
  BOOST_TEST(refusal(w, level::signature) ==
             "TUTTI_PLUGIN_TRUST=signed, and its manifest is not signed");
  w.sign("mine");
  for (const level what : all_levels) BOOST_TEST(refusal(w, what) == "");
}

BOOST_AUTO_TEST_CASE(a_loaded_plugin_says_what_it_has_to_show) {
  const signed_world w;
  const auto text = [&](level what) {
    tutti::plugins::plugin_loader loader({w.folder}, nullptr, w.rules(what));
    return loader.load("vendorx").trust;
  };
  BOOST_TEST(text(level::any) == "no manifest");
  w.sign("mine");
  BOOST_TEST(text(level::manifest) == "manifest");
  BOOST_TEST(text(level::signature) == "signed with the key " + w.id("mine"));
  std::string signature = w.field("signature");
  signature[5] = signature[5] == '0' ? '1' : '0';
  w.set("signature", signature);
  for (const level what : {level::any, level::manifest})
    BOOST_TEST(text(what) == "manifest with a wrong signature");
  w.set("key", w.id("other"));  // which nobody trusts
  BOOST_TEST(text(level::any) == "manifest");
}

BOOST_AUTO_TEST_CASE(a_manifest_of_another_file_is_refused_at_every_level) {
  const signed_world w;
  w.sign("mine");
  const std::string before = w.field("sha256");
  write_file(w.plugin, file_content(w.plugin) + "x");
  for (const level what : all_levels) {
    const std::string said = refusal(w, what);
    BOOST_TEST(has(said, "its manifest is of another file: SHA-256 " + before.substr(0, 12)), said);
    BOOST_TEST(has(said, "while this one has "), said);
  }
  w.sign("mine");
  BOOST_TEST(w.field("sha256") != before);
  BOOST_TEST(refusal(w, level::signature) == "");
}

BOOST_AUTO_TEST_CASE(only_keys_that_are_trusted_count) {
  signed_world w;
  w.sign("other");
  const std::string said = refusal(w, level::signature);
  BOOST_TEST(has(said, "signed with the key " + w.id("other") + ", which is not among the trusted"),
             said);
  BOOST_TEST(has(said, "ones: " + w.id("mine")), said);
  w.keys = {};
  BOOST_TEST(has(refusal(w, level::signature), "trusted ones: there are none"));
  w.keys = {w.key("mine"), w.key("other")};
  BOOST_TEST(refusal(w, level::signature) == "");
  w.keys = {w.root.path()};  // every .pub in it
  BOOST_TEST(refusal(w, level::signature) == "");
}

BOOST_AUTO_TEST_CASE(a_signature_is_of_one_file_and_all_fields) {
  const signed_world w, elsewhere;
  write_file(elsewhere.plugin, file_content(elsewhere.plugin) + "x");
  w.sign("mine");
  const std::string sound = file_content(w.manifest);
  BOOST_REQUIRE(run("cp " + w.key("mine").string() + " " + elsewhere.key("mine").string() +
                    " && cp " + w.secret("mine").string() + " " + elsewhere.secret("mine").string())
                    .status == 0);
  elsewhere.sign("mine");
  const std::string wrong =
      "its signature is not of the key " + w.id("mine") + ", or not of this manifest";
  w.set("signature", elsewhere.field("signature"));
  BOOST_TEST(refusal(w, level::signature) == wrong);
  write_file(w.manifest, sound);
  w.set("version", "9.9.9");
  BOOST_TEST(refusal(w, level::signature) == wrong);
  write_file(w.manifest, sound);
  w.set("abi", "2.77");
  BOOST_TEST(refusal(w, level::signature) == wrong);
  // The identifier says which key to take; it vouches for nothing.
  write_file(w.manifest, sound);
  w.sign("other");
  w.set("key", w.id("mine"));
  BOOST_TEST(refusal(w, level::signature) == wrong);
}

BOOST_AUTO_TEST_CASE(what_the_manifest_says_must_be_so) {
  const std::vector<std::array<std::string, 3>> cases = {
      {"name", "opencl", "its manifest is of a plugin opencl"},
      {"version", "9.9.9", "its manifest says version 9.9.9, plugin ABI 2.0, the plugin itself"},
      {"abi", "2.77", "its manifest says version 1.0.0, plugin ABI 2.77, the plugin itself"},
      {"abi", "7.0", "its manifest says version 1.0.0, plugin ABI 7.0, the plugin itself"},
      {"abi", "2", "its manifest says version 1.0.0, plugin ABI 2, the plugin itself"},
  };
  for (const auto& [field, value, expected] : cases) {
    const signed_world w;
    w.sign("");
    w.set(field, value);
    for (const level what : {level::any, level::manifest})
      BOOST_TEST(has(refusal(w, what), expected), field << ": " << refusal(w, what));
  }
}

BOOST_AUTO_TEST_CASE(malformed_manifests) {
  const signed_world w;
  w.sign("mine");
  const std::string sound = file_content(w.manifest);
  const auto without = [&](const std::string& field) {
    auto parsed = nlohmann::json::parse(sound);
    parsed.erase(field);
    return parsed.dump();
  };
  const auto with = [&](const std::string& field, const nlohmann::json& value) {
    auto parsed = nlohmann::json::parse(sound);
    parsed[field] = value;
    return parsed.dump();
  };
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "it is no JSON object"},
      {sound.substr(0, sound.size() / 2), "it is no JSON object"},
      {sound + sound, "it is no JSON object"},
      {"[]", "it is no JSON object"},
      {std::string(10000, '['), "it is no JSON object"},
      {"{\"name\":\"\x1b[2J\xff\"}", "it is no JSON object"},
      {without("format"), "its format is not 1"},
      {with("format", 2), "its format is not 1"},
      {with("format", "1"), "its format is not 1"},
      {without("name"), "the field name is missing"},
      {with("name", 3), "the field name is missing or not a text"},
      {with("version", "1\nabi 2.0"), "the field version is"},
      {with("version", std::string(300, '1')), "not one line"},
      {with("abi", ""), "the field abi is \"\", not one line"},
      {with("sha256", "12"), "the field sha256 is \"12\", not 64 hexadecimal digits"},
      {with("sha256", std::string(64, 'A')), "the field sha256 is"},
      {without("key"), "the field key is missing"},
      {without("signature"), "the field signature is missing"},
      {with("signature", std::string(127, '0') + "g"), "the field signature is"},
  };
  for (const auto& [text, expected] : cases) {
    write_file(w.manifest, text);
    for (const level what : all_levels) {
      const std::string said = refusal(w, what);
      BOOST_TEST(has(said, "its manifest libtutti_vendorx.so.json cannot be used: "), said);
      BOOST_TEST(has(said, expected), said << ", not " << expected);
    }
  }
  write_file(w.manifest, with("later", {{"x", {1, 2}}}));  // of a later version
  BOOST_TEST(refusal(w, level::signature) == "");
}

BOOST_AUTO_TEST_CASE(files_that_are_no_manifests) {
  const signed_world w;
  write_file(w.manifest, "{");
  fs::resize_file(w.manifest, 100 << 20);
  BOOST_TEST(has(refusal(w, level::any), "has 104857600 bytes, at most 16384 are expected"));
  fs::remove(w.manifest);
  BOOST_REQUIRE(::mkfifo(w.manifest.c_str(), 0600) == 0);
  BOOST_TEST(has(refusal(w, level::any), "is not a regular file"));
  fs::remove(w.manifest);
  fs::create_directory(w.manifest);
  BOOST_TEST(has(refusal(w, level::any), "is not a regular file"));
}

BOOST_AUTO_TEST_CASE(what_others_may_change_is_refused_unless_that_is_allowed) {
  const signed_world w;
  w.sign("mine");
  for (const fs::path& path : {w.folder, w.plugin, w.manifest}) {
    const fs::perms before = fs::status(path).permissions();
    fs::permissions(path, fs::perms::others_write, fs::perm_options::add);
    for (const level what : all_levels) {
      BOOST_TEST(refusal(w, what, true) == "");
      if (what == level::any)
        BOOST_TEST(refusal(w, what) == "");
      else
        BOOST_TEST(has(refusal(w, what), "other users may write to " + path.string()));
    }
    fs::permissions(path, before);
    BOOST_TEST(refusal(w, level::signature) == "");
  }
}

BOOST_AUTO_TEST_CASE(keys_that_are_not_trusted) {
  signed_world w;
  w.sign("mine");
  fs::permissions(w.key("mine"), fs::perms::others_write, fs::perm_options::add);
  for (const bool any_owner : {false, true}) {
    const std::string said = refusal(w, level::signature, any_owner);
    BOOST_TEST(has(said, "the key " + w.key("mine").string() + " is not trusted: other users may"),
               said);
  }
  BOOST_TEST(refusal(w, level::manifest) == "");  // no key is asked for
  w.keys = {w.root.path() / "absent"};
  BOOST_TEST(has(refusal(w, level::signature), "absent: there is no such key"));
  w.keys = {w.secret("mine")};
  BOOST_TEST(has(refusal(w, level::signature), "it is not one line \"tutti-public-key ed25519"));
  BOOST_TEST(!has(refusal(w, level::signature), file_content(w.secret("mine")).substr(30, 16)));
}

BOOST_AUTO_TEST_CASE(a_file_that_is_replaced_meanwhile_is_noticed) {
  const signed_world w;
  w.sign("");
  const tutti::plugins::trusted_file checked(w.plugin, "vendorx", w.rules(level::manifest));
  BOOST_CHECK_NO_THROW(checked.require_same());
  const fs::path other = w.folder / "other";
  fs::copy_file(w.plugin, other);
  fs::rename(other, w.plugin);
  BOOST_TEST(has(message_of<tutti::plugin_error>([&] { checked.require_same(); }),
                 "the file changed while it was being loaded"));
}

// Kept by size, times, device and inode, and never where the file changed a moment ago.
BOOST_AUTO_TEST_CASE(hashes_are_kept_for_files_that_do_not_change) {
  const temporary_folder folder;
  const fs::path file = folder.path() / "file", cache = std::getenv("TUTTI_CACHE_DIR");
  const auto hash = [&] {
    struct stat info {};
    BOOST_REQUIRE(::stat(file.c_str(), &info) == 0);
    return tutti::plugins::sha256_of(file, info);
  };
  const auto entries = [&] {
    return fs::exists(cache) ? std::distance(fs::directory_iterator(cache), {}) : 0;
  };
  write_file(file, "abc");
  const auto time = fs::last_write_time(file);
  fs::last_write_time(file, time + std::chrono::hours(1));  // it may still be being written
  const auto before = entries();
  const std::string known = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  BOOST_TEST(hash() == known);  // FIPS 180-2, B.1
  BOOST_TEST(entries() == before);
  fs::last_write_time(file, time);
  std::this_thread::sleep_for(std::chrono::milliseconds(2200));
  BOOST_TEST(hash() == known);
  BOOST_TEST(entries() == before + 1);
  BOOST_TEST(hash() == known);
  write_file(file, "abd");
  fs::last_write_time(file, time);
  BOOST_TEST(hash() != known);
}
