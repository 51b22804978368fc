// SPDX-License-Identifier: Apache-2.0
//
// `tutti checkpoint list`, `verify`, `prune`, `export` and `key`: management of the files of runs.
// Loads no plugin.
#include "tutti/data/checkpoint.hpp"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <memory>
#include <optional>

#include "base/one_line.hpp"
#include "command.hpp"
#include "text.hpp"
#include "tutti/error.hpp"

namespace tutti::tools {
namespace {

namespace fs = std::filesystem;

struct checkpoint_choice {
  CLI::App *list, *verify, *prune, *exported, *key;
  std::string path, to, key_file;
  int keep = 3;
  bool uses_environment = false;
};

std::optional<checkpoint_key> key_of(const checkpoint_choice& o) {
  if (!o.key_file.empty()) return checkpoint_key::from_file(o.key_file);
  if (o.uses_environment) return checkpoint_key::from_environment();
  return {};
}

checkpoints folder_of(const checkpoint_choice& o) {
  // Inspection does not create a folder.
  if (!fs::is_directory(o.path)) throw io_error(fmt::format("{}: is no folder", o.path));
  const fs::path below = fs::path(o.path) / "checkpoints";
  return checkpoints(fs::is_directory(below) ? below : fs::path(o.path), {.key = key_of(o)});
}

int print(const std::vector<checkpoint_file>& files, bool with_problems) {
  std::vector<std::vector<std::string>> rows{{"step", "size", "stored", "file"}};
  bool is_sound = true;
  for (const checkpoint_file& f : files) {
    std::string stored = f.is_compressed ? "zstd" : "plain";
    if (f.is_encrypted) stored += ", encrypted";
    rows.push_back({std::to_string(f.step), size_text(f.bytes), f.problem.empty() ? stored : "-",
                    f.path.string()});
  }
  if (files.empty()) fmt::print("no checkpoints\n");
  if (!files.empty()) fmt::print("{}", table(rows));
  for (const checkpoint_file& f : files) {
    if (f.problem.empty()) continue;
    is_sound = false;
    fmt::print(stderr, "{}\n", base::one_line(f.problem));
  }
  return with_problems && !is_sound ? 1 : 0;
}

int prune(const checkpoint_choice& o) {
  const std::vector<checkpoint_file> gone = folder_of(o).prune(o.keep);
  for (const checkpoint_file& f : gone) fmt::print("{}\n", f.path.string());
  fmt::print("{} removed\n", gone.size());
  return 0;
}

/// The newest intact one of a folder, or the file itself.
int export_to(const checkpoint_choice& o) {
  fs::path file = o.path;
  if (fs::is_directory(file)) {
    file.clear();
    for (const checkpoint_file& f : folder_of(o).verify())
      if (f.problem.empty()) file = f.path;
    if (file.empty()) throw io_error(fmt::format("{}: has no sound checkpoint", o.path));
  }
  export_checkpoint(file, o.to, key_of(o));
  fmt::print("{}: {}\n", o.to, file.string());
  return 0;
}

void add_key_options(CLI::App* parser, const std::shared_ptr<checkpoint_choice>& o) {
  auto* const file = parser->add_option("--key-file", o->key_file, "Key file, with mode 0600");
  parser
      ->add_flag("--key-from-environment", o->uses_environment,
                 "Use the key in TUTTI_CHECKPOINT_KEY")
      ->excludes(file);
}

CLI::App* add_of_folder(CLI::App* parser, const std::shared_ptr<checkpoint_choice>& o,
                        const char* name, const char* text) {
  CLI::App* const out = parser->add_subcommand(name, text);
  out->add_option("folder", o->path, "Directory of the run, or its checkpoints")->required();
  add_key_options(out, o);
  return out;
}

int run(const checkpoint_choice& o) {
  if (o.list->parsed()) return print(folder_of(o).list(), false);
  if (o.verify->parsed()) return print(folder_of(o).verify(), true);
  if (o.prune->parsed()) return prune(o);
  if (o.exported->parsed()) return export_to(o);
  checkpoint_key::create(o.path);
  fmt::print("{} decrypts what is encrypted with it: do not lose it, and keep it secret\n", o.path);
  return 0;
}

}  // namespace

command add_checkpoint(CLI::App& app) {
  const auto o = std::make_shared<checkpoint_choice>();
  CLI::App* const parser =
      app.add_subcommand("checkpoint", "List, verify, remove and export the checkpoints of runs");
  parser->require_subcommand(1);
  o->list =
      add_of_folder(parser, o, "list", "list the checkpoints, using the headers of their files");
  o->verify =
      add_of_folder(parser, o, "verify", "read every byte; exit status 1 if a file is damaged");
  o->prune =
      add_of_folder(parser, o, "prune", "remove checkpoints older than the newest intact ones");
  o->prune->add_option("--keep", o->keep, "Number of intact checkpoints to keep")
      ->capture_default_str()
      ->check(CLI::Range(1, 1 << 30));
  o->exported = parser->add_subcommand("export", "write arrays and texts to a safetensors file");
  o->exported->add_option("from", o->path, "A checkpoint, or a directory: its newest intact one")
      ->required();
  o->exported->add_option("to", o->to, "NAME.safetensors")->required();
  add_key_options(o->exported, o);
  o->key = parser->add_subcommand("key", "create a new key in a new file of mode 0600");
  o->key->add_option("file", o->path, "The file")->required();
  return {parser, [o] { return run(*o); }};
}

}  // namespace tutti::tools
