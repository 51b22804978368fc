// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints of arrays that are split over ranks: read by as many ranks, by fewer and by more;
// damaged and unfinished ones.
#include <unistd.h>

#include "thread_job.hpp"
#include "tutti/data.hpp"
#include "tutti_test/arrays.hpp"

namespace {

using namespace tutti;
namespace fs = std::filesystem;

/// A folder that is empty at first, the same for all ranks.
struct shared_folder {
  explicit shared_folder(const job& j) : j(j) {
    const array number = j.broadcast(array::from({static_cast<std::int64_t>(::getpid())}));
    path =
        fs::temp_directory_path() / ("tutti-parts-" + std::to_string(number.item<std::int64_t>()) +
                                     "-" + std::to_string(j.size()));
    if (j.rank() == 0) fs::remove_all(path);
    j.barrier();
  }
  ~shared_folder() {
    if (j.rank() == 0) fs::remove_all(path);
  }
  const job& j;
  fs::path path;
};

array counted(const shape& extents, dtype type, int first = 0) {
  return ((arange(extents.size(), dtype::i32) + first) % 2000).astype(type).reshape(extents);
}

sharded_checkpoint state_at(std::int64_t step, const device_group& group) {
  const int first = static_cast<int>(step);
  std::vector<double> last(group.total(), 0.0);
  last.back() = 1;
  return {step,
          {{"rows", shard(counted({23, 3}, dtype::f32, first), group)},
           {"columns", shard(counted({2, 11}, dtype::bf16, first), group, 1)},
           {"last", shard(counted({5}, dtype::i64, first), group, 0, last)},
           {"none", shard(counted({0, 4}, dtype::f32), group)},
           {"copies", replicate(counted({4}, dtype::f64, first), group)}},
          {{"epoch", "7"}}};
}

/// The newest checkpoint is that of `step`, whatever ranks it was saved by.
void check_newest(const partitioned_checkpoints& saved, const device_group& group,
                  std::int64_t step) {
  const std::optional<sharded_checkpoint> found = saved.newest();
  require(found && found->step == step, "step " + std::to_string(found ? found->step : -1));
  require(found->metadata == std::map<std::string, std::string>{{"epoch", "7"}}, "metadata");
  const sharded_checkpoint expected = state_at(step, group);
  require(found->arrays.size() == expected.arrays.size(), "all arrays");
  for (const auto& [name, a] : expected.arrays) {
    const sharded& got = found->arrays.at(name);
    require(got.group() == group && got.replicated() == a.replicated(), name);
    require(got.dtype() == a.dtype() && got.shape() == a.shape(), name + ": " + got.str());
    require(a.replicated() || got.axis() == a.axis(), name + ": its axis");
    const array all = got.gather(group[0]), wanted = a.gather(group[0]);
    require(
        all.astype(dtype::f64).to_vector<double>() == wanted.astype(dtype::f64).to_vector<double>(),
        name + ": values");
  }
}

void damage(const fs::path& file) {
  std::fstream f(file, std::ios::in | std::ios::out | std::ios::binary);
  f.seekp(static_cast<std::streamoff>(fs::file_size(file) / 2));
  f.put('?').put('!').put('?');
  require(f.good(), "damages " + file.string());
}

std::string digits_of(std::int64_t step) {
  const std::string digits = std::to_string(step);
  return std::string(19 - digits.size(), '0') + digits;
}

fs::path folder_of(const fs::path& folder, std::int64_t step) {
  return folder / ("step-" + digits_of(step));
}

fs::path file_of(const fs::path& folder, std::int64_t step, std::size_t part) {
  return folder_of(folder, step) / ("part-" + std::to_string(part)) /
         ("checkpoint-" + digits_of(step) + ".tutti");
}

}  // namespace

BOOST_AUTO_TEST_CASE(parts_of_ranks_are_saved_and_read) {
  on_ranks([](const job& j) {
    const shared_folder folder(j);
    const device_group group(j);
    const partitioned_checkpoints saved(folder.path, group, {.keep = 1, .compress = false});
    require(!saved.newest(), "nothing at first");
    for (const std::int64_t step : {10, 20, 30, 30}) saved.save(state_at(step, group));
    check_newest(saved, group, 30);
    require(!fs::exists(folder_of(folder.path, 20)), "one checkpoint is kept");
    j.barrier();
    saved.save(state_at(15, group));
    check_newest(saved, group, 15);
    require(fs::exists(file_of(folder.path, 15, group.first())), "a file of parts");
    require(message_of<value_error>([&] {
              saved.save({-1, {}, {}});
            }).find("step -1") != std::string::npos,
            "a negative step");
    const auto wrong = [&] {
      saved.save({40, {{"x", shard(ones({8}), device_group({default_device()}))}}, {}});
    };
    if (j.size() > 1)
      require(message_of<value_error>(wrong).find("x is [8] split") != std::string::npos, "group");
  });
}

BOOST_AUTO_TEST_CASE(other_numbers_of_ranks_read_the_parts) {
  if (job().size() > 1) return;  // ranks are threads here
  const fs::path folder =
      fs::temp_directory_path() / ("tutti-regrouped-" + std::to_string(::getpid()));
  for (const int writers : {1, 2, 3}) {
    fs::remove_all(folder);
    run_ranks(writers, [&](const job& j) {
      const device_group group(j);
      partitioned_checkpoints(folder, group).save(state_at(5, group));
    });
    for (const int readers : {1, 2, 3, 5})
      run_ranks(readers, [&](const job& j) {
        const device_group group(j);
        check_newest(partitioned_checkpoints(folder, group), group, 5);
      });
  }
  fs::remove_all(folder);
}

BOOST_AUTO_TEST_CASE(damaged_and_unfinished_parts_are_passed_over) {
  on_ranks([](const job& j) {
    const shared_folder folder(j);
    const device_group group(j);
    const partitioned_checkpoints saved(folder.path, group);
    for (const std::int64_t step : {1, 2, 3}) saved.save(state_at(step, group));
    const std::size_t last = group.total() - 1;
    const auto on_rank_0 = [&](auto&& f) {
      j.barrier();
      if (j.rank() == 0) f();
      j.barrier();
    };
    on_rank_0([&] {  // ended before it was complete
      fs::rename(folder_of(folder.path, 3), folder.path / ("unfinished-" + digits_of(3)));
    });
    check_newest(saved, group, 2);
    on_rank_0([&] { damage(file_of(folder.path, 2, last)); });
    check_newest(saved, group, 1);
    on_rank_0([&] { damage(file_of(folder.path, 1, last)); });
    const std::string text = message_of<io_error>([&] { saved.newest(); });
    require(text.find("part-") != std::string::npos, text);  // each rank needs a piece of it
    on_rank_0([&] { fs::remove_all(file_of(folder.path, 1, last).parent_path()); });
    require(!message_of<io_error>([&] { saved.newest(); }).empty(), "a part is missing");

    saved.save(state_at(4, group));
    sharded_checkpoint bad = state_at(5, group);
    if (j.rank() == j.size() - 1)
      bad.arrays.insert({"x", replicate(ones({8}), device_group({default_device()}))});
    if (j.size() > 1)
      require(!message_of<error>([&] { saved.save(bad); }).empty(), "another group");
    check_newest(saved, group, 4);
    saved.save(state_at(5, group));
    check_newest(saved, group, 5);
  });
}
