// SPDX-License-Identifier: Apache-2.0
//
// Pages: well-formed, escaped, complete in themselves; pictures are read back from the page.
#include "tutti/report.hpp"
#include "tutti_test/arrays.hpp"
#include "xml.hpp"

using namespace report_test;
using tutti::host_array;
using tutti::report::mark;
using tutti::report::page;

namespace {

using bytes = std::vector<std::uint8_t>;

std::string decoded(const std::string& text) {
  const std::string digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  std::string out;
  unsigned bits = 0, held = 0;
  for (const char c : text.substr(0, text.find('='))) {
    held = held << 6u | static_cast<unsigned>(digits.find(c));
    bits += 6;
    if (bits < 8) continue;
    bits -= 8;
    out += static_cast<char>(held >> bits & 0xFFu);
  }
  return out;
}

/// The files within the page.
std::vector<std::string> embedded(const std::string& html) {
  const std::string before = "data:image/png;base64,";
  std::vector<std::string> out;
  for (std::size_t at = 0; (at = html.find(before, at)) != std::string::npos;) {
    at += before.size();
    out.push_back(decoded(html.substr(at, html.find('"', at) - at)));
  }
  return out;
}

std::vector<std::string> ids_of(const std::string& html) {
  std::vector<std::string> out;
  for (std::size_t at = 0; (at = html.find(" id=\"", at)) != std::string::npos;) {
    at += 5;
    out.push_back(html.substr(at, html.find('"', at) - at));
  }
  return out;
}

const std::string hostile = "<script>alert(1)</script> & \"q\" 'a' \x02 \xFF";
const std::string harmless =
    "&lt;script&gt;alert(1)&lt;/script&gt; &amp; &quot;q&quot; &#39;a&#39;  \xEF\xBF\xBD";

}  // namespace

BOOST_AUTO_TEST_SUITE(pages)

BOOST_AUTO_TEST_CASE(hold_what_was_added_in_order) {
  page p("Title");
  p.heading("First").paragraph("Words.").table({{"name", "value"}, {"a", "1.5"}, {"b"}});
  const std::string html = p.html();
  std::size_t at = 0;
  for (const char* part :
       {"<!DOCTYPE html>", "<title>Title</title>", "<h1>Title</h1>", "First</h2>", "<p>Words.</p>",
        "<th scope=\"col\">name</th><th scope=\"col\" class=\"number\">value</th>",
        "<td>a</td><td class=\"number\">1.5</td>", "<td>b</td><td class=\"number\"></td>",
        "</html>"}) {
    const std::size_t found = html.find(part, at);
    BOOST_TEST(found != std::string::npos, part);
    at = std::min(found, html.size());
  }
}

BOOST_AUTO_TEST_CASE(escape_everything) {
  page p(hostile);
  p.heading(hostile)
      .paragraph(hostile)
      .table({{hostile}, {hostile}})
      .figure("<svg></svg>", hostile);
  const std::vector<tutti::report::picture> one{{host_array::from(bytes{1}, {1, 1}), hostile}};
  p.pictures(one);
  const std::string html = p.html();
  BOOST_TEST(html.find("<script") == std::string::npos);
  BOOST_TEST(html.find('\xFF') == std::string::npos);
  // The title twice, alt and caption of the picture; without libpng it has no alt.
  BOOST_TEST(count(html, harmless) == (TUTTI_TEST_PNG ? 9u : 8u));
}

BOOST_AUTO_TEST_CASE(have_nothing_from_elsewhere) {
  page p("p");
  const std::vector<tutti::report::series> line{{"a", {0, 1}, {0, 1}}};
  p.figure(tutti::report::line_plot(line, {.title = "t"}));
  const std::string html = p.html();
  BOOST_TEST(html.find("default-src 'none'") != std::string::npos);
  for (const char* part : {"src=\"http", "href=", "@import", "<link", "<?xml", "<script"})
    BOOST_TEST(html.find(part) == std::string::npos, part);
}

BOOST_AUTO_TEST_CASE(keep_ids_apart) {
  const std::string drawn =
      "<?xml version=\"1.0\"?><svg><g id=\"a\"/><use href=\"#a\" fill=\"url(#a)\"/></svg>\n";
  page p("p");
  p.heading("h").figure(drawn).heading("h").figure(drawn, "again");
  const std::vector<std::string> ids = ids_of(p.html());
  BOOST_TEST(ids.size() == 6u);
  BOOST_TEST((std::set<std::string>(ids.begin(), ids.end()).size() == ids.size()));
  const std::string html = p.html();
  BOOST_TEST(html.find("id=\"figure-2-a\"/><use href=\"#figure-2-a\" fill=\"url(#figure-2-a)\"") !=
             std::string::npos);
}

BOOST_AUTO_TEST_CASE(embed_pictures_as_they_are) {
  const bytes grey{0, 50, 100, 150, 200, 255}, colours{255, 0, 0, 0, 255, 0};
  const std::vector<tutti::report::picture> all{
      {host_array::from(grey, {2, 3}), "grey", mark::right},
      {host_array::from(colours, {1, 2, 3}), "colours", mark::wrong},
      {host_array::from(bytes{1, 2, 3, 4}, {1, 1, 4}), "clear"}};
  page p("p");
  p.pictures(all);
  const std::string html = p.html();
  if (!TUTTI_TEST_PNG) {
    BOOST_TEST(count(html, "<p class=\"absent\">no picture: ") == 3u);
    return;
  }
  const auto files = embedded(html);
  BOOST_REQUIRE(files.size() == 3u);
  for (std::size_t i = 0; i < files.size(); ++i) {
    BOOST_TEST(files[i].substr(0, 8) == "\x89PNG\r\n\x1a\n");
    BOOST_TEST(files[i].substr(files[i].size() - 8, 4) == "IEND");
  }
  // Width and height, from IHDR.
  BOOST_TEST(files[0].substr(16, 8) == std::string("\0\0\0\3\0\0\0\2", 8));
  BOOST_TEST(files[1].substr(16, 8) == std::string("\0\0\0\2\0\0\0\1", 8));
  BOOST_TEST(count(html, "<figure class=\"right\">") == 1u);
  BOOST_TEST(count(html, "<figure class=\"wrong\">") == 1u);
  BOOST_TEST(html.find("width=\"96\" height=\"64\" alt=\"grey\"") != std::string::npos);
}

BOOST_AUTO_TEST_CASE(refuse_what_they_cannot_show) {
  page p("p");
  const auto show = [&](const host_array& pixels) {
    p.pictures(std::vector<tutti::report::picture>{{pixels, "c"}});
  };
  using tutti::dtype, tutti::shape, tutti::shape_error;
  FAILS(dtype_error, show({dtype::f32, {2, 2}}), "u8, not f32");
  FAILS(shape_error, show({dtype::u8, {2}}), "[2]");
  FAILS(shape_error, show({dtype::u8, {2, 2, 2}}), "[2,2,2]");
  FAILS(shape_error, show({dtype::u8, {0, 2}}), "[0,2]");
  for (const char* text : {"", "<svg", "<p>", "</svg><svg"})
    FAILS(value_error, p.figure(text), "SVG");
  BOOST_TEST(p.html() == page("p").html());
  FAILS(io_error, p.save("/nowhere/p.html"), "/nowhere/p.html");
}

BOOST_AUTO_TEST_SUITE_END()
