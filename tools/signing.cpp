// SPDX-License-Identifier: Apache-2.0
//
// `tutti keygen`, `tutti sign` and `tutti verify-signature`: the manifests of plugins. Exit status
// 0: success, 1: refused or failed, with a message on standard error.
//
// `tutti sign` obtains the version from the plugin itself, in a child process: it need not be
// specified again, and a plugin that crashes has no other effect.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <nlohmann/json.hpp>

#include "child_process.hpp"
#include "command.hpp"
#include "new_file.hpp"
#include "plugin/loader.hpp"
#include "plugin/manifest.hpp"
#include "plugin/trust.hpp"
#include "secret_key.hpp"
#include "tutti/error.hpp"

namespace tutti::tools {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

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
  report_line(line.dump(-1, ' ', false, json::error_handler_t::replace));
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
