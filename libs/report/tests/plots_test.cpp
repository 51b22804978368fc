// SPDX-License-Identifier: Apache-2.0
//
// Plots: what they show, where, and what they refuse.
#include "tutti/report.hpp"
#include "tutti_test/arrays.hpp"
#include "xml.hpp"

using namespace report_test;
using namespace tutti::report;

namespace {

std::string plot(const std::vector<series>& all, bool log_y = false) {
  return line_plot(all, {.title = "T <&> \"q\"", .x_label = "x", .y_label = "y", .log_y = log_y});
}

}  // namespace

BOOST_AUTO_TEST_SUITE(lines_and_points)

BOOST_AUTO_TEST_CASE(shows_title_labels_legend_and_ticks) {
  const tree root = parse(plot({{"first & best", {0, 1, 2}, {0, 5, 10}}, {"second", {0}, {3}}}));
  const auto words = texts(root);
  for (const char* word : {"T <&> \"q\"", "x", "y", "first & best", "second", "0", "2", "10"}) {
    BOOST_TEST(holds(words, word), word);
  }
  BOOST_TEST(paths_of(root).size() == 2u);
  BOOST_TEST(root.get<std::string>("<xmlattr>.viewBox") == "0 0 720 440");
}

// A character takes 7 pixels in the mean; the axis is below all names, and none is beyond the
// picture.
BOOST_AUTO_TEST_CASE(legends_of_many_names_have_several_rows) {
  for (const std::size_t count : {6u, 12u, 100u}) {
    std::vector<series> all;
    for (std::size_t i = 0; i < count; ++i)
      all.push_back({"body " + std::to_string(i), {0, 1}, {0, double(i)}});
    all[1].name = std::string(200, 'n');
    const tree root = parse(line_plot(all, {.width = 560, .height = 560}));
    std::size_t named = 0;
    double lowest = 0, top = 1000;
    for (const auto& [kind, child] : root) {
      const auto at = [&, &shape = child](const char* what) {
        return shape.get<double>(std::string("<xmlattr>.") + what);
      };
      if (kind == "line" && child.get("<xmlattr>.class", "") == "axis")
        top = std::min(top, at("y1"));
      if (kind != "text" || child.get("<xmlattr>.text-anchor", "") != "start" ||
          child.data().empty())
        continue;
      named += child.data().starts_with("and ") ? count - named : 1;
      lowest = std::max(lowest, at("y"));
      BOOST_TEST(at("x") + 7 * double(std::min<std::size_t>(child.data().size(), 24)) < 560);
    }
    BOOST_TEST(named == count);
    BOOST_TEST(lowest < top);
    BOOST_TEST(top < 300);
  }
}

// Bottom left and top right corners of the axes: (72, 382) and (696, 74).
BOOST_AUTO_TEST_CASE(puts_points_in_their_places) {
  const auto linear = paths_of(parse(plot({{"a", {0, 5, 10}, {0, 10, 5}}})));
  BOOST_TEST(linear.at(0) == "M72.00 382.00 L384.00 74.00 L696.00 228.00");
  const auto log = paths_of(parse(plot({{"a", {0, 10}, {0.01, 100}}}, true)));
  BOOST_TEST(log.at(0) == "M72.00 382.00 L696.00 74.00");
}

BOOST_AUTO_TEST_CASE(interrupts_lines_at_what_cannot_be_drawn) {
  const double nan = NAN, inf = INFINITY;
  const auto broken = paths_of(parse(plot({{"a", {0, 1, 2, 3, 4}, {1, 2, nan, inf, 3}}})));
  BOOST_TEST(count(broken.at(0), "M") == 2u);
  BOOST_TEST(count(broken.at(0), "L") == 1u);
  const auto positive = paths_of(parse(plot({{"a", {0, 1, 2, 3}, {1, 0, -1, 10}}}, true)));
  BOOST_TEST(count(positive.at(0), "M") == 2u);
  // A series with nothing to draw is listed, but has no line.
  const tree root = parse(plot({{"a", {0, 1}, {1, 2}}, {"gone", {0}, {nan}}, {"empty", {}, {}}}));
  BOOST_TEST(paths_of(root).size() == 1u);
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
      BOOST_TEST(!paths_of(parse(svg)).empty());
    }
  }
}

BOOST_AUTO_TEST_CASE(refuses_what_is_no_plot) {
  const auto nothing = "no point that can be drawn";
  FAILS(value_error, plot({}), nothing);
  FAILS(value_error, plot({{"a", {}, {}}}), nothing);
  FAILS(value_error, plot({{"a", {1, 2}, {NAN, NAN}}}), nothing);
  FAILS(value_error, plot({{"a", {1}, {-1}}}, true), nothing);
  FAILS(value_error, plot({{"a", {1, 2}, {1}}}), "2 x values for 1");
  const std::vector<series> one{{"a", {1}, {1}}};
  FAILS(value_error, line_plot(one, {.width = 10}), "10x440");
}

BOOST_AUTO_TEST_SUITE_END()

BOOST_AUTO_TEST_SUITE(cells_and_bars)

BOOST_AUTO_TEST_CASE(points_have_a_circle_each_and_no_line) {
  const std::vector<series> clouds{{"a", {0, 1, NAN}, {0, 2, 1}}, {"b", {2}, {1}}};
  const std::string svg = scatter_plot(clouds, {.title = "clouds"});
  BOOST_TEST(paths_of(parse(svg)).empty());
  BOOST_TEST(count(svg, "<circle") == 3u + 2u);  // the legend has one for each name
  BOOST_TEST(holds(texts(parse(svg)), "b"));
}

BOOST_AUTO_TEST_CASE(bars_begin_at_zero) {
  const std::vector<double> values{2, -1, NAN, 1};
  const tree root = parse(bar_plot({"up", "down", "none", "half"}, values, {.title = "bars"}));
  const auto bars = rectangles(root);
  BOOST_REQUIRE(bars.size() == 3u);
  BOOST_TEST(std::abs(bars[0].height - 2 * bars[1].height) < 0.02);
  BOOST_TEST(std::abs(bars[2].height - bars[1].height) < 0.02);
  BOOST_TEST(std::abs(bars[0].y + bars[0].height - bars[1].y) < 0.02);  // zero
  BOOST_TEST(holds(texts(root), "none"));
}

BOOST_AUTO_TEST_CASE(heat_goes_from_light_to_dark) {
  const std::vector<double> values{0, 1, 0.5, NAN, INFINITY, 0.25};
  const tree root = parse(heat_map(values, 2, 3, {"r1", "r2"}, {"a", "b", "c"}, {}));
  const auto cells = rectangles(root);
  BOOST_REQUIRE(cells.size() > 6u);
  BOOST_TEST(cells[0].fill == "#f7fbff");
  BOOST_TEST(cells[1].fill == "#08306b");
  BOOST_TEST(cells[2].fill == "#6baed6");
  BOOST_TEST(cells[3].fill == "#cccccc");
  BOOST_TEST(cells[4].fill == "#cccccc");
  BOOST_TEST(cells[3].y > cells[0].y);
  BOOST_TEST(cells[3].x == cells[0].x);
  for (const char* word : {"r1", "r2", "a", "b", "c", "0.25"})
    BOOST_TEST(holds(texts(root), word), word);
}

BOOST_AUTO_TEST_CASE(confusion_colours_shares_of_rows) {
  const std::vector<std::int64_t> counts{90, 10, 0, 4};
  const tree root = parse(confusion_plot(counts, {"cat", "dog"}, {.title = "c"}));
  const auto cells = rectangles(root);
  BOOST_REQUIRE(cells.size() == 4u);
  BOOST_TEST(cells[3].fill == "#08306b");  // all of its row
  BOOST_TEST(cells[2].fill == "#f7fbff");
  for (const char* word : {"90", "10", "4", "cat", "dog"})
    BOOST_TEST(holds(texts(root), word), word);
  BOOST_TEST(!holds(texts(root), "0"));
}

BOOST_AUTO_TEST_CASE(many_cells_and_long_names_stay_readable) {
  std::vector<double> values(50 * 50, 1.0);
  const std::vector<std::string> names(50, "a name of many characters, <&> \xC3\xA4\xC3\xB6\xFF");
  const tree root = parse(heat_map(values, 50, 50, names, names, {}));
  BOOST_TEST(rectangles(root).size() >= 2500u);
  BOOST_TEST(texts(root).size() < 70u);
  for (const std::string& text : texts(root)) BOOST_TEST(text.size() < 40u);
}

BOOST_AUTO_TEST_CASE(cells_and_bars_refuse_what_does_not_fit) {
  const std::vector<double> two{1, 2}, none, bad{NAN, INFINITY};
  const std::vector<std::int64_t> counts{1, 2, 3, -4};
  FAILS(shape_error, bar_plot({"a"}, two), "1 names for 2 values");
  FAILS(value_error, bar_plot({}, none), "no bar");
  FAILS(value_error, bar_plot({"a", "b"}, bad), "no bar");
  FAILS(shape_error, heat_map(two, 2, 2), "2 values for 2 x 2 cells");
  FAILS(shape_error, heat_map(two, 1, 2, {"a", "b"}), "2 names for 1");
  FAILS(value_error, heat_map(none, 0, 5), "0 x 5 cells");
  FAILS(value_error, heat_map(none, 1LL << 62, 4), "expected 1 to 65536");
  FAILS(value_error, confusion_plot(counts, {"a", "b"}), "count of -4");
  FAILS(shape_error, confusion_plot(counts, {"a"}), "4 values for 1 x 1");
  BOOST_TEST(!heat_map(bad, 1, 2).empty());
}

BOOST_AUTO_TEST_SUITE_END()
