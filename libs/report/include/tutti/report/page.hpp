// SPDX-License-Identifier: Apache-2.0
//
// A self-contained HTML page: no scripts, no network, no other files. It follows the light or dark
// setting of the browser, and can be printed.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/export.hpp"
#include "tutti/host_array.hpp"

namespace tutti::report {

enum class mark { none, right, wrong };

/// Pixels of u8, [height, width] or [height, width, channels] with 1 (grey), 3 (colour) or 4
/// channels (colour and opacity).
struct picture {
  host_array pixels;
  std::string caption{};
  report::mark mark = report::mark::none;
};

/// Texts may contain any bytes: they are escaped, and invalid UTF-8 becomes U+FFFD.
class page {
 public:
  TUTTI_API explicit page(std::string_view title);

  TUTTI_API page& heading(std::string_view text);
  TUTTI_API page& paragraph(std::string_view text);
  /// The first row is the heading. Columns of numbers are aligned to the right. Rows may have
  /// different lengths; a table without rows is omitted.
  TUTTI_API page& table(const std::vector<std::vector<std::string>>& rows);
  /// An SVG document, such as those of plots.hpp. Its ids are made unique. Throws value_error if it
  /// is not an `<svg>` element.
  TUTTI_API page& figure(std::string_view svg, std::string_view caption = {});
  /// A grid of images, small ones enlarged. If the library was built without libpng, a message
  /// replaces them. Throws dtype_error and shape_error for other arrays than those above.
  TUTTI_API page& pictures(std::span<const picture> all);

  TUTTI_API std::string html() const;
  /// Replaces the file atomically. Throws io_error.
  TUTTI_API void save(const std::filesystem::path& path) const;

 private:
  std::string title_, body_;
  int headings_ = 0, figures_ = 0;
};

}  // namespace tutti::report
