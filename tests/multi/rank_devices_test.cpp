// SPDX-License-Identifier: Apache-2.0
//
// Sums over ranks through their devices: emulated GPUs, each of them one rank's, and the emulated
// NCCL. What it may not do goes through the job as without it.
#include <dlfcn.h>

#include "tests/cuda/emulator/control.hpp"
#include "thread_job.hpp"
#include "tutti_test/arrays.hpp"

namespace {

using namespace tutti;
using collective::reduction;

template <class F>
F* emulator_function(const char* name) {
  static void* const library = dlopen(
      (std::string(std::getenv("TUTTI_CUDA_LIBRARIES")) + "/libcuda.so.1").c_str(), RTLD_NOW);
  return reinterpret_cast<F*>(dlsym(library, name));
}
void fail_next(const char* function) {
  emulator_function<decltype(emulator_fail)>("emulator_fail")(function, 3, 1);
}
// Of the participants of all ranks.
int device_sums() {
  return emulator_function<decltype(emulator_count)>("emulator_count")("all_reduce");
}

device gpu(int number) { return device("cuda:" + std::to_string(number)); }
bool emulated() { return std::getenv("TUTTI_EMULATOR_DEVICES") != nullptr; }

array values(std::int64_t n, dtype type, int r, const device& on) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < n; ++i) out.push_back(element(i, r));
  return array::from(out, {n}, device("cuda:0")).astype(type).to(on);
}

void require_folded(const array& found, int count, reduction with, const std::string& what) {
  const std::vector<double> all = found.astype(dtype::f64).to_vector<double>();
  for (std::size_t i = 0; i < all.size(); ++i)
    require(std::abs(all[i] - folded(static_cast<std::int64_t>(i), count, with)) < 1e-2,
            what + ", element " + std::to_string(i) + ": " + std::to_string(all[i]));
}

// Devices of each rank, six at most.
const std::vector<std::vector<int>> devices_of_ranks = {{1, 1}, {2, 2},    {1, 2},
                                                        {3, 1}, {2, 2, 2}, {1, 3, 2}};

device_group group_of(const std::vector<int>& counts, const job& j) {
  const auto rank = static_cast<std::size_t>(j.rank());
  const int first = std::accumulate(counts.begin(), counts.begin() + j.rank(), 0);
  std::vector<device> own;
  for (int n = 0; n < counts[rank]; ++n) own.push_back(gpu(first + n));
  return {own, j};
}

}  // namespace

BOOST_AUTO_TEST_SUITE(rank_devices,
                      *boost::unit_test::precondition([](auto) { return emulated(); }))

BOOST_AUTO_TEST_CASE(sums_stay_on_the_devices) {
  for (const int size : {2, 3})
    run_ranks(size, [&](const job& j) {
      const array own = values(1001, dtype::f32, j.rank(), gpu(j.rank())).wait();
      const array first = j.all_reduce(own);  // connects the devices
      j.barrier();
      const int before = device_sums();
      if (j.rank() == 0) reset_stats();
      j.barrier();
      // Two messages, of a view too.
      const std::vector<array> sums =
          j.all_reduce({own, own(slice{1, 1000, 3})}, reduction::sum, 1000);
      eval(sums);
      j.barrier();
      const statistics counted = stats();
      require(counted.bytes_read + counted.bytes_written == 0, "copies to the host");
      require(device_sums() - before == 2 * size, "sums on the devices");
      j.barrier();
      require(sums[0].device() == gpu(j.rank()), "the device");
      require_folded(first, size, reduction::sum, "the first sum");
      require_folded(sums[0], size, reduction::sum, "the sum");
      require(max(abs(sums[1] - sums[0](slice{1, 1000, 3}))).item<float>() == 0, "the view");
    });
}

BOOST_AUTO_TEST_CASE(dtypes_and_reductions_are_those_of_a_job) {
  run_ranks(2, [&](const job& j) {
    for (const dtype type : {dtype::i8, dtype::i16, dtype::i32, dtype::i64, dtype::u8, dtype::u32,
                             dtype::u64, dtype::f16, dtype::bf16, dtype::f32, dtype::f64})
      for (const reduction with :
           {reduction::sum, reduction::prod, reduction::min, reduction::max, reduction::avg})
        for (const std::int64_t n : {0, 1, 7}) {
          if (with == reduction::avg && !is_floating(type)) continue;
          const array found = j.all_reduce(values(n, type, j.rank(), gpu(j.rank())), with);
          require(found.dtype() == type && found.size() == n, "dtype and size");
          require_folded(found, 2, with, std::string(name(type)));
        }
    const float nan = std::numeric_limits<float>::quiet_NaN(),
                infinity = std::numeric_limits<float>::infinity();
    const std::vector<float> odd = j.rank() == 0 ? std::vector{nan, infinity, 1.0F, infinity}
                                                 : std::vector{1.0F, 1.0F, nan, -infinity};
    for (const reduction with : {reduction::sum, reduction::max}) {
      const std::vector<float> found =
          j.all_reduce(array::from(odd, gpu(j.rank())), with).to_vector<float>();
      require(std::isnan(found[0]) && found[1] == infinity && std::isnan(found[2]) &&
                  (with == reduction::max ? found[3] == infinity : std::isnan(found[3])),
              "NaN and infinities");
    }
    const array z = complex(values(5, dtype::f32, j.rank(), gpu(j.rank())),
                            full({5}, 1.0, dtype::f32, gpu(j.rank())));
    const array total = j.all_reduce(z);
    require_folded(real(total), 2, reduction::sum, "c64");
    require(min(imag(total)).item<float>() == 2, "imaginary parts");
  });
}

BOOST_AUTO_TEST_CASE(one_rank_elsewhere_and_the_job_sums) {
  run_ranks(2, [&](const job& j) {
    const int before = device_sums();
    j.barrier();
    // Rank 0 has values on two devices.
    const std::vector<array> sums =
        j.all_reduce({values(9, dtype::f32, j.rank(), gpu(j.rank())),
                      values(9, dtype::f32, j.rank(), gpu(j.rank() == 0 ? 2 : 1))},
                     reduction::sum, 1);
    j.barrier();
    require(device_sums() == before, "sums on the devices");
    for (const array& s : sums) require_folded(s, 2, reduction::sum, "the sum");
    // Other devices than before: connected anew.
    require_folded(j.all_reduce(values(9, dtype::f32, j.rank(), gpu(2 + j.rank()))), 2,
                   reduction::sum, "on others");
    j.barrier();
    require(device_sums() == before + 2, "sums on other devices");
  });
}

BOOST_AUTO_TEST_CASE(differences_are_found_before_anything_is_sent) {
  run_ranks(2, [&](const job& j) {
    const device own = gpu(j.rank());
    j.all_reduce(values(4, dtype::f32, 0, own));
    require(message_of<shape_error>([&] {
              j.all_reduce(values(4 + j.rank(), dtype::f32, 0, own));
            }).starts_with("all_reduce: shapes differ"),
            "shapes");
    require_folded(j.all_reduce(values(4, dtype::f32, j.rank(), own)), 2, reduction::sum, "after");
  });
}

BOOST_AUTO_TEST_CASE(gradients_go_the_same_way) {
  run_ranks(2, [&](const job& j) {
    const array x = values(6, dtype::f32, j.rank(), gpu(j.rank()));
    const auto loss = [&](const std::vector<array>& v) { return sum(square(j.all_reduce(v[0]))); };
    const array found = value_and_grad(loss)({x}).second[0];
    require(max(abs(found - 2 * j.all_reduce(x))).item<float>() == 0, "the gradient");
  });
}

// Each rank sums over its devices and, without them, over the job: deterministic sums do.
BOOST_AUTO_TEST_CASE(groups_are_summed_on_all_devices_at_once) {
  for (const std::vector<int>& counts : devices_of_ranks)
    run_ranks(static_cast<int>(counts.size()), [&](const job& j) {
      const device_group group = group_of(counts, j);
      const int total = static_cast<int>(group.total());
      for (const dtype type : {dtype::f32, dtype::bf16, dtype::i32, dtype::i16})
        for (const std::int64_t n : {0, 1, 1001})
          for (const reduction with :
               {reduction::sum, reduction::prod, reduction::max, reduction::avg}) {
            if (with == reduction::avg && !is_floating(type)) continue;
            std::vector<array> own;
            for (std::size_t i = 0; i < group.size(); ++i)
              own.push_back(values(n, type, static_cast<int>(group.first() + i), group[i]));
            const std::vector<array> found = collective::all_reduce(group, own, with);
            const std::vector<array> other =
                collective::all_reduce(group, own, with, {.deterministic = true});
            for (std::size_t i = 0; i < group.size(); ++i) {
              require(found[i].device() == group[i] && found[i].dtype() == type, "the result");
              require_folded(found[i], total, with, std::string(name(type)));
              require_folded(other[i], total, with, "through the job");
            }
          }
      // Of bf16 added one after the other the sum would stay 256.
      std::vector<array> coarse;
      for (std::size_t i = 0; i < group.size(); ++i)
        coarse.push_back(
            array::from({group.first() + i == 0 ? 256.0F : 1.0F}, group[i]).astype(dtype::bf16));
      for (const array& found : collective::all_reduce(group, coarse)) {
        const float sum = found.astype(dtype::f32).item<float>();
        require(sum == 2 * std::nearbyint((255.0 + total) / 2),
                "the sum of bf16: " + std::to_string(sum) + " over " + std::to_string(total));
      }
      // Matrices, of which one is a view.
      const auto matrix_of = [&](std::size_t i) {
        const int place = static_cast<int>(group.first() + i);
        const array whole = reshape(values(48, dtype::f32, place, group[i]), {8, 6});
        return i == 0 ? transpose(whole, {1, 0}).wait() : transpose(whole, {1, 0}) + 0;
      };
      std::vector<array> matrices;
      for (std::size_t i = 0; i < group.size(); ++i) matrices.push_back(matrix_of(i));
      eval(matrices);
      for (const array& m : matrices) m.wait();
      j.barrier();
      const int before = device_sums();
      if (j.rank() == 0) reset_stats();
      j.barrier();
      const std::vector<array> sums = collective::all_reduce(group, matrices);
      eval(sums);
      j.barrier();
      const statistics counted = stats();
      require(counted.bytes_read + counted.bytes_written == 0, "copies to the host");
      require(device_sums() - before == total, "sums on the devices");
      j.barrier();
      for (const array& m : sums)
        require_folded(transpose(m, {1, 0}).flatten(), total, reduction::sum, "m");
    });
}

BOOST_AUTO_TEST_CASE(gradients_of_groups_are_those_through_the_job) {
  for (const std::vector<int>& counts : devices_of_ranks)
    run_ranks(static_cast<int>(counts.size()), [&](const job& j) {
      const device_group group = group_of(counts, j);
      std::vector<array> own;
      for (std::size_t i = 0; i < group.size(); ++i)
        own.push_back(values(7, dtype::f32, static_cast<int>(group.first() + i), group[i]));
      const auto gradients = [&](reduction with, bool is_deterministic) {
        return value_and_grad([&](const std::vector<array>& v) {
                 array loss;
                 for (const array& each :
                      collective::all_reduce(group, v, with, {.deterministic = is_deterministic})) {
                   const array one = sum(square(each)).to(group[0]);
                   loss = loss.valid() ? loss + one : one;
                 }
                 return loss;
               })(own)
            .second;
      };
      for (const reduction with : {reduction::sum, reduction::prod, reduction::avg}) {
        const int before = device_sums();
        j.barrier();
        const std::vector<array> found = gradients(with, false);
        j.barrier();
        if (with != reduction::prod)
          require(device_sums() - before == 2 * static_cast<int>(group.total()), "both ways");
        const std::vector<array> other = gradients(with, true);
        for (std::size_t i = 0; i < group.size(); ++i)
          require(max(abs(found[i] / other[i] - 1)).item<float>() < 1e-5F, "the gradient");
      }
    });
}

BOOST_AUTO_TEST_CASE(differences_between_groups_are_found_before_anything_is_sent) {
  run_ranks(2, [&](const job& j) {
    const device_group group = group_of({2, 2}, j);
    const auto sums = [&](std::int64_t n, reduction with) {
      return collective::all_reduce(
          group, {values(n, dtype::f32, 0, group[0]), values(n, dtype::f32, 0, group[1])}, with);
    };
    // Before and after the devices have been connected.
    for (int round = 0; round < 2; ++round) {
      require(message_of<shape_error>([&] {
                sums(4 + j.rank(), reduction::sum);
              }).starts_with("all_reduce: shapes differ"),
              "shapes");
      require(message_of<value_error>([&] {
                sums(4, j.rank() == 0 ? reduction::sum : reduction::prod);
              }).starts_with("all_reduce: sum on rank 0 and prod on rank 1"),
              "reductions");
      sums(4, reduction::sum);
    }
    require(message_of<value_error>([&] {
              if (j.rank() == 0)
                j.barrier();
              else
                device_group other({gpu(1), gpu(0)}, j);
            }).starts_with("job: rank 0 calls barrier and rank 1 calls device_group"),
            "another call");
  });
}

// One rank passes its array as it is, the other reduces two: their first devices sum the same
// pieces.
BOOST_AUTO_TEST_CASE(large_sums_of_one_device_and_of_two_have_the_same_pieces) {
  run_ranks(2, [](const job& j) {
    const device_group group = group_of({1, 2}, j);
    constexpr std::int64_t n = (1 << 20) + 1000;  // more than a message
    std::vector<array> ones;
    for (const device& d : group) ones.push_back(full({n}, 1.0, dtype::f32, d));
    for (const array& total :
         collective::all_reduce(group, ones, reduction::sum, {.deterministic = true}))
      require(min(total).item() == 3 && max(total).item() == 3, "not the sum of three devices");
  });
}

BOOST_AUTO_TEST_CASE(data_parallel_steps_are_those_of_one_device) {
  for (const std::vector<int>& counts : devices_of_ranks)
    run_ranks(static_cast<int>(counts.size()), [&](const job& j) {
      const device_group group = group_of(counts, j);
      const data_parallel::stateful_function step =
          [](const std::vector<array>& p, const std::vector<array>& state,
             const std::vector<array>& batch, random::key) {
            const array y = matmul(batch[0], p[0]) * p[1] - batch[1];
            return loss_and_state{mean(square(y)), {mean(batch[0], {.axes = {{0}}}), state[1] + 1}};
          };
      const std::int64_t rows = 4 * j.size();
      const array w = reshape(values(3, dtype::f32, 0, gpu(0)), {3, 1});
      const array scale = values(1, dtype::f32, 1, gpu(0));
      const array x = reshape(values(3 * rows, dtype::f32, 1, gpu(0)), {rows, 3});
      const array y = reshape(values(rows, dtype::f32, 2, gpu(0)), {rows, 1});
      const array steps = full({2}, std::int64_t{5}, dtype::i64, gpu(0));
      // Rank 0 has one row.
      const std::int64_t begin = j.rank() == 0 ? 0 : 4 * j.rank() - 3;
      const auto own = [&](const array& a) {
        return a(slice{begin, 4 * j.rank() + 1}).to(group[0]);
      };
      for (const bool is_deterministic : {false, true}) {
        const data_parallel parallel(step, group,
                                     {.batches = shares::equal(),
                                      .bucket_bytes = 12,
                                      .collectives = {.deterministic = is_deterministic}});
        const std::vector<sharded> state = replicate({x(0), steps}, group);
        const int before = device_sums();
        j.barrier();
        const parallel_step found =
            parallel(replicate({w, scale}, group), state, {own(x), own(y)}, {});
        eval(found.gradients[0].parts());
        j.barrier();
        // Two buckets of gradients and the loss, and the mean of the rows.
        if (!is_deterministic)
          require(device_sums() - before == 3 * static_cast<int>(group.total()), "sums");
        const std::int64_t last = 4 * (j.size() - 1) + 1;
        const auto [whole, whole_gradients] = value_and_grad([&](const std::vector<array>& p) {
          return step(p, {x(0), steps}, {x(slice{0, last}), y(slice{0, last})}, {}).loss;
        })({w, scale});
        const float loss = whole.item<float>();
        require(std::abs(found.loss.item<float>() - loss) < 1e-6F * loss, "the loss");
        for (std::size_t p = 0; p < 2; ++p)
          for (const array& part : found.gradients[p].parts())
            require(max(abs(part.to(gpu(0)) / whole_gradients[p] - 1)).item<float>() < 1e-5F,
                    "the gradient");
        const array means = mean(x(slice{0, last}), {.axes = {{0}}});
        for (const array& part : found.state[0].parts())
          require(max(abs(part.to(gpu(0)) / means - 1)).item<float>() < 1e-5F, "the means");
        for (const array& part : found.state[1].parts())
          require(part.to_vector<std::int64_t>() == std::vector<std::int64_t>{6, 6}, "the steps");
      }
    });
}

// The one that makes the id, and one that joins.
BOOST_AUTO_TEST_CASE(what_one_rank_cannot_join_the_job_does) {
  for (const char* const function : {"unique_id", "init_rank"})
    run_ranks(3, [&](const job& j) {
      if (j.rank() == 0) fail_next(function);
      const int before = device_sums();
      j.barrier();
      for (int n = 0; n < 2; ++n)
        require_folded(j.all_reduce(values(5, dtype::f32, j.rank(), gpu(j.rank()))), 3,
                       reduction::sum, function);
      // A group, whose ranks then sum over one device of each.
      const device_group group = group_of({2, 1, 2}, j);
      if (j.rank() == 2) fail_next("init_rank");
      std::vector<array> own;
      for (std::size_t i = 0; i < group.size(); ++i)
        own.push_back(values(5, dtype::f32, static_cast<int>(group.first() + i), group[i]));
      j.barrier();
      for (int n = 0; n < 2; ++n)
        for (const array& a : collective::all_reduce(group, own, reduction::avg))
          require_folded(a, 5, reduction::avg, "the group");
      j.barrier();
      require(device_sums() == before + 6, "sums of the first devices");
    });
}

BOOST_AUTO_TEST_CASE(a_sum_that_fails_on_one_rank_ends_on_the_others) {
  for (const std::vector<int>& counts : {std::vector<int>{1, 1, 1}, {2, 1, 2}})
    run_ranks(
        3,
        [&](const job& j) {
          const device_group group = group_of(counts, j);
          std::vector<array> own;
          for (const device& d : group) own.push_back(values(5, dtype::f32, j.rank(), d));
          collective::all_reduce(group, own);
          if (j.rank() == 0) fail_next("all_reduce");
          j.barrier();
          const auto begin = std::chrono::steady_clock::now();
          const std::string why =
              message_of<device_error>([&] { collective::all_reduce(group, own); });
          const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
          require(why.find("NCCL") != std::string::npos ||
                      why.find("did not finish within 1 s: a rank has died") != std::string::npos,
                  why);
          require(took.count() < 3, "it took " + std::to_string(took.count()) + " s");
          require(message_of<device_error>([&] {
                    j.all_reduce(own[0]);
                  }).find("all_reduce: the job has failed") == 0,
                  "later calls");
        },
        1);
  // Other jobs use the same devices.
  run_ranks(2, [&](const job& j) {
    require_folded(j.all_reduce(values(5, dtype::f32, j.rank(), gpu(j.rank()))), 2, reduction::sum,
                   "another job");
  });
}

// Of one process: all wait for a value from elsewhere when the first fails.
BOOST_AUTO_TEST_CASE(sums_behind_one_that_fails_fail_too) {
  const device_group group({gpu(0), gpu(1)});
  const array ones = full({300, 300}, 1.0, dtype::f32, device("reference"));
  const array slow = (matmul(matmul(ones, ones), ones) / 90000).flatten().to(gpu(0));
  const array other = full({90000}, 2.0, dtype::f32, gpu(1));
  const auto require_three = [](const std::vector<array>& found) {
    for (const array& a : found) BOOST_TEST(min(a).item<float>() == 3);
  };
  require_three(collective::all_reduce(group, {other.to(gpu(0)) / 2, other}));
  std::vector<array> sums;
  for (int n = 0; n < 8; ++n)
    for (const array& a : collective::all_reduce(group, {slow, other})) sums.push_back(a);
  const int before = device_sums();
  fail_next("all_reduce");
  eval(sums);
  for (const array& a : sums) {
    const std::string why = message_of<device_error>([&] { a.wait(); });
    BOOST_TEST(why.find("all_reduce") != std::string::npos, why);
  }
  BOOST_TEST(device_sums() == before + 1);
  require_three(collective::all_reduce(group, {slow, other}));
}

BOOST_AUTO_TEST_SUITE_END()
