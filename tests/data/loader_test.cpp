// SPDX-License-Identifier: Apache-2.0
//
// The loader: what it gives whatever the number of threads, errors of workers, and ends before the
// end.
#include <sys/wait.h>
#include <unistd.h>

#include "tutti/data.hpp"
#include "tutti_test/arrays.hpp"

using namespace tutti::data;
using tutti::host_array;
using tutti::value_error;

namespace {

using numbers = std::vector<std::int64_t>;

/// Items {[2]: index, 10 * index; []: a random word}, one by one.
dataset counted(std::int64_t size) {
  dataset out;
  out.size = size;
  out.get = [](std::int64_t i, tutti::random::key k) {
    return item{host_array::from(numbers{i, 10 * i}, {2}),
                host_array::scalar(static_cast<std::uint64_t>(k.value))};
  };
  out.name = [](std::int64_t i) { return "number " + std::to_string(i); };
  return out;
}

struct seen {
  numbers indices, values;
  std::vector<std::uint64_t> words;
  std::vector<std::int64_t> sizes;
};

seen read_all(epoch e) {
  seen out;
  std::int64_t number = -1;
  for (batch& b : e) {
    BOOST_TEST(((number < 0) || b.number == number + 1));
    number = b.number;
    out.sizes.push_back(static_cast<std::int64_t>(b.indices.size()));
    out.indices.insert(out.indices.end(), b.indices.begin(), b.indices.end());
    BOOST_TEST((b.arrays.at(0).shape() == shape{out.sizes.back(), 2}));
    for (const std::int64_t v : b.arrays.at(0).to_vector<std::int64_t>()) out.values.push_back(v);
    for (const std::uint64_t v : b.arrays.at(1).to_vector<std::uint64_t>()) out.words.push_back(v);
  }
  return out;
}

void check_values(const seen& s) {
  for (std::size_t i = 0; i < s.indices.size(); ++i) {
    BOOST_TEST(s.values[2 * i] == s.indices[i]);
    BOOST_TEST(s.values[2 * i + 1] == 10 * s.indices[i]);
  }
}

numbers up_to(std::int64_t n) {
  numbers out;
  for (std::int64_t i = 0; i < n; ++i) out.push_back(i);
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(in_order) {
  const loader l(counted(10), {.batch_size = 4, .shuffle = false});
  BOOST_TEST(l.batches() == 3);
  const seen s = read_all(l.start(0));
  BOOST_TEST(s.sizes == (numbers{4, 4, 2}), same);
  BOOST_TEST(s.indices == up_to(10), same);
  check_values(s);
  const loader whole(counted(10), {.batch_size = 4, .shuffle = false, .drop_last = true});
  BOOST_TEST(whole.batches() == 2);
  BOOST_TEST(read_all(whole.start(0)).indices == up_to(8), same);
  BOOST_TEST(loader(counted(0)).batches() == 0);
  BOOST_TEST(read_all(loader(counted(0)).start(0)).indices.empty());
  BOOST_TEST(read_all(loader(counted(3)).start(0)).sizes == numbers{3}, same);
}

BOOST_AUTO_TEST_CASE(the_same_whatever_the_threads) {
  const auto with = [](int workers, int prefetch) {
    return loader(counted(103),
                  {.batch_size = 7, .key = {5}, .workers = workers, .prefetch = prefetch});
  };
  const seen expected = read_all(with(0, 1).start(3));
  numbers sorted = expected.indices;
  std::sort(sorted.begin(), sorted.end());
  BOOST_TEST(sorted == up_to(103), same);
  BOOST_TEST((expected.indices != sorted));
  check_values(expected);
  BOOST_TEST(std::set<std::uint64_t>(expected.words.begin(), expected.words.end()).size() == 103u);
  for (const auto& [workers, prefetch] : {std::pair{1, 1}, {2, 1}, {3, 8}, {8, 3}}) {
    const seen got = read_all(with(workers, prefetch).start(3));
    BOOST_TEST(got.indices == expected.indices, same);
    BOOST_TEST(got.words == expected.words, same);
  }
  // Other epochs and keys differ; what was begun goes on in the middle.
  BOOST_TEST((read_all(with(2, 2).start(4)).indices != expected.indices));
  const seen other = read_all(loader(counted(103), {.batch_size = 7, .key = {6}}).start(3));
  BOOST_TEST((other.indices != expected.indices));
  const seen rest = read_all(with(2, 2).start(3, 5));
  BOOST_TEST(rest.indices == numbers(expected.indices.begin() + 35, expected.indices.end()), same);
  BOOST_TEST(read_all(with(2, 2).start(3, 15)).indices.empty());
  // The keys are those that the header says.
  const tutti::random::key own = tutti::random::split({5}, 4)[3];
  const auto halves = tutti::random::split(own, 2);
  BOOST_TEST(expected.indices == tutti::random::permutation(halves[0], 103), same);
  BOOST_TEST(expected.words[0] ==
             tutti::random::split(halves[1], 103)[std::size_t(expected.indices[0])].value);
}

BOOST_AUTO_TEST_CASE(rows_parts_and_functions) {
  const host_array pictures = host_array::from(up_to(24), {6, 2, 2});
  const host_array labels = host_array::from(std::vector<float>{0, 1, 2, 3, 4, 5}, {6});
  const dataset all = rows_of(std::vector<host_array>{pictures, labels});
  BOOST_TEST(all.size == 6);
  BOOST_TEST((all.get(2, {}).at(0).shape() == shape{2, 2}));
  BOOST_TEST(all.get(2, {})[0].values<std::int64_t>()[3] == 11);
  const dataset some = subset(all, {5, 1, 1});
  epoch e = loader(some, {.batch_size = 3, .shuffle = false}).start(0);
  const std::optional<batch> b = e.next();
  BOOST_TEST((b->arrays[0].shape() == shape{3, 2, 2}));
  BOOST_TEST(b->arrays[1].to_vector<float>() == (std::vector<float>{5, 1, 1}), same);
  BOOST_TEST(!e.next().has_value());
  BOOST_TEST(!e.next().has_value());
  const dataset doubled = map(some, [](item i, tutti::random::key) {
    for (float& v : i[1].values<float>()) v *= 2;
    return i;
  });
  epoch m = loader(doubled, {.batch_size = 3, .shuffle = false}).start(0);
  BOOST_TEST(m.next()->arrays[1].to_vector<float>() == (std::vector<float>{10, 2, 2}), same);
  // Rows without elements, and of arrays.
  const dataset empty = rows_of(std::vector<array>{tutti::zeros({3, 0})});
  BOOST_TEST((loader(empty).start(0).next()->arrays[0].shape() == shape{3, 0}));
  FAILS(shape_error, rows_of(std::vector<host_array>{pictures, host_array::scalar(1)}),
        "[6,2,2] and []");
  FAILS(value_error, rows_of(std::vector<host_array>{}), "no arrays");
  FAILS(index_error, subset(all, {6}), "item 6 of 6");
  // Called by others than the loader, numbers are not known to be right.
  for (const std::int64_t wrong : {std::int64_t{-1}, std::int64_t{6}, std::int64_t{1} << 62}) {
    const auto text = "item " + std::to_string(wrong) + " of ";
    FAILS(index_error, all.get(wrong, {}), "rows_of: " + text + "6");
    FAILS(index_error, all.get_batch(numbers{0, wrong}), text + "6");
    FAILS(index_error, some.get(wrong, {}), "subset: " + text + "3");
    FAILS(index_error, some.get_batch(numbers{wrong}), text + "3");
  }
}

BOOST_AUTO_TEST_CASE(more_than_a_machine_has) {
  constexpr std::int64_t huge = std::int64_t{1} << 62;
  const auto first_of = [](const dataset& d, const loader_options& o) {
    return [d, o] { loader(d, o).start(0).next(); };
  };
  for (const int workers : {0, 1}) {
    BOOST_TEST(fails<tutti::out_of_memory>(
        first_of(counted(huge), {.batch_size = huge, .shuffle = false, .workers = workers}),
        "loader: "));
    BOOST_TEST(
        fails<tutti::out_of_memory>(first_of(counted(huge), {.workers = workers}), "memory"));
    // Without an order that is kept, no memory is taken for what nobody asked for.
    epoch e = loader(counted(huge), {.batch_size = 2, .shuffle = false, .workers = workers})
                  .start(0, huge / 2 - 1);
    BOOST_TEST(e.next()->indices == (numbers{huge - 2, huge - 1}), same);
    BOOST_TEST(!e.next().has_value());
    dataset deep = counted(2);
    deep.get = [](std::int64_t, tutti::random::key) {
      return item{host_array(tutti::dtype::f32, {1, 1, 1, 1, 1, 1, 1, 1})};
    };
    BOOST_TEST(
        fails<tutti::shape_error>(first_of(deep, {.shuffle = false, .workers = workers}),
                                  "loader: array 0 of item 0 (number 0) is [1,1,1,1,1,1,1,1]"));
  }
}

BOOST_AUTO_TEST_CASE(errors_name_the_item) {
  for (const int workers : {0, 2}) {
    dataset bad = counted(6);
    bad.get = [get = bad.get](std::int64_t i, tutti::random::key k) -> item {
      if (i == 3) throw tutti::io_error("read_picture: 3.png: truncated");
      if (i == 5) throw std::runtime_error("of the application");
      return get(i, k);
    };
    const loader l(bad, {.batch_size = 2, .shuffle = false, .workers = workers});
    epoch e = l.start(0);
    BOOST_TEST(e.next()->number == 0);
    FAILS(io_error, e.next(), "loader: item 3 (number 3): read_picture: 3.png: truncated");
    try {
      e.next();
      BOOST_ERROR("nothing was thrown");
    } catch (const value_error& error) {
      BOOST_TEST(std::string(error.what()) == "loader: item 5 (number 5): of the application");
      BOOST_CHECK_THROW(std::rethrow_if_nested(error), std::runtime_error);
    }
    BOOST_TEST(!e.next().has_value());
    BOOST_TEST(e.report().batches == 1);
  }
}

BOOST_AUTO_TEST_CASE(items_of_a_batch_are_alike) {
  const auto odd = [](const item& third) {
    dataset d = counted(4);
    d.get = [get = d.get, third](std::int64_t i, tutti::random::key k) {
      return i == 2 ? third : get(i, k);
    };
    return [d] { loader(d, {.batch_size = 4, .shuffle = false}).start(0).next(); };
  };
  const host_array word = host_array::scalar(std::uint64_t{1});
  const std::string pair = "item 2 (number 2) is [3], that of item 0 (number 0) is [2]";
  BOOST_TEST(fails<tutti::shape_error>(odd({host_array::from(numbers{1, 2, 3}, {3}), word}), pair));
  BOOST_TEST(fails<tutti::dtype_error>(odd({host_array::from(std::vector<float>{1, 2}, {2}), word}),
                                       "holds f32"));
  BOOST_TEST(fails<tutti::shape_error>(odd({word}), "has 1 arrays"));
  dataset wrong = counted(4);
  wrong.get_batch = [](std::span<const std::int64_t>) {
    return item{host_array(tutti::dtype::f32, {3})};
  };
  FAILS(shape_error, loader(wrong, {.batch_size = 4}).start(0).next(),
        "loader: batch 0: get_batch()");
}

BOOST_AUTO_TEST_CASE(an_abandoned_epoch_ends_its_threads) {
  std::atomic<int> inside = 0, made = 0;
  dataset slow = counted(1000);
  slow.get = [&, get = slow.get](std::int64_t i, tutti::random::key k) {
    ++inside;
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    ++made;
    --inside;
    return get(i, k);
  };
  const loader l(slow, {.batch_size = 10, .workers = 3, .prefetch = 2});
  {
    epoch e = l.start(0);
    e.next();
  }
  BOOST_TEST(inside == 0);
  const int then = made;
  BOOST_TEST(then < 200);  // the batch that was read, two ahead, and no more
  std::this_thread::sleep_for(std::chrono::milliseconds(5));
  BOOST_TEST(made == then);
  { const epoch unread = l.start(1); }
  BOOST_TEST(inside == 0);
  epoch moved = l.start(0);
  epoch other = std::move(moved);
  BOOST_TEST(other.next().has_value());
  FAILS(value_error, moved.next(), "moved");
  other = l.start(1);
  BOOST_TEST(other.next()->number == 0);
}

// The caller is slower than the workers are together: it waits for the first batch only.
BOOST_AUTO_TEST_CASE(a_fork_is_told_that_it_has_no_threads) {
  const loader batches(rows_of(std::vector<array>{tutti::arange(40)}),
                       {.batch_size = 2, .workers = 1, .prefetch = 2});
  epoch begun = batches.start(0);
  BOOST_TEST(begun.next()->number == 0);
  const pid_t child = ::fork();
  BOOST_TEST_REQUIRE(child >= 0);
  if (child == 0) {
    ::alarm(10);  // it would wait for ever
    int status = 1;
    try {
      epoch taken = std::move(begun);
      taken.next();
    } catch (const tutti::value_error&) {
      status = 0;
    }
    ::_exit(status);
  }
  int status = 0;
  BOOST_TEST(::waitpid(child, &status, 0) == child);
  BOOST_TEST(status == 0);
  std::int64_t count = 1;
  for (const batch& b : begun) count += b.number > 0 ? 1 : 0;
  BOOST_TEST(count == 20);
}

BOOST_AUTO_TEST_CASE(reports_who_waited) {
  using std::chrono::milliseconds;
  const auto run = [](int items_ms, int caller_ms) {
    dataset d = counted(24);
    d.get = [items_ms, get = d.get](std::int64_t i, tutti::random::key k) {
      std::this_thread::sleep_for(milliseconds(items_ms));
      return get(i, k);
    };
    epoch e = loader(d, {.batch_size = 2, .workers = 2}).start(0);
    while (e.next())
      if (caller_ms > 0) std::this_thread::sleep_for(milliseconds(caller_ms));
    return e.report();
  };
  const loader_report fast = run(1, 8), slow = run(8, 0);
  BOOST_TEST(fast.batches == 12);
  BOOST_TEST(fast.items == 24);
  BOOST_TEST(fast.seconds >= 0.08);
  BOOST_TEST(fast.idle_share == fast.waiting_seconds / fast.seconds);
  BOOST_TEST(slow.working_seconds >= 24 * 0.008);
  BOOST_TEST(fast.idle_share < slow.idle_share);
  BOOST_TEST(slow.idle_share > 0.5);
  // Without threads the caller waits for all of the work.
  epoch alone = loader(counted(24), {.workers = 0}).start(0);
  while (alone.next()) {
  }
  BOOST_TEST(alone.report().working_seconds > 0);
  BOOST_TEST(alone.report().working_seconds == alone.report().waiting_seconds);
}

BOOST_AUTO_TEST_CASE(options_out_of_range) {
  const auto with = [](loader_options o) { return [o] { loader(counted(4), o); }; };
  BOOST_TEST(fails<value_error>(with({.batch_size = 0}), "a batch size of 0"));
  BOOST_TEST(fails<value_error>(with({.workers = -1}), "workers: -1"));
  BOOST_TEST(fails<value_error>(with({.prefetch = 0}), "prefetch: 0"));
  FAILS(value_error, loader(dataset{}), "without get()");
  const loader l(counted(4), {.batch_size = 2});
  FAILS(value_error, l.start(-1), "epoch -1");
  FAILS(value_error, l.start(0, 3), "batch 3 of 2");
  FAILS(value_error, l.start(0, -1), "batch -1 of 2");
  BOOST_TEST(loader(counted(4), {.batch_size = std::int64_t{1} << 62}).batches() == 1);
}
