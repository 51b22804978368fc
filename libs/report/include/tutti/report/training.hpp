// SPDX-License-Identifier: Apache-2.0
//
// What a training leaves behind: its curves, its confusion, its numbers, and a page that shows
// them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tutti/device.hpp"
#include "tutti/export.hpp"
#include "tutti/report/metrics.hpp"
#include "tutti/report/page.hpp"

namespace tutti::report {

/// One epoch; NaN stands for what was not measured.
struct epoch_scores {
  static constexpr double absent = std::numeric_limits<double>::quiet_NaN();
  double training_loss = absent, training_accuracy = absent;
  double test_loss = absent, test_accuracy = absent;
  double seconds = absent;
};

/// An SVG document and what stands under it.
struct titled_figure {
  std::string svg, caption;
};

struct training_report {
  std::string title;
  std::vector<std::pair<std::string, std::string>> devices{};  ///< names and descriptions
  metrics settings{};
  std::vector<epoch_scores> history{};
  std::string loss_name = "loss";  ///< "mean cross-entropy"
  std::vector<std::string> classes{};
  std::vector<std::int64_t> confusion{};  ///< counts [truth, answer]; none, or classes squared
  std::vector<picture> examples{};
  metrics results{};
  std::vector<titled_figure> figures{};

  TUTTI_API void add_device(const device& used);
  /// An example of the test part: caption and mark follow from the numbers of the classes. Throws
  /// index_error for numbers of no class.
  TUTTI_API void add_example(host_array pixels, std::int64_t truth, std::int64_t answer);

  /// Writes report.html and metrics.json, and where there is what they show loss.svg, accuracy.svg
  /// and confusion.svg. Makes the folder; replaces each file at once. Throws io_error naming the
  /// path, shape_error where confusion and classes differ, before anything is written.
  TUTTI_API void save(const std::filesystem::path& folder) const;
};

}  // namespace tutti::report
