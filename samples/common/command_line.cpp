// SPDX-License-Identifier: Apache-2.0
//
// The command line of a sample: options to values, exceptions to an error line and exit status.
#include "common/command_line.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <exception>
#include <iostream>
#include <new>
#include <streambuf>
#include <system_error>

#include "common/numbers.hpp"

namespace samples {

namespace fs = std::filesystem;

namespace {

std::string one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (std::size_t at; (at = text.find('\n')) != std::string::npos;) {
    const std::size_t next = text.find_first_not_of(" \t\n", at);
    text.replace(at, next == std::string::npos ? next : next - at, "; ");
  }
  return text;
}

int complain(const CLI::App& app, const std::string& message, int status) {
  std::cout.flush();
  // In one piece, since other ranks may write too.
  std::cerr << app.get_name() + ": " + one_line(message) + '\n';
  return status;
}

/// An error whose message was printed.
struct already_told {};

/// CLI11 clamps negative and too large values to the largest seed.
std::string whole_seed(const std::string& text) {
  std::uint64_t value = 0;
  const char* const end = text.data() + text.size();
  const auto [at, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && at == end ? "" : text + " is no whole number in [0 - 2^64)";
}

}  // namespace

const CLI::Validator not_empty(
    [](const std::string& text) { return text.empty() ? "is empty" : ""; }, "");

const CLI::Validator below_data_folder(
    [](std::string& text) {
      std::error_code ignored;
      const char* const named = std::getenv("TUTTI_DATA");
      if (named == nullptr || *named == '\0' || fs::exists(text, ignored)) return "";
      if (const fs::path below = fs::path(named) / text; fs::exists(below, ignored))
        text = below.string();
      return "";
    },
    "");

device_option::device_option(CLI::App& app) { add_to(app); }

void device_option::add_to(CLI::App& app) {
  app.add_option("--device", spec_, "device, e.g. opencl:gpu (default: TUTTI_DEVICE)")
      ->check(not_empty);
}

tutti::device device_option::get() const {
  return spec_.empty() ? tutti::default_device() : tutti::device(spec_);
}

common_options::common_options(CLI::App& app, const std::string& seed_of)
    : app_(app), device_(app) {
  if (seed_of.empty()) return;
  app.add_option("--seed", seed, seed_of)->check(whole_seed)->capture_default_str();
}

common_options& common_options::with_epochs(std::int64_t usual, const std::string& of) {
  epochs = usual;
  app_.add_option("--epochs", epochs, "passes over " + of)
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  return *this;
}

common_options& common_options::with_batch(std::int64_t usual, const std::string& of) {
  batch = usual;
  app_.add_option("--batch", batch, of + " per step")
      ->check(CLI::Range(1, 1000000))
      ->capture_default_str();
  return *this;
}

common_options& common_options::with_learning_rate(double usual) {
  learning_rate = usual;
  app_.add_option("--learning-rate", learning_rate, "maximum learning rate")
      ->check(within(0, 100))
      ->capture_default_str();
  return *this;
}

common_options& common_options::with_data(const std::string& what) {
  app_.add_option("--data", data, what)->check(not_empty)->transform(below_data_folder);
  return *this;
}

common_options& common_options::with_out(const std::string& usual) {
  out = usual;
  app_.add_option("--out", out, "directory for the results")
      ->check(not_empty)
      ->capture_default_str();
  return *this;
}

common_options& common_options::with_predict(const std::string& what, const std::string& of) {
  CLI::App& predicts = *app_.add_subcommand("predict", what);
  predicts.add_option("files", predict, of)->required();
  predicts.add_option("--out", out, "directory of the training results with the weights")
      ->check(not_empty)
      ->capture_default_str();
  device_.add_to(predicts);
  predicts.parse_complete_callback([this, &predicts] {
    for (const CLI::Option* option : app_.get_options())
      if (const std::string name = option->get_name(); !predicts.get_option_no_throw(name))
        refuse(app_, {name}, "has no effect with predict");
  });
  return *this;
}

common_options& common_options::with_parallel() {
  app_.add_flag("--parallel", parallel, "use all devices of TUTTI_DEVICE and all ranks of mpirun")
      ->excludes("--device");
  app_.parse_complete_callback([this] { join(); });
  return *this;
}

common_options& common_options::with_resume() {
  app_.add_flag("--resume", resume, "resume from the newest checkpoint in the directory of --out");
  return *this;
}

common_options& common_options::with_json() {
  app_.add_flag("--json", json, "print only the results, as one JSON object");
  return *this;
}

void common_options::warn_of_copies() const {
  try {
    const tutti::job all;
    if (all.size() > 1 && all.rank() == 0)
      complain(app_,
               fmt::format("{} processes were started, and without --parallel each works alone",
                           all.size()),
               0);
  } catch (const tutti::error&) {
    // Without MPI, or beside other programs, nothing is known of the others.
  }
}

void common_options::join() {
  struct no_output : std::streambuf {
    int overflow(int c) override { return c; }
  };
  if (!parallel) {
    warn_of_copies();
    return;
  }
  job_.emplace();
  if (leads()) return;
  out /= fmt::format("rank-{}", job_->rank());
  static auto* const nothing = new no_output;  // until std::cout has ended
  std::cout.rdbuf(nothing);
}

std::optional<tutti::device_group> common_options::group() const {
  if (!parallel) return std::nullopt;
  return tutti::device_group(*job_);
}

void common_options::predict_each(
    const std::function<std::string(const fs::path& file)>& answer) const {
  bool failed = false;
  for (const fs::path& file : predict) {
    try {
      std::cout << fmt::format("{}: {}\n", file.string(), answer(file));
    } catch (const std::exception& e) {
      complain(app_, e.what(), 1);
      failed = true;
    }
  }
  if (failed) throw already_told();
}

void refuse(const CLI::App& app, const std::vector<std::string>& names, const std::string& why) {
  for (const std::string& name : names)
    if (app.get_option(name)->count() > 0) throw CLI::ValidationError(name, why);
}

int run(CLI::App& app, int argc, char** argv, const std::function<void()>& body) {
  try {
    app.parse(argc, argv);
    body();
    std::cout.flush();
    if (!std::cout) return complain(app, "cannot write to standard output", 1);
    return 0;
  } catch (const already_told&) {
    return 1;
  } catch (const CLI::Success& help) {
    return app.exit(help);
  } catch (const CLI::ParseError& e) {
    return complain(app, e.what(), 2);
  } catch (const std::bad_alloc&) {
    return complain(app, "out of host memory", 1);
  } catch (const std::exception& e) {
    return complain(app, e.what(), 1);
  }
}

}  // namespace samples
