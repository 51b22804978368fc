// SPDX-License-Identifier: Apache-2.0
//
// io::load_npy and io::save_npy against files that NumPy made (make_vectors.py), and malformed
// files.
#include <sys/stat.h>

#include "tutti/data/io.hpp"
#include "tutti_test/arrays.hpp"
#include "tutti_test/data.hpp"

using tutti::io::load_npy;
using tutti::io::save_npy;

namespace {

const std::filesystem::path vectors = data(paths::vectors);

template <class T>
std::vector<T> expected_table() {
  std::vector<T> out;
  for (int i = 0; i < 12; ++i) {
    if constexpr (requires { typename T::value_type; })
      out.emplace_back(static_cast<typename T::value_type>(i - 3),
                       static_cast<typename T::value_type>(0.5 * i));
    else
      out.push_back(static_cast<T>(std::is_unsigned_v<T> ? i : i - 3));
  }
  return out;
}

template <class T>
void check_table(const std::string& name) {
  const array a = load_npy(vectors / (name + ".npy"));
  BOOST_TEST((a.dtype() == tutti::dtype_of<T>));
  BOOST_TEST((a.shape() == shape{3, 4}));
  BOOST_TEST(a.to_vector<T>() == expected_table<T>(), same);
}

std::string file(const std::string& name) { return read_bytes(vectors / (name + ".npy")); }

}  // namespace

BOOST_AUTO_TEST_CASE(reads_every_dtype_of_numpy) {
  check_table<std::int8_t>("i1");
  check_table<std::int16_t>("i2");
  check_table<std::int32_t>("i4");
  check_table<std::int64_t>("i8");
  check_table<std::uint8_t>("u1");
  check_table<std::uint16_t>("u2");
  check_table<std::uint32_t>("u4");
  check_table<std::uint64_t>("u8");
  check_table<float>("f4");
  check_table<double>("f8");
  check_table<std::complex<float>>("c8");
  check_table<std::complex<double>>("c16");
  const array flags = load_npy(vectors / "b1.npy");
  BOOST_TEST((flags.dtype() == dtype::boolean));
  const std::vector<std::int32_t> every_third{1, 0, 0, 1, 0, 0, 1, 0, 0, 1, 0, 0};
  BOOST_TEST(flags.astype(dtype::i32).to_vector<std::int32_t>() == every_third, same);
}

BOOST_AUTO_TEST_CASE(reads_half_precision) {
  const array a = load_npy(vectors / "f2.npy");
  BOOST_TEST((a.dtype() == dtype::f16));
  BOOST_TEST(a.astype(dtype::f32).to_vector<float>() == expected_table<float>(), same);
}

BOOST_AUTO_TEST_CASE(reads_fortran_order_and_later_versions) {
  for (const char* name : {"fortran", "version2", "version3"}) check_table<float>(name);
}

BOOST_AUTO_TEST_CASE(reads_scalars_lines_and_empty_arrays) {
  const array scalar = load_npy(vectors / "scalar.npy");
  BOOST_TEST(scalar.ndim() == 0);
  BOOST_TEST(scalar.item() == 2.5);
  const array line = load_npy(vectors / "line.npy");
  BOOST_TEST(line.to_vector<std::int32_t>() == (std::vector<std::int32_t>{0, 1, 2, 3, 4}), same);
  const array empty = load_npy(vectors / "empty.npy");
  BOOST_TEST((empty.shape() == shape{3, 0, 2}));
}

BOOST_AUTO_TEST_CASE(writes_the_bytes_that_numpy_writes) {
  const temporary_folder folder;
  for (const char* name : {"i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f2", "f4", "f8", "b1",
                           "c8", "c16", "scalar", "line", "empty"}) {
    BOOST_TEST_CONTEXT(name) {
      save_npy(folder / "a.npy", load_npy(vectors / (std::string(name) + ".npy")));
      BOOST_TEST(read_bytes(folder / "a.npy") == file(name));
    }
  }
  // A view in Fortran order is written in C order.
  save_npy(folder / "a.npy", load_npy(vectors / "fortran.npy"));
  BOOST_TEST(read_bytes(folder / "a.npy") == file("f4"));
  BOOST_TEST(folder.file_count() == 1u);
}

BOOST_AUTO_TEST_CASE(refuses_what_it_does_not_support) {
  const auto loading = [](const char* name) {
    return [path = vectors / (std::string(name) + ".npy")] { load_npy(path); };
  };
  BOOST_TEST(fails<tutti::io_error>(loading("big_endian"), "big-endian data (>f4)"));
  BOOST_TEST(fails<tutti::io_error>(loading("structured"), "structured dtypes"));
  BOOST_TEST(fails<tutti::io_error>(loading("text"), "is not supported"));
  BOOST_TEST(fails<tutti::io_error>(loading("rank9"), "more than 8 dimensions"));
  BOOST_TEST(fails<tutti::io_error>(loading("absent"), "absent.npy: cannot open"));
  const temporary_folder folder;
  const array half = tutti::ones({2}, dtype::bf16);
  FAILS(io_error, save_npy(folder / "a.npy", half), "no dtype bf16");
  BOOST_TEST(folder.file_count() == 0u);
}

// Nobody writes to this pipe.
BOOST_AUTO_TEST_CASE(no_loader_waits_for_a_pipe) {
  const temporary_folder folder;
  const auto pipe = folder / "pipe";
  BOOST_REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  FAILS(io_error, load_npy(pipe), "is not a regular file");
  FAILS(io_error, tutti::io::load_npz(pipe), "not a regular file");
  FAILS(io_error, tutti::io::load_safetensors(pipe), "not a regular file");
}

BOOST_AUTO_TEST_CASE(refuses_every_truncation) {
  const temporary_folder folder;
  const std::string whole = file("i1");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto path = folder.write("a.npy", std::string_view(whole).substr(0, size));
    FAILS(io_error, load_npy(path), "a.npy");
  }
  const auto longer = folder.write("a.npy", whole + "x");
  FAILS(io_error, load_npy(longer), "1 bytes after the data");
}

BOOST_AUTO_TEST_CASE(refuses_malformed_headers) {
  const temporary_folder folder;
  const auto with_header = [&](std::string header, std::size_t data_bytes) {
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes += static_cast<char>(header.size() & 0xff);
    bytes += static_cast<char>(header.size() >> 8);
    const auto path = folder.write("a.npy", bytes + header + std::string(data_bytes, '\1'));
    return [path] { load_npy(path); };
  };
  const char* good = "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), }";
  BOOST_CHECK_NO_THROW(with_header(good, 8)());
  BOOST_CHECK_NO_THROW(with_header("{\"shape\":(2),'fortran_order':True,'descr':'<f4'}\n", 8)());
  for (const char* header : {
           "",
           "{",
           "{}",
           "[1]",
           "{'descr': '<f4'}",
           "{'descr': '<f4', 'fortran_order': False}",
           "{'descr': '<f4', 'fortran_order': Maybe, 'shape': (2,), }",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (-2,), }",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2.5,), }",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2 3), }",
           "{'descr': '<f4', 'fortran_order': False, 'shape': 2, }",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (99999999999999999999,), }",
           "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': (2,), }",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), 'more': 1}",
           "{'descr': '<f4', 'fortran_order': False, 'shape': (2,), } x",
           "{'descr: '<f4', 'fortran_order': False, 'shape': (2,), }",
       }) {
    BOOST_TEST_CONTEXT(header) {
      BOOST_TEST(fails<tutti::io_error>(with_header(header, 8), "malformed header"));
    }
  }
  const char* huge = "{'descr': '<f8', 'fortran_order': False, 'shape': (4294967296, 4294967296)}";
  BOOST_TEST(fails<tutti::io_error>(with_header(huge, 8), "shape is too large"));
  const char* large = "{'descr': '<f8', 'fortran_order': False, 'shape': (1099511627776,)}";
  BOOST_TEST(fails<tutti::io_error>(with_header(large, 8), "truncated"));
  const char* boolean = "{'descr': '|b1', 'fortran_order': False, 'shape': (8,)}";
  const auto bools = with_header(boolean, 8);
  BOOST_CHECK_NO_THROW(bools());
  const std::string bytes = read_bytes(folder / "a.npy");
  const auto odd = folder.write("a.npy", bytes.substr(0, bytes.size() - 1) + '\2');
  FAILS(io_error, load_npy(odd), "element 7 is 2");
  const auto other = folder.write("a.npy", "PK\3\4 some archive");
  FAILS(io_error, load_npy(other), "is not a .npy file");
  const auto version = folder.write("a.npy", std::string("\x93NUMPY\x09\x00\x01\x00 ", 11));
  FAILS(io_error, load_npy(version), "version 9.0");
}

BOOST_AUTO_TEST_CASE(names_of_every_legal_length) {
  const temporary_folder folder;
  const array a = array::from({1.f, 2.f});
  std::string umlauts;
  for (int i = 0; i < 125; ++i) umlauts += "\u00e4";
  for (const std::string& name : {std::string(255, 'n'), std::string(240, 'm'), umlauts}) {
    save_npy(folder / name, a);
    BOOST_TEST(load_npy(folder / name).to_vector<float>()[1] == 2.f);
  }
  BOOST_TEST(folder.file_count() == 3u);
  BOOST_CHECK_THROW(save_npy(folder / std::string(256, 'n'), a), tutti::io_error);
}

BOOST_AUTO_TEST_CASE(a_path_with_a_nul_is_refused) {
  const temporary_folder folder;
  const std::string name("n\0x.npy", 7);
  FAILS(io_error, save_npy(folder / name, array::from({1.f})), "a path cannot hold a NUL byte");
  BOOST_TEST(folder.file_count() == 0u);
  folder.write("n", "");
  FAILS(io_error, load_npy(folder / name), "a path cannot hold a NUL");
}
