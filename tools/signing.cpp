// SPDX-License-Identifier: Apache-2.0
//
// `tutti keygen`, `tutti sign` and `tutti verify-signature`: the manifests of plugins. Exit status
// 0: success, 1: refused or failed, with a message on standard error.
//
// `tutti sign` obtains the version from the plugin itself, in a child process: it need not be
// specified again, and a plugin that crashes has no other effect.
#include <fmt/format.h>
#include <sodium.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <array>
#include <memory>
#include <nlohmann/json.hpp>
#include <string_view>

#include "base/small_file.hpp"
#include "child_process.hpp"
#include "command.hpp"
#include "new_file.hpp"
#include "plugin/loader.hpp"
#include "plugin/manifest.hpp"
#include "plugin/trust.hpp"
#include "tutti/error.hpp"

namespace tutti::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

/// The secret half of a key, in a file that only its owner may read, and in memory that is wiped.
class secret_key {
 public:
  secret_key();  ///< a new random key
  /// Throws tutti::plugin_error for a file that is not a key, does not belong to this user, or that
  /// other users may read or write.
  explicit secret_key(const std::filesystem::path& file);
  ~secret_key();
  secret_key(const secret_key&) = delete;
  secret_key& operator=(const secret_key&) = delete;

  /// Ed25519, as 128 hexadecimal digits.
  std::string sign(std::string_view text) const;
  const plugins::key_bytes& public_bytes() const { return public_; }

  /// Creates STEM.key, mode 0600, and STEM.pub. Throws tutti::io_error, without leaving files, if
  /// one of them exists or cannot be written.
  void write_files(const std::filesystem::path& stem) const;

 private:
  void derive();

  plugins::key_bytes seed_{};
  plugins::key_bytes public_{};
  std::array<unsigned char, 64> secret_{};
};

constexpr std::size_t most_bytes = 4096;

std::string key_text(const plugins::key_bytes& bytes, std::string_view word) {
  return std::string(word) + plugins::to_hex(bytes.data(), bytes.size()) + "\n";
}

void wipe(std::string& text) { sodium_memzero(text.data(), text.size()); }

void secret_key::derive() {
  crypto_sign_seed_keypair(public_.data(), secret_.data(), seed_.data());
}

secret_key::secret_key() {
  if (::sodium_init() < 0) throw plugin_error("libsodium finds no random numbers");
  randombytes_buf(seed_.data(), seed_.size());
  derive();
}

secret_key::secret_key(const fs::path& file) {
  auto found = base::read_small_file(file, most_bytes);
  if (!found) throw plugin_error(fmt::format("{}: there is no such key", file.string()));
  try {
    if (found->info.st_uid != ::geteuid())
      throw plugin_error(fmt::format("it belongs to another user (id {})", found->info.st_uid));
    if ((found->info.st_mode & 0077) != 0)
      throw plugin_error(fmt::format("others may use it (mode {:04o}): chmod 600 {}",
                                     found->info.st_mode & 07777, file.string()));
    seed_ = plugins::parse_key(found->content, plugins::secret_key_word);
  } catch (const plugin_error& e) {
    wipe(found->content);
    throw plugin_error(fmt::format("the key {} is refused: {}", file.string(), e.what()));
  }
  wipe(found->content);
  derive();
}

secret_key::~secret_key() {
  sodium_memzero(seed_.data(), seed_.size());
  sodium_memzero(secret_.data(), secret_.size());
}

std::string secret_key::sign(std::string_view text) const {
  std::array<unsigned char, crypto_sign_BYTES> signature{};
  static_assert(std::tuple_size_v<decltype(secret_)> == crypto_sign_SECRETKEYBYTES);
  crypto_sign_detached(signature.data(), nullptr,
                       reinterpret_cast<const unsigned char*>(text.data()), text.size(),
                       secret_.data());
  return plugins::to_hex(signature.data(), signature.size());
}

void secret_key::write_files(const fs::path& stem) const {
  const fs::path secret = stem.string() + ".key", open = stem.string() + ".pub";
  std::string text = key_text(seed_, plugins::secret_key_word);
  try {
    write_new_file(secret, text, 0600);
  } catch (...) {
    wipe(text);
    throw;
  }
  wipe(text);
  try {
    write_new_file(open, key_text(public_, plugins::public_key_word), 0644);
  } catch (...) {
    ::unlink(secret.c_str());
    throw;
  }
}

struct options {
  std::string plugin, key;
};

/// Throws if the file does not have the name of a plugin, or does not exist.
plugins::plugin_file plugin_at(const std::string& path) {
  const fs::path file = fs::absolute(path).lexically_normal();
  plugins::plugin_loader loader({file.parent_path()});
  for (const plugins::plugin_file& found : loader.files())
    if (found.path == file) return found;
  throw plugin_error(fmt::format(
      "{}: there is no such file, or it is not called libtutti_NAME.so as plugins are", path));
}

/// In the child: the plugin's identity, or why it is not available.
int identify(const options& o) {
  be_a_child();
  json line;
  try {
    const plugins::plugin_file file = plugin_at(o.plugin);
    plugins::trust_rules rules = plugins::trust_rules_from_environment();
    rules.any_owner = rules.what == plugins::trust_rules::level::any;
    rules.what = plugins::trust_rules::level::none;  // the manifest does not exist yet
    if (file.path.parent_path().filename() == "communication") {
      const auto& table = plugins::load_communication(file.path, file.name, rules);
      const std::string abi = fmt::format("{}.{}", table.abi_major, table.abi_minor);
      line = {{"name", file.name}, {"version", abi}, {"abi", abi}};
    } else {
      plugins::plugin_loader loader({file.path.parent_path()}, nullptr, rules);
      const plugins::plugin& p = loader.load(file.name);
      line = {{"name", p.name},
              {"version", p.version},
              {"abi", fmt::format("{}.{}", p.abi_major, p.abi_minor)}};
    }
  } catch (const std::exception& e) {
    line = {{"error", e.what()}};
  }
  report_line(line);
  return 0;
}

plugins::manifest ask(const plugins::plugin_file& file) {
  constexpr double seconds = 60;
  json said;
  const child_end end = run_self(
      {"identify", file.path.string()}, [] { return seconds; },
      [&](std::string_view line) { said = json::parse(line); });
  if (!said.is_object()) {
    const std::string how = end.how == child_end::kind::signalled ? "by " + signal_text(end.number)
                            : end.how == child_end::kind::silent  ? "after too long"
                                                                  : "without a word";
    throw plugin_error(fmt::format("{}: its process ended {} while the plugin was loaded",
                                   file.path.string(), how));
  }
  if (said.contains("error")) throw plugin_error(said["error"].get<std::string>());
  plugins::manifest m;
  m.name = said["name"];
  m.version = said["version"];
  m.abi = said["abi"];
  return m;
}

/// First under a temporary name, so that no incomplete file is read.
void write_manifest(const fs::path& place, const std::string& text) {
  const fs::path temporary = place.string() + ".tmp";
  fs::remove(temporary);  // of a call that was interrupted
  write_new_file(temporary, text, 0644);
  fs::rename(temporary, place);
}

std::string stated_text(const plugins::manifest& m) {
  return fmt::format("{} {}, plugin ABI {}, {}", m.name, m.version, m.abi,
                     m.key.empty() ? "not signed" : "signed with the key " + m.key);
}

int sign(const options& o) {
  std::unique_ptr<const secret_key> key;
  if (!o.key.empty()) key = std::make_unique<secret_key>(fs::path(o.key));
  const plugins::plugin_file file = plugin_at(o.plugin);
  const std::string hash = plugins::sha256_of_file(file.path);
  plugins::manifest m = ask(file);
  m.sha256 = plugins::sha256_of_file(file.path);
  if (m.sha256 != hash)
    throw plugin_error(fmt::format("{}: the file was changed in the meantime", file.path.string()));
  if (key != nullptr) {
    m.key = plugins::key_id(key->public_bytes());
    m.signature = key->sign(plugins::signed_text(m));
  }
  const fs::path place = plugins::manifest_path(file.path);
  const std::string text = to_json(m);
  plugins::parse_manifest(text);  // a plugin's version may be invalid text
  write_manifest(place, text);
  fmt::print("{}: {}\n", place.string(), stated_text(m));
  return 0;
}

int verify(const options& o) {
  const plugins::plugin_file file = plugin_at(o.plugin);
  plugins::trust_rules rules;
  rules.what = plugins::trust_rules::level::signature;
  rules.any_owner = true;  // it is about the bytes, and loads nothing
  rules.keys = {fs::path(o.key)};
  try {
    const plugins::trusted_file trusted(file.path, file.name, rules);
    fmt::print("{}: {}\n", file.path.string(), stated_text(*trusted.stated()));
    return 0;
  } catch (const plugins::untrusted_plugin& e) {
    throw plugin_error(fmt::format("{}: {}", file.path.string(), e.found.why));
  }
}

int keygen(const std::string& stem) {
  const secret_key key;
  key.write_files(stem);
  fmt::print("{0}.key signs plugins: keep it secret\n{0}.pub is its public key {1}\n", stem,
             plugins::key_id(key.public_bytes()));
  return 0;
}

void add_plugin(CLI::App& parser, options& o) {
  parser.add_option("plugin", o.plugin, "libtutti_NAME.so")->required();
}

}  // namespace

command add_keygen(CLI::App& app) {
  const auto stem = std::make_shared<std::string>();
  CLI::App* const parser = app.add_subcommand("keygen", "Create a key pair for signing plugins");
  parser->add_option("stem", *stem, "Writes the secret key STEM.key and the public key STEM.pub")
      ->required();
  return {parser, [stem] { return keygen(*stem); }};
}

command add_sign(CLI::App& app) {
  const auto o = std::make_shared<options>();
  CLI::App* const parser = app.add_subcommand(
      "sign", "Write a plugin's manifest (name, version, hash), signed if a key is given");
  parser->add_option("--key", o->key, "Secret key file, with mode 0600");
  add_plugin(*parser, *o);
  return {parser, [o] { return sign(*o); }};
}

command add_verify_signature(CLI::App& app) {
  const auto o = std::make_shared<options>();
  CLI::App* const parser =
      app.add_subcommand("verify-signature", "Check a plugin's manifest and signature");
  parser->add_option("--key", o->key, "Public key file")->required();
  add_plugin(*parser, *o);
  return {parser, [o] { return verify(*o); }};
}

command add_identify(CLI::App& app) {
  const auto o = std::make_shared<options>();
  CLI::App* const parser = app.add_subcommand("identify", "")->group("");
  add_plugin(*parser, *o);
  return {parser, [o] { return identify(*o); }};
}

}  // namespace tutti::tools
