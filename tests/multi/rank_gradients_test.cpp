// SPDX-License-Identifier: Apache-2.0
//
// Gradients of functions over the ranks of a job, against those of the whole array on one device.
#include <exception>

#include "thread_job.hpp"
#include "tutti_test/arrays.hpp"

namespace {

using namespace tutti;
using collective::reduction;

/// One device a rank, two on rank 1, and two on each rank, where there is another one.
std::vector<device_group> groups_of(const job& j) {
  const std::vector<device> one{default_device()};
  if (default_device().name() == "reference:0") return {device_group(one, j)};
  const std::vector<device> two{default_device(), device("reference")};
  return {device_group(one, j), device_group(j.rank() == 1 ? two : one, j), device_group(two, j)};
}

/// Different numbers, the same on all ranks.
array numbers(const shape& extents, double phase = 0) {
  return sin(arange(extents.size(), dtype::f64) * 1.7 + phase).reshape(extents);
}

void require_near(const array& got, const array& expected, const std::string& what) {
  require(got.shape() == expected.shape(), what + ": " + got.shape().str());
  if (got.size() == 0) return;
  const double off = max(abs(got.to(default_device()) - expected)).item<double>();
  const double scale = 1 + max(abs(expected)).item<double>();
  require(off < 1e-13 * scale,
          what + " differs by 1e-13 times " + std::to_string(off / scale * 1e13));
}

array cubes(const array& a) { return sum(a * a * a); }
array cubes(const sharded& a) { return sum(a * a * a).parts()[0]; }

using scalar = std::function<array(const array&)>;

/// Value, gradient and second derivatives of `over_ranks`, of the same array on each rank.
void compare(const scalar& over_ranks, const scalar& whole, const array& x,
             const std::string& what) {
  const auto [value, gradient] = value_and_grad(over_ranks)(x);
  const auto [expected, of_whole] = value_and_grad(whole)(x);
  require_near(value, expected, what + ": value");
  require_near(gradient, of_whole, what + ": gradient");
  const auto curved = [](const scalar& f) {
    return [f](const array& a) { return cubes(grad(f)(a)); };
  };
  require_near(grad(curved(over_ranks))(x), grad(curved(whole))(x), what + ": second order");
}

const reduce_options down{.axes = {{0}}}, across{.axes = {{1}}};

/// A function of a split array, and the same of the whole one.
struct example {
  std::string name;
  std::function<array(const sharded&)> over_ranks;
  scalar whole;
};

std::vector<example> examples(const device_group& group) {
  std::vector<example> out;
  const auto add = [&](std::string name, auto f) { out.push_back({std::move(name), f, f}); };
  for (const reduce_options& over : {reduce_options{}, down, across}) {
    add("sum", [over](const auto& x) { return cubes(sum(x, over)); });
    add("mean", [over](const auto& x) { return cubes(mean(x, over)); });
    add("prod", [over](const auto& x) { return cubes(prod(x, over)); });
    add("min", [over](const auto& x) { return cubes(min(x, over)); });
    add("max", [over](const auto& x) { return cubes(max(x, over)); });
  }
  add("deviations",
      [](const auto& x) { return cubes(x - mean(x, {.axes = {{0}}, .keepdims = true})); });
  const auto with = [&](std::string name, std::function<array(const sharded&)> f, scalar g) {
    out.push_back({std::move(name), std::move(f), std::move(g)});
  };
  with(
      "gather", [](const sharded& x) { return cubes(x.gather(default_device())); },
      [](const array& x) { return cubes(x); });
  with(
      "a copy on each member", [group](const sharded& x) { return cubes(replicate(x, group)); },
      [](const array& x) { return cubes(x); });
  with(
      "reshard", [group](const sharded& x) { return cubes(sum(reshard(x, group, 1), down)); },
      [](const array& x) { return cubes(sum(x, down)); });
  with(
      "reshard to the rank",
      [group](const sharded& x) { return cubes(sum(reshard(x, group.local()), across)); },
      [](const array& x) { return cubes(sum(x, across)); });
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(functions_of_split_arrays_have_the_gradients_of_whole_ones) {
  on_ranks([](const job& j) {
    if (j.size() == 1) return;
    const array x = numbers({7, 4});
    for (const device_group& group : groups_of(j))
      for (const auto& [split, by] : splits(group))
        for (const example& e : examples(group))
          for (const int axis : {0, 1}) {
            if (axis == 1 && e.name == "deviations") continue;
            compare([&](const array& a) { return e.over_ranks(shard(a, group, axis, by)); },
                    e.whole, x, e.name + ", " + split + ", axis " + std::to_string(axis));
          }
  });
}

BOOST_AUTO_TEST_CASE(rows_by_index_have_gradients_over_ranks) {
  on_ranks([](const job& j) {
    if (j.size() == 1) return;
    const array x = numbers({7, 4});
    const std::vector<std::vector<std::int64_t>> wanted{{6, 0, 5, 5, -1}, {}, {-7, 3}, {3}};
    std::vector<array> all;
    for (int r = 0; r < j.size(); ++r)
      all.push_back(array::from(wanted[static_cast<std::size_t>(r) % 4]));
    const array own = all[static_cast<std::size_t>(j.rank())];
    const auto of_all = [&](const array& a) {
      array total = zeros({}, dtype::f64);
      for (const array& indices : all) total = total + cubes(take(a, indices));
      return total;
    };
    for (const device_group& group : groups_of(j))
      for (const auto& [split, by] : splits(group)) {
        compare(
            [&](const array& a) { return j.all_reduce(cubes(take(shard(a, group, 0, by), own))); },
            of_all, x, "take: " + split);
        compare(
            [&](const array& a) {
              return cubes(take(shard(a, group, 0, by), array::from({3, 1}), 1));
            },
            [&](const array& a) {
              return cubes(take(a, array::from({3, 1}), 1));
            },
            x, "take along the other axis: " + split);
      }
  });
}

BOOST_AUTO_TEST_CASE(products_have_gradients_over_ranks) {
  on_ranks([](const job& j) {
    if (j.size() == 1) return;
    const array x = numbers({6, 7}), w = numbers({7, 5}, 1), v = numbers({5, 2}, 2);
    for (const device_group& group : groups_of(j))
      for (const auto& [split, by] : splits(group)) {
        const sharded all_x = replicate(x, group), rows = shard(x, group, 0, by);
        const auto whole = [&](const array& a) { return cubes(matmul(x, a)); };
        compare([&](const array& a) { return cubes(matmul(all_x, shard(a, group, 1, by))); }, whole,
                w, "split by columns: " + split);
        compare([&](const array& a) { return cubes(matmul(rows, replicate(a, group))); }, whole, w,
                "split by rows: " + split);
        compare(
            [&](const array& a) {
              const sharded y = matmul(replicate(a, group), shard(w, group, 1, by));
              return cubes(matmul(y, shard(v, group, 0, by)));
            },
            [&](const array& a) { return cubes(matmul(matmul(a, w), v)); }, x,
            "tensor-parallel: " + split);
      }
  });
}

BOOST_AUTO_TEST_CASE(a_tensor_parallel_perceptron_trains_as_on_one_device) {
  on_ranks([](const job& j) {
    if (j.size() == 1) return;
    const array x = numbers({20, 6}), wanted = numbers({20, 3}, 5);
    const std::vector<array> start{numbers({6, 7}, 1), numbers({7}, 2), numbers({7, 3}, 3),
                                   numbers({3}, 4)};
    const auto train = [](const function& loss, std::vector<array> parameters) {
      for (int step = 0; step < 30; ++step) {
        const std::vector<array> found = grad(loss)(parameters);
        for (std::size_t i = 0; i < found.size(); ++i)
          parameters[i] = parameters[i] - found[i] * 0.1;
        eval(parameters);
      }
      return parameters;
    };
    const std::vector<array> expected = train(
        [&](const std::vector<array>& p) {
          const array hidden = maximum(matmul(x, p[0]) + p[1], 0);
          return mean(square(matmul(hidden, p[2]) + p[3] - wanted));
        },
        start);
    for (const device_group& group : groups_of(j))
      for (const auto& [split, by] : splits(group)) {
        // Each device has its columns of the first layer and its rows of the second one; all have
        // the last bias.
        const int axes[] = {1, 0, 0};
        std::vector<array> own;
        for (std::size_t i = 0; i < 3; ++i) {
          const sharded parts = shard(start[i], group, axes[i], by);
          own.insert(own.end(), parts.parts().begin(), parts.parts().end());
        }
        own.push_back(start[3]);
        const auto split_parameter = [&](const std::vector<array>& p, std::size_t i) {
          const auto first = p.begin() + static_cast<std::ptrdiff_t>(i * group.size());
          const auto end = first + static_cast<std::ptrdiff_t>(group.size());
          return sharded::from_parts(group, {first, end}, axes[i]);
        };
        const sharded all_x = replicate(x, group), all_wanted = replicate(wanted, group);
        const std::vector<array> got = train(
            [&](const std::vector<array>& p) {
              const sharded sums = matmul(all_x, split_parameter(p, 0)) + split_parameter(p, 1);
              const sharded hidden = map([](const array& a) { return maximum(a, 0); }, sums);
              const sharded y = matmul(hidden, split_parameter(p, 2)) + replicate(p.back(), group);
              return mean(map(tutti::square, y - all_wanted)).parts()[0];
            },
            own);
        for (std::size_t i = 0; i < 3; ++i)
          require_near(split_parameter(got, i).gather(default_device()), expected[i],
                       "weights " + std::to_string(i) + ", " + split);
        require_near(got.back(), expected[3], "the last bias, " + split);
      }
  });
}

namespace {

/// A function of each device's own values, and the same of a list of those of all devices.
struct collective_example {
  std::string name;
  std::function<array(const std::vector<array>&)> over_ranks;
  std::function<array(const std::vector<array>&)> whole;
};

std::vector<collective_example> collective_examples(const device_group& group) {
  using list = std::vector<array>;
  const job& j = *group.ranks();
  const auto total_of = [](const list& v) {
    array total = cubes(v[0]).to(default_device());
    for (std::size_t i = 1; i < v.size(); ++i) total = total + cubes(v[i]).to(default_device());
    return total;
  };
  const auto everywhere = [=](const list& v) { return j.all_reduce(total_of(v)); };
  const auto sum_of = [](const list& v) {
    array total = v[0];
    for (std::size_t i = 1; i < v.size(); ++i) total = total + v[i];
    return total;
  };
  std::vector<collective_example> out;
  for (const reduction with :
       {reduction::sum, reduction::avg, reduction::min, reduction::max, reduction::prod}) {
    const scalar along = [with](const array& a) {
      return with == reduction::sum   ? sum(a, down)
             : with == reduction::avg ? mean(a, down)
             : with == reduction::min ? min(a, down)
             : with == reduction::max ? max(a, down)
                                      : prod(a, down);
    };
    const auto whole = [=](const list& v) { return cubes(along(stack(v, 0))); };
    const std::string name = "reduction " + std::to_string(static_cast<int>(with));
    out.push_back({"all_reduce, " + name,
                   [=](const list& v) {
                     return cubes(collective::all_reduce(group, v, with).back()).to(group[0]);
                   },
                   whole});
    out.push_back(
        {"reduce, " + name,
         [=](const list& v) { return cubes(collective::reduce(group, v, group[0], with)); },
         whole});
    out.push_back(
        {"reduce_scatter, " + name,
         [=](const list& v) { return everywhere(collective::reduce_scatter(group, v, with)); },
         whole});
  }
  const auto gathered = [](const list& v) { return cubes(cumsum(concatenate(v, 0), 0)); };
  out.push_back({"all_gather",
                 [=](const list& v) {
                   return cubes(cumsum(collective::all_gather(group, v).back(), 0)).to(group[0]);
                 },
                 gathered});
  out.push_back(
      {"gather",
       [=](const list& v) { return cubes(cumsum(collective::gather(group, v, group[0]), 0)); },
       gathered});
  out.push_back({"all_to_all",
                 [=](const list& v) {
                   list turned = collective::all_to_all(group, v);
                   for (array& t : turned) t = cumsum(t, 0);
                   return everywhere(turned);
                 },
                 [=](const list& v) {
                   const auto cuts = shares::equal().boundaries(v[0].dim(0), group);
                   list turned;
                   for (std::size_t i = 0; i < v.size(); ++i) {
                     list pieces;
                     for (const array& a : v) pieces.push_back(a(slice{cuts[i], cuts[i + 1]}));
                     turned.push_back(cumsum(concatenate(pieces, 0), 0));
                   }
                   return total_of(turned);
                 }});
  out.push_back({"each beside the mean of all",
                 [=](const list& v) {
                   list means = collective::all_reduce(group, v, reduction::avg);
                   for (std::size_t i = 0; i < v.size(); ++i) means[i] = v[i] - means[i];
                   return everywhere(means);
                 },
                 [=](const list& v) {
                   list apart = v;
                   for (array& a : apart) a = a - sum_of(v) / static_cast<double>(v.size());
                   return total_of(apart);
                 }});
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(collectives_have_gradients_over_ranks) {
  on_ranks([](const job& j) {
    if (j.size() == 1) return;
    for (const device_group& group : groups_of(j)) {
      const array all_values = numbers({static_cast<std::int64_t>(group.total()), 7, 3});
      const auto begin = static_cast<std::int64_t>(group.first());
      const slice own{begin, begin + static_cast<std::int64_t>(group.size())};
      const auto parts = [&](const array& values) {
        std::vector<array> out = unstack(values, 0);
        if (values.dim(0) == static_cast<std::int64_t>(group.size()))
          for (std::size_t i = 0; i < out.size(); ++i) out[i] = out[i].to(group[i]);
        return out;
      };
      for (const collective_example& e : collective_examples(group)) {
        const scalar over_ranks = [&](const array& v) { return e.over_ranks(parts(v)); };
        const scalar whole = [&](const array& v) { return e.whole(unstack(v, 0)); };
        const auto [value, gradient] = value_and_grad(over_ranks)(all_values(own));
        require_near(value, whole(all_values), e.name + ": value");
        require_near(gradient, grad(whole)(all_values)(own), e.name + ": gradient");
        const array second = grad([&](const array& v) {
          return j.all_reduce(cubes(grad(over_ranks)(v)));
        })(all_values(own));
        const array expected =
            grad([&](const array& v) { return cubes(grad(whole)(v)); })(all_values);
        require_near(second, expected(own), e.name + ": second order");
      }
      // A value that all ranks have.
      const array x = numbers({7, 3});
      const auto sum_of_all = [&](const std::vector<array>& v) {
        array total = cubes(v[0]).to(group[0]) * (static_cast<double>(group.first()) + 1);
        for (std::size_t i = 1; i < v.size(); ++i)
          total = total + cubes(v[i]).to(group[0]) * (static_cast<double>(group.first() + i) + 1);
        return j.all_reduce(total);
      };
      const double n = static_cast<double>(group.total());
      compare([&](const array& a) { return sum_of_all(collective::broadcast(group, a)); },
              [&](const array& a) { return cubes(a) * (n * (n + 1) / 2); }, x, "broadcast");
      compare(
          [&](const array& a) { return sum_of_all(collective::scatter(group, a)); },
          [&](const array& a) {
            const auto cuts = shares::equal().boundaries(a.dim(0), group);
            array total = zeros({}, dtype::f64);
            for (std::size_t i = 0; i < group.total(); ++i)
              total = total + cubes(a(slice{cuts[i], cuts[i + 1]})) * (static_cast<double>(i) + 1);
            return total;
          },
          x, "scatter");
    }
  });
}

BOOST_AUTO_TEST_CASE(the_backward_pass_has_one_order_on_all_ranks) {
  on_ranks([](const job& j) {
    if (j.size() == 1) return;
    // Ranks use the sums in another order, and one of them not at all: the mean of what they return
    // is differentiated.
    const array x = numbers({3}) + j.rank();
    const auto f = [&](const array& a) {
      const array first = j.all_reduce(a), second = j.all_reduce(a * a);
      const array last = sum(j.broadcast(sin(a), j.size() - 1));
      return j.rank() == 0   ? sum(first * second)
             : j.rank() == 1 ? sum(second + first) + last
                             : last;
    };
    const double n = j.size();
    const array first = j.all_reduce(x), second = j.all_reduce(x * x);
    array expected = second + first * 2 * x + 1 + 2 * x;
    if (j.rank() == j.size() - 1) expected = expected + cos(x) * (n - 1);
    require_near(grad(f)(x), expected / n, "the gradient");

    // Only rank 0 has something to differentiate.
    const auto of_rank_0 = [&](const array& a) {
      return sum(j.all_reduce(j.rank() == 0 ? a * a : ones({3}, dtype::f64)));
    };
    require_near(grad(of_rank_0)(x), j.rank() == 0 ? 2 * x : zeros({3}, dtype::f64), "of rank 0");

    // Exchanges within the rule of a custom gradient.
    const vector_function cube_of_sum = [&](const std::vector<array>& v) {
      return std::vector<array>{cubes(j.all_reduce(v[0]))};
    };
    const auto recomputed =
        custom_vjp(cube_of_sum, [&](const auto& v, const auto&, const auto& cotangents) {
          return vjp(cube_of_sum, v, cotangents).second;
        });
    require_near(grad([&](const array& a) { return recomputed({a})[0]; })(x), 3 * first * first,
                 "a custom gradient");

    const std::string refused = message_of<value_error>([&] {
      grad([&](const array& a) {
        j.send(a, j.rank());
        return sum(a);
      })(x);
    });
    require(refused.find("being differentiated") != std::string::npos, refused);
    const std::string elsewhere = message_of<value_error>([&] {
      grad([&](const array& a) {
        std::exception_ptr failure;
        std::thread([&] {
          try {
            j.all_reduce(a);
          } catch (...) {
            failure = std::current_exception();
          }
        }).join();
        if (failure) std::rethrow_exception(failure);
        return sum(a);
      })(x);
    });
    require(elsewhere.find("in the thread") != std::string::npos, elsewhere);
    const auto sum_of_complex = [&](const array& a) {
      return sum(real(j.all_gather(a.astype(dtype::c128))));
    };
    require_near(grad(sum_of_complex)(x), ones_like(x), "complex numbers");
    require_near(j.all_reduce(x), first, "the job goes on");
  });
}
