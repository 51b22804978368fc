// SPDX-License-Identifier: Apache-2.0
//
// data::read_idx and host_array, against files that NumPy made, and malformed files.
#include "tutti/data.hpp"
#include "tutti/data/io.hpp"
#include "tutti_test/arrays.hpp"
#include "tutti_test/data.hpp"

using tutti::host_array;
using tutti::data::read_idx;

namespace {

const std::filesystem::path vectors = data(paths::vectors);

bool equal_bytes(const host_array& a, const host_array& b) {
  return a.dtype() == b.dtype() && a.shape() == b.shape() &&
         std::equal(a.bytes().begin(), a.bytes().end(), b.bytes().begin(), b.bytes().end());
}

auto reading(const std::string& bytes) {
  return [bytes] {
    const temporary_folder folder;
    read_idx(folder.write("a", bytes));
  };
}

}  // namespace

BOOST_AUTO_TEST_CASE(idx_of_every_type_plain_and_gzip) {
  for (const char* name : {"u1", "i1", "i2", "i4", "f4", "f8"}) {
    const std::string stem = name;
    const host_array expected = host_array::of(tutti::io::load_npy(vectors / (stem + ".npy")));
    BOOST_TEST(equal_bytes(read_idx(vectors / (stem + ".idx")), expected), name);
    BOOST_TEST(equal_bytes(read_idx(vectors / (stem + ".idx.gz")), expected), name);
  }
  const host_array empty = read_idx(vectors / "empty.idx");
  BOOST_TEST((empty.shape() == shape{0, 5}));
  BOOST_TEST((empty.dtype() == dtype::u8));
}

BOOST_AUTO_TEST_CASE(idx_malformed) {
  using std::literals::string_literals::operator""s;
  const std::string sound = read_bytes(vectors / "i2.idx");
  BOOST_TEST(fails<tutti::io_error>(reading(""), "the header needs 4 bytes, 0 are there"));
  BOOST_TEST(fails<tutti::io_error>(reading("\0\1\x8\1"s), "two zeros"));
  BOOST_TEST(fails<tutti::io_error>(reading("\0\0\xA\1"s), "unknown type 0x0a"));
  BOOST_TEST(fails<tutti::io_error>(reading("\0\0\x8\0"s), "has rank 0"));
  BOOST_TEST(fails<tutti::io_error>(reading("\0\0\x8\x9"s), "has rank 9"));
  BOOST_TEST(fails<tutti::io_error>(reading(sound.substr(0, 11)), "the extents need 4 bytes"));
  BOOST_TEST(fails<tutti::io_error>(reading(sound.substr(0, sound.size() - 1)),
                                    "the elements need 48 bytes, 47 are there"));
  BOOST_TEST(fails<tutti::io_error>(reading(sound + "x"), "longer than [2,3,4] of i16"));
  // Extents that no file of this size has, before memory is taken.
  const std::string all(4, '\xff');
  BOOST_TEST(fails<tutti::io_error>(reading("\0\0\xE\1"s + all), "do not fit"));
  BOOST_TEST(fails<tutti::io_error>(
      reading("\0\0\xE\x8"s + all + all + all + all + all + all + all + all), "do not fit"));
  BOOST_TEST(fails<tutti::io_error>(reading("\0\0\xB\4"s + all + all + all + std::string(4, '\0')),
                                    "do not fit"));
  FAILS(io_error, read_idx("no_such_file"), "no_such_file");
}

BOOST_AUTO_TEST_CASE(host_arrays) {
  const host_array a = host_array::from(std::vector<float>{1, 2, 3, 4, 5, 6}, {2, 3});
  BOOST_TEST(a.to().to_vector<float>() == (std::vector<float>{1, 2, 3, 4, 5, 6}), same);
  BOOST_TEST((a.to().shape() == shape{2, 3}));
  BOOST_TEST(equal_bytes(host_array::of(a.to()), a));
  BOOST_TEST((host_array(a).reshape({3, 2}).shape() == shape{3, 2}));
  BOOST_TEST((host_array(a).reshape({-1, 2}).shape() == shape{3, 2}));
  BOOST_TEST(host_array::scalar(std::int64_t{7}).to().item<std::int64_t>() == 7);
  BOOST_TEST(host_array().size() == 0);
  BOOST_TEST(host_array(dtype::f64, {2, 0}).bytes().empty());
  // A view is read in its own order.
  BOOST_TEST(equal_bytes(host_array::of(a.to().T()),
                         host_array::from(std::vector<float>{1, 4, 2, 5, 3, 6}, {3, 2})));
  for (const shape& wrong : {shape{4}, shape{-1, 4}, shape{-1, -1}, shape{-2, 3}, shape{0, -1}})
    FAILS(shape_error, host_array(a).reshape(wrong),
          "host_array::reshape: cannot make " + wrong.str());
  FAILS(dtype_error, (void)a.values<double>(), "f64");
  FAILS(shape_error, host_array(dtype::f32, {-1}), "-1");
  FAILS(shape_error, host_array(dtype::f32, {std::int64_t{1} << 62, 4}), "host_array");
  FAILS(out_of_memory, host_array(dtype::u8, {std::int64_t{1} << 62}), "host_array");
  FAILS(shape_error, host_array::from(std::vector<float>{1}, {2}), "1 values");
}
