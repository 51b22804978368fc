// SPDX-License-Identifier: Apache-2.0
//
// Sizes that no array or no machine can have: each is an error that names the call and the size,
// before memory is taken. And what just fits is not refused.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tutti/analysis.hpp"
#include "tutti/data.hpp"
#include "tutti/nn.hpp"
#include "tutti_test/arrays.hpp"

namespace draw = tutti::random;

namespace {

constexpr std::int64_t huge = std::int64_t{1} << 62;
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();

array bytes(const shape& extents) { return tutti::zeros(extents, dtype::u8); }

// What is refused is refused soon.
struct soon {
  void teardown() const {
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    BOOST_TEST(took.count() < 5);
  }

  std::chrono::steady_clock::time_point begin = std::chrono::steady_clock::now();
};

}  // namespace

BOOST_FIXTURE_TEST_CASE(arrays_whose_bytes_wrap, soon) {
  const array some = tutti::ones({2});
  const array column = bytes({huge, 1}), row = bytes({1, 4});
  FAILS(shape_error, tutti::zeros({huge + 4}),
        "zeros: an array of shape [4611686018427387908] and dtype f32 is too large");
  FAILS(shape_error, bytes({huge, huge}),
        "zeros: an array of shape [4611686018427387904,4611686018427387904]");
  FAILS(shape_error, bytes({0, huge, 4}), "zeros: an array of shape [0,4611686018427387904,4]");
  FAILS(shape_error, bytes({-1, -2}), "zeros: negative extent in [-1,-2]");
  FAILS(shape_error, tutti::ones({huge}, dtype::i64), "ones: an array");
  FAILS(shape_error, tutti::full({huge}, 1, dtype::i16), "full: an array");
  FAILS(shape_error, tutti::full({-1}, 1, dtype::i16), "full: negative extent in [-1]");
  FAILS(shape_error, tutti::full_like(bytes({huge}), 1, dtype::i32), "full_like: an array");
  FAILS(shape_error, tutti::zeros_like(bytes({huge}), dtype::i32), "zeros_like: an array");
  FAILS(shape_error, tutti::ones_like(bytes({huge}), dtype::i32), "ones_like: an array");
  FAILS(shape_error, bytes({huge}).astype(dtype::f32), "astype: an array");
  FAILS(shape_error, tutti::arange(largest, dtype::i64),
        "arange: an array of shape [9223372036854775807] and dtype i64");
  FAILS(shape_error, tutti::eye(huge), "eye: an array");
  FAILS(shape_error, tutti::linspace(0, 1, huge), "linspace: an array");
  FAILS(shape_error, tutti::broadcast_to(some, {huge, huge, 2}), "broadcast_to: an array");
  FAILS(shape_error, bytes({0}).reshape({0, huge, huge}), "reshape: an array");
  FAILS(shape_error, column + row, "add: an array");
  FAILS(shape_error, tutti::where(column == 0, row, row), "where: an array");
  FAILS(shape_error, tutti::matmul(column, row), "matmul: an array");
  FAILS(shape_error, tutti::outer(bytes({huge}), row), "outer: an array");
  FAILS(shape_error, tutti::kron(bytes({huge}), row), "kron: an extent of 4611686018427387904 x 4");
  FAILS(shape_error, tutti::einsum("i,j->ij", {bytes({huge}), bytes({4})}), "einsum: an array");
  FAILS(shape_error, tutti::tensordot(bytes({huge}), bytes({4}), 0), "tensordot: an array");
  FAILS(shape_error, tutti::stack(std::vector<array>(3, bytes({huge}))), "stack: an array");
  FAILS(shape_error, tutti::index_with(bytes({3, huge / 4}), {tutti::zeros({9}, dtype::i32)}),
        "index_with: an array");
  FAILS(shape_error, tutti::take(bytes({3, huge / 4}), tutti::zeros({9}, dtype::i32)),
        "take: an array");
  FAILS(shape_error, tutti::one_hot(array::from<std::int32_t>({1, 2}), huge),
        "one_hot: an array of shape [2,4611686018427387904]");
}

BOOST_FIXTURE_TEST_CASE(extents_that_wrap, soon) {
  const array some = tutti::ones({2}), ends = array::from<std::int64_t>({0, largest});
  const array most = bytes({huge + 5});
  const std::vector<std::int64_t> counts = {huge, huge};
  FAILS(shape_error, tutti::pad(some, {{huge, huge}}),
        "pad: an extent of 4611686018427387906 + 4611686018427387904");
  FAILS(shape_error, tutti::pad(some, {{huge, huge}}, tutti::pad_mode::edge), "pad: an extent");
  FAILS(shape_error, tutti::pad(some, {{huge, 2}}, tutti::pad_mode::reflect), "pad: an array");
  FAILS(shape_error, tutti::pad(most, {{1, 1}}, tutti::pad_mode::reflect), "pad: an extent of 2 x");
  FAILS(shape_error, tutti::concatenate({most, most}),
        "concatenate: an extent of 4611686018427387909 + 4611686018427387909");
  FAILS(shape_error, tutti::concatenate({bytes({0, huge}), bytes({0, huge})}, 1),
        "concatenate: an extent");
  FAILS(shape_error, tutti::concatenate({bytes({8, huge / 8}), bytes({8, huge / 8})}, 1),
        "concatenate: an array");
  FAILS(shape_error, tutti::tile(some, {huge}), "tile: an extent of 2 x 4611686018427387904");
  FAILS(shape_error, tutti::repeat(some, huge), "repeat: an extent of 2 x 4611686018427387904");
  FAILS(shape_error, tutti::repeat_each(some, counts), "repeat_each: an extent");
  FAILS(shape_error, tutti::bincount(ends), "bincount: an extent of 9223372036854775807 + 1");
  FAILS(shape_error, tutti::bincount(tutti::zeros({1}, dtype::i32), huge), "bincount: an array");
  FAILS(shape_error, tutti::histogram(some, largest, 0, 1), "histogram: an extent");
  FAILS(shape_error, tutti::histogram(some, huge, 0, 1), "histogram: an array");
  FAILS(shape_error, tutti::diag(some, huge), "diag: an array");
}

BOOST_FIXTURE_TEST_CASE(random_arrays_whose_bytes_wrap, soon) {
  const shape wide = {huge}, negative = {-1};
  const std::vector<double> weights = {1, 2};
  FAILS(shape_error, draw::bits({}, wide), "bits: an array");
  FAILS(shape_error, draw::uniform({}, wide), "uniform: an array");
  FAILS(shape_error, draw::normal({}, negative), "normal: negative extent");
  FAILS(shape_error, draw::normal({}, wide, 0, 1, dtype::f16), "normal: an array");
  FAILS(shape_error, draw::integers({}, wide, 0, 9, dtype::u8), "integers: an array");
  FAILS(shape_error, draw::bernoulli({}, wide), "bernoulli: an array");
  FAILS(shape_error, draw::exponential({}, wide), "exponential: an array");
  FAILS(shape_error, draw::truncated_normal({}, wide), "truncated_normal: an array");
  FAILS(shape_error, draw::gamma({}, wide, 1), "gamma: an array");
  FAILS(shape_error, draw::poisson({}, wide, 1), "poisson: an array");
  FAILS(shape_error, draw::choice({}, 3, negative, draw::replacement::no),
        "choice: negative extent");
  FAILS(shape_error, draw::choice({}, weights, negative, draw::replacement::no),
        "choice: negative extent");
  FAILS(shape_error, tutti::nn::glorot_uniform({}, {largest, largest}), "uniform: an array");
}

// The sanitizers map more than any limit leaves.
#if !SANITIZED
BOOST_AUTO_TEST_CASE(more_keys_than_the_process_may_have) {
  const pid_t child = ::fork();
  if (child == 0) {
    // 8 GiB, of which 2^31 - 1 keys take 16.
    const rlimit tight{std::uint64_t{1} << 33, std::uint64_t{1} << 33};
    if (::setrlimit(RLIMIT_AS, &tight) != 0) ::_exit(2);
    const bool is_refused = fails<tutti::out_of_memory>(
        [] { draw::split({}, std::numeric_limits<int>::max()); }, "split: the host has no memory");
    ::_exit(is_refused ? 0 : 1);
  }
  int status = -1;
  BOOST_REQUIRE(::waitpid(child, &status, 0) == child);
  BOOST_TEST(status == 0);
}
#endif

BOOST_FIXTURE_TEST_CASE(more_than_the_machine_has, soon) {
  constexpr std::int64_t wide = std::int64_t{1} << 50;
  const array some = tutti::ones({2}), many = bytes({wide});
  const std::vector<std::int64_t> counts = {wide, 1};
  const auto labels = tutti::zeros({1}, dtype::i32);
  const tutti_test::temporary_folder folder;
  FAILS(out_of_memory, many.to_vector<std::uint8_t>(),
        "to_vector: the host has no memory for 1125899906842624 x 1 bytes");
  FAILS(out_of_memory, tutti::zeros({wide}, dtype::boolean).to_vector<bool>(), "to_vector");
  FAILS(out_of_memory, tutti::mask_select(many, many == 1), "mask_select");
  FAILS(out_of_memory, tutti::split(bytes({0}), huge),
        "split: the host has no memory for 4611686018427387904 x");
  FAILS(out_of_memory, tutti::split(many, wide), "split");
  FAILS(out_of_memory, tutti::unstack(many), "unstack");
  FAILS(out_of_memory, tutti::pad(some, {{wide, 0}}, tutti::pad_mode::reflect), "pad");
  FAILS(out_of_memory, tutti::repeat_each(some, counts), "repeat_each");
  FAILS(out_of_memory, tutti::histogram(some, wide, 0, 1), "histogram");
  FAILS(out_of_memory, draw::permutation({}, wide),
        "permutation: the host has no memory for 1125899906842624 x 8 bytes");
  FAILS(out_of_memory, draw::choice({}, wide, {wide / 32}, draw::replacement::no),
        "choice: the host has no memory");
  FAILS(out_of_memory, draw::shuffle({}, many), "shuffle");
  FAILS(out_of_memory, tutti::nn::confusion_matrix(labels, labels, huge), "confusion_matrix");
  FAILS(out_of_memory, tutti::nn::confusion_matrix(labels, labels, std::int64_t{1} << 32),
        "confusion_matrix");
  FAILS(out_of_memory, tutti::io::save_npy(folder / "a.npy", many), "save_npy");
  FAILS(out_of_memory, tutti::io::save_npz(folder / "a.npz", {{"a", many}}), "save_npz");
  FAILS(out_of_memory, tutti::io::save_safetensors(folder / "a.safetensors", {{"a", many}}),
        "save_safetensors");
  BOOST_TEST(folder.file_count() == 0u);
}

BOOST_FIXTURE_TEST_CASE(texts_of_extreme_numbers, soon) {
  constexpr double far = 1.7e308, nan = std::numeric_limits<double>::quiet_NaN();
  FAILS(value_error, tutti::arange(-far, far),
        "arange: too many elements: from -1.7e+308 to 1.7e+308 in steps of 1");
  FAILS(
      value_error, tutti::arange(smallest, largest, std::int64_t{1}),
      "arange: too many elements: from -9223372036854775808 to 9223372036854775807 in steps of 1");
  FAILS(value_error, tutti::linspace(-far, far, 3),
        "linspace: needs bounds that are finite in f32, got -1.7e+308 and 1.7e+308");
  FAILS(value_error, tutti::linspace(nan, 1, 3),
        "linspace: needs bounds that are finite in f32, got nan and 1");
  FAILS(value_error, draw::uniform({}, {2}, -far, far),
        "uniform: -1.7e+308 and 1.7e+308 are too far apart");
  FAILS(value_error, draw::uniform({}, {2}, -1.8e38, 1.8e38),
        "uniform: -1.8e+38 and 1.8e+38 are too far apart for f32");
  FAILS(value_error, draw::uniform({}, {2}, 0, 1e39), "uniform: 1e+39 is out of the range of f32");
  FAILS(value_error, draw::uniform({}, {2}, -3e38, 3e38, dtype::bf16),
        "uniform: -3e+38 and 3e+38 are too far apart for bf16");
  FAILS(value_error, draw::uniform({}, {2}, 1e8, 1e8 + 64, dtype::f16),
        "uniform: 100000000 is out of the range of f16");
  FAILS(value_error, draw::normal({}, {2}, 1e39), "normal: 1e+39 is out of the range of f32");
  FAILS(value_error, draw::exponential({}, {2}, 1e39),
        "exponential: 1e+39 is out of the range of f32");
  FAILS(value_error, draw::truncated_normal({}, {2}, -1, 1, 1e39),
        "truncated_normal: 1e+39 is out of the range of f32");
  FAILS(value_error, tutti::histogram(tutti::ones({2}), 3, -far, far),
        "histogram: bounds -1.7e+308 and 1.7e+308 are too far apart");
  FAILS(value_error, draw::poisson({}, {2}, far), "poisson: the mean 1.7e+308 is not in");
  FAILS(value_error, draw::bernoulli({}, {2}, far), "bernoulli: the probability 1.7e+308");
  FAILS(value_error, tutti::quantile(tutti::ones({2}), far), "quantile: q is 1.7e+308");
  FAILS(value_error, draw::truncated_normal({}, {2}, 1e308, far),
        "truncated_normal: the interval from 1e+308 to 1.7e+308 has no measurable probability");
  BOOST_TEST(tutti::arange(-far, far, 1e308, dtype::f64).size() == 4);
}

// Numbers that were cast to an enumeration which has none such.
BOOST_FIXTURE_TEST_CASE(numbers_of_no_enumerator, soon) {
  const auto none = static_cast<dtype>(99);
  BOOST_TEST(tutti::name(none) == "invalid");
  BOOST_TEST(tutti::size_of(none) == 0u);
  const array x = tutti::ones({3});
  FAILS(dtype_error, tutti::zeros({2}, none), "zeros: 99 is the number of no dtype");
  FAILS(dtype_error, tutti::full({2}, 1, none), "full: 99 is the number of no dtype");
  FAILS(dtype_error, x.astype(none), "99 is the number of no dtype");
  FAILS(dtype_error, (x + 1).astype(static_cast<dtype>(99)).eval(), "99 is the number of no dtype");
  FAILS(dtype_error, array::from_bytes("abc", 3, none, {3}), "99 is the number of no dtype");
  FAILS(dtype_error, tutti::sum(x, {}, none), "");
  FAILS(dtype_error, tutti::arange(0, 3, 1, none), "");
  FAILS(dtype_error, tutti::eye(3, none), "");
  FAILS(dtype_error, draw::uniform({}, {2}, 0, 1, none), "");
  const tutti::pad_width one[] = {{1, 1}};
  FAILS(value_error, tutti::pad(x, one, static_cast<tutti::pad_mode>(55)), "pad: unknown mode 55");
  FAILS(value_error, tutti::quantile(x, 0.3, {}, static_cast<tutti::interpolation>(77)),
        "quantile: unknown interpolation 77");
  FAILS(value_error, tutti::put(x, array(1), array(2.f), static_cast<tutti::scatter_mode>(55)),
        "unknown mode 55");
}

BOOST_FIXTURE_TEST_CASE(null_pointers, soon) {
  FAILS(value_error, array::from_bytes(nullptr, 2, dtype::f32, {2}),
        "array: 2 values, but the pointer to them is null");
  FAILS(value_error, tutti::ones({2, 3}).copy_to(nullptr, 24),
        "copy_to: 24 bytes, but the target is a null pointer");
  BOOST_TEST(array::from_bytes(nullptr, 0, dtype::f32, {0}).size() == 0);
  tutti::ones({0}).copy_to(nullptr, 0);
}

BOOST_AUTO_TEST_CASE(what_fits_is_not_refused) {
  const array most = bytes({largest});
  BOOST_TEST(most.nbytes() == static_cast<std::uint64_t>(largest));
  BOOST_TEST(tutti::zeros({huge / 2 - 1}).nbytes() == static_cast<std::uint64_t>(largest - 3));
  BOOST_TEST(bytes({0, huge}).nbytes() == 0u);
  BOOST_TEST(most({slice{{}, {}, largest}}).size() == 1);
  BOOST_TEST(most({slice{{}, {}, huge + 1}}).size() == 2);
  BOOST_TEST(most({slice{{}, {}, smallest}}).size() == 1);
  BOOST_TEST(most({slice{smallest, {}, largest - 1}}).size() == 2);
  BOOST_TEST(tutti::roll(most, smallest).size() == largest);
  BOOST_TEST(tutti::roll(most, largest - 1).size() == largest);
  BOOST_TEST(tutti::roll(array::from<std::int32_t>({1, 2, 3}), smallest).to_vector<int>() ==
             (std::vector<int>{3, 1, 2}));
  BOOST_TEST(tutti::take(most, array::from<std::int32_t>({-1, 0})).size() == 2);
  BOOST_TEST(tutti::tril(bytes({2, huge / 16}), -1).size() == huge / 8);
}

BOOST_AUTO_TEST_CASE(printing_what_is_huge) {
  const auto printed = [](const array& a) {
    std::ostringstream text;
    text << a;
    return text.str();
  };
  BOOST_TEST(printed(tutti::zeros({std::int64_t{1} << 40})) ==
             "[0., 0., 0., ..., 0., 0., 0.] f32[1099511627776]");
  BOOST_TEST(printed(tutti::zeros({std::int64_t{1} << 40, 0})) == "[] f32[1099511627776,0]");
  BOOST_TEST(printed(tutti::zeros({3, 0})) == "[] f32[3,0]");
  BOOST_TEST(printed(bytes({largest})) == "[0, 0, 0, ..., 0, 0, 0] u8[9223372036854775807]");
  std::vector<std::int32_t> numbers(2000);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::int32_t>(i);
  BOOST_TEST(printed(array::from(numbers, {2, 1000})) ==
             "[[   0,    1,    2, ...,  997,  998,  999],\n"
             " [1000, 1001, 1002, ..., 1997, 1998, 1999]] i32[2,1000]");
}
