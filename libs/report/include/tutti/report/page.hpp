// SPDX-License-Identifier: Apache-2.0
//
// One page of HTML that needs nothing else: no script, no network, no other files. It follows the
// reader's choice of light or dark, and prints.
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

/// Texts may be any bytes: they are escaped, and what is no UTF-8 becomes U+FFFD.
class page {
 public:
  TUTTI_API explicit page(std::string_view title);

  TUTTI_API page& heading(std::string_view text);
  TUTTI_API page& paragraph(std::string_view text);
  /// The first row is the heading. Columns of numbers are set to the right. Rows may have
  /// different lengths; nothing without rows.
  TUTTI_API page& table(const std::vector<std::vector<std::string>>& rows);
  /// An SVG document, as plots.hpp makes them. Its ids are made unique. Throws value_error for
  /// what is no `<svg>` element.
  TUTTI_API page& figure(std::string_view svg, std::string_view caption = {});
  /// A grid of pictures, small ones enlarged. A library that was built without libpng says so in
  /// their place. Throws dtype_error and shape_error for other arrays than those above.
  TUTTI_API page& pictures(std::span<const picture> all);

  TUTTI_API std::string html() const;
  /// Replaces the file at once. Throws io_error.
  TUTTI_API void save(const std::filesystem::path& path) const;

 private:
  std::string title_, body_;
  int headings_ = 0, figures_ = 0;
};

}  // namespace tutti::report
