// SPDX-License-Identifier: Apache-2.0
//
// Sums over ranks through their devices: emulated GPUs, each of them one rank's, and the emulated
// NCCL. What it may not do goes through the job as without it.
#include <dlfcn.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>
#include <vector>

#include "tests/cuda/emulator/control.hpp"
#include "thread_job.hpp"
#include "tutti/tutti.hpp"
#include "tutti_test/files.hpp"

namespace {

using namespace tutti;
using collective::reduction;
using tutti_test::element;
using tutti_test::folded;
using tutti_test::message_of;
using tutti_test::require;
using tutti_test::run_ranks;

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

// Groups of one, two and one device.
BOOST_AUTO_TEST_CASE(groups_with_uneven_devices_are_summed) {
  run_ranks(3, [&](const job& j) {
    const std::vector<std::vector<device>> all = {{gpu(0)}, {gpu(1), gpu(2)}, {gpu(3)}};
    const device_group group(all[static_cast<std::size_t>(j.rank())], j);
    std::vector<array> own;
    for (std::size_t i = 0; i < group.size(); ++i)
      own.push_back(
          values(101, dtype::f32, static_cast<int>(group.first() + i), group[i]).reshape({101}));
    for (const reduction with : {reduction::sum, reduction::max, reduction::avg})
      for (const array& found : collective::all_reduce(group, own, with))
        require_folded(found, 4, with, "the group");
  });
}

BOOST_AUTO_TEST_CASE(data_parallel_steps_are_those_of_one_device) {
  run_ranks(3, [&](const job& j) {
    const std::vector<std::vector<device>> all = {{gpu(0)}, {gpu(1), gpu(2)}, {gpu(3)}};
    const device_group group(all[static_cast<std::size_t>(j.rank())], j);
    const auto loss = [](const std::vector<array>& p, const std::vector<array>& batch) {
      return mean(square(matmul(batch[0], p[0]) - batch[1]));
    };
    const array w = reshape(values(3, dtype::f32, 0, gpu(0)), {3, 1});
    const array x = reshape(values(36, dtype::f32, 1, gpu(0)), {12, 3});
    const array y = reshape(values(12, dtype::f32, 2, gpu(0)), {12, 1});
    const auto [expected, gradients] = value_and_grad([&](const std::vector<array>& p) {
      return loss(p, {x, y});
    })({w});
    const auto rows = [&](const array& a) {
      return a(slice{4 * j.rank(), 4 * j.rank() + 4}).to(group[0]);
    };
    const int before = device_sums();
    j.barrier();
    const parallel_step step =
        data_parallel(loss, group)({replicate(w, group)}, {rows(x), rows(y)});
    const float whole = expected.item<float>();
    require(std::abs(step.loss.item<float>() - whole) < 1e-6F * whole, "the loss");
    for (const array& part : step.gradients[0].parts())
      require(max(abs(part.to(gpu(0)) / gradients[0] - 1)).item<float>() < 1e-6F, "the gradient");
    j.barrier();
    require(device_sums() == before + 5, "two between the devices of rank 1, three over the ranks");
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
      j.barrier();
      require(device_sums() == before, "sums on the devices");
    });
}

BOOST_AUTO_TEST_CASE(a_sum_that_fails_on_one_rank_ends_on_the_others) {
  run_ranks(
      3,
      [&](const job& j) {
        const array own = values(5, dtype::f32, j.rank(), gpu(j.rank()));
        j.all_reduce(own);
        if (j.rank() == 0) fail_next("all_reduce");
        j.barrier();
        const auto begin = std::chrono::steady_clock::now();
        const std::string why = message_of<device_error>([&] { j.all_reduce(own); });
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
        require(why.find("NCCL") != std::string::npos ||
                    why.find("did not finish within 1 s: a rank has died") != std::string::npos,
                why);
        require(took.count() < 3, "it took " + std::to_string(took.count()) + " s");
        require(message_of<device_error>([&] {
                  j.all_reduce(own);
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

BOOST_AUTO_TEST_SUITE_END()
