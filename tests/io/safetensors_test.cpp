// SPDX-License-Identifier: Apache-2.0
//
// io::save_safetensors and io::load_safetensors: files written byte by byte from the format's
// description, round trips, and malformed files of every kind.
#include "tutti/data/io.hpp"
#include "tutti_test/arrays.hpp"

using tutti::io::load_safetensors;
using tutti::io::named_arrays;
using tutti::io::save_safetensors;

namespace {

std::string with_length(const std::string& header, const std::string& data) {
  std::string out;
  for (int i = 0; i < 8; ++i) out += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return out + header + data;
}

std::string floats(const std::vector<float>& values) {
  std::string out(values.size() * sizeof(float), '\0');
  std::memcpy(out.data(), values.data(), out.size());
  return out;
}

}  // namespace

BOOST_AUTO_TEST_CASE(reads_a_file_written_by_hand) {
  const temporary_folder folder;
  const std::string header = R"({"__metadata__":{"format":"pt"},)"
                             R"("w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},)"
                             R"("n":{"dtype":"I64","shape":[],"data_offsets":[24,32]},)"
                             R"("none":{"dtype":"U8","shape":[0,4],"data_offsets":[32,32]}}    )";
  const std::string data =
      floats({1, 2, 3, 4, 5, 6}) + std::string("\xfe\xff\xff\xff\xff\xff\xff\xff");
  const named_arrays a = load_safetensors(folder.write("a", with_length(header, data)));
  BOOST_TEST(a.size() == 3u);
  BOOST_TEST((a.at("w").shape() == shape{2, 3}));
  BOOST_TEST(a.at("w").to_vector<float>() == (std::vector<float>{1, 2, 3, 4, 5, 6}), same);
  BOOST_TEST(a.at("n").item<std::int64_t>() == -2);
  BOOST_TEST((a.at("none").shape() == shape{0, 4}));
}

// What safetensors 0.8.0 for Python writes for [1+2j, 3-4j].
BOOST_AUTO_TEST_CASE(complex_numbers_are_pairs) {
  const temporary_folder folder;
  const std::string header = R"({"x":{"dtype":"C64","shape":[2],"data_offsets":[0,16]}} )";
  const named_arrays a =
      load_safetensors(folder.write("a", with_length(header, floats({1, 2, 3, -4}))));
  const std::vector<std::complex<float>> expected = {{1, 2}, {3, -4}};
  BOOST_TEST((a.at("x").to_vector<std::complex<float>>() == expected));
  save_safetensors(folder / "b", a);
  BOOST_TEST((load_safetensors(folder / "b").at("x").to_vector<std::complex<float>>() == expected));
  const auto wide = [&] {
    save_safetensors(folder / "c", {{"z", tutti::zeros({1}, dtype::c128)}});
  };
  BOOST_TEST(fails<tutti::io_error>(wide, "tensor \"z\": the format has no dtype c128"));
}

BOOST_AUTO_TEST_CASE(writes_the_documented_bytes) {
  const temporary_folder folder;
  save_safetensors(folder / "a", {{"w", array::from<float>({1, 2})}}, {{"k", "v"}});
  std::string header =
      R"({"__metadata__":{"k":"v"},"w":{"data_offsets":[0,8],"dtype":"F32","shape":[2]}})";
  header.append((8 - header.size() % 8) % 8, ' ');
  BOOST_TEST(read_bytes(folder / "a") == with_length(header, floats({1, 2})));
  std::map<std::string, std::string> texts{{"old", "gone"}};
  BOOST_TEST(load_safetensors(folder / "a", tutti::default_device(), &texts).size() == 1u);
  BOOST_TEST((texts == std::map<std::string, std::string>{{"k", "v"}}));
  // A file that cannot be read leaves them.
  FAILS(io_error, load_safetensors(folder / "none", tutti::default_device(), &texts), "none");
  BOOST_TEST(texts.size() == 1u);
}

BOOST_AUTO_TEST_CASE(a_name_that_is_not_there) {
  const temporary_folder folder;
  save_safetensors(folder / "a", {{"w", tutti::ones({2})}, {"b", tutti::ones({1})}});
  named_arrays loaded = load_safetensors(folder / "a");
  loaded.at("w") = tutti::zeros({2});
  BOOST_TEST(loaded.at("w")[0].item<float>() == 0);
  FAILS(value_error, loaded.at("x"), (folder / "a").string());
  FAILS(value_error, loaded.at("x"), "no array is called \"x\"; there are \"b\", \"w\"");
  FAILS(value_error, named_arrays().at("x"), "there are none");
}

BOOST_AUTO_TEST_CASE(several_lists_in_one_file) {
  const temporary_folder folder;
  named_arrays all = {{"a", tutti::ones({1})}, {"a.b", tutti::ones({2})}};
  all.add("model.", {{"w", tutti::ones({3})}, {"", tutti::ones({4})}})
      .add("model", {{"s", tutti::ones({5})}});
  all.add("", {});
  FAILS(value_error, all.add("a.", {{"b", tutti::ones({1})}}),
        "there is already an array called \"a.b\"");
  named_arrays twice = {{"a", tutti::ones({1})}};
  twice.add("x.", twice);
  BOOST_TEST(twice.size() == 2u);
  FAILS(value_error, twice.add("", {{"0", tutti::ones({1})}, {"a", tutti::ones({1})}}), "\"a\"");
  BOOST_TEST(twice.size() == 2u);  // none is added
  BOOST_TEST(twice.take(twice.begin()->first).size() == 1u);
  save_safetensors(folder / "a", all);
  named_arrays loaded = load_safetensors(folder / "a");
  const named_arrays model = loaded.take("model.");
  BOOST_TEST(model.size() == 2u);
  BOOST_TEST((model.at("w").shape() == shape{3} && model.at("").shape() == shape{4}));
  FAILS(value_error, model.at("x"), (folder / "a").string());
  BOOST_TEST((loaded.at("models").shape() == shape{5}));
  BOOST_TEST(loaded.take("none").empty());
  BOOST_TEST(loaded.size() == 3u);
  BOOST_TEST(loaded.take("").size() == 3u);  // no prefix: all
  BOOST_TEST(loaded.empty());
}

BOOST_AUTO_TEST_CASE(keeps_every_dtype_and_shape) {
  const temporary_folder folder;
  const array base = tutti::arange(24, dtype::f32).reshape({2, 3, 4});
  named_arrays before;
  for (const dtype type :
       {dtype::boolean, dtype::i8, dtype::i16, dtype::i32, dtype::i64, dtype::u8, dtype::u16,
        dtype::u32, dtype::u64, dtype::f16, dtype::bf16, dtype::f32, dtype::f64, dtype::c64}) {
    before.emplace("t." + std::string(name(type)), base.astype(type));
  }
  before.emplace("view", base.transpose()({{1, 3}, {}, {std::nullopt, std::nullopt, -1}}));
  before.emplace("scalar", tutti::full({}, 7.5, dtype::f64));
  before.emplace("empty", tutti::zeros({0, 3}));
  before.emplace("\xc3\xa9 \"quoted\" /", base);
  save_safetensors(folder / "a", before);
  const named_arrays after = load_safetensors(folder / "a");
  BOOST_TEST(after.size() == before.size());
  for (const auto& [key, a] : before) {
    BOOST_TEST_CONTEXT(key) {
      BOOST_TEST((after.at(key).dtype() == a.dtype()));
      BOOST_TEST((after.at(key).shape() == a.shape()));
      BOOST_TEST(bytes_of(after.at(key)) == bytes_of(a));
    }
  }
  save_safetensors(folder / "none", {});
  BOOST_TEST(load_safetensors(folder / "none").empty());
  BOOST_TEST(folder.file_count() == 2u);
}

BOOST_AUTO_TEST_CASE(refuses_to_write_what_it_could_not_read) {
  const temporary_folder folder;
  const array a = tutti::zeros({1});
  const auto reserved = [&] { save_safetensors(folder / "a", {{"__metadata__", a}}); };
  BOOST_TEST(fails<tutti::io_error>(reserved, "__metadata__"));
  const auto latin1 = [&] { save_safetensors(folder / "a", {{"\xe9", a}}); };
  BOOST_TEST(fails<tutti::io_error>(latin1, "not UTF-8"));
  const auto nowhere = [&] { save_safetensors(folder / "no" / "a", {{"a", a}}); };
  BOOST_TEST(fails<tutti::io_error>(nowhere, "cannot write"));
  BOOST_TEST(folder.file_count() == 0u);
}

BOOST_AUTO_TEST_CASE(refuses_every_truncation) {
  const temporary_folder folder;
  save_safetensors(folder / "whole",
                   {{"w", array::from<float>({1, 2})}, {"b", array::from<std::uint8_t>({3})}});
  const std::string whole = read_bytes(folder / "whole");
  for (std::size_t size = 0; size < whole.size(); ++size) {
    const auto path = folder.write("cut", std::string_view(whole).substr(0, size));
    FAILS(io_error, load_safetensors(path), "load_safetensors: ");
  }
  const auto longer = folder.write("longer", whole + "x");
  FAILS(io_error, load_safetensors(longer), "1 unused bytes");
}

BOOST_AUTO_TEST_CASE(refuses_malformed_headers) {
  const temporary_folder folder;
  const std::string rows = std::string(1000, '[') + std::string(1000, ']');
  const struct {
    std::string header;
    const char* message;
  } cases[] = {
      {"", "does not start with {"},
      {" {}", "does not start with {"},
      {"[1]", "does not start with {"},
      {"{\"a\"", "not JSON"},
      {"{} x", "not JSON"},
      {std::string("{\"\xff\":1}"), "not JSON"},
      {R"({"a":)" + rows + "}", "nested too deeply"},
      {R"({"a":1})", "entry is not an object"},
      {R"({"a":{"shape":[2],"data_offsets":[0,8]}})", "\"dtype\" is missing"},
      {R"({"a":{"dtype":"F32","data_offsets":[0,8]}})", "\"shape\" is missing"},
      {R"({"a":{"dtype":"F32","shape":[2]}})", "\"data_offsets\" is missing"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8],"x":1}})", "unknown fields"},
      {R"({"a":{"dtype":"F33","shape":[2],"data_offsets":[0,8]}})", "dtype \"F33\""},
      {R"({"a":{"dtype":4,"shape":[2],"data_offsets":[0,8]}})", "dtype is not a string"},
      {R"({"a":{"dtype":"F32","shape":2,"data_offsets":[0,8]}})", "shape is not a list"},
      {R"({"a":{"dtype":"F32","shape":[-2],"data_offsets":[0,8]}})", "extent -2"},
      {R"({"a":{"dtype":"F32","shape":[2.0],"data_offsets":[0,8]}})", "extent 2.0"},
      {R"({"a":{"dtype":"F32","shape":[1,1,1,1,1,1,1,1,2],"data_offsets":[0,8]}})", "9 dimensions"},
      {R"({"a":{"dtype":"F32","shape":[4294967296,4294967296],"data_offsets":[0,8]}})",
       "too large"},
      {R"({"a":{"dtype":"F32","shape":[3],"data_offsets":[0,8]}})", "f32[3] needs 12"},
      {R"({"a":{"dtype":"F64","shape":[2],"data_offsets":[0,8]}})", "f64[2] needs 16"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,16]}})", "[0,16] are outside the 8"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[8,0]}})", "[8,0] are outside"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0]}})", "not two natural numbers"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[-8,0]}})", "not two natural numbers"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[18446744073709551608,16]}})", "outside"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})", "4 unused bytes before"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}})", "4 unused bytes at the end"},
      {R"({"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]},)"
       R"("b":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
       "overlap"},
      {R"({"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},)"
       R"("a":{"dtype":"F32","shape":[1],"data_offsets":[4,8]}})",
       "name \"a\" occurs twice"},
      {R"({"a":{"dtype":"F32","dtype":"I32","shape":[2],"data_offsets":[0,8]}})", "occurs twice"},
      {R"({"__metadata__":{"a":1},"a":{"dtype":"F32","shape":[2],"data_offsets":[0,8]}})",
       "object of strings"},
      {R"({"a":{"dtype":"BOOL","shape":[8],"data_offsets":[0,8]}})", "element 2 is 128"},
  };
  const std::string data = floats({1, 2});
  for (const auto& c : cases) {
    BOOST_TEST_CONTEXT(c.header) {
      const auto path = folder.write("a", with_length(c.header, data));
      FAILS(io_error, load_safetensors(path), c.message);
    }
  }
}

// In a time that grows with their number, not with its square: 80 s for as many, once.
BOOST_AUTO_TEST_CASE(many_tensors) {
  const temporary_folder folder;
  constexpr int count = 100000;
  std::string header = "{";
  for (int i = 0; i < count; ++i)
    header += (i > 0 ? ",\"" : "\"") + std::to_string(i) +
              R"(":{"dtype":"U8","shape":[0],"data_offsets":[0,0]})";
  const auto path = folder.write("a", with_length(header + "}", ""));
  const auto begin = std::chrono::steady_clock::now();
  BOOST_TEST(load_safetensors(path).size() == std::size_t{count});
  const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
  BOOST_TEST(took.count() < 30);
}

BOOST_AUTO_TEST_CASE(refuses_wrong_header_lengths) {
  const temporary_folder folder;
  const std::string rest = "{}      ";
  const auto too_long = folder.write("a", std::string("\x00\x01\0\0\0\0\0\0", 8) + rest);
  FAILS(io_error, load_safetensors(too_long), "header of 256 bytes");
  const auto huge = folder.write("b", std::string(8, '\xff') + rest);
  FAILS(io_error, load_safetensors(huge), "is too long");
  FAILS(io_error, load_safetensors(folder / "c"), "c: cannot open");
  FAILS(io_error, load_safetensors(folder.path()), "is a folder");
}
