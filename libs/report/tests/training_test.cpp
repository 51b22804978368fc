// SPDX-License-Identifier: Apache-2.0
//
// What a training leaves behind: which files, and what is in them.
#define BOOST_BIND_GLOBAL_PLACEHOLDERS  // the parser says otherwise that they are deprecated
#include <boost/property_tree/json_parser.hpp>

#include "tutti/report.hpp"
#include "tutti_test/arrays.hpp"
#include "xml.hpp"

using namespace tutti::report;

namespace {

training_report example() {
  training_report r;
  r.title = "Cats & dogs";
  r.devices = {{"reference:0", "host <x>"}};
  r.settings = {{"batch", 64}};
  r.history = {{.training_loss = 2, .test_loss = 2.5, .test_accuracy = 0.5, .seconds = 0.25},
               {.training_loss = 0.1, .test_accuracy = 0.75, .seconds = 0.5}};
  r.classes = {"cat", "dog"};
  r.confusion = {3, 1, 0, 4};
  r.results = {{"test accuracy", 0.875}};
  const auto pixels = tutti::host_array::from(std::vector<std::uint8_t>{0, 255}, {1, 2});
  r.add_example(pixels, 0, 0);
  r.add_example(pixels, 0, 1);
  return r;
}

std::set<std::string> files_in(const std::filesystem::path& folder) {
  std::set<std::string> out;
  for (const auto& entry : std::filesystem::directory_iterator(folder))
    out.insert(entry.path().filename().string());
  return out;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(training)

BOOST_AUTO_TEST_CASE(leaves_all_that_it_has) {
  const tutti_test::temporary_folder folder;
  const auto out = folder / "new/below";
  example().save(out);
  BOOST_TEST((files_in(out) == std::set<std::string>{"loss.svg", "accuracy.svg", "confusion.svg",
                                                     "metrics.json", "report.html"}));
  for (const char* name : {"loss.svg", "accuracy.svg", "confusion.svg"})
    BOOST_TEST(!report_test::texts(report_test::parse(read_bytes(out / name))).empty(), name);
  // Only the test part has accuracies.
  BOOST_TEST(report_test::paths_of(report_test::parse(read_bytes(out / "accuracy.svg"))).size() ==
             1u);
  const std::string html = read_bytes(out / "report.html");
  for (const char* part :
       {"<h1>Cats &amp; dogs</h1>", "host &lt;x&gt;", "cat, taken for dog", "Wrong answers",
        "Right answers", "0.875", "<td class=\"number\">-</td>"})
    BOOST_TEST(html.find(part) != std::string::npos, part);
  BOOST_TEST(report_test::count(html, "<svg") == 3u);
  BOOST_TEST(report_test::count(html, "data:image/png") == (TUTTI_TEST_PNG ? 2u : 0u));
  BOOST_TEST(html.find("training accuracy") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(is_told_in_numbers) {
  const tutti_test::temporary_folder folder;
  example().save(folder.path());
  const std::string text = read_bytes(folder / "metrics.json");
  std::istringstream in(text);
  boost::property_tree::ptree root;
  boost::property_tree::read_json(in, root);
  BOOST_TEST(root.get<std::string>("title") == "Cats & dogs");
  BOOST_TEST(root.get<double>("results.test accuracy") == 0.875);
  BOOST_TEST(root.get<int>("epochs") == 2);
  BOOST_TEST(text.find("\"batch\": 64\n") != std::string::npos);
  BOOST_TEST(text.find("\"test_loss\": [2.5,null]") != std::string::npos);
  BOOST_TEST(text.find("\"cat\": [3.0,1.0]") != std::string::npos);
  BOOST_TEST(text.find("training_accuracy") == std::string::npos);
}

BOOST_AUTO_TEST_CASE(that_measured_nothing_leaves_a_page) {
  const tutti_test::temporary_folder folder;
  training_report r;
  r.title = "Nothing";
  r.history.resize(2);
  r.save(folder.path());
  BOOST_TEST((files_in(folder.path()) == std::set<std::string>{"metrics.json", "report.html"}));
}

BOOST_AUTO_TEST_CASE(fails_before_it_writes) {
  const tutti_test::temporary_folder folder;
  training_report r = example();
  r.confusion.pop_back();
  FAILS(shape_error, r.save(folder / "a"), "3 counts for 2 classes");
  BOOST_TEST(!std::filesystem::exists(folder / "a"));
  FAILS(index_error, r.add_example({}, 0, 2), "class 2 of 2");
  folder.write("file", "");
  FAILS(io_error, example().save(folder / "file"), "file");
  FAILS(io_error, example().save(folder / "file/below"), "file/below");
  std::filesystem::create_directories(folder / "full/report.html");
  FAILS(io_error, example().save(folder / "full"), "full/report.html");
}

BOOST_AUTO_TEST_SUITE_END()
