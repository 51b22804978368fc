// SPDX-License-Identifier: Apache-2.0
//
// The edge of a sample program: options to values, exceptions to one line and an exit status.
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
/// Takes a name that is not there as one in the folder TUTTI_DATA, where that has it.
extern const CLI::Validator below_data_folder;

/// The option --device, an item of the TUTTI_DEVICE grammar.
class device_option {
 public:
  explicit device_option(CLI::App& app);
  /// For a subcommand as well.
  void add_to(CLI::App& app);
  /// That device; the default device where the option is not given.
  tutti::device get() const;

 private:
  std::string spec_;
};

/// The options that samples share. A sample asks for those that it has a use for, and reads them
/// when its options are parsed:
///   samples::common_options options(app, "of split and shuffling");
///   options.with_epochs(10).with_out("mnist-results").with_parallel();
class common_options {
 public:
  /// --device, and --seed where it is given what that decides ("of split and shuffling").
  explicit common_options(CLI::App& app, const std::string& seed_of = {});
  common_options(const common_options&) = delete;
  common_options& operator=(const common_options&) = delete;

  common_options& with_epochs(std::int64_t usual, const std::string& of = "the training data");
  common_options& with_batch(std::int64_t usual, const std::string& of);
  common_options& with_learning_rate(double usual);
  common_options& with_data(const std::string& what);
  common_options& with_out(const std::string& usual);
  /// The subcommand `predict FILE...`, after with_out(): what it does, and of what files.
  common_options& with_predict(const std::string& what, const std::string& of);
  common_options& with_parallel();
  common_options& with_resume();
  common_options& with_json();

  /// Of --device; the default device where the option is not given.
  tutti::device device() const { return device_.get(); }
  /// All devices of TUTTI_DEVICE, where --parallel is given.
  std::optional<tutti::device_group> group() const;
  /// The ranks that mpirun or srun has started, where --parallel is given.
  const std::optional<tutti::job>& job() const { return job_; }
  /// Whether this is rank 0, the only one that writes checkpoints and to standard output.
  bool leads() const { return !job_ || job_->rank() == 0; }
  /// The folder of checkpoints, the same for all ranks.
  std::filesystem::path checkpoints() const {
    return (leads() ? out : out.parent_path()) / "checkpoints";
  }
  /// Where progress and tables go: standard output, which with --json has the JSON alone.
  std::ostream& log() const { return json && leads() ? std::cerr : std::cout; }

  std::uint64_t seed = 1;
  std::int64_t epochs = 1, batch = 1;
  double learning_rate = 0;
  std::filesystem::path data{};  ///< empty: samples::find_data() searches
  std::filesystem::path out{};   ///< of a rank that does not lead, a folder of its own below
  std::vector<std::filesystem::path> predict{};  ///< files; empty: training
  bool parallel = false, resume = false, json = false;

 private:
  void join();
  CLI::App& app_;
  device_option device_;
  std::optional<tutti::job> job_;
};

/// Parses and runs. Exit status: 0; 1 where `body` throws; 2 where the options are wrong, which
/// `body` may find too (CLI::ValidationError).
int run(CLI::App& app, int argc, char** argv, const std::function<void()>& body);

}  // namespace samples
