// SPDX-License-Identifier: Apache-2.0
//
// Tables and their CSV, against what pandas reads (make_vectors.py), and malformed files.
#include "tutti/data/table.hpp"

#include "tutti/data/io.hpp"
#include "tutti_test/arrays.hpp"
#include "tutti_test/data.hpp"

namespace table_test {

using namespace tutti::data;
using tutti::io_error;
using tutti::value_error;

namespace {

const std::filesystem::path vectors = data(paths::vectors);
const double nan_value = std::numeric_limits<double>::quiet_NaN();
using texts = std::vector<std::string>;
using codes = std::vector<std::int64_t>;

/// With "\0missing" for what is missing.
texts texts_in(const std::string& name) {
  texts out{""};
  for (const char c : read_bytes(vectors / (name + ".txt")))
    if (c == '\1')
      out.emplace_back();
    else
      out.back() += c;
  return out;
}

texts texts_of(const column& c) {
  texts out;
  for (std::size_t i = 0; i < c.texts.size(); ++i)
    out.push_back(c.is_text_missing[i] ? std::string("\0missing", 8) : c.texts[i]);
  return out;
}

table parse(std::string_view text, const csv_table_options& options = {}) {
  const temporary_folder folder;
  return read_table(folder.write("t.csv", text), options);
}
auto parsing(std::string text, csv_table_options options = {}) {
  return [text, options] { parse(text, options); };
}

bool same_numbers(const std::vector<double>& a, const std::vector<double>& b) {
  if (a.size() != b.size()) return false;
  for (std::size_t i = 0; i < a.size(); ++i)
    if (!(std::isnan(a[i]) && std::isnan(b[i])) &&
        (a[i] != b[i] || std::signbit(a[i]) != std::signbit(b[i])))
      return false;
  return true;
}

}  // namespace

BOOST_AUTO_TEST_CASE(reads_what_pandas_reads) {
  for (const char* file : {"people.csv", "people.csv.gz"}) {
    const table t = read_table(vectors / file);
    BOOST_TEST(t.rows() == 5);
    BOOST_TEST(t.names() == (texts{"name", "age", "size, cm", "note", "grade"}), same);
    BOOST_TEST(texts_of(t["name"]) == texts_in("people.name"), same);
    BOOST_TEST(texts_of(t["note"]) == texts_in("people.note"), same);
    BOOST_TEST(texts_of(t["grade"]) == texts_in("people.grade"), same);
    const auto numbers = [](const char* name) {
      return tutti::io::load_npy(vectors / (std::string("people.") + name + ".npy"))
          .to_vector<double>();
    };
    BOOST_TEST(same_numbers(t["age"].numbers, numbers("age")));
    BOOST_TEST(same_numbers(t["size, cm"].numbers, numbers("size")));
    BOOST_TEST(t["age"].missing() == 1);
  }
}

BOOST_AUTO_TEST_CASE(kinds_of_columns) {
  const table t = parse("a,b\nx,1\ny,2\nNA,3\nx,4\n",
                        {.kinds = {{"a", column_kind::category}, {"b", column_kind::text}}});
  BOOST_TEST(t["a"].codes == (codes{0, 1, -1, 0}), same);
  BOOST_TEST(t["a"].categories == (texts{"x", "y"}), same);
  BOOST_TEST(t["b"].texts == (texts{"1", "2", "3", "4"}), same);
  const table plain = parse("3;x\n4;y\n", {.delimiter = ';', .has_header = false});
  BOOST_TEST(plain.names() == (texts{"0", "1"}), same);
  BOOST_TEST(same_numbers(plain["0"].numbers, {3, 4}));
  // A column in which all is missing holds numbers.
  BOOST_TEST(same_numbers(parse("a,b\n,1\n,2")["a"].numbers, {nan_value, nan_value}));
  BOOST_TEST(parse("a,b\n").rows() == 0);
  BOOST_TEST(parse("a\n\n1\n \n2\r\n\r\n").rows() == 2);
  BOOST_TEST(parse("\xef\xbb\xbf"
                   "a\n1")["a"]
                 .numbers.size() == 1u);
  BOOST_TEST(parse("a\n0x1\n1e3\n")["a"].texts == (texts{"0x1", "1e3"}), same);
  BOOST_TEST(parse("a,b\n\"1\",\"\"\n")["a"].numbers.size() == 1u);
  BOOST_TEST(parse("a,b\n.,?\n", {.missing = {"?", "."}})["b"].missing() == 1);
}

BOOST_AUTO_TEST_CASE(lines_before_the_table_and_names) {
  // Whatever the lines hold: other numbers of fields, quotes that do not end.
  const csv_table_options two{.skip_lines = 2};
  BOOST_TEST(parse("3,\"x\r\n\na,b\n1,2\n", two).names() == (texts{"a", "b"}), same);
  BOOST_TEST(parse("3\n\na,b\n1,2\n", two)["b"].numbers == std::vector<double>{2}, same);
  const csv_table_options plain{.skip_lines = 1, .has_header = false, .names = {"x", "y"}};
  BOOST_TEST(same_numbers(parse("2,1,no,yes\n5,0\n6,1\n", plain)["x"].numbers, {5, 6}));
  const table renamed = parse("a,b\n1,2\n", {.names = {"x", "y"}});
  BOOST_TEST(renamed.names() == (texts{"x", "y"}), same);
  BOOST_TEST(renamed.rows() == 1);
  const std::string long_line(100000, 'x');  // of two buffers
  BOOST_TEST(parse(long_line + "\na\n1\n", {.skip_lines = 1}).names() == texts{"a"}, same);
  BOOST_TEST(fails<io_error>(parsing("a\n1\n", {.skip_lines = 5}), "has no records"));
  BOOST_TEST(fails<io_error>(parsing("#\na\n1,2\n", {.skip_lines = 1}), "line 3: 2 fields"));
  BOOST_TEST(fails<io_error>(parsing("a,b\n", {.names = {"x"}}), "2 fields for 1 names"));
  BOOST_TEST(fails<io_error>(parsing("a,b\n", {.names = {"x", "x"}}), "two columns are called"));
  BOOST_TEST(fails<value_error>(parsing("a\n", {.skip_lines = -1}), "skip_lines is -1"));
}

BOOST_AUTO_TEST_CASE(malformed_tables) {
  BOOST_TEST(fails<io_error>(parsing(""), "has no records"));
  BOOST_TEST(fails<io_error>(parsing("\n \n"), "has no records"));
  BOOST_TEST(fails<io_error>(parsing("a,b\n1,2\n3\n"), "line 3: 1 fields, but 2"));
  BOOST_TEST(fails<io_error>(parsing("a,b\n\"x\ny\",2\n3\n"), "line 4: 1 fields, but 2"));
  BOOST_TEST(fails<io_error>(parsing("a,a\n1,2\n"), "two columns are called \"a\""));
  BOOST_TEST(fails<io_error>(parsing("a\n\"x\n"), "line 2: a field in quotes does not end"));
  BOOST_TEST(fails<io_error>(parsing("a\n\"x\"y\n"), "text follows the quotes"));
  BOOST_TEST(fails<io_error>(parsing("a\n\"x\"\ry\n"), "a carriage return follows"));
  BOOST_TEST(fails<io_error>(parsing("a,b\r1,2\r3,4\r"), "line 1: has a CR within"));
  BOOST_TEST(fails<io_error>(parsing("a,b\r\n1,2\r3\r\n"), "line 2: has a CR within"));
  BOOST_TEST(fails<io_error>(parsing("a\n1\n1e999\n"), "line 3, column \"a\": \"1e999\""));
  BOOST_TEST(fails<io_error>(parsing("a\nx\n", {.kinds = {{"a", column_kind::number}}}),
                             "line 2, column \"a\": expected a number, found \"x\""));
  BOOST_TEST(fails<io_error>(parsing("a\nx\n", {.kinds = {{"b", column_kind::number}}}),
                             "no column \"b\""));
  BOOST_TEST(fails<io_error>(parsing(std::string(1 << 20, ',')), "more than 1048576 columns"));
  BOOST_TEST(fails<value_error>(parsing("a\n", {.delimiter = '"'}), "delimiter"));
  BOOST_TEST(fails<value_error>(parsing("a\n", {.delimiter = '\n'}), "delimiter"));
  FAILS(io_error, read_table("no_such_file"), "no_such_file");
}

BOOST_AUTO_TEST_CASE(written_tables_read_the_same) {
  const temporary_folder folder;
  const double tiny = std::numeric_limits<double>::denorm_min();
  table t;
  t.add(column::of_numbers("x, \"y\"\n", {0.1, -0.0, tiny, nan_value, 1e300 / 3}));
  t.add(column::of_texts("t", {"a,b", "c\"d", "e\r\nf", " g ", "\xc3\xab"}));
  t.add(column::of_categories("c", {1, 0, -1, 1, 0}, {"low", "high"}));
  for (const char delimiter : {',', '\t', ' ', '.', '5', 'e'}) {
    write_table(folder / "t.csv", t, delimiter);
    const table back = read_table(folder / "t.csv", {.delimiter = delimiter});
    BOOST_TEST(back.names() == t.names(), same);
    BOOST_TEST(same_numbers(back.columns()[0].numbers, t.columns()[0].numbers));
    BOOST_TEST(back["t"].texts == t["t"].texts, same);
    BOOST_TEST(back["c"].texts == (texts{"high", "low", "", "high", "low"}), same);
    BOOST_TEST(back["c"].missing() == 1);
  }
  // One column, in which what is missing is no blank line; all missing between tabs; a name that
  // begins with a byte order mark.
  const table one(
      {column::of_numbers("\xef\xbb\xbf"
                          "a",
                          {nan_value, 2, nan_value})});
  write_table(folder / "one.csv", one);
  BOOST_TEST(
      same_numbers(read_table(folder / "one.csv").columns()[0].numbers, {nan_value, 2, nan_value}));
  BOOST_TEST(read_table(folder / "one.csv").names() == one.names(), same);
  const table two({column::of_numbers("a", {nan_value}), column::of_numbers("b", {nan_value})});
  write_table(folder / "two.csv", two, '\t');
  BOOST_TEST(read_table(folder / "two.csv", {.delimiter = '\t'}).rows() == 1);
  FAILS(value_error, write_table(folder / "x", {}), "no columns");
  FAILS(value_error, write_table(folder / "x", one, '"'), "delimiter");
}

BOOST_AUTO_TEST_CASE(parts_of_tables) {
  const table t({column::of_numbers("a", {1, nan_value, 3}), column::of_texts("b", {"x", "y", "x"}),
                 column::of_categories("c", {0, 1, -1}, {"no", "yes"})});
  BOOST_TEST(t.select({"c", "a"}).names() == (texts{"c", "a"}), same);
  BOOST_TEST(t.drop({"b"}).names() == (texts{"a", "c"}), same);
  const table taken = t.take(codes{2, 2, 0});
  BOOST_TEST(same_numbers(taken["a"].numbers, {3, 3, 1}));
  BOOST_TEST(taken["b"].texts == (texts{"x", "x", "x"}), same);
  BOOST_TEST(taken["c"].codes == (codes{-1, -1, 0}), same);
  BOOST_TEST(t.take({}).rows() == 0);
  BOOST_TEST(t.drop_missing().rows() == 1);
  BOOST_TEST(same_numbers(t.fill_missing("a", 9)["a"].numbers, {1, 9, 3}));
  FAILS(index_error, (void)t["d"], "there are \"a\", \"b\", \"c\"");
  FAILS(index_error, t.take(codes{3}), "row 3 of a table of 3");
  FAILS(index_error, t.take(codes{-1}), "row -1");
  FAILS(value_error, t.select({"a", "a"}), "two columns");
  FAILS(dtype_error, t.fill_missing("b", 0), "holds text");
  table more = t;
  FAILS(value_error, more.add(column::of_numbers("a", {1, 2, 3})), "\"a\"");
  FAILS(value_error, more.add(column::of_numbers("d", {1})), "1 rows");
  FAILS(value_error, more.add(column::of_categories("d", {0, 1, 2}, {"x", "y"})), "the code 2");
  FAILS(value_error, more.add(column::of_categories("d", {0, 0, 0}, {"x", "x"})), "two categories");
}

BOOST_AUTO_TEST_CASE(indicators_of_categories) {
  const table t({column::of_numbers("n", {1, 2, 3}),
                 column::of_categories("c", {2, -1, 0}, {"a", "b", "c d"}),
                 column::of_texts("t", {"x", "y", "z"})});
  const table made = t.as_indicators("c");
  BOOST_TEST(made.names() == (texts{"n", "c=a", "c=b", "c=c d", "t"}), same);
  BOOST_TEST(same_numbers(made["c=a"].numbers, {0, nan_value, 1}));
  BOOST_TEST(same_numbers(made["c=b"].numbers, {0, nan_value, 0}));
  BOOST_TEST(same_numbers(made["c=c d"].numbers, {1, nan_value, 0}));
  BOOST_TEST(made.rows() == 3);
  const table none({column::of_categories("c", {}, {})});
  BOOST_TEST(none.as_indicators("c").columns().empty());
  FAILS(dtype_error, (void)t.as_indicators("t"), "holds text");
  FAILS(index_error, (void)t.as_indicators("d"), "as_indicators");
  const table twice({column::of_categories("c", {0}, {"a"}), column::of_numbers("c=a", {1})});
  FAILS(value_error, (void)twice.as_indicators("c"), "\"c=a\"");
}

BOOST_AUTO_TEST_CASE(categories) {
  const table t({column::of_numbers("n", {2, 10, nan_value, -0.0, 0.0, 2}),
                 column::of_texts("t", {"b", "a", "b", "c", "a", "a"})});
  const table by_number = t.as_category("n");
  BOOST_TEST(by_number["n"].categories == (texts{"0", "2", "10"}), same);
  BOOST_TEST(by_number["n"].codes == (codes{1, 2, -1, 0, 0, 1}), same);
  BOOST_TEST(t.as_category("t")["t"].codes == (codes{1, 0, 1, 2, 0, 0}), same);
  BOOST_TEST(t.as_category("t", texts{"c", "b", "a"})["t"].codes == (codes{1, 2, 1, 0, 2, 2}),
             same);
  FAILS(value_error, t.as_category("t", texts{"a", "b"}),
        "row 3, column \"t\": \"c\" is none of 2");
}

BOOST_AUTO_TEST_CASE(tables_as_arrays) {
  const table t({column::of_numbers("a", {1, -2.5, nan_value}),
                 column::of_categories("c", {1, 0, -1}, {"no", "yes"}),
                 column::of_numbers("i", {0, 255, 7})});
  const tutti::array all = t.to_array();
  BOOST_TEST((all.shape() == shape{3, 3}));
  BOOST_TEST((all.dtype() == dtype::f32));
  const float nan = std::numeric_limits<float>::quiet_NaN();
  BOOST_TEST(
      all_close(all.to_vector<float>(), std::vector<float>{1, 1, 0, -2.5f, 0, 255, nan, nan, 7}));
  BOOST_TEST((t.to_array("i", dtype::u8).shape() == shape{3}));
  BOOST_TEST(t.to_array("i", dtype::u8).to_vector<std::uint8_t>() ==
                 (std::vector<std::uint8_t>{0, 255, 7}),
             same);
  for (const dtype type : {dtype::i16, dtype::i32, dtype::i64, dtype::u16, dtype::u32, dtype::u64,
                           dtype::f16, dtype::bf16, dtype::f32}) {
    const tutti::array a = t.to_array("i", type);
    BOOST_TEST((a.dtype() == type));
    BOOST_TEST(a.astype(dtype::f32).to_vector<float>() == (std::vector<float>{0, 255, 7}), same);
  }
  BOOST_TEST((t.to_array({"i", "a"}, dtype::f64).shape() == shape{3, 2}));
  BOOST_TEST((t.take({}).to_array().shape() == shape{0, 3}));
  FAILS(value_error, t.to_array("i", dtype::i8), "row 1, column \"i\": 255");
  FAILS(value_error, t.to_array("a", dtype::i32), "row 1, column \"a\": -2.5");
  FAILS(value_error, t.to_array("c", dtype::i64), "row 2, column \"c\": a miss");
  FAILS(dtype_error, t.to_array("a", dtype::boolean), "bool");
  FAILS(dtype_error, t.to_array("a", dtype::c64), "c64");
  column typed = column::of_texts("t", {"7", "", " 1e3", "1O", "x"});
  typed.is_text_missing[1] = true;
  const table text({typed});
  FAILS(dtype_error, text.to_array(), "column \"t\" holds text (row 3: \"1O\"): as_category()");
  const table digits({column::of_texts("d", {"7", "8"})});
  FAILS(dtype_error, digits.to_array(), "column \"d\" holds text: as_category()");
}

}  // namespace table_test
