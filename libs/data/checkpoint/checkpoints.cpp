// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <system_error>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "data/checkpoint/durable_file.hpp"
#include "data/checkpoint/format.hpp"
#include "data/io/safetensors.hpp"
#include "tutti/data/checkpoint.hpp"

namespace tutti {

namespace fs = std::filesystem;

namespace {

constexpr std::string_view name_begin = "checkpoint-", name_end = ".tutti",
                           retired_end = ".retired";

// As many digits as the largest step: names sort in the order of steps.
std::string file_name(std::int64_t step) {
  return fmt::format("{}{:019}{}", name_begin, step, name_end);
}

std::optional<std::int64_t> step_in_name(std::string_view name) {
  if (!name.starts_with(name_begin) || !name.ends_with(name_end) ||
      name.size() <= name_begin.size() + name_end.size())
    return {};
  name.remove_prefix(name_begin.size());
  name.remove_suffix(name_end.size());
  std::int64_t step = 0;
  const auto [stop, code] = std::from_chars(name.data(), name.data() + name.size(), step);
  if (code != std::errc() || stop != name.data() + name.size() || step < 0) return {};
  return step;
}

/// Files with such names, oldest first; their contents are not checked.
std::vector<checkpoint_file> names_in(const fs::path& folder, std::string_view op) {
  std::vector<checkpoint_file> out;
  std::error_code code;
  fs::directory_iterator at(folder, code);
  for (; !code && at != fs::directory_iterator(); at.increment(code)) {
    std::error_code ignored;
    const auto step = step_in_name(at->path().filename().string());
    if (step && at->is_regular_file(ignored)) out.push_back({.path = at->path(), .step = *step});
  }
  if (code) io::fail(op, folder, "cannot be read: {}", code.message());
  std::sort(out.begin(), out.end(), [](const checkpoint_file& a, const checkpoint_file& b) {
    return a.step != b.step ? a.step < b.step : a.path < b.path;
  });
  return out;
}

enum class scrutiny : std::uint8_t { ends, sums, content };

/// Sets the metadata from the file, and its problem, if any.
void look_at(checkpoint_file& file, scrutiny how, const std::optional<checkpoint_key>& key,
             std::string_view op) {
  try {
    io::reader in(op, file.path);
    file.bytes = in.size();
    const data::checkpoint_head head = data::read_head(in);
    file.is_compressed = head.is_compressed();
    file.is_encrypted = head.is_encrypted();
    if (head.step != file.step)
      io::fail(op, file.path, "is of step {}, not of its name's", head.step);
    if (how == scrutiny::ends) return;
    data::check_sum(in);
    if (how == scrutiny::sums || (head.is_encrypted() && !key)) return;
    io::reader content(op, file.path, data::read_content(in, head, key));
    io::safetensors::read_entries(content);
  } catch (const io_error& e) {
    file.problem = e.what();
  }
}

checkpoint read_sound(io::reader& in, const data::checkpoint_head& head,
                      const std::optional<checkpoint_key>& key, const device& on) {
  checkpoint out;
  out.step = head.step;
  io::reader content(in.op(), in.path(), data::read_content(in, head, key));
  out.arrays = io::safetensors::read(content, on, &out.metadata);
  return out;
}

/// `step`, if given, is the step in the file's name.
checkpoint read_one(std::string_view op, const fs::path& file, std::optional<std::int64_t> step,
                    const std::optional<checkpoint_key>& key, const device& on) {
  io::reader in(op, file);
  const data::checkpoint_head head = data::read_head(in);
  data::check_sum(in);
  if (step && head.step != *step)
    base::fail<data::damaged_checkpoint>("{}: {}: is of step {}, not of its name's", op,
                                         file.string(), head.step);
  return read_sound(in, head, key, on);
}

/// Files of higher steps belong to a run that was abandoned: they get another ending, and are
/// removed when this run passes their steps.
void retire_higher(const fs::path& folder, std::int64_t step, std::string_view op) {
  std::error_code code;
  std::vector<fs::path> old;
  for (fs::directory_iterator at(folder, code); !code && at != fs::directory_iterator();
       at.increment(code)) {
    const fs::path& path = at->path();
    if (path.extension() != retired_end) continue;
    const auto of = step_in_name(path.stem().string());
    if (of && *of <= step) old.push_back(path);
  }
  for (const fs::path& path : old) fs::remove(path, code);
  std::string names;
  for (const checkpoint_file& file : names_in(folder, op)) {
    if (file.step <= step) continue;
    fs::path aside = file.path;
    aside += retired_end;
    fs::rename(file.path, aside, code);
    if (code) io::fail(op, file.path, "cannot be renamed: {}", code.message());
    names += (names.empty() ? "" : ", ") + file.path.filename().string();
  }
  if (!names.empty())
    logging::warn("{}: {}: step {} is saved after higher ones, which get the ending {}: {}", op,
                  folder.string(), step, retired_end, names);
}

void require_keep(int keep, std::string_view op) {
  if (keep < 1) base::fail<value_error>("{}: {} checkpoints are to be kept", op, keep);
}

/// Removes files older than the newest `keep` intact ones, except `spared`.
std::vector<checkpoint_file> remove_old(const fs::path& folder, int keep, scrutiny how,
                                        const std::optional<checkpoint_key>& key,
                                        const fs::path& spared, std::string_view op) {
  std::vector<checkpoint_file> all = names_in(folder, op), gone;
  int sound = 0;
  for (auto file = all.rbegin(); file != all.rend(); ++file) {
    if (sound < keep) {
      look_at(*file, how, key, op);
      sound += file->problem.empty() ? 1 : 0;
    } else if (file->path != spared) {
      std::error_code code;
      file->bytes = fs::file_size(file->path, code);
      if (!fs::remove(file->path, code) && code)
        io::fail(op, file->path, "cannot be removed: {}", code.message());
      gone.push_back(*file);
    }
  }
  if (!gone.empty()) data::sync_folder(op, folder);
  std::reverse(gone.begin(), gone.end());
  return gone;
}

}  // namespace

checkpoints::checkpoints(fs::path folder, checkpoint_options options)
    : folder_(std::move(folder)), options_(std::move(options)) {
  constexpr std::string_view op = "checkpoints";
  require_keep(options_.keep, op);
  if (options_.compress && !data::has_zstd())
    throw value_error("checkpoints: this build of the library has no zstd to compress with");
  std::error_code code;
  fs::create_directories(folder_, code);
  if (!fs::is_directory(folder_))
    io::fail(op, folder_, "{}", code ? "cannot be made: " + code.message() : "is no folder");
}

void checkpoints::save(const checkpoint& state) const {
  constexpr std::string_view op = "save";
  if (state.step < 0) base::fail<value_error>("{}: step {}", op, state.step);
  const fs::path path = folder_ / file_name(state.step);
  data::remove_abandoned(folder_, name_begin);
  data::write_checkpoint(op, path, state, options_);
  retire_higher(folder_, state.step, op);  // only now: there is always one to go on from
  remove_old(folder_, options_.keep, scrutiny::ends, options_.key, path, op);
}

std::optional<checkpoint> checkpoints::newest(const device& on,
                                              std::vector<checkpoint_file>* passed_over) const {
  constexpr std::string_view op = "newest";
  std::vector<checkpoint_file> all = names_in(folder_, op);
  for (auto file = all.rbegin(); file != all.rend(); ++file) {
    try {
      return read_one(op, file->path, file->step, options_.key, on);
    } catch (const data::damaged_checkpoint& e) {
      file->problem = e.what();
      if (passed_over != nullptr) passed_over->push_back(*file);
    }
  }
  return std::nullopt;
}

checkpoint checkpoints::load(std::int64_t step, const device& on) const {
  return read_one("load", folder_ / file_name(step), step, options_.key, on);
}

std::vector<checkpoint_file> checkpoints::list() const {
  std::vector<checkpoint_file> out = names_in(folder_, "list");
  for (checkpoint_file& file : out) look_at(file, scrutiny::ends, options_.key, "list");
  return out;
}

std::vector<checkpoint_file> checkpoints::verify() const {
  std::vector<checkpoint_file> out = names_in(folder_, "verify");
  for (checkpoint_file& file : out) look_at(file, scrutiny::content, options_.key, "verify");
  return out;
}

std::vector<checkpoint_file> checkpoints::prune(int keep) const {
  constexpr std::string_view op = "prune";
  require_keep(keep, op);
  return remove_old(folder_, keep, scrutiny::sums, options_.key, {}, op);
}

checkpoint read_checkpoint(const fs::path& file, const std::optional<checkpoint_key>& key,
                           const device& on) {
  return read_one("read_checkpoint", file, std::nullopt, key, on);
}

void export_checkpoint(const fs::path& file, const fs::path& safetensors,
                       const std::optional<checkpoint_key>& key) {
  constexpr std::string_view op = "export_checkpoint";
  io::reader in(op, file);
  const data::checkpoint_head head = data::read_head(in);
  data::check_sum(in);
  io::writer out(op, safetensors);
  out.write(data::read_content(in, head, key));
  out.commit();
}

}  // namespace tutti
