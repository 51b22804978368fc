// SPDX-License-Identifier: Apache-2.0
//
// The results of a sample's training: devices, curves, correct and wrong answers.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <tutti/device_group.hpp>
#include <tutti/host_array.hpp>
#include <tutti/report.hpp>
#include <vector>

#include "common/command_line.hpp"
#include "common/fit.hpp"

namespace samples {

/// "devices opencl:0 (AMD EPYC), reference:0 (host)"; over ranks "devices rank 0 cpu:0, rank 1
/// cpu:0".
std::string devices_text(const tutti::device_group& group);

/// A report with devices, curves, and the scores of the last epoch and the times as results.
tutti::report::training_report report_of(const std::string& title, const tutti::device_group& group,
                                         const std::vector<epoch_result>& history);

/// Adds the confusion matrix of the model's answers, the largest of scores [n, classes], for rows
/// of x, and up to 32 examples, wrong ones first, drawn with `picture` (row i) if it is given.
void add_answers(tutti::report::training_report& report,
                 const std::function<tutti::array(const tutti::array& x)>& model,
                 const tutti::host_array& x, const tutti::host_array& labels,
                 const std::vector<std::string>& classes,
                 const std::function<tutti::host_array(std::int64_t row)>& picture = {});

/// Writes truth and answer (class numbers, [rows.size()]) and their row numbers as CSV.
void write_answers(const std::filesystem::path& path, const std::vector<std::string>& classes,
                   const tutti::array& truth, const tutti::array& answers,
                   const std::vector<std::int64_t>& rows);

/// Row i of [n, height, width] or [n, height, width, channels], u8.
tutti::host_array row_of(const tutti::host_array& pictures, std::int64_t row);

/// Reports how well a data-parallel step used its devices: each device trains alone on its share of
/// the batch; the sum of these speeds gives the minimum time of a step, which is compared with the
/// measured time of the group. Prints a table to `out` and adds numbers to the report.
void report_group_use(std::ostream& out, tutti::report::training_report& report,
                      const tutti::nn::layer& model, const tutti::nn::batch_loss& loss,
                      const tutti::device_group& group, const std::vector<tutti::array>& batch,
                      double seconds_per_step);

/// Adds the common settings to the report and saves it below options.out.
void save_report(tutti::report::training_report& report, const common_options& options);

/// Saves the report with save_report() and prints its path and the accuracy, or with --json its
/// results.
void finish(tutti::report::training_report report, const common_options& options);

}  // namespace samples
