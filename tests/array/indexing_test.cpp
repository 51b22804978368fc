// SPDX-License-Identifier: Apache-2.0
//
// NumPy's basic indexing, setting elements, values out of braces, evaluation of lists: what a first
// program writes, and what of it must not compile.
#include "tutti_test/arrays.hpp"

namespace {

// An assignment to what an expression returns would be lost.
static_assert(!std::is_assignable_v<array, array> && !std::is_assignable_v<array, int>);
static_assert(std::is_assignable_v<array&, array> && std::is_assignable_v<array&, int>);
static_assert(std::is_nothrow_move_assignable_v<array> && std::is_copy_assignable_v<array>);

template <class T>
concept changes_a_slice = requires(T a) {
  a[1] += 3;
}
|| requires(T a) { a[1] -= 3; }
|| requires(T a) { a[1] *= 3; }
|| requires(T a) { a[1] /= 3; }
|| requires(T a) { a({{1, 3}}) = 5; }
|| requires(T a) { a.T() = a; }
|| requires(T a) { a[0].set({1}, 5); };
static_assert(!changes_a_slice<array>);
static_assert(requires(array a) {
  a += 3;
  a.set({1}, 5);
});

// A truth value is no axis and no extent.
template <class T>
concept takes_flags_for_axes = requires(T a) {
  tutti::sum(a, true);
}
|| requires(T a) { tutti::sum(a, {true}); }
|| requires(T a) { tutti::sum(a, 1.5); }
|| requires(T a) { tutti::sum(a, {true, true}); }
|| requires(T a) { tutti::flip(a, true); }
|| requires(T a) { tutti::flip(a, {0, true}); }
|| requires(T a) { tutti::squeeze(a, true); }
|| requires(T a) { tutti::roll(a, 1, true); }
|| requires(T a) { tutti::expand_dims(a, true); }
|| requires(T a) { tutti::argmax(a, true); }
|| requires(T a) { tutti::median(a, true); }
|| requires(T a) { tutti::quantile(a, 0.5, true); }
|| requires(T a) { tutti::var(a, 0, true); }
|| requires(T a) { tutti::stddev(a, 0, true); }
|| requires(T a) { tutti::std(a, 0, true); }
|| requires(T a) { tutti::cumsum(a, true); }
|| requires(T a) { tutti::softmax(a, true); }
|| requires(T a) { tutti::log_softmax(a, false); }
|| requires(T a) { tutti::swapaxes(a, 0, true); }
|| requires(T a) { tutti::moveaxis(a, true, 0); }
|| requires(T a) { tutti::concatenate({a, a}, true); }
|| requires(T a) { tutti::concat({a, a}, true); }
|| requires(T a) { tutti::stack({a, a}, true); }
|| requires(T a) { tutti::take(a, a, true); }
|| requires(T a) { tutti::take_along_axis(a, a, true); }
|| requires(T a) { tutti::put_along_axis(a, a, a, true); }
|| requires(T a) { tutti::scatter(a, a, a, true); }
|| requires(T a) { tutti::scatter_add(a, a, a, true); }
|| requires(T a) { tutti::split(a, 2, true); }
|| requires(T a) { tutti::unstack(a, true); }
|| requires(T a) { tutti::repeat(a, 2, true); }
|| requires(T a) { tutti::repeat_each(a, {2, 3}, true); }
|| requires(T a) { tutti::diagonal(a, 0, true); }
|| requires(T a) { tutti::trace(a, 0, 1, true); }
|| requires(T a) { tutti::vecdot(a, a, true); }
|| requires(T a) { tutti::cross(a, a, true); }
|| requires(T a) { tutti::cumulative_sum(a, true); }
|| requires(T a) { tutti::cumulative_prod(a, true); }
|| requires(T a) { tutti::diff(a, 1, true); }
|| requires(T a) { tutti::sort(a, true); }
|| requires(T a) { tutti::argsort(a, true); }
|| requires(T a) { tutti::topk(a, 2, true); }
|| requires(T a) { tutti::partition(a, 2, true); }
|| requires(T a) { tutti::random::categorical({}, a, true); }
|| requires(T a) { tutti::random::shuffle({}, a, true); }
|| requires(T a) { tutti::shard(a, tutti::device_group(), true); }
|| requires(T a) { tutti::collective::scatter(tutti::device_group(), a, true); }
|| requires(T a) { a.dim(true); }
|| requires(T a) { tutti::transpose(a, {1, true}); }
|| requires(T a) { tutti::split_at(a, {1, true}); }
|| requires(T a) { a({1, true}); };
static_assert(!takes_flags_for_axes<array>);

// i * 10 + j in [4, 5], as an array and on the host.
const dense grid = tabulate({4, 5}, [](const position& i) { return 10 * i[0] + i[1]; });
array table() { return upload_as<std::int32_t>(grid); }

dense picked(const tutti::shape& extents, auto&& place) {
  return tabulate(extents, [&](const position& i) { return grid.at(place(i)); });
}

}  // namespace

BOOST_AUTO_TEST_CASE(braces_of_numbers_and_slices) {
  using tutti::all;
  using tutti::slice;
  const array a = table();
  BOOST_TEST(a({1, 2}).item<int>() == 12);
  BOOST_TEST(a(1, 2).item<int>() == 12);
  BOOST_TEST(a({-1, -5}).item<int>() == 30);
  BOOST_TEST(matches(a({2}), picked({5}, [](auto i) { return position{2, i[0]}; })));
  BOOST_TEST(matches(a({{}, 2}), picked({4}, [](auto i) { return position{i[0], 2}; })));
  BOOST_TEST(matches(a(all(), 2), picked({4}, [](auto i) { return position{i[0], 2}; })));
  BOOST_TEST(matches(a({{1, 3}, -1}), picked({2}, [](auto i) { return position{1 + i[0], 4}; })));
  // A single number in braces of its own is a start, as it is of a slice.
  const dense rows = picked({3, 5}, [](auto i) { return position{1 + i[0], i[1]}; });
  BOOST_TEST(matches(a({{1}}), rows));
  BOOST_TEST(matches(a({slice{1}}), rows));
  BOOST_TEST(matches(a(slice{1}), rows));
  BOOST_TEST(matches(a({1, {{}, {}, -2}}), picked({3}, [](auto i) {
                       return position{1, 4 - 2 * i[0]};
                     })));
  const std::optional<std::int64_t> open;
  BOOST_TEST(matches(a({{open, 2}, {3, std::nullopt}}), picked({2, 2}, [](auto i) {
                       return position{i[0], 3 + i[1]};
                     })));
  BOOST_TEST(a({{2, 2}, 0}).size() == 0);
  BOOST_TEST(matches(a({}), grid));
  BOOST_TEST(array(3).operator()({}).item<int>() == 3);
}

BOOST_AUTO_TEST_CASE(new_axes_and_the_ellipsis) {
  using tutti::ellipsis;
  using tutti::newaxis;
  const array a = table(), cube = tutti::stack({a, a + 100});
  BOOST_TEST(matches(a({ellipsis(), 1}), picked({4}, [](auto i) { return position{i[0], 1}; })));
  BOOST_TEST((a({newaxis(), 1, newaxis()}).shape() == tutti::shape{1, 1, 5}));
  BOOST_TEST((a({{}, newaxis()}).shape() == tutti::shape{4, 1, 5}));
  BOOST_TEST(matches(cube({1, ellipsis(), {3, 5}}), tabulate({4, 2}, [](const position& i) {
                       return 100 + 10 * i[0] + 3 + i[1];
                     })));
  BOOST_TEST((cube({ellipsis(), newaxis()}).shape() == tutti::shape{2, 4, 5, 1}));
  BOOST_TEST((a({1, 2, ellipsis()}).shape() == tutti::shape{}));
  FAILS(index_error, a({ellipsis(), ellipsis()}), "[4,5]");
}

BOOST_AUTO_TEST_CASE(wrong_indices) {
  const array a = table();
  FAILS(index_error, a({4}), "index 4 is out of range for axis 0");
  FAILS(index_error, a({0, -6}), "index -6 is out of range for axis 1");
  FAILS(index_error, a({0, 0, 0}), "operator(): 3 indices for an array of shape");
  FAILS(value_error, a({{0, 1, 2, 3}}), "4 numbers");
  FAILS(value_error, a({{0, 1, 0}}), "step 0");
  FAILS(value_error, a({{0, 1, {}}}), "step");
  FAILS(value_error, a({std::uint64_t(1) << 63}), "9223372036854775808");
  FAILS(value_error, array().operator()({1}), "never assigned");
}

BOOST_AUTO_TEST_CASE(elements_are_set) {
  array a = table();
  const array before = a, row = a[1];
  a.set({{1, 3}}, 5);
  dense expected = tabulate(
      {4, 5}, [](const position& i) { return i[0] == 1 || i[0] == 2 ? 5 : 10 * i[0] + i[1]; });
  BOOST_TEST(matches(a, expected));
  BOOST_TEST(matches(before, grid));
  BOOST_TEST(matches(row, picked({5}, [](auto i) { return position{1, i[0]}; })));
  a.set({3}, a[3] + 3).set({{}, -1}, array::from<float>({1, 2, 3, 4}));
  expected = tabulate({4, 5}, [&](const position& i) {
    return i[1] == 4 ? 1 + i[0] : expected.at(i) + (i[0] == 3 ? 3 : 0);
  });
  BOOST_TEST(matches(a, expected));
  BOOST_TEST((a.dtype() == dtype::i32));
  a.set({0, {{}, {}, -2}}, array::from<int>({7, 8, 9})).set({tutti::newaxis(), 0, 1}, -1);
  BOOST_TEST(matches(a[0], {{5}, {9, -1, 8, 3, 7}}));
  a.set({{2, 2}}, 77).set({}, a);
  BOOST_TEST(a({2, 0}).item() == 5);
  array turned = upload_as<float>(grid).T();
  turned.set({{1, 3}, {{}, {}, 3}}, array::from({{-1.f, -2.f}}));
  BOOST_TEST(matches(turned, tabulate({5, 4}, [](const position& i) {
                       if ((i[0] == 1 || i[0] == 2) && i[1] % 3 == 0) return i[1] == 0 ? -1 : -2;
                       return int(10 * i[1] + i[0]);
                     })));
  FAILS(shape_error, a.set({1}, array::from({1, 2})), "[2] does not fit the region [5] of [4,5]");
  FAILS(index_error, a.set({7}, 1), "slice_update: index 7");
  // The same as a function, and of a list of slices.
  const tutti::slice first[] = {{0, 1}};
  BOOST_TEST(
      matches(tutti::slice_update(before, 0, {0}), read(tutti::slice_update(before, 0, first))));
  array flags = array::from({true, false});
  BOOST_TEST((flags.set({0}, false).to_vector<bool>() == std::vector<bool>{false, false}));
}

BOOST_AUTO_TEST_CASE(braces_of_braces) {
  BOOST_TEST(matches(array::from({{1, 2}, {3, 4}}), {{2, 2}, {1, 2, 3, 4}}));
  BOOST_TEST((array::from({{1, 2}, {3, 4}}).dtype() == dtype::i32));
  BOOST_TEST(matches(array::from({{1.5, 2.0, 3.0}}), {{1, 3}, {1.5, 2, 3}}));
  BOOST_TEST(matches(array::from<double>({{1, 2.5}, {3, 4}}), {{2, 2}, {1, 2.5, 3, 4}}));
  BOOST_TEST(matches(array::from({{{1, 2}}, {{3, 4}}, {{5, 6}}}), {{3, 1, 2}, {1, 2, 3, 4, 5, 6}}));
  BOOST_TEST((array::from({{true, false}, {false, true}}).dtype() == dtype::boolean));
  using c64 = std::complex<float>;
  BOOST_TEST((array::from<c64>({{1, 2}, {3, 4}})[1].item<c64>() == c64(3, 4)));
  FAILS(shape_error, array::from({{1, 2}, {3}}), "2 and of 1");
  FAILS(shape_error, array::from({{{1}, {2}}, {{3}}}), "2 and of 1");
}

BOOST_AUTO_TEST_CASE(items_are_converted) {
  BOOST_TEST(array::from({7}).item<float>() == 7.f);
  BOOST_TEST(array(7).item<std::int64_t>() == 7);
  BOOST_TEST(array::from<float>({0.1f}).item<double>() == double(0.1f));
  BOOST_TEST(tutti::full({}, -2.5, dtype::f16).item<float>() == -2.5f);
  BOOST_TEST(tutti::full({1}, 0.15625, dtype::bf16).item() == 0.15625);
  BOOST_TEST(array(true).item<float>() == 1.f);
  BOOST_TEST(array(true).item<int>() == 1);
  const auto top = std::numeric_limits<std::uint64_t>::max();
  const array large = array::from<std::uint64_t>({top});
  BOOST_TEST(large.item<std::uint64_t>() == top);
  BOOST_TEST(large.item() == 0x1p64);
  BOOST_TEST(array::from<std::int64_t>({(1 << 25) + 1}).item<float>() == 0x1p25f);
  BOOST_TEST((array(3).item<std::complex<double>>() == std::complex<double>(3, 0)));
  using c64 = std::complex<float>;
  BOOST_TEST(
      (array::from<c64>({c64(1, 2)}).item<std::complex<double>>() == std::complex<double>(1, 2)));
  FAILS(value_error, large.item<std::int64_t>(), "18446744073709551615");
  FAILS(value_error, array(-1).item<std::uint64_t>(), "-1 does not fit u64");
  FAILS(value_error, array(300).item<std::int8_t>(), "300 does not fit i8");
  FAILS(dtype_error, array(1.5).item<bool>(), "not converted to bool");
  FAILS(dtype_error, array(2.0).item<int>(),
        "item: an element of dtype f32 is not converted to i32");
  FAILS(dtype_error, array(c64(1, 2)).item<float>(), "real");
}

BOOST_AUTO_TEST_CASE(what_was_probably_meant_is_said) {
  const array x = array::from<float>({1, 2});
  FAILS(dtype_error, x ^ 2, "got f32, i32; a power is pow(a, b)");
  FAILS(index_error, tutti::min(3, 4), "min: axis 4 of a number; of two values take std::min");
  FAILS(index_error, tutti::max(3, 0), "std::max or maximum");
  BOOST_TEST(tutti::min(array(3)).item<int>() == 3);
  const array m = tutti::zeros({2, 3});
  FAILS(index_error, m(2, 0), "operator(): index 2 is out of range for axis 0 of [2,3]");
}

BOOST_AUTO_TEST_CASE(shapes_dtypes_and_devices_go_to_streams) {
  const tutti::device on = tutti::default_device();
  std::ostringstream out;
  out << tutti::shape{2, 3} << ' ' << tutti::shape{} << ' ' << dtype::bf16 << ' ' << on;
  BOOST_TEST(out.str() == "[2,3] [] bf16 " + on.name());
}

BOOST_AUTO_TEST_CASE(lists_are_evaluated_together) {
  const array x = array::from<float>({1, 2, 3});
  const std::vector<array> some = {x + 1, x + 2}, none;
  const array one = x * 3;
  tutti::eval(some, none, one);
  const auto launches = tutti::stats().launches;
  tutti::eval(one, std::span(some));
  tutti::eval(one);
  tutti::eval(some);
  tutti::synchronize();
  BOOST_TEST(tutti::stats().launches == launches);
  BOOST_TEST(matches(some[1], {{3}, {3, 4, 5}}));
  FAILS(value_error, tutti::eval(some, array()), "eval");
}

BOOST_AUTO_TEST_CASE(synchronize_waits) {
  // A time is of the work only where the work has ended: then reading costs a copy and no more.
  const array x = tutti::ones({256, 256}).wait();
  array y = x;
  for (int i = 0; i < 6; ++i) y = tutti::matmul(y, x) / 256;
  tutti::eval(y);
  tutti::synchronize(y.device());
  tutti::synchronize();
  BOOST_TEST(y({3, 4}).item() == 1);
  tutti::synchronize(tutti::device("reference"));
}
