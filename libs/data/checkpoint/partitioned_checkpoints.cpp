// SPDX-License-Identifier: Apache-2.0
#include "tutti/data/partitioned_checkpoints.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <nlohmann/json.hpp>
#include <vector>

#include "tutti/error.hpp"

namespace tutti {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr const char* reserved = "tutti.parts";  // in the metadata of rank 0's file

fs::path folder_of_rank(const fs::path& folder, std::size_t rank) {
  return folder / fmt::format("rank-{}", rank);
}

std::string part_name(const std::string& name, std::size_t place) {
  return fmt::format("{}#{}", name, place);
}

int rank_in(const device_group& group) { return group.ranks() ? group.ranks()->rank() : 0; }

// Positions of each rank's first device, and the end.
std::vector<std::size_t> begins_of(const device_group& group) {
  std::vector<std::size_t> out{0};
  if (!group.ranks()) return {0, group.size()};
  const array counts =
      group.ranks()->all_gather(array::from({static_cast<std::int64_t>(group.size())}, group[0]));
  for (const std::int64_t n : counts.to_vector<std::int64_t>())
    out.push_back(out.back() + static_cast<std::size_t>(n));
  return out;
}

// Calls f. If it throws on a rank, all throw: the others an io_error that names the first such
// rank.
template <class F>
void on_all_ranks(const device_group& group, F&& f) {
  if (!group.ranks()) return f();
  std::exception_ptr failure;
  try {
    f();
  } catch (const error&) {
    failure = std::current_exception();
  }
  const job& ranks = *group.ranks();
  const array own = array::from({failure ? ranks.rank() : ranks.size()}, group[0]);
  const int first = ranks.all_reduce(own, collective::reduction::min).item<std::int32_t>();
  if (failure) std::rethrow_exception(failure);
  if (first < ranks.size())
    throw io_error(fmt::format("partitioned_checkpoints: failed on rank {}", first));
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
  checkpoints{folder_, options_};
}

void partitioned_checkpoints::save_parts(const sharded_checkpoint& state) const {
  checkpoint own{.step = state.step};
  for (const auto& [name, a] : state.arrays) {
    if (!(a.group() == group_))
      throw value_error(fmt::format("partitioned_checkpoints: {} is {}, not over {}", name, a.str(),
                                    group_.names()));
    for (std::size_t i = 0; i < a.parts().size() && !a.replicated(); ++i)
      own.arrays.emplace(part_name(name, group_.first() + i), a.parts()[i]);
  }
  // One more than rank 0 keeps: until its new file is there, its oldest one still has its parts.
  checkpoint_options options = options_;
  ++options.keep;
  checkpoints(folder_of_rank(folder_, static_cast<std::size_t>(rank_in(group_))), options)
      .save(own);
}

void partitioned_checkpoints::save(const sharded_checkpoint& state) const {
  if (state.metadata.contains(reserved))
    throw value_error(fmt::format("partitioned_checkpoints: the name {} is reserved", reserved));
  on_all_ranks(group_, [&] { save_parts(state); });
  const std::vector<std::size_t> begins = begins_of(group_);
  on_all_ranks(group_, [&] {
    if (rank_in(group_) != 0) return;
    checkpoint whole{.step = state.step, .metadata = state.metadata};
    json splits = json::object();
    for (const auto& [name, a] : state.arrays) {
      if (a.replicated())
        whole.arrays.emplace(name, a.parts()[0]);
      else
        splits[name] = {{"axis", a.axis()}, {"boundaries", a.boundaries()}};
    }
    whole.metadata[reserved] = json{{"ranks", begins}, {"arrays", splits}}.dump();
    checkpoints(folder_, options_).save(whole);
  });
}

sharded_checkpoint partitioned_checkpoints::read(std::int64_t step) const {
  const checkpoint whole = checkpoints(folder_, options_).load(step, group_[0]);
  sharded_checkpoint out{.step = step, .metadata = whole.metadata};
  const auto found = out.metadata.extract(reserved);
  if (found.empty())
    throw io_error(
        fmt::format("partitioned_checkpoints: {}: step {} has no parts", folder_.string(), step));
  for (const auto& [name, a] : whole.arrays) {
    std::vector<array> copies;
    for (const device& member : group_) copies.push_back(a.to(member));
    out.arrays.emplace(name, sharded::from_replicas(group_, copies));
  }
  std::vector<std::size_t> begins;
  std::map<std::string, assembly> splits;
  try {
    const json parts = json::parse(found.mapped());
    begins = parts.at("ranks").get<std::vector<std::size_t>>();
    for (const auto& [name, split] : parts.at("arrays").items()) {
      auto sources = split.at("boundaries").get<std::vector<std::int64_t>>();
      auto targets = shares::equal().boundaries(sources.back(), group_);
      splits.emplace(name,
                     assembly{split.at("axis").get<int>(), std::move(sources), std::move(targets),
                              std::vector<std::vector<array>>(group_.size())});
    }
  } catch (const json::exception& e) {
    throw io_error(
        fmt::format("partitioned_checkpoints: {}: step {}: {}", folder_.string(), step, e.what()));
  }
  for (std::size_t rank = 0; rank + 1 < begins.size(); ++rank) {
    std::optional<checkpoint> file;
    for (auto& [name, to] : splits)
      for (std::size_t from = begins[rank]; from < begins[rank + 1]; ++from)
        for (std::size_t i = 0; i < group_.size(); ++i)
          if (const auto along = to.wanted(from, group_.first() + i)) {
            if (!file)
              file = checkpoints(folder_of_rank(folder_, rank), options_).load(step, group_[0]);
            const array& part = file->arrays.at(part_name(name, from));
            to.pieces[i].push_back(contiguous(cut(part, to.axis, *along)).to(group_[i]).wait());
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
  if (rank_in(group_) == 0)
    for (const checkpoint_file& file : checkpoints(folder_, options_).list())
      if (file.problem.empty()) steps.push_back(file.step);
  if (group_.ranks())  // as rank 0 sees the folder
    steps = group_.ranks()->all_gather(array::from(steps, group_[0])).to_vector<std::int64_t>();
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    std::optional<sharded_checkpoint> out;
    try {
      on_all_ranks(group_, [&] { out = read(*step); });
      return out;
    } catch (const io_error&) {
      if (step + 1 == steps.rend()) throw;
    }
  }
  return std::nullopt;
}

}  // namespace tutti
