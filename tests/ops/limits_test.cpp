// SPDX-License-Identifier: Apache-2.0
//
// Sizes that no array or no machine can have: each is an error that names the call and the size,
// before memory is taken. And what just fits is not refused.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <boost/test/unit_test.hpp>
#include <chrono>
#include <functional>
#include <limits>
#include <sstream>

#include "tutti/data.hpp"
#include "tutti/nn.hpp"
#include "tutti/tutti.hpp"
#include "tutti_test/files.hpp"

namespace draw = tutti::random;
using tutti::array;
using tutti::dtype;
using tutti::shape;
using tutti::slice;
using tutti_test::fails;

namespace {

constexpr std::int64_t huge = std::int64_t{1} << 62;
constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();

array bytes(const shape& extents) { return tutti::zeros(extents, dtype::u8); }

struct call {
  const char* text;  // of the message
  std::function<void()> run;
};

template <class Exception>
void check_all(std::initializer_list<call> calls) {
  for (const call& c : calls) {
    const auto begin = std::chrono::steady_clock::now();
    BOOST_TEST(fails<Exception>(c.run, c.text), c.text);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    BOOST_TEST(took.count() < 5, c.text << " took " << took.count() << " s");
  }
}

}  // namespace

BOOST_AUTO_TEST_CASE(arrays_whose_bytes_wrap) {
  const array some = tutti::ones({2});
  const array column = bytes({huge, 1}), row = bytes({1, 4});
  check_all<tutti::shape_error>({
      {"zeros: an array of shape [4611686018427387908] and dtype f32 is too large",
       [] { tutti::zeros({huge + 4}); }},
      {"zeros: an array of shape [4611686018427387904,4611686018427387904]",
       [] {
         bytes({huge, huge});
       }},
      {"zeros: an array of shape [0,4611686018427387904,4]",
       [] {
         bytes({0, huge, 4});
       }},
      {"zeros: negative extent in [-1,-2]",
       [] {
         bytes({-1, -2});
       }},
      {"ones: an array", [] { tutti::ones({huge}, dtype::i64); }},
      {"full: an array", [] { tutti::full({huge}, 1, dtype::i16); }},
      {"full: negative extent in [-1]", [] { tutti::full({-1}, 1, dtype::i16); }},
      {"full_like: an array", [] { tutti::full_like(bytes({huge}), 1, dtype::i32); }},
      {"zeros_like: an array", [] { tutti::zeros_like(bytes({huge}), dtype::i32); }},
      {"ones_like: an array", [] { tutti::ones_like(bytes({huge}), dtype::i32); }},
      {"astype: an array", [] { bytes({huge}).astype(dtype::f32); }},
      {"arange: an array of shape [9223372036854775807] and dtype i64",
       [] { tutti::arange(largest, dtype::i64); }},
      {"eye: an array", [] { tutti::eye(huge); }},
      {"linspace: an array", [] { tutti::linspace(0, 1, huge); }},
      {"broadcast_to: an array",
       [&] {
         tutti::broadcast_to(some, {huge, huge, 2});
       }},
      {"reshape: an array",
       [] {
         bytes({0}).reshape({0, huge, huge});
       }},
      {"add: an array", [&] { column + row; }},
      {"where: an array", [&] { tutti::where(column == 0, row, row); }},
      {"matmul: an array", [&] { tutti::matmul(column, row); }},
      {"outer: an array", [&] { tutti::outer(bytes({huge}), row); }},
      {"kron: an extent of 4611686018427387904 x 4", [&] { tutti::kron(bytes({huge}), row); }},
      {"einsum: an array",
       [&] {
         tutti::einsum("i,j->ij", {bytes({huge}), bytes({4})});
       }},
      {"tensordot: an array", [&] { tutti::tensordot(bytes({huge}), bytes({4}), 0); }},
      {"stack: an array", [] { tutti::stack(std::vector<array>(3, bytes({huge}))); }},
      {"index_with: an array",
       [] {
         tutti::index_with(bytes({3, huge / 4}), {tutti::zeros({9}, dtype::i32)});
       }},
      {"take: an array",
       [&] {
         tutti::take(bytes({3, huge / 4}), tutti::zeros({9}, dtype::i32));
       }},
      {"one_hot: an array of shape [2,4611686018427387904]",
       [] {
         tutti::one_hot(array::from<std::int32_t>({1, 2}), huge);
       }},
  });
}

BOOST_AUTO_TEST_CASE(extents_that_wrap) {
  const array some = tutti::ones({2}), ends = array::from<std::int64_t>({0, largest});
  const array most = bytes({huge + 5});
  const std::vector<std::int64_t> counts = {huge, huge};
  check_all<tutti::shape_error>({
      {"pad: an extent of 4611686018427387906 + 4611686018427387904",
       [&] {
         tutti::pad(some, {{huge, huge}});
       }},
      {"pad: an extent",
       [&] {
         tutti::pad(some, {{huge, huge}}, tutti::pad_mode::edge);
       }},
      {"pad: an array",
       [&] {
         tutti::pad(some, {{huge, 2}}, tutti::pad_mode::reflect);
       }},
      {"pad: an extent of 2 x",
       [&] {
         tutti::pad(most, {{1, 1}}, tutti::pad_mode::reflect);
       }},
      {"concatenate: an extent of 4611686018427387909 + 4611686018427387909",
       [&] {
         tutti::concatenate({most, most});
       }},
      {"concatenate: an extent",
       [&] {
         tutti::concatenate({bytes({0, huge}), bytes({0, huge})}, 1);
       }},
      {"concatenate: an array",
       [] {
         tutti::concatenate({bytes({8, huge / 8}), bytes({8, huge / 8})}, 1);
       }},
      {"tile: an extent of 2 x 4611686018427387904", [&] { tutti::tile(some, {huge}); }},
      {"repeat: an extent of 2 x 4611686018427387904", [&] { tutti::repeat(some, huge); }},
      {"repeat_each: an extent", [&] { tutti::repeat_each(some, counts); }},
      {"bincount: an extent of 9223372036854775807 + 1", [&] { tutti::bincount(ends); }},
      {"bincount: an array", [&] { tutti::bincount(tutti::zeros({1}, dtype::i32), huge); }},
      {"histogram: an extent", [&] { tutti::histogram(some, largest, 0, 1); }},
      {"histogram: an array", [&] { tutti::histogram(some, huge, 0, 1); }},
      {"diag: an array", [&] { tutti::diag(some, huge); }},
  });
}

BOOST_AUTO_TEST_CASE(random_arrays_whose_bytes_wrap) {
  const shape wide = {huge}, negative = {-1};
  const std::vector<double> weights = {1, 2};
  check_all<tutti::shape_error>({
      {"bits: an array", [&] { draw::bits({}, wide); }},
      {"uniform: an array", [&] { draw::uniform({}, wide); }},
      {"normal: negative extent", [&] { draw::normal({}, negative); }},
      {"normal: an array", [&] { draw::normal({}, wide, 0, 1, dtype::f16); }},
      {"integers: an array", [&] { draw::integers({}, wide, 0, 9, dtype::u8); }},
      {"bernoulli: an array", [&] { draw::bernoulli({}, wide); }},
      {"exponential: an array", [&] { draw::exponential({}, wide); }},
      {"truncated_normal: an array", [&] { draw::truncated_normal({}, wide); }},
      {"gamma: an array", [&] { draw::gamma({}, wide, 1); }},
      {"poisson: an array", [&] { draw::poisson({}, wide, 1); }},
      {"choice: negative extent", [&] { draw::choice({}, 3, negative, draw::replacement::no); }},
      {"choice: negative extent",
       [&] { draw::choice({}, weights, negative, draw::replacement::no); }},
      {"uniform: an array",
       [&] {
         tutti::nn::glorot_uniform({}, {largest, largest});
       }},
  });
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

BOOST_AUTO_TEST_CASE(more_than_the_machine_has) {
  constexpr std::int64_t wide = std::int64_t{1} << 50;
  const array some = tutti::ones({2}), many = bytes({wide});
  const std::vector<std::int64_t> counts = {wide, 1};
  const auto labels = tutti::zeros({1}, dtype::i32);
  const tutti_test::temporary_folder folder;
  check_all<tutti::out_of_memory>({
      {"to_vector: the host has no memory for 1125899906842624 x 1 bytes",
       [&] { many.to_vector<std::uint8_t>(); }},
      {"to_vector", [&] { tutti::zeros({wide}, dtype::boolean).to_vector<bool>(); }},
      {"mask_select", [&] { tutti::mask_select(many, many == 1); }},
      {"split: the host has no memory for 4611686018427387904 x",
       [] { tutti::split(bytes({0}), huge); }},
      {"split", [&] { tutti::split(many, wide); }},
      {"unstack", [&] { tutti::unstack(many); }},
      {"pad",
       [&] {
         tutti::pad(some, {{wide, 0}}, tutti::pad_mode::reflect);
       }},
      {"repeat_each", [&] { tutti::repeat_each(some, counts); }},
      {"histogram", [&] { tutti::histogram(some, wide, 0, 1); }},
      {"permutation: the host has no memory for 1125899906842624 x 8 bytes",
       [&] { draw::permutation({}, wide); }},
      {"choice: the host has no memory",
       [&] { draw::choice({}, wide, {wide / 32}, draw::replacement::no); }},
      {"shuffle", [&] { draw::shuffle({}, many); }},
      {"confusion_matrix", [&] { tutti::nn::confusion_matrix(labels, labels, huge); }},
      {"confusion_matrix",
       [&] { tutti::nn::confusion_matrix(labels, labels, std::int64_t{1} << 32); }},
      {"save_npy", [&] { tutti::io::save_npy(folder / "a.npy", many); }},
      {"save_npz",
       [&] {
         tutti::io::save_npz(folder / "a.npz", {{"a", many}});
       }},
      {"save_safetensors",
       [&] {
         tutti::io::save_safetensors(folder / "a.safetensors", {{"a", many}});
       }},
  });
  BOOST_TEST(folder.file_count() == 0u);
}

BOOST_AUTO_TEST_CASE(texts_of_extreme_numbers) {
  constexpr double far = 1.7e308, nan = std::numeric_limits<double>::quiet_NaN();
  check_all<tutti::value_error>({
      {"arange: too many elements: from -1.7e+308 to 1.7e+308 in steps of 1",
       [] { tutti::arange(-far, far); }},
      {"arange: too many elements: from -9223372036854775808 to 9223372036854775807 in steps of 1",
       [] { tutti::arange(smallest, largest, std::int64_t{1}); }},
      {"linspace: needs bounds that are finite in f32, got -1.7e+308 and 1.7e+308",
       [] { tutti::linspace(-far, far, 3); }},
      {"linspace: needs bounds that are finite in f32, got nan and 1",
       [] { tutti::linspace(nan, 1, 3); }},
      {"uniform: -1.7e+308 and 1.7e+308 are too far apart",
       [] { draw::uniform({}, {2}, -far, far); }},
      {"uniform: -1.8e+38 and 1.8e+38 are too far apart for f32",
       [] { draw::uniform({}, {2}, -1.8e38, 1.8e38); }},
      {"uniform: 1e+39 is beyond f32", [] { draw::uniform({}, {2}, 0, 1e39); }},
      {"uniform: -3e+38 and 3e+38 are too far apart for bf16",
       [] { draw::uniform({}, {2}, -3e38, 3e38, dtype::bf16); }},
      {"uniform: 100000000 is beyond f16",
       [] { draw::uniform({}, {2}, 1e8, 1e8 + 64, dtype::f16); }},
      {"normal: 1e+39 is beyond f32", [] { draw::normal({}, {2}, 1e39); }},
      {"exponential: 1e+39 is beyond f32", [] { draw::exponential({}, {2}, 1e39); }},
      {"truncated_normal: 1e+39 is beyond f32",
       [] { draw::truncated_normal({}, {2}, -1, 1, 1e39); }},
      {"histogram: bounds -1.7e+308 and 1.7e+308 are too far apart",
       [] { tutti::histogram(tutti::ones({2}), 3, -far, far); }},
      {"poisson: the mean 1.7e+308 is not in", [] { draw::poisson({}, {2}, far); }},
      {"bernoulli: the probability 1.7e+308", [] { draw::bernoulli({}, {2}, far); }},
      {"quantile: q is 1.7e+308", [] { tutti::quantile(tutti::ones({2}), far); }},
      {"truncated_normal: the interval from 1e+308 to 1.7e+308 has no measurable probability",
       [] { draw::truncated_normal({}, {2}, 1e308, far); }},
  });
  BOOST_TEST(tutti::arange(-far, far, 1e308, dtype::f64).size() == 4);
}

// Numbers that were cast to an enumeration which has none such.
BOOST_AUTO_TEST_CASE(numbers_of_no_enumerator) {
  const auto none = static_cast<dtype>(99);
  BOOST_TEST(tutti::name(none) == "invalid");
  BOOST_TEST(tutti::size_of(none) == 0u);
  const array x = tutti::ones({3});
  check_all<tutti::dtype_error>({
      {"zeros: 99 is the number of no dtype", [&] { tutti::zeros({2}, none); }},
      {"full: 99 is the number of no dtype", [&] { tutti::full({2}, 1, none); }},
      {"99 is the number of no dtype", [&] { x.astype(none); }},
      {"99 is the number of no dtype", [&] { (x + 1).astype(static_cast<dtype>(99)).eval(); }},
      {"99 is the number of no dtype", [&] { array::from_bytes("abc", 3, none, {3}); }},
      {"", [&] { tutti::sum(x, {}, none); }},
      {"", [&] { tutti::arange(0, 3, 1, none); }},
      {"", [&] { tutti::eye(3, none); }},
      {"", [&] { draw::uniform({}, {2}, 0, 1, none); }},
  });
  check_all<tutti::value_error>({
      {"pad: no mode of number 55",
       [&] {
         const tutti::pad_width one[] = {{1, 1}};
         tutti::pad(x, one, static_cast<tutti::pad_mode>(55));
       }},
      {"quantile: no interpolation of number 77",
       [&] { tutti::quantile(x, 0.3, {}, static_cast<tutti::interpolation>(77)); }},
      {"no mode of number 55",
       [&] { tutti::put(x, array(1), array(2.f), static_cast<tutti::scatter_mode>(55)); }},
  });
}

BOOST_AUTO_TEST_CASE(null_pointers) {
  check_all<tutti::value_error>({
      {"array: 2 values are to come from a null pointer",
       [] { array::from_bytes(nullptr, 2, dtype::f32, {2}); }},
      {"copy_to: 24 bytes are to go to a null pointer",
       [] {
         tutti::ones({2, 3}).copy_to(nullptr, 24);
       }},
  });
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
