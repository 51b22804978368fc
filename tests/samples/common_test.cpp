// SPDX-License-Identifier: Apache-2.0
//
// Plots (as XML, read by Boost), tables, progress and the search for data files.
#include <boost/property_tree/xml_parser.hpp>
#include <boost/test/unit_test.hpp>
#include <cmath>
#include <cstdlib>
#include <sstream>
#include <tutti/error.hpp>

#include "common/data_files.hpp"
#include "common/progress.hpp"
#include "common/svg_plot.hpp"
#include "common/text_table.hpp"
#include "tutti_test/files.hpp"

using samples::plot_series;
using samples::svg_line_plot;
using tutti_test::fails;

namespace {

using tree = boost::property_tree::ptree;

/// The document's root; throws where the text is not well-formed.
tree parse(const std::string& svg) {
  std::istringstream in(svg);
  tree document;
  boost::property_tree::read_xml(in, document);
  return document.get_child("svg");
}

std::vector<std::string> texts(const tree& root) {
  std::vector<std::string> out;
  for (const auto& [name, child] : root) {
    if (name == "text") out.push_back(child.data());
  }
  return out;
}

std::vector<std::string> paths(const tree& root) {
  std::vector<std::string> out;
  for (const auto& [name, child] : root) {
    if (name == "path") out.push_back(child.get<std::string>("<xmlattr>.d"));
  }
  return out;
}

std::string plot(const std::vector<plot_series>& series, bool log_y = false) {
  return svg_line_plot(series,
                       {.title = "T <&> \"q\"", .x_label = "x", .y_label = "y", .log_y = log_y});
}

bool holds(const std::vector<std::string>& all, const std::string& one) {
  return std::find(all.begin(), all.end(), one) != all.end();
}

std::size_t count(const std::string& text, const std::string& part) {
  std::size_t n = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != std::string::npos; ++at) ++n;
  return n;
}

}  // namespace

BOOST_AUTO_TEST_SUITE(svg)

BOOST_AUTO_TEST_CASE(shows_title_labels_legend_and_ticks) {
  const tree root = parse(plot({{"first & best", {0, 1, 2}, {0, 5, 10}}, {"second", {0}, {3}}}));
  const auto words = texts(root);
  for (const char* word : {"T <&> \"q\"", "x", "y", "first & best", "second", "0", "2", "10"}) {
    BOOST_TEST(holds(words, word), word);
  }
  BOOST_TEST(paths(root).size() == 2u);
  BOOST_TEST(root.get<std::string>("<xmlattr>.viewBox") == "0 0 720 440");
}

// Bottom left and top right corners of the axes: (72, 382) and (696, 74).
BOOST_AUTO_TEST_CASE(puts_points_in_their_places) {
  const auto linear = paths(parse(plot({{"a", {0, 5, 10}, {0, 10, 5}}})));
  BOOST_TEST(linear.at(0) == "M72.00 382.00 L384.00 74.00 L696.00 228.00");
  const auto log = paths(parse(plot({{"a", {0, 10}, {0.01, 100}}}, true)));
  BOOST_TEST(log.at(0) == "M72.00 382.00 L696.00 74.00");
}

BOOST_AUTO_TEST_CASE(interrupts_lines_at_what_cannot_be_drawn) {
  const double nan = NAN, inf = INFINITY;
  const auto broken = paths(parse(plot({{"a", {0, 1, 2, 3, 4}, {1, 2, nan, inf, 3}}})));
  BOOST_TEST(count(broken.at(0), "M") == 2u);
  BOOST_TEST(count(broken.at(0), "L") == 1u);
  const auto positive = paths(parse(plot({{"a", {0, 1, 2, 3}, {1, 0, -1, 10}}}, true)));
  BOOST_TEST(count(positive.at(0), "M") == 2u);
  // A series with nothing to draw is listed, but has no line.
  const tree root = parse(plot({{"a", {0, 1}, {1, 2}}, {"gone", {0}, {nan}}, {"empty", {}, {}}}));
  BOOST_TEST(paths(root).size() == 1u);
  BOOST_TEST(holds(texts(root), "gone"));
}

BOOST_AUTO_TEST_CASE(survives_odd_ranges) {
  const std::vector<std::vector<double>> ys = {
      {5, 5},      {0, 0},        {-1e-300, 1e-300}, {1e15, 1e15 + 1}, {-1e99, 1e99},
      {1e-9, 1e7}, {4.9e-324, 1}, {0.3, 0.31},       {1e300, 1},       {9.99, 10.01}};
  for (const auto& y : ys) {
    for (const bool log_y : {false, true}) {
      if (log_y && std::max(y[0], y[1]) < 1e-99) continue;
      const std::string svg = plot({{"a", {0, 1}, y}}, log_y);
      BOOST_TEST(svg.find("nan") == std::string::npos);
      BOOST_TEST(svg.find("inf") == std::string::npos);
      BOOST_TEST(!paths(parse(svg)).empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(refuses_what_is_no_plot) {
  const auto nothing = "no point that can be drawn";
  BOOST_TEST(fails<tutti::value_error>([] { plot({}); }, nothing));
  BOOST_TEST(fails<tutti::value_error>([] { plot({{"a", {}, {}}}); }, nothing));
  BOOST_TEST(fails<tutti::value_error>([] { plot({{"a", {1, 2}, {NAN, NAN}}}); }, nothing));
  BOOST_TEST(fails<tutti::value_error>([] { plot({{"a", {1}, {-1}}}, true); }, nothing));
  BOOST_TEST(fails<tutti::value_error>([] { plot({{"a", {1, 2}, {1}}}); }, "2 x values for 1"));
  const std::vector<plot_series> one{{"a", {1}, {1}}};
  BOOST_TEST(fails<tutti::value_error>([&] { svg_line_plot(one, {.width = 10}); }, "10x440"));
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(text)

BOOST_AUTO_TEST_CASE(tables_align_their_columns) {
  BOOST_TEST(samples::text_table({{"a", "bb"}, {"long", "1"}, {"x"}}) ==
             "a     bb\n--------\nlong   1\nx\n");
  BOOST_TEST(samples::text_table({}) == "");
}

BOOST_AUTO_TEST_CASE(confusion_tables_show_shares) {
  const std::vector<std::int64_t> counts{3, 1, 0, 0};
  BOOST_TEST(samples::confusion_table(counts, {"cat", "dog"}) ==
             "truth  cat  dog  right\n----------------------\ncat      3    1  75.0%\n"
             "dog      .    .      -\n");
  BOOST_TEST(fails<tutti::shape_error>([&] { samples::confusion_table(counts, {"cat"}); },
                                       "4 counts for 1 classes"));
}

BOOST_AUTO_TEST_CASE(progress_prints_lines_where_there_is_no_terminal) {
  std::ostringstream out;
  {
    samples::progress progress(out, 3, false, 80);
    for (int i = 0; i < 3; ++i) progress.advance();
    progress.report("epoch 1");
    progress.report("epoch 2");
  }
  BOOST_TEST(out.str() == "epoch 1\nepoch 2\n");
}

BOOST_AUTO_TEST_CASE(progress_draws_a_bar_within_the_terminal) {
  for (const int columns : {1, 10, 40, 80, 300}) {
    std::ostringstream out;
    {
      samples::progress progress(out, 4, true, columns);
      progress.report("loss 0.5");
      for (int i = 0; i < 9; ++i) progress.advance();
    }
    BOOST_TEST(out.str().find("\r") == 0u);
    BOOST_TEST(out.str().back() == '\n');
    std::istringstream in(out.str());
    for (std::string drawn; std::getline(in, drawn, '\r');) {
      BOOST_TEST(drawn.substr(0, drawn.find('\x1b')).size() < std::max<std::size_t>(columns, 2));
    }
    if (columns >= 40) BOOST_TEST(out.str().find("#] 100% loss 0.5") != std::string::npos);
  }
}

BOOST_AUTO_TEST_CASE(data_files_are_searched_in_order) {
  const tutti_test::temporary_folder given, named;
  given.write("only-here.txt", "1");
  named.write("named.txt", "2");
  BOOST_TEST((samples::find_data("only-here.txt", given.path()) == given / "only-here.txt"));
  setenv("TUTTI_DATA", named.path().c_str(), 1);
  BOOST_TEST((samples::find_data("named.txt", {}) == named / "named.txt"));
  BOOST_TEST(fails<tutti::io_error>([&] { samples::find_data("named.txt", given.path()); },
                                    given.path().string()));
  BOOST_TEST(
      fails<tutti::io_error>([] { samples::find_data("absent.txt", {}); }, named.path().string()));
  unsetenv("TUTTI_DATA");
  BOOST_TEST(samples::find_data("digits.csv.gz", {}).filename() == "digits.csv.gz");
}

BOOST_AUTO_TEST_SUITE_END()
