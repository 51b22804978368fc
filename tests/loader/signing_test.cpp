// SPDX-License-Identifier: Apache-2.0
//
// `tutti keygen`, `sign` and `verify-signature`, what `devices` and `doctor` say of trust, and
// applications whose plugins are refused.
#include <sys/stat.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>

#include "signed_world.hpp"

using namespace loader_test;

namespace {

/// The command fails, says that and nothing else, and does nothing.
void fails(const std::string& arguments, const std::string& expected, int status = 1) {
  const outcome result = signed_world::command(arguments);
  BOOST_TEST_CONTEXT(arguments << ": " << result.output) {
    BOOST_TEST(result.status == status);
    BOOST_TEST(has(result.output, expected));
    BOOST_TEST(result.output.starts_with("tutti: "));
    BOOST_TEST(result.output.find('\n') == result.output.size() - 1);
  }
}

mode_t mode_of(const fs::path& path) {
  struct stat info {};
  BOOST_REQUIRE(::stat(path.c_str(), &info) == 0);
  return info.st_mode & 07777;
}

outcome start(const signed_world& w, const std::string& program, const std::string& environment) {
  return run("env TUTTI_PLUGIN_PATH=" + quoted(w.folder) + " FAKE_VENDORX='gpu name=X' " +
             "OCL_ICD_VENDORS=" + quoted(w.folder) + " " + environment + " " + program);
}

}  // namespace

BOOST_AUTO_TEST_CASE(keys_are_made_once_and_the_secret_one_is_private) {
  const signed_world w;
  for (const std::string mask : {"000", "077"}) {
    const fs::path stem = w.root.path() / ("pair" + mask);
    const outcome made =
        run("umask " + mask + "; " + tutti_test::paths::tutti_program + " keygen " + quoted(stem));
    BOOST_TEST(made.status == 0, made.output);
    BOOST_TEST(mode_of(stem.string() + ".key") == mode_t{0600});
    BOOST_TEST((mode_of(stem.string() + ".pub") & 0022) == 0u);
    BOOST_TEST(has(made.output, w.id("pair" + mask)));
    BOOST_TEST(!has(made.output, file_content(stem.string() + ".key").substr(25, 64)));
  }
  BOOST_TEST(w.id("mine") != w.id("other"));
  const std::string before = file_content(w.secret("mine"));
  fails("keygen " + quoted(w.root.path() / "mine"), "mine.key: File exists");
  fs::remove(w.secret("mine"));
  fails("keygen " + quoted(w.root.path() / "mine"), "mine.pub: File exists");
  BOOST_TEST(!fs::exists(w.secret("mine")));
  fails("keygen " + quoted(w.root.path() / "absent" / "k"), "k.key: No such file or directory");
}

BOOST_AUTO_TEST_CASE(a_manifest_says_what_the_plugin_says) {
  const signed_world w;
  const outcome made = w.command("sign " + quoted(w.plugin));
  BOOST_TEST(made.status == 0);
  BOOST_TEST(made.output == w.manifest.string() + ": vendorx 1.0.0, plugin ABI 2.0, not signed\n");
  BOOST_TEST((mode_of(w.manifest) & 0022) == 0u);
  const outcome hash = run("sha256sum " + quoted(w.plugin));
  BOOST_TEST(hash.output.substr(0, 64) == w.field("sha256"));
  // Another one takes its place, whatever stood there.
  write_file(w.manifest, "nonsense");
  w.sign("mine");
  BOOST_TEST(w.field("key") == w.id("mine"));
  BOOST_TEST(std::distance(fs::directory_iterator(w.folder), {}) == 2);
}

BOOST_AUTO_TEST_CASE(communication_plugins_are_signed_alike) {
  const fs::path built = fs::path(tutti_test::paths::tutti_program).parent_path() /
                         "../lib/tutti/plugins/communication/libtutti_mpi.so";
  if (!fs::exists(built)) return;  // built without MPI
  const signed_world w;
  const fs::path plugin = w.folder / "communication" / built.filename();
  fs::create_directory(plugin.parent_path());
  fs::copy_file(built, plugin);
  const outcome made = w.command("sign " + quoted(plugin) + " --key " + quoted(w.secret("mine")));
  BOOST_TEST(made.output == plugin.string() +
                                ".json: mpi 1.1, plugin ABI 1.1, signed with the key " +
                                w.id("mine") + "\n");
  const std::string verify = "verify-signature " + quoted(plugin) + " --key ";
  BOOST_TEST(w.command(verify + quoted(w.key("mine"))).status == 0);
  BOOST_TEST(w.command(verify + quoted(w.key("other"))).status == 1);
}

BOOST_AUTO_TEST_CASE(secret_keys_that_are_refused) {
  const signed_world w;
  const std::string sign = "sign " + quoted(w.plugin) + " --key ";
  for (const mode_t mode : {0640, 0604, 0620, 0602}) {
    BOOST_REQUIRE(::chmod(w.secret("mine").c_str(), mode) == 0);
    fails(sign + quoted(w.secret("mine")), "chmod 600 " + w.secret("mine").string());
  }
  fails(sign + quoted(w.root.path() / "absent"), "absent: there is no such key");
  const fs::path text = w.root.path() / "text";
  write_file(text, "tutti-secret-key ed25519 00\n");
  fs::permissions(text, fs::perms::owner_read | fs::perms::owner_write);
  fails(sign + quoted(text), "is refused: it is not one line \"tutti-secret-key ed25519");
  fails(sign + quoted(w.folder), "is not a regular file");
  BOOST_REQUIRE(::chmod(w.secret("mine").c_str(), 0600) == 0);
  if (::geteuid() == 0) {
    BOOST_REQUIRE(::chown(w.secret("mine").c_str(), 54321, 0) == 0);
    fails(sign + quoted(w.secret("mine")), "it belongs to another user (id 54321)");
  }
  BOOST_TEST(!fs::exists(w.manifest));
}

BOOST_AUTO_TEST_CASE(what_is_no_plugin_gets_no_manifest) {
  const signed_world w;
  fails("sign " + quoted(w.folder / "libtutti_absent.so"), "there is no such file");
  fs::copy_file(w.plugin, w.folder / "vendorx.so");
  fails("sign " + quoted(w.folder / "vendorx.so"), "it is not called libtutti_NAME.so");
  write_file(w.folder / "libtutti_text.so", std::string(1000, 'x'));
  fails("sign " + quoted(w.folder / "libtutti_text.so"), "invalid ELF header");
  fs::copy_file(w.plugin, w.folder / "libtutti_misnamed.so");
  fails("sign " + quoted(w.folder / "libtutti_misnamed.so"), "calls itself \"vendorx\"");
  const fs::path bad = w.folder / "libtutti_bad.so";
  fs::copy_file(fs::path(tutti_test::paths::fake_plugins) / "bad" / "libtutti_bad.so", bad);
  const outcome crashed =
      run("env ASAN_OPTIONS=\"$ASAN_OPTIONS:handle_segv=0\" "
          "TSAN_OPTIONS=\"$TSAN_OPTIONS:handle_segv=0\" BROKEN=entry:crash " +
          std::string(tutti_test::paths::tutti_program) + " sign " + quoted(bad));
  BOOST_TEST(crashed.status == 1);
  BOOST_TEST(has(crashed.output, bad.string() + ": its process ended by signal 11"),
             crashed.output);
  fs::permissions(w.folder, fs::perms::others_write, fs::perm_options::add);
  fails("sign " + quoted(w.plugin), "other users may write to " + w.folder.string());
  for (const auto& entry : fs::directory_iterator(w.folder))
    BOOST_TEST(entry.path().extension() == ".so", entry.path());
}

BOOST_AUTO_TEST_CASE(signatures_are_verified) {
  const signed_world w;
  const std::string verify = "verify-signature " + quoted(w.plugin) + " --key ";
  const std::string mine = verify + quoted(w.key("mine"));
  fails(mine, "there is no manifest libtutti_vendorx.so.json");
  w.sign("");
  fails(mine, "its manifest is not signed");
  w.sign("mine");
  const outcome right = w.command(mine);
  BOOST_TEST(right.status == 0);
  BOOST_TEST(right.output == w.plugin.string() +
                                 ": vendorx 1.0.0, plugin ABI 2.0, signed with the key " +
                                 w.id("mine") + "\n");
  fails(verify + quoted(w.key("other")),
        "it is signed with the key " + w.id("mine") +
            ", which is not among the trusted ones: " + w.id("other"));
  fails(verify + quoted(w.secret("mine")), "it is not one line \"tutti-public-key ed25519");
  w.set("version", "1.0.1");
  fails(mine, "its signature is not of the key " + w.id("mine") + ", or not of this manifest");
  w.sign("mine");
  write_file(w.plugin, file_content(w.plugin) + "x");
  fails(mine, "its manifest is of another file: SHA-256 ");
}

BOOST_AUTO_TEST_CASE(usage) {
  for (const std::string arguments : {"sign", "keygen", "verify-signature x", "keygen a b",
                                      "sign x --key", "verify-signature --key x"})
    fails(arguments, "(see tutti --help)", 2);
}

BOOST_AUTO_TEST_CASE(commands_show_trust) {
  const signed_world w;
  w.sign("mine");
  const std::string strict = "TUTTI_PLUGIN_TRUST=signed:" + quoted(w.key("mine")) + " ";
  const std::string devices = std::string(tutti_test::paths::tutti_program) + " devices";
  const std::string shown = "vendorx: signed with the key " + w.id("mine");
  const outcome text = start(w, devices, strict + "TUTTI_DEVICE=vendorx");
  BOOST_TEST(has(text.output, "\nplugins (TUTTI_PLUGIN_TRUST=signed): " + shown), text.output);
  const auto parsed = nlohmann::json::parse(
      start(w, devices + " --json 2>/dev/null", strict + "TUTTI_DEVICE=vendorx").output);
  BOOST_TEST(parsed["plugin_trust"] == "signed");
  BOOST_TEST(parsed["plugins"][0]["trust"] == shown.substr(9));
  const std::string doctor = std::string(tutti_test::paths::tutti_program) + " doctor";
  const outcome good = start(w, doctor, strict);
  BOOST_TEST(has(good.output, "ok      vendorx: version 1.0.0, plugin ABI 2.0 (library 2."));
  BOOST_TEST(has(good.output, ", signed with the key " + w.id("mine") + ", "), good.output);
  write_file(w.plugin, file_content(w.plugin) + "x");
  const outcome bad = start(w, doctor, "TUTTI_DEVICE=");
  BOOST_TEST(has(bad.output, "PROBLEM vendorx: " + w.plugin.string() +
                                 ": its manifest is of another file: SHA-256 "),
             bad.output);
  BOOST_TEST(has(bad.output, "\n          -> install both again; "), bad.output);
}

BOOST_AUTO_TEST_CASE(applications_name_what_is_refused) {
  const signed_world w;
  fs::permissions(w.folder, fs::perms::others_write, fs::perm_options::add);
  const std::string said = "other users may write to " + w.folder.string() + " (mode 0";
  const outcome named = start(w, tutti_test::paths::world_program, "TUTTI_DEVICE=vendorx");
  BOOST_TEST(has(named.output, "error: TUTTI_DEVICE=vendorx: " + w.plugin.string() + ": " + said),
             named.output);
  BOOST_TEST(!has(named.output, "libtutti_vendorx.so\n"), named.output);
  // `auto` goes on without it, and says so.
  const outcome automatic = start(w, tutti_test::paths::world_program, "TUTTI_DEVICE=auto");
  BOOST_TEST(has(automatic.output, "warning: " + w.plugin.string() + ": " + said),
             automatic.output);
  BOOST_TEST(has(automatic.output, "devices: cpu:0\n"), automatic.output);
  const outcome allowed =
      start(w, tutti_test::paths::world_program, "TUTTI_DEVICE=vendorx TUTTI_PLUGIN_TRUST=any");
  BOOST_TEST(has(allowed.output, "devices: vendorx:0\n"), allowed.output);
}
