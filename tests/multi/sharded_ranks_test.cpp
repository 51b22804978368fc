// SPDX-License-Identifier: Apache-2.0
//
// Groups of devices of all ranks: split arrays and collectives against the same work on whole
// arrays. Rank 1 has two devices where there are two.
#include "members.hpp"
#include "thread_job.hpp"

namespace {

using namespace tutti;
using collective::reduction;

device_group group_of(const job& j) {
  std::vector<device> members{default_device()};
  if (j.rank() == 1 && default_device().name() != "reference:0")
    members.push_back(device("reference"));
  return {members, j};
}

/// Small integers, the same on all ranks.
array whole(const shape& extents, dtype type = dtype::f32) {
  return ((arange(extents.size(), dtype::i32) * 7919) % 23 - 11).astype(type).reshape(extents);
}

template <class E, class F>
void refused(F&& call, const std::string& why) {
  const std::string text = message_of<E>(call);
  require(text.find(why) != std::string::npos, "\"" + text + "\" lacks \"" + why + "\"");
}

void require_equal(const array& got, const array& expected, const std::string& what) {
  require(got.shape() == expected.shape() && got.dtype() == expected.dtype(),
          what + ": " + got.shape().str() + " for " + expected.shape().str());
  require(
      got.astype(dtype::f64).to_vector<double>() == expected.astype(dtype::f64).to_vector<double>(),
      what);
}

void require_parts(const sharded& got, const array& expected, const std::string& what) {
  require_equal(got.gather(default_device()), expected, what);
  for (std::size_t i = 0; i < got.parts().size(); ++i) {
    require(got.parts()[i].device() == got.group()[i], what + ": a part is on its member");
    if (got.replicated()) {
      require_equal(got.parts()[i], expected, what + ": a copy");
      continue;
    }
    const std::size_t place = got.group().first() + i;
    const slice own{got.boundaries()[place], got.boundaries()[place + 1]};
    require_equal(got.parts()[i], got.axis() == 0 ? expected(own) : expected(all(), own),
                  what + ": a part");
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(a_group_over_ranks_has_all_devices) {
  on_ranks([](const job& j) {
    const device_group group = group_of(j);
    if (j.size() == 1) return require(group.ranks() == nullptr && group == group.local(), "alone");
    require(group == group_of(j) && !(group == group.local()), "equality");
    const array counts = j.all_gather(array::from({static_cast<std::int64_t>(group.size())}));
    require(sum(counts).item<std::int64_t>() == static_cast<std::int64_t>(group.total()), "total");
    require(group.names().starts_with("rank 0 ") &&
                group.names().find(", rank 1 ") != std::string::npos,
            group.names());
    const shares by = shares::by_throughput();
    const auto cuts = by.boundaries(1000, group);
    require(cuts.size() == group.total() + 1 && cuts.back() == 1000, "shares by throughput");
  });
}

// Three messages of 4 MiB and 15 elements, against the same operators on one device. The values of
// the second device of rank 1 are a view.
BOOST_AUTO_TEST_CASE(large_arrays_are_reduced_in_pieces) {
  constexpr std::int64_t rows = 11, columns = 142989;
  std::vector<double> host(rows * columns);
  for (std::size_t i = 0; i < host.size(); ++i) host[i] = static_cast<double>(i * 3 % 8191 + 1);
  host[524287] = std::numeric_limits<double>::quiet_NaN();
  host[524288] = std::numeric_limits<double>::infinity();
  const array first = array::from(host, {rows, columns});
  on_ranks([&](const job& j) {
    if (j.size() == 3) return;  // two threads show the same
    const device_group group = group_of(j);
    const auto values = [&](std::size_t place) { return first + static_cast<double>(place); };
    std::vector<array> own;
    for (std::size_t m = 0; m < group.size(); ++m) {
      const array v = values(group.first() + m);
      own.push_back(m == 0 ? v : contiguous(v.T()).to(group[m]).T());
    }
    for (const reduction with :
         {reduction::sum, reduction::prod, reduction::min, reduction::max, reduction::avg}) {
      array expected = values(0);
      for (std::size_t p = 1; p < group.total(); ++p)
        expected = with == reduction::prod  ? expected * values(p)
                   : with == reduction::min ? minimum(expected, values(p))
                   : with == reduction::max ? maximum(expected, values(p))
                                            : expected + values(p);
      if (with == reduction::avg) expected = expected / static_cast<double>(group.total());
      const std::vector<array> found = collective::all_reduce(group, own, with);
      require(found.size() == group.size(), "an array for each device");
      for (std::size_t m = 0; m < group.size(); ++m) {
        require(found[m].device() == group[m], "its device");
        const array got = found[m].to(default_device());
        const array equal = (got == expected) | (isnan(got) & isnan(expected));
        require(got.shape() == expected.shape() &&
                    sum(equal.astype(dtype::i64)).item<std::int64_t>() == rows * columns,
                "reduction " + std::to_string(static_cast<int>(with)));
      }
    }
  });
}

BOOST_AUTO_TEST_CASE(arrays_are_split_over_ranks_moved_and_gathered) {
  on_ranks([](const job& j) {
    const device_group group = group_of(j);
    for (const shape& extents : {shape{37, 5}, shape{2, 9}, shape{0, 3}})
      for (const dtype type : {dtype::f32, dtype::bf16, dtype::i64, dtype::boolean})
        for (const auto& [name, by] : splits(group)) {
          const array a = whole(extents, type);
          for (const int axis : {0, 1}) {
            const std::string what = extents.str() + " " + name + " axis " + std::to_string(axis);
            const sharded s = shard(a, group, axis, by);
            require_parts(s, a, "shard " + what);
            require_parts(shard(a.T(), group, axis, by), a.T(), "a view " + what);
            require_parts(reshard(s, group, 1 - axis), a, "reshard to the other axis " + what);
            require_parts(reshard(s, group, axis), a, "reshard " + what);
            require_parts(reshard(s, group.local(), axis), a, "reshard to the rank " + what);
            require_parts(replicate(s, group), a, "replicate " + what);
            require_parts(reshard(replicate(s, group), group, axis), a, "from copies " + what);
            require_parts(sharded::from_parts(group, s.parts(), axis), a, "from_parts " + what);
          }
        }
    const array of_rank_0 = replicate(full({3}, j.rank() + 5, dtype::f32), group).parts().back();
    require_equal(of_rank_0.to(default_device()), full({3}, 5, dtype::f32), "rank 0's values");
  });
}

BOOST_AUTO_TEST_CASE(halves_over_ranks_are_reduced_in_f32) {
  on_ranks([](const job& j) {
    const device_group group = group_of(j);
    const double n = static_cast<double>(group.total());
    const auto each = [&](double first, double others) {
      std::vector<array> own;
      for (std::size_t i = 0; i < group.size(); ++i)
        own.push_back(full({5, 3}, group.first() + i == 0 ? first : others, dtype::f32, group[i])
                          .astype(dtype::f16));
      return own;
    };
    const double sum = 2 * std::nearbyint((2047 + n) / 2);  // rounded once
    const auto require_value = [](const array& a, double value, const std::string& what) {
      require(a.dtype() == dtype::f16 &&
                  (a.size() == 0 || (min(a).item() == value && max(a).item() == value)),
              what);
    };
    for (const bool deterministic : {false, true}) {
      const collective::options how{.deterministic = deterministic};
      const std::vector<array> own = each(2048, 1), large = each(65504, 65504);
      for (const array& a : collective::all_reduce(group, own, reduction::sum, how))
        require_value(a, sum, "all_reduce");
      for (const array& a : collective::reduce_scatter(group, own, reduction::sum, 0, how))
        require_value(a, sum, "reduce_scatter");
      for (const std::size_t member : {std::size_t{0}, group.size() - 1}) {
        const device& root = group[member];
        const array one = collective::reduce(group, own, root, reduction::sum, how);
        require(one.device() == root && one.shape() == shape({5, 3}), "reduce: the root");
        require_value(one, sum, "reduce");
        require_value(collective::reduce(group, large, root, reduction::avg, how), 65504, "mean");
      }
      for (const array& a : collective::all_reduce(group, large, reduction::avg, how))
        require_value(a, 65504, "all_reduce: mean");
    }
  });
}

BOOST_AUTO_TEST_CASE(complex_products_over_ranks_are_refused) {
  on_ranks([](const job& j) {
    if (j.size() == 1) return;
    const device_group group = group_of(j);
    std::vector<array> values;
    for (const device& d : group) values.push_back(full({3}, 2, dtype::c64, d));
    for (const auto with : {reduction::prod, reduction::min, reduction::max})
      refused<dtype_error>([&] { collective::all_reduce(group, values, with); }, "c64");
    const array total = collective::all_reduce(group, values, reduction::sum)[0];
    require_equal(real(total).to(default_device()),
                  full({3}, 2 * static_cast<double>(group.total()), dtype::f32), "sum");
  });
}

BOOST_AUTO_TEST_CASE(arrays_that_differ_between_ranks_are_not_split) {
  on_ranks([](const job& j) {
    if (j.size() == 1) return;
    const device_group group = group_of(j);
    refused<shape_error>([&] { shard(whole({4 + j.rank(), 2}), group); }, "shard: shapes differ");
    const dtype type = j.rank() == 0 ? dtype::f32 : dtype::f64;
    refused<dtype_error>([&] { shard(whole({4, 2}, type), group); }, "shard: dtypes differ");
    refused<value_error>(
        [&] {
          shard(whole({4, 2}), group, j.rank() == 0 ? 0 : 1);
        },
        "shard: axis 0 cut at 0, ");
    // Shares of their own on the last rank: all but its first device get nothing.
    std::vector<double> equal(group.total(), 1.0), first(group.total(), 0.0);
    first[0] = 1;
    const bool last = j.rank() + 1 == j.size();
    for (const bool again : {false, true})
      refused<value_error>(
          [&] {
            const shares by(last ? first : equal);
            if (again)
              reshard(shard(whole({60, 2}), group), group, 0, by);
            else
              shard(whole({60, 2}), group, 0, by);
          },
          std::string(again ? "reshard" : "shard") + ": axis 0 cut at 0, " +
              std::to_string(60 / group.total()) + ", ");
    refused<value_error>(
        [&] {
          shard(whole({60, 2}), group, 0, shares(last ? first : equal));
        },
        "and axis 0 cut at 0, 60, 60");
    require_parts(shard(whole({60, 2}), group), whole({60, 2}), "the job goes on");
  });
}

BOOST_AUTO_TEST_CASE(sharded_arithmetic_over_ranks) {
  on_ranks([](const job& j) {
    const device_group group = group_of(j);
    const array a = whole({13, 4}), row = whole({4}), column = whole({13, 1});
    for (const auto& [name, by] : splits(group)) {
      const sharded s = shard(a, group, 0, by);
      require_parts(s * s + 3, a * a + 3, name + ": with itself and a number");
      require_parts(replicate(column, group) - s, column - a, name + ": with a replicated column");
      require_parts(s + replicate(row, group), a + row, name + ": with a replicated row");
      require_parts(map([](const array& x) { return maximum(x, 0); }, s), maximum(a, 0), name);
      refused<value_error>([&] { s + shard(a, group, 1); }, "split differently");
      if (j.size() > 1)
        refused<value_error>([&] { s + shard(a, group.local(), 0); }, "different groups");
    }
  });
}

BOOST_AUTO_TEST_CASE(sharded_reductions_over_ranks) {
  on_ranks([](const job& j) {
    const device_group group = group_of(j);
    array a = whole({13, 4}, dtype::f64);
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const array with_nan = where(array::from({true, false, false, false}), nan, a);
    for (const auto& [name, by] : splits(group))
      for (const int axis : {0, 1}) {
        const sharded s = shard(a, group, axis, by);
        for (const reduce_options& over :
             {reduce_options{}, reduce_options{.axes = {{0}}}, reduce_options{.axes = {{1}}},
              reduce_options{.axes = {{0}}, .keepdims = true}}) {
          require_parts(sum(s, over), sum(a, over), name + ": sum");
          require_parts(min(s, over), min(a, over), name + ": min");
          require_parts(max(s, over), max(a, over), name + ": max");
          require_parts(prod(s * 0 + 2, over), prod(a * 0 + 2, over), name + ": prod");
        }
        const array mean_of_all = mean(s).gather(default_device());
        require(std::abs((mean_of_all - mean(a)).item<double>()) < 1e-15, name + ": mean");
        const array found =
            max(shard(with_nan, group, axis, by), {.axes = {{0}}}).gather(default_device());
        require(
            std::isnan(found.to_vector<double>()[0]) && !std::isnan(found.to_vector<double>()[1]),
            name + ": NaN");
      }
    require_parts(sum(shard(a, group) * 0 + 1), full({}, 52, dtype::f64), "a count");
  });
}

BOOST_AUTO_TEST_CASE(products_over_ranks) {
  on_ranks([](const job& j) {
    const device_group group = group_of(j);
    const array x = whole({6, 11}), w = whole({11, 7}), v = whole({7, 3});
    for (const auto& [name, by] : splits(group)) {
      const sharded all_x = replicate(x, group);
      const sharded columns = matmul(all_x, shard(w, group, 1, by));
      require_parts(columns, matmul(x, w), name + ": split by columns");
      require_parts(matmul(columns, shard(v, group, 0, by)), matmul(matmul(x, w), v),
                    name + ": tensor-parallel");
      require_parts(matmul(shard(x, group, 0, by), replicate(w, group)), matmul(x, w),
                    name + ": split by rows");
    }
  });
}

BOOST_AUTO_TEST_CASE(rows_by_index_over_ranks) {
  on_ranks([](const job& j) {
    const device_group group = group_of(j);
    const array a = whole({13, 4});
    const std::vector<std::vector<std::int64_t>> wanted{{12, 0, 5, 5, -1}, {}, {-13, 7}, {3}};
    const std::vector<std::int64_t>& mine = wanted[static_cast<std::size_t>(j.rank()) % 4];
    const array indices = array::from(mine);
    for (const auto& [name, by] : splits(group)) {
      const sharded s = shard(a, group, 0, by);
      require_equal(take(s, indices), take(a, indices), name);
      require_equal(take(s, array::from({{2, 3}, {j.rank(), 0}})),
                    take(a, array::from({{2, 3}, {j.rank(), 0}})), name + ": of two axes");
      const array columns = array::from({3, 0, j.rank()});
      require_equal(take(s, columns, 1), take(a, columns, 1), name + ": along the other axis");
      refused<index_error>([&] { take(s, array::from({j.rank() == 0 ? 13 : 0})); }, "13");
      refused<dtype_error>([&] { take(s, array::from({1.5F})); }, "take");
    }
  });
}

BOOST_AUTO_TEST_CASE(collectives_over_ranks) {
  on_ranks([](const job& j) {
    const device_group group = group_of(j);
    const auto total = static_cast<std::int64_t>(group.total());
    // Device p of the group has values + p.
    std::vector<array> values;
    for (std::size_t i = 0; i < group.size(); ++i)
      values.push_back((whole({7, 3}) + static_cast<double>(group.first() + i)).to(group[i]));
    const array rows = whole({7, 3});
    std::vector<array> everyones;
    for (std::int64_t p = 0; p < total; ++p) everyones.push_back(rows + static_cast<double>(p));
    const double ranks = static_cast<double>(total), triangle = ranks * (ranks - 1) / 2;

    const array sum_of_all = rows * ranks + triangle;
    const auto each = [&](const std::vector<array>& got, const array& expected, const char* what) {
      for (std::size_t i = 0; i < group.size(); ++i) {
        require(got[i].device() == group[i], what);
        require_equal(got[i], expected, what);
      }
    };
    const auto own_piece = [&](const array& a, std::size_t i) {
      const auto cuts = tutti_test::equal_cuts(a.dim(0), group.total());
      const std::size_t place = group.first() + i;
      return a(slice{cuts[place], cuts[place + 1]});
    };
    each(collective::all_reduce(group, values), sum_of_all, "all_reduce");
    each(collective::all_reduce(group, values, reduction::max), rows + (ranks - 1), "max");
    each(collective::all_reduce(group, values, reduction::avg), sum_of_all / ranks, "avg");
    require_equal(collective::reduce(group, values, group[0]), sum_of_all, "reduce");
    each(collective::broadcast(group, values[0]), rows, "broadcast: of rank 0");
    each(collective::all_gather(group, values), concatenate(everyones, 0), "all_gather");
    each(collective::all_gather(group, values, 1), concatenate(everyones, 1), "all_gather, axis 1");
    require_equal(collective::gather(group, values, group[0]), concatenate(everyones, 0), "gather");
    const auto scattered = collective::scatter(group, values[0]);
    const auto reduced = collective::reduce_scatter(group, values);
    const auto turned = collective::all_to_all(group, values);
    for (std::size_t i = 0; i < group.size(); ++i) {
      require_equal(scattered[i], own_piece(rows, i), "scatter");
      require_equal(reduced[i], own_piece(sum_of_all, i), "reduce_scatter");
      std::vector<array> pieces;
      for (const array& v : everyones) pieces.push_back(own_piece(v, i));
      require_equal(turned[i], concatenate(pieces, 0), "all_to_all");
    }
    collective::barrier(group);
  });
}

BOOST_AUTO_TEST_CASE(ranks_with_different_parts_are_told) {
  on_ranks([](const job& j) {
    if (j.size() == 1) return;
    const device_group group = group_of(j);
    const auto parts = [&](const shape& extents, dtype type) {
      std::vector<array> out;
      for (const device& d : group) out.push_back(zeros(extents, type, d));
      return out;
    };
    const sharded uneven = sharded::from_parts(group, parts({j.rank() + 1, 2}, dtype::f32), 0);
    require(uneven.shape()[0] > j.size() && uneven.shape()[1] == 2, uneven.str());
    const std::string shapes = message_of<shape_error>([&] {
      sharded::from_parts(group, parts({2, 2 + j.rank() % 2}, dtype::f32), 0);
    });
    require(shapes.find("rank 1") != std::string::npos, shapes);
    const std::string types = message_of<dtype_error>([&] {
      sharded::from_parts(group, parts({2}, j.rank() == 1 ? dtype::i32 : dtype::f32), 0);
    });
    require(types.find("i32") != std::string::npos, types);
    require_equal(j.all_reduce(ones({1})), full({1}, j.size(), dtype::f32), "the job goes on");
  });
}

BOOST_AUTO_TEST_CASE(loops_and_training_use_the_ranks_of_a_group) {
  on_ranks([](const job& j) {
    const device_group group = group_of(j);
    const array a = whole({101, 3});
    require_equal(parallel_map(group, a, [](const array& rows) { return rows * rows; }), a * a,
                  "parallel_map");
    const auto loss = [](const std::vector<array>& p, const std::vector<array>& batch) {
      return mean(square(matmul(batch[0], p[0])));
    };
    const array weights = whole({3, 2}, dtype::f64), rows = whole({101, 3}, dtype::f64);
    const auto [expected, gradient] =
        value_and_grad([&](const std::vector<array>& p) { return loss(p, {rows}); })({weights});
    const data_parallel step(loss, group);
    const auto near = [](const array& got, const array& wanted) {
      return max(abs(got.to(default_device()) - wanted)).item<double>() <
             1e-13 * max(abs(wanted)).item<double>();
    };
    const std::vector<sharded> parameters = replicate(std::vector{weights}, group);
    for (const auto& [name, by] : splits(group)) {
      const parallel_step got = step(parameters, std::vector{shard(rows, group, 0, by)});
      require(near(got.loss, expected) && near(got.gradients[0].parts()[0], gradient[0]),
              "data_parallel: " + name);
      require(got.gradients[0].group() == group, "gradients over the group");
    }
    // Each rank's own rows.
    const parallel_step own =
        step(parameters, std::vector{rows(slice{j.rank(), std::nullopt, j.size()})});
    require(near(own.loss, expected) && near(own.gradients[0].parts()[0], gradient[0]), "own rows");
  });
}
