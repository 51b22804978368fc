// SPDX-License-Identifier: Apache-2.0
//
// The command line of a sample: options to values, exceptions to an error line and exit status.
#pragma once

#include <CLI/CLI.hpp>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <iostream>
#include <optional>
#include <string>
#include <tutti/device.hpp>
#include <tutti/device_group.hpp>
#include <tutti/job.hpp>
#include <vector>

namespace samples {

/// A check of an option's text.
extern const CLI::Validator not_empty;
/// Replaces a path that does not exist by the same path in TUTTI_DATA, if it exists there.
extern const CLI::Validator below_data_folder;

/// The option --device, an item of the TUTTI_DEVICE grammar.
class device_option {
 public:
  explicit device_option(CLI::App& app);
  /// For a subcommand as well.
  void add_to(CLI::App& app);
  /// The selected device; the default device without the option.
  tutti::device get() const;

 private:
  std::string spec_;
};

/// The options shared by the samples. A sample adds those that it uses, and reads them after
/// parsing:
///   samples::common_options options(app, "random seed for split and shuffling");
///   options.with_epochs(10).with_out("mnist-results").with_parallel();
class common_options {
 public:
  /// Adds --device, and --seed if `seed_of` is given ("random seed for split and shuffling").
  explicit common_options(CLI::App& app, const std::string& seed_of = {});
  common_options(const common_options&) = delete;
  common_options& operator=(const common_options&) = delete;

  common_options& with_epochs(std::int64_t usual, const std::string& of = "the training data");
  common_options& with_batch(std::int64_t usual, const std::string& of);
  common_options& with_learning_rate(double usual);
  common_options& with_data(const std::string& what);
  common_options& with_out(const std::string& usual);
  /// The subcommand `predict FILE...`, after with_out(): descriptions of the command and the files.
  /// Options that only training uses are errors with it.
  common_options& with_predict(const std::string& what, const std::string& of);
  common_options& with_parallel();
  common_options& with_resume();
  common_options& with_json();

  /// The name of the sample.
  std::string program() const { return app_.get_name(); }
  /// Prints "FILE: ANSWER" for each file of `predict`. Goes on after files that fail, whose errors
  /// are printed; then run() ends with status 1.
  void predict_each(
      const std::function<std::string(const std::filesystem::path& file)>& answer) const;
  /// The device of --device; the default device without the option.
  tutti::device device() const { return device_.get(); }
  /// All devices of TUTTI_DEVICE of all ranks, with --parallel.
  std::optional<tutti::device_group> group() const;
  /// The ranks started by mpirun or srun, with --parallel.
  const std::optional<tutti::job>& job() const { return job_; }
  /// Whether this is rank 0, the only one that writes checkpoints and standard output.
  bool leads() const { return !job_ || job_->rank() == 0; }
  /// The directory of checkpoints, equal for all ranks.
  std::filesystem::path checkpoints() const {
    return (leads() ? out : out.parent_path()) / "checkpoints";
  }
  /// The stream for progress and tables: standard output, but with --json standard error.
  std::ostream& log() const { return json && leads() ? std::cerr : std::cout; }

  std::uint64_t seed = 1;
  std::int64_t epochs = 1, batch = 1;
  double learning_rate = 0;
  std::filesystem::path data{};                  ///< empty: samples::find_data() searches
  std::filesystem::path out{};                   ///< for ranks other than 0, a subdirectory
  std::vector<std::filesystem::path> predict{};  ///< files; empty: training
  bool parallel = false, resume = false, json = false;

 private:
  void join();
  void warn_of_copies() const;
  CLI::App& app_;
  device_option device_;
  std::optional<tutti::job> job_;
};

/// Throws CLI::ValidationError, which names the first of these options that was given and says why
/// it has no effect: "has no effect with --cluster".
void refuse(const CLI::App& app, const std::vector<std::string>& names, const std::string& why);

/// Parses the options and runs `body`. Exit status: 0; 1 if `body` throws; 2 for wrong options,
/// which `body` may also detect (CLI::ValidationError).
int run(CLI::App& app, int argc, char** argv, const std::function<void()>& body);

}  // namespace samples
