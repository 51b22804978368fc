// SPDX-License-Identifier: Apache-2.0
//
// The report of a training run: its curves, confusion matrix and results, and a page that shows
// them.
#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "tutti/device.hpp"
#include "tutti/device_group.hpp"
#include "tutti/export.hpp"
#include "tutti/report/metrics.hpp"
#include "tutti/report/page.hpp"

namespace tutti::report {

/// One epoch; values that were not measured are NaN.
struct epoch_scores {
  static constexpr double absent = std::numeric_limits<double>::quiet_NaN();
  double training_loss = absent, training_accuracy = absent;
  double test_loss = absent, test_accuracy = absent;
  double seconds = absent;
};

/// An SVG document and its caption.
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
  std::vector<std::int64_t> confusion{};  ///< counts [truth, prediction]; empty, or classes squared
  std::vector<picture> examples{};
  metrics results{};
  std::vector<titled_figure> figures{};

  TUTTI_API void add_device(const device& used);
  /// Those of all members; with a group over the ranks of a job, whose ranks all call it, those of
  /// all ranks, as "rank 1 cuda:0".
  TUTTI_API void add_devices(const device_group& used);
  /// An example of the test part: caption and mark follow from the class numbers. Throws
  /// index_error for invalid class numbers.
  TUTTI_API void add_example(host_array pixels, std::int64_t truth, std::int64_t answer);

  /// Writes report.html and metrics.json, and if there is data for them loss.svg, accuracy.svg and
  /// confusion.svg. Creates the folder; replaces each file atomically. Throws io_error with the
  /// path, or shape_error if confusion and classes differ, before anything is written.
  TUTTI_API void save(const std::filesystem::path& folder) const;
};

}  // namespace tutti::report
