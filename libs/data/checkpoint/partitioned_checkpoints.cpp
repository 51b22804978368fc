// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/partitioned_checkpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <exception>
#include <nlohmann/json.hpp>
#include <vector>

#include "base/fail.hpp"
#include "base/log.hpp"
#include "data/checkpoint/durable_file.hpp"
#include "tutti/plugin.h"

namespace tutti {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr const char* reserved = "tutti.parts";  // in the metadata of the replicated arrays
constexpr std::string_view step_begin = "step-", unfinished = "unfinished-";

// As many digits as the largest step: names sort in the order of steps.
fs::path folder_of(const fs::path& folder, std::string_view begin, std::int64_t step) {
  return folder / fmt::format("{}{:019}", begin, step);
}

fs::path folder_of_part(const fs::path& of_step, std::size_t place) {
  return of_step / fmt::format("part-{}", place);
}

bool leads(const device_group& group) { return !group.ranks() || group.ranks()->rank() == 0; }

// Calls f. If it throws on a rank, all throw: the others an io_error, or where it was something
// else, a device_error, which name the first such rank.
template <class F>
void on_all_ranks(const device_group& group, F&& f) {
  if (!group.ranks()) return f();
  enum outcome : std::int32_t { good, io, other } own = good;
  std::exception_ptr failure;
  try {
    f();
  } catch (const io_error&) {
    own = io;
    failure = std::current_exception();
  } catch (...) {
    own = other;
    failure = std::current_exception();
  }
  const std::vector<std::int32_t> all = group.ranks()
                                            ->all_gather(array::from({std::int32_t{own}}, group[0]))
                                            .to_vector<std::int32_t>();
  const std::int32_t worst = *std::max_element(all.begin(), all.end());
  if (own == worst && failure) std::rethrow_exception(failure);
  const std::string text = fmt::format("partitioned_checkpoints: failed on rank {}",
                                       std::find(all.begin(), all.end(), worst) - all.begin());
  if (worst == other) throw device_error(text, TUTTI_ERROR_INTERNAL);
  if (worst == io) throw io_error(text);
}

// The steps of the folder, oldest first.
std::vector<std::int64_t> steps_in(const fs::path& folder) {
  std::vector<std::int64_t> out;
  if (!fs::exists(folder)) return out;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (!name.starts_with(step_begin)) continue;
    std::int64_t step = 0;
    const char *begin = name.data() + step_begin.size(), *end = name.data() + name.size();
    const auto [stop, code] = std::from_chars(begin, end, step);
    if (code == std::errc() && stop == end) out.push_back(step);
  }
  std::sort(out.begin(), out.end());
  return out;
}

// Gives the finished folder of a step its name, and removes what it replaces and what ended runs
// left unfinished.
void commit(const fs::path& folder, std::int64_t step, int keep) {
  const fs::path named = folder_of(folder, step_begin, step);
  const fs::path aside = folder_of(folder, unfinished, step) += ".replaced";
  fs::remove_all(aside);
  if (fs::exists(named)) fs::rename(named, aside);
  fs::rename(folder_of(folder, unfinished, step), named);
  data::sync_folder("partitioned_checkpoints", folder);
  const std::vector<std::int64_t> steps = steps_in(folder);
  const auto last = std::find(steps.begin(), steps.end(), step);
  for (auto at = steps.begin(); at != steps.end(); ++at)
    if (at > last || last - at >= keep) fs::remove_all(folder_of(folder, step_begin, *at));
  std::vector<fs::path> left;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder))
    if (entry.path().filename().string().starts_with(unfinished)) left.push_back(entry.path());
  for (const fs::path& path : left) fs::remove_all(path);
}

// Calls f, whose errors of the file system become io_error.
template <class F>
void with_files(const fs::path& folder, F&& f) {
  try {
    f();
  } catch (const fs::filesystem_error& e) {
    base::fail<io_error>("partitioned_checkpoints: {}: {}", folder.string(), e.what());
  }
}

/// Regions of one array for the members of this rank, which are put together from parts.
struct assembly {
  int axis;
  std::vector<std::int64_t> sources, targets;  // boundaries of the parts on disk and in the group
  std::vector<std::vector<array>> pieces;      // by member

  // The elements of part `from` that member `to` of the group needs, relative to the part. Of an
  // empty region the first part, which has its shape and dtype.
  std::optional<slice> wanted(std::size_t from, std::size_t to) const {
    const std::int64_t low = std::max(sources[from], targets[to]);
    const std::int64_t high = std::min(sources[from + 1], targets[to + 1]);
    if (low < high) return slice{low - sources[from], high - sources[from]};
    if (targets[to] == targets[to + 1] && from == 0) return slice{0, 0};
    return std::nullopt;
  }
};

array cut(const array& part, int axis, const slice& along) {
  std::vector<slice> slices(static_cast<std::size_t>(axis) + 1);
  slices.back() = along;
  return slice_view(part, slices);
}

}  // namespace

partitioned_checkpoints::partitioned_checkpoints(fs::path folder, device_group group,
                                                 checkpoint_options options)
    : folder_(std::move(folder)), group_(std::move(group)), options_(std::move(options)) {
  if (options_.keep < 1)
    base::fail<value_error>("partitioned_checkpoints: keep = {}", options_.keep);
}

void partitioned_checkpoints::save(const sharded_checkpoint& state) const {
  const fs::path written = folder_of(folder_, unfinished, state.step);
  on_all_ranks(group_, [&] {
    if (state.step < 0) base::fail<value_error>("partitioned_checkpoints: step {}", state.step);
    if (state.metadata.contains(reserved))
      base::fail<value_error>("partitioned_checkpoints: the name {} is reserved", reserved);
    for (const auto& [name, a] : state.arrays)
      if (!(a.group() == group_))
        base::fail<value_error>("partitioned_checkpoints: {} is {}, not over {}", name, a.str(),
                                group_.names());
    if (leads(group_)) with_files(folder_, [&] { fs::remove_all(written); });
  });
  on_all_ranks(group_, [&] {
    checkpoint whole{.step = state.step, .metadata = state.metadata};
    std::vector<checkpoint> parts(group_.size(), {.step = state.step});
    json splits = json::object();
    for (const auto& [name, a] : state.arrays) {
      if (a.replicated()) {
        whole.arrays.emplace(name, a.parts()[0]);
        continue;
      }
      splits[name] = {{"axis", a.axis()}, {"boundaries", a.boundaries()}};
      for (std::size_t i = 0; i < parts.size(); ++i) parts[i].arrays.emplace(name, a.parts()[i]);
    }
    for (std::size_t i = 0; i < parts.size(); ++i)
      checkpoints(folder_of_part(written, group_.first() + i), options_).save(parts[i]);
    if (!leads(group_)) return;
    whole.metadata[reserved] = splits.dump();
    checkpoints(written, options_).save(whole);
  });
  on_all_ranks(group_, [&] {
    if (leads(group_)) with_files(folder_, [&] { commit(folder_, state.step, options_.keep); });
  });
}

sharded_checkpoint partitioned_checkpoints::read(std::int64_t step) const {
  const fs::path of_step = folder_of(folder_, step_begin, step);
  const auto damaged = [&](const std::string& why) {
    base::fail<io_error>("partitioned_checkpoints: {}: {}", of_step.string(), why);
  };
  const auto load = [&](const fs::path& from) {
    if (!fs::exists(from)) damaged("there is no " + from.filename().string());
    return checkpoints(from, options_).load(step, group_[0]);
  };
  const checkpoint whole = load(of_step);
  sharded_checkpoint out{.step = step, .metadata = whole.metadata};
  const auto found = out.metadata.extract(reserved);
  if (found.empty()) damaged("it does not say how arrays are split");
  for (const auto& [name, a] : whole.arrays) {
    std::vector<array> copies;
    for (const device& member : group_) copies.push_back(a.to(member));
    out.arrays.emplace(name, sharded::from_replicas(group_, copies));
  }
  std::map<std::string, assembly> splits;
  std::size_t places = 0;
  const json recorded = json::parse(found.mapped());
  for (const auto& [name, split] : recorded.items()) {
    auto sources = split.at("boundaries").get<std::vector<std::int64_t>>();
    auto targets = shares::equal().boundaries(sources.back(), group_);
    places = sources.size() - 1;
    splits.emplace(name,
                   assembly{split.at("axis").get<int>(), std::move(sources), std::move(targets),
                            std::vector<std::vector<array>>(group_.size())});
  }
  for (std::size_t from = 0; from < places; ++from) {
    std::optional<checkpoint> file;
    for (auto& [name, to] : splits)
      for (std::size_t i = 0; i < group_.size(); ++i)
        if (const auto along = to.wanted(from, group_.first() + i)) {
          if (!file) file = load(folder_of_part(of_step, from));
          const auto part = file->arrays.find(name);
          if (part == file->arrays.end() || part->second.ndim() <= to.axis ||
              part->second.dim(to.axis) != to.sources[from + 1] - to.sources[from])
            damaged(fmt::format("part {} does not have that part of {}", from, name));
          to.pieces[i].push_back(
              contiguous(cut(part->second, to.axis, *along)).to(group_[i]).wait());
        }
  }
  for (auto& [name, to] : splits) {
    std::vector<array> parts;
    for (const std::vector<array>& pieces : to.pieces)
      parts.push_back(pieces.size() == 1 ? pieces[0] : concatenate(pieces, to.axis));
    out.arrays.emplace(name, sharded(group_, to.axis, std::move(to.targets), std::move(parts)));
  }
  return out;
}

std::optional<sharded_checkpoint> partitioned_checkpoints::newest() const {
  std::vector<std::int64_t> steps;
  on_all_ranks(group_, [&] {
    if (leads(group_)) with_files(folder_, [&] { steps = steps_in(folder_); });
  });
  if (group_.ranks())  // as rank 0 sees the folder
    steps = group_.ranks()->all_gather(array::from(steps, group_[0])).to_vector<std::int64_t>();
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    std::optional<sharded_checkpoint> out;
    try {
      on_all_ranks(group_, [&] { with_files(folder_, [&] { out = read(*step); }); });
      return out;
    } catch (const io_error& e) {
      if (step + 1 == steps.rend()) throw;
      logging::warn("step {} is passed over: {}", *step, e.what());
    }
  }
  return std::nullopt;
}

}  // namespace tutti
