// SPDX-License-Identifier: Apache-2.0
//
// What the ranks of a job exchange. Expected values are computed on the host, by every rank for
// all.
#include "thread_job.hpp"
#include "tutti_test/arrays.hpp"

namespace {

using namespace tutti;
using collective::reduction;

array values(const shape& extents, dtype type, int r) {
  std::vector<double> out;
  for (std::int64_t i = 0; i < extents.size(); ++i) out.push_back(element(i, r));
  return array::from(out, extents).astype(type);
}

std::vector<double> doubles(const array& a) {
  return is_complex(a.dtype()) ? real(a).astype(dtype::f64).to_vector<double>()
                               : a.astype(dtype::f64).to_vector<double>();
}

std::string text_of(const job& j, dtype type, const shape& extents) {
  return std::string(name(type)) + " " + extents.str() + " on rank " + std::to_string(j.rank());
}

void check_reduction(const job& j, dtype type, const shape& extents, reduction with) {
  const array own = values(extents, type, j.rank());
  const array sum = j.all_reduce(is_complex(type) ? own * std::complex<double>(1, 2) : own, with);
  require(sum.dtype() == type && sum.shape() == extents,
          "all_reduce: " + text_of(j, type, extents));
  const std::vector<double> got = doubles(sum);
  if (is_complex(type)) {
    const auto twice = imag(sum).astype(dtype::f64).to_vector<double>();
    for (std::size_t i = 0; i < got.size(); ++i)
      require(std::abs(twice[i] - 2 * got[i]) < 1e-6, "imaginary parts");
  }
  for (std::size_t i = 0; i < got.size(); ++i) {
    const double expected = folded(static_cast<std::int64_t>(i), j.size(), with);
    // avg rounds once, in the dtype.
    const double room = with == reduction::avg ? (size_of(type) == 2 ? 0.02 : 1e-6) : 0;
    require(std::abs(got[i] - expected) <= room, "all_reduce: " + text_of(j, type, extents));
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(reduces_every_dtype_shape_and_reduction) {
  on_ranks([](const job& j) {
    for (const dtype type : all_dtypes)
      for (const shape& extents :
           {shape{}, shape{1}, shape{37}, shape{3, 5}, shape{0}, shape{4, 0}})
        for (const reduction with :
             {reduction::sum, reduction::prod, reduction::min, reduction::max, reduction::avg})
          if (is_floating(type) || (is_integral(type) && with != reduction::avg) ||
              (is_complex(type) && (with == reduction::sum || with == reduction::avg)))
            check_reduction(j, type, extents, with);
  });
}

BOOST_AUTO_TEST_CASE(reduces_views_and_larger_arrays) {
  on_ranks([](const job& j) {
    const array whole = values({301, 1001}, dtype::f32, j.rank());
    const array view = whole.T()(slice{3, 900, 7}, all());
    const array sum = j.all_reduce(view);
    const std::vector<float> got = sum.to_vector<float>();
    for (std::int64_t row = 0; row < view.dim(0); ++row)
      for (std::int64_t column = 0; column < 301; ++column)
        require(got[static_cast<std::size_t>(row * 301 + column)] ==
                    folded(column * 1001 + 3 + 7 * row, j.size(), reduction::sum),
                "a view");
  });
}

BOOST_AUTO_TEST_CASE(reduces_large_arrays_of_every_dtype) {
  on_ranks([](const job& j) {
    const auto of_rank = [](dtype type, int r) {
      return ((arange(0, 33001, 1, dtype::i32) * 7 + r * 2) % 5 - 2).astype(type);  // some wrap
    };
    for (const dtype type : all_dtypes)
      for (const reduction with : {reduction::sum, reduction::prod, reduction::min}) {
        if (type == dtype::boolean || (is_complex(type) && with != reduction::sum)) continue;
        array expected = of_rank(type, 0);
        for (int r = 1; r < j.size(); ++r) {
          const array next = of_rank(type, r);
          expected = with == reduction::sum    ? expected + next
                     : with == reduction::prod ? expected * next
                                               : minimum(expected, next);
        }
        require(all(j.all_reduce(of_rank(type, j.rank()), with) == expected).item<bool>(),
                text_of(j, type, expected.shape()));
      }
  });
}

// Sizes that go by different messages; -0 and 0 are equal.
BOOST_AUTO_TEST_CASE(reductions_have_the_same_bits_on_all_ranks) {
  on_ranks([](const job& j) {
    for (const std::int64_t n : {5, 6001, 150001}) {
      const array signs = full({2}, j.rank() % 2 == 0 ? 0.0 : -0.0, dtype::f32);
      const array drawn = random::normal({static_cast<std::uint64_t>(j.rank())}, {n});
      const array own = concatenate(std::vector{signs, drawn}, 0);
      for (const reduction with : {reduction::sum, reduction::prod, reduction::min}) {
        const std::vector<float> all = j.all_gather(j.all_reduce(own, with)).to_vector<float>();
        const std::size_t each = static_cast<std::size_t>(n) + 2;
        for (std::size_t r = 1; r < static_cast<std::size_t>(j.size()); ++r)
          require(std::memcmp(&all[r * each], all.data(), each * sizeof all[0]) == 0,
                  "rank " + std::to_string(r) + " of " + std::to_string(n) + " elements");
      }
    }
  });
}

BOOST_AUTO_TEST_CASE(many_reductions_are_under_way_at_once) {
  on_ranks([](const job& j) {
    std::vector<array> list;
    for (int i = 0; i < 50; ++i) list.push_back(full({i % 7 * 1000 + 1}, i + j.rank(), dtype::f32));
    const std::vector<array> sums = j.all_reduce(list, reduction::sum, 1);
    for (int i = 0; i < 50; ++i) {
      const double expected = j.size() * (i + (j.size() - 1) / 2.0);
      const array& sum = sums[static_cast<std::size_t>(i)];
      require(min(sum).item<float>() == expected && max(sum).item<float>() == expected, "a sum");
    }
  });
}

BOOST_AUTO_TEST_CASE(integers_wrap_and_nan_wins) {
  on_ranks([](const job& j) {
    const array wrapped = j.all_reduce(full({3}, 100, dtype::i8));
    require(wrapped.to_vector<std::int8_t>()[2] == static_cast<std::int8_t>(100 * j.size()),
            "i8 wraps");
    const double nan = std::numeric_limits<double>::quiet_NaN();
    for (const dtype type : {dtype::f32, dtype::f64, dtype::bf16})
      for (const reduction with : {reduction::min, reduction::max})
        for (int who = 0; who < j.size(); ++who) {
          const array own =
              array::from(std::vector<double>{j.rank() == who ? nan : 1.0, 2.0}).astype(type);
          const std::vector<double> got = doubles(j.all_reduce(own, with));
          require(std::isnan(got[0]) && got[1] == 2, "NaN wins");
        }
  });
}

BOOST_AUTO_TEST_CASE(halves_are_rounded_once) {
  on_ranks([](const job& j) {
    // 2048 + 1 is no f16, but 2048 + 2 is.
    const array own = array::from(std::vector<double>{j.rank() == 0 ? 2048.0 : 1.0});
    const double got = doubles(j.all_reduce(own.astype(dtype::f16)))[0];
    require(got == (j.size() < 3    ? 2048
                    : j.size() == 3 ? 2050
                                    : 2052),
            "f16: " + std::to_string(got));
  });
}

BOOST_AUTO_TEST_CASE(reduces_lists_in_buckets) {
  on_ranks([](const job& j) {
    for (const std::uint64_t bucket :
         {std::uint64_t{1}, std::uint64_t{100}, std::uint64_t{1} << 20}) {
      std::vector<array> list;
      const shape extents[] = {{7}, {3, 3}, {0}, {}, {40}, {2}};
      const dtype types[] = {dtype::f32, dtype::f32, dtype::f32,
                             dtype::f64, dtype::f16, dtype::f16};
      for (int i = 0; i < 6; ++i) list.push_back(values(extents[i], types[i], j.rank()));
      const std::vector<array> sums = j.all_reduce(list, reduction::sum, bucket);
      require(sums.size() == 6, "as many results");
      for (std::size_t i = 0; i < 6; ++i) {
        require(sums[i].dtype() == types[i] && sums[i].shape() == extents[i], "the same shapes");
        const std::vector<double> got = doubles(sums[i]);
        for (std::size_t k = 0; k < got.size(); ++k)
          require(got[k] == folded(static_cast<std::int64_t>(k), j.size(), reduction::sum),
                  "a list");
      }
    }
    require(j.all_reduce(std::vector<array>{}).empty(), "no arrays");
  });
}

BOOST_AUTO_TEST_CASE(gathers_every_dtype_along_any_axis) {
  on_ranks([](const job& j) {
    for (const dtype type : all_dtypes)
      for (const int axis : {0, 1, -1}) {
        // Rank r has r rows, or columns.
        const auto part = [&](int r) {
          return axis == 0 ? values({r, 3}, type, r) : values({3, r}, type, r);
        };
        const array all = j.all_gather(part(j.rank()), axis);
        std::int64_t at = 0;
        for (int r = 0; r < j.size(); at += r++) {
          const array here = axis == 0 ? all(slice{at, at + r}, tutti::all())
                                       : all(tutti::all(), slice{at, at + r});
          require(here.shape() == part(r).shape() && doubles(here) == doubles(part(r)),
                  "all_gather: " + text_of(j, type, all.shape()));
        }
        require(all.dim(axis) == at && all.dtype() == type, "all_gather: the whole");
      }
    const array row = values({2, 5}, dtype::i32, j.rank()).T()(slice{0, 5, 2}, tutti::all());
    require(j.all_gather(row).shape() == shape{3 * j.size(), 2}, "of a view");
    require(j.all_gather(values({0, 3}, dtype::f32, 0)).shape() == shape({0, 3}), "nothing");
  });
}

BOOST_AUTO_TEST_CASE(broadcasts_every_dtype_from_any_rank) {
  on_ranks([](const job& j) {
    for (int root = 0; root < j.size(); ++root) {
      std::vector<array> own;
      for (const dtype type : all_dtypes) own.push_back(values({5, 3}, type, j.rank()).T());
      own.push_back(values({0}, dtype::f32, j.rank()));
      const std::vector<array> got = j.broadcast(own, root);
      for (std::size_t i = 0; i < own.size(); ++i) {
        require(got[i].dtype() == own[i].dtype(), "broadcast: dtype");
        const array expected =
            i < std::size(all_dtypes) ? values({5, 3}, all_dtypes[i], root).T() : own[i];
        require(doubles(got[i]) == doubles(expected), "broadcast");
      }
    }
  });
}

BOOST_AUTO_TEST_CASE(sends_and_receives) {
  on_ranks([](const job& j) {
    const int next = (j.rank() + 1) % j.size(), before = (j.rank() + j.size() - 1) % j.size();
    for (const dtype type : all_dtypes) j.send(values({3, 5}, type, j.rank()).T(), next);
    j.send(values({0, 2}, dtype::f32, j.rank()), next, 5);
    j.send(values({300, 1000}, dtype::f64, j.rank()), next, 8191);
    const array large = j.receive(before, 8191);
    require(doubles(large) == doubles(values({300, 1000}, dtype::f64, before)), "a large one");
    require(j.receive(before, 5).shape() == shape({0, 2}), "an empty one");
    for (const dtype type : all_dtypes) {
      const array got = j.receive(before);
      require(got.dtype() == type && doubles(got) == doubles(values({3, 5}, type, before).T()),
              "in order: " + text_of(j, type, {5, 3}));
    }
    j.barrier();
  });
}

BOOST_AUTO_TEST_CASE(exchanges_messages_of_any_ranks) {
  on_ranks([](const job& j) {
    // Each rank sends every rank, itself included, an array of its own shape.
    std::vector<int> all;
    for (int r = 0; r < j.size(); ++r) all.push_back(r);
    for (const dtype type : all_dtypes) {
      const array own = values({3, j.rank() + 1}, type, j.rank()).T();
      const std::vector<array> got = j.exchange(std::vector<array>(all.size(), own), all, all);
      for (const int r : all) {
        const array& from_r = got[static_cast<std::size_t>(r)];
        require(
            from_r.dtype() == type && doubles(from_r) == doubles(values({3, r + 1}, type, r).T()),
            "exchange: " + text_of(j, type, from_r.shape()));
      }
    }
    // Several messages to the last rank, which sends nothing; then none at all.
    const int last = j.size() - 1;
    const std::vector<array> sent{zeros({0, 4}), array::from({std::nan(""), HUGE_VAL})};
    if (j.rank() < last) require(j.exchange(sent, {last, last}, {}).empty(), "only sent");
    std::vector<int> from;
    for (int r = 0; r < last; ++r) from.insert(from.end(), {r, r});
    if (j.rank() == last) {
      const std::vector<array> got = j.exchange({}, {}, from);
      for (std::size_t i = 0; i < got.size(); i += 2) {
        require(got[i].shape() == shape({0, 4}), "an empty one");
        require(std::isnan(got[i + 1].to_vector<double>()[0]), "NaN");
        require(got[i + 1].to_vector<double>()[1] == HUGE_VAL, "infinity");
      }
    }
    require(j.exchange({}, {}, {}).empty(), "no messages");
  });
}

BOOST_AUTO_TEST_CASE(device_memory_is_exchanged_where_it_is) {
  const char* const emulated = std::getenv("TUTTI_EMULATOR_CACHE");
  if (emulated == nullptr || default_device().name() != "cuda:0") return;
  for (const bool direct : {true, false}) {
    tutti_test::host_reads_devices = direct;
    run_ranks(2, [&](const job& j) {
      const array own = (arange(5000, dtype::f32) + j.rank()).wait();
      j.barrier();
      if (j.rank() == 0) reset_stats();
      j.barrier();
      const array total = j.all_reduce(own), all = j.all_gather(own), first = j.broadcast(own);
      j.send(own, 1 - j.rank());
      const array other = j.receive(1 - j.rank());
      eval({total, all, first, other});
      j.barrier();
      const statistics counted = stats();
      j.barrier();
      require((counted.bytes_read + counted.bytes_written == 0) == direct, "copies to the host");
      require(
          max(abs(total - own - other)).item<float>() == 0 &&
              max(abs(all - concatenate(std::vector{first, first + 1}, 0))).item<float>() == 0 &&
              max(abs(other - (own + (1 - 2 * j.rank())))).item<float>() == 0,
          "values");
    });
  }
  tutti_test::host_reads_devices = false;
}
