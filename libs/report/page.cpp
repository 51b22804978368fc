// SPDX-License-Identifier: Apache-2.0
//
// A self-contained HTML page.
#include "tutti/report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "base/fail.hpp"
#include "page_style.hpp"
#include "text.hpp"
#include "tutti/data/image_files.hpp"
#include "tutti/data/io.hpp"

namespace tutti::report {
namespace {

bool is_number(std::string_view text) {
  double ignored = 0;
  if (text.ends_with('%')) text.remove_suffix(1);
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), ignored);
  return code == std::errc() && end == text.data() + text.size();
}

/// The column contains a number below the heading, and otherwise only empty cells and dashes.
bool holds_numbers(const std::vector<std::vector<std::string>>& rows, std::size_t column) {
  bool any = false;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    if (column >= rows[i].size() || rows[i][column].empty() || rows[i][column] == "-") continue;
    if (!is_number(rows[i][column])) return false;
    any = true;
  }
  return any;
}

std::string replaced(std::string_view text, std::string_view what, std::string_view with) {
  std::string out;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t next = std::min(text.find(what, at), text.size());
    out += text.substr(at, next - at);
    if (next < text.size()) out += with;
    at = next + what.size();
  }
  return out;
}

/// The svg element of a document, without any text before it.
std::string_view element_of(std::string_view svg) {
  const std::size_t begin = svg.find("<svg"), end = svg.rfind("</svg>");
  if (begin == std::string_view::npos || end == std::string_view::npos || end < begin)
    throw value_error("page: a figure is an SVG document, <svg ...> to </svg>");
  return svg.substr(begin, end + 6 - begin);
}

/// Ids and references to them, prefixed with `before`.
std::string with_ids(std::string_view svg, const std::string& before) {
  std::string out(svg);
  for (const char* const place : {" id=\"", " id='", "url(#", "href=\"#", "href='#"})
    out = replaced(out, place, fmt::format("{}{}", place, before));
  return out;
}

constexpr std::int64_t least_pixels = 96;  // of the longer side, as shown

void check_picture(const host_array& pixels) {
  const shape& extents = pixels.shape();
  if (pixels.dtype() != dtype::u8)
    base::fail<dtype_error>("page: pictures are u8, not {}", pixels.dtype());
  const std::int64_t channels = extents.rank() == 3 ? extents[2] : 1;
  if (extents.rank() < 2 || extents.rank() > 3 || pixels.size() == 0 ||
      (channels != 1 && channels != 3 && channels != 4))
    base::fail<shape_error>(
        "page: a picture is [height, width] or [height, width, 1, 3 or 4], not {}", extents);
}

std::string image_of(const picture& shown) {
  std::string bytes;
  try {
    bytes = image::encode_image(shown.pixels, image::file_format::png);
  } catch (const io_error& e) {
    return fmt::format("<p class=\"absent\">no picture: {}</p>", escaped(e.what()));
  }
  const std::int64_t height = shown.pixels.shape()[0], width = shown.pixels.shape()[1];
  const std::int64_t times = std::max<std::int64_t>(
      1, (least_pixels + std::max(height, width) - 1) / std::max(height, width));
  return fmt::format("<img src=\"data:image/png;base64,{}\" width=\"{}\" height=\"{}\" alt=\"{}\">",
                     base64({reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size()}),
                     width * times, height * times, escaped(shown.caption));
}

/// A figure with the image, or with the reason if the library cannot encode it.
std::string html_of(const picture& shown) {
  check_picture(shown.pixels);
  const char* kind = "";
  const char* sign = "";
  if (shown.mark == mark::right) {
    kind = " class=\"right\"";
    sign = "<b title=\"right\">\xE2\x9C\x93</b> ";
  } else if (shown.mark == mark::wrong) {
    kind = " class=\"wrong\"";
    sign = "<b title=\"wrong\">\xE2\x9C\x97</b> ";
  }
  return fmt::format("<figure{}>{}<figcaption>{}{}</figcaption></figure>\n", kind, image_of(shown),
                     sign, escaped(shown.caption));
}

}  // namespace

page::page(std::string_view title) : title_(escaped(title)) {}

page& page::heading(std::string_view text) {
  body_ += fmt::format("<h2 id=\"section-{}\">{}</h2>\n", ++headings_, escaped(text));
  return *this;
}

page& page::paragraph(std::string_view text) {
  body_ += fmt::format("<p>{}</p>\n", escaped(text));
  return *this;
}

page& page::table(const std::vector<std::vector<std::string>>& rows) {
  if (rows.empty()) return *this;
  std::size_t columns = 0;
  for (const auto& row : rows) columns = std::max(columns, row.size());
  std::vector<const char*> kinds;
  for (std::size_t i = 0; i < columns; ++i)
    kinds.push_back(holds_numbers(rows, i) ? " class=\"number\"" : "");
  body_ += "<div class=\"table\"><table>\n";
  for (std::size_t i = 0; i < rows.size(); ++i) {
    body_ += i == 0 ? "<thead><tr>" : "<tr>";
    for (std::size_t k = 0; k < columns; ++k) {
      const std::string text = k < rows[i].size() ? escaped(rows[i][k]) : "";
      body_ += i == 0 ? fmt::format("<th scope=\"col\"{}>{}</th>", kinds[k], text)
                      : fmt::format("<td{}>{}</td>", kinds[k], text);
    }
    body_ += i == 0 ? "</tr></thead>\n<tbody>\n" : "</tr>\n";
  }
  body_ += "</tbody></table></div>\n";
  return *this;
}

page& page::figure(std::string_view svg, std::string_view caption) {
  const std::string_view element = element_of(svg);
  const std::string id = fmt::format("figure-{}", ++figures_);
  body_ += fmt::format("<figure class=\"plot\" id=\"{}\">{}", id, with_ids(element, id + "-"));
  if (!caption.empty()) body_ += fmt::format("<figcaption>{}</figcaption>", escaped(caption));
  body_ += "</figure>\n";
  return *this;
}

page& page::pictures(std::span<const picture> all) {
  if (all.empty()) return *this;
  std::string grid;
  for (const picture& one : all) grid += html_of(one);
  body_ += "<div class=\"pictures\">\n" + grid + "</div>\n";
  return *this;
}

std::string page::html() const {
  // The policy makes browsers enforce it: no scripts, no external content, whatever a figure
  // contains.
  return fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; img-src data:; "
      "style-src 'unsafe-inline'\">\n"
      "<title>{0}</title>\n<style>{1}</style>\n</head>\n<body>\n<main>\n<h1>{0}</h1>\n{2}</main>\n"
      "</body>\n</html>\n",
      title_, page_style, body_);
}

void page::save(const std::filesystem::path& path) const { io::write_file(path, html()); }

}  // namespace tutti::report
