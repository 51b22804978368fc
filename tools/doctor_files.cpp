// SPDX-License-Identifier: Apache-2.0
//
// The doctor's checks of files: OpenCL's vendor files and the cache folder.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "base/disk_cache.hpp"
#include "base/env.hpp"
#include "base/private_folder.hpp"
#include "doctor.hpp"
#include "plugin/trial.hpp"
#include "safety/journal.hpp"
#include "text.hpp"

namespace tutti::tools {
namespace {

namespace fs = std::filesystem;
using grade = finding::grade;

finding examine_vendor_file(const fs::path& file) {
  finding f{grade::good, "OpenCL drivers", file.string(), {}, {}};
  std::ifstream stream(file);
  std::string library;
  std::getline(stream, library);
  library.erase(library.find_last_not_of(" \t\r") + 1);
  f.text = library;
  std::error_code ignored;
  if (library.empty()) {
    f.how = grade::problem;
    f.text = "empty or not readable";
    f.advice = "remove the file or reinstall the driver it belongs to";
  } else if (library.front() == '/' && !fs::exists(library, ignored)) {
    f.how = grade::problem;
    f.text = library + " does not exist";
    f.advice = "reinstall the driver, or remove this file if the driver was removed";
  }
  return f;
}

}  // namespace

finding examine_trial() {
  finding f{grade::good, "trial", "tutti-trial", {}, {}};
  try {
    const plugins::found_helper found = plugins::find_helper();
    f.text = found.program.string();
    if (found.against.empty()) return f;
    f.how = grade::note;
    f.text = found.against + ": a plugin in which a process ended is not tried again";
    f.advice = found.advice;
  } catch (const std::exception& e) {
    f.how = grade::problem;
    f.text = e.what();
    f.advice = "unset the variable";
  }
  return f;
}

std::vector<finding> examine_opencl_drivers() {
  std::vector<finding> all;
  fs::path place = "/etc/OpenCL/vendors";
  if (const auto other = base::env("OCL_ICD_VENDORS")) {
    place = *other;
    all.push_back({grade::note,
                   "OpenCL drivers",
                   "OCL_ICD_VENDORS",
                   fmt::format("set to {}; /etc/OpenCL/vendors is not used", *other),
                   {}});
  }
  std::vector<fs::path> files;
  std::error_code error;
  if (fs::is_regular_file(place, error)) files.push_back(place);
  for (fs::directory_iterator i(place, error), end; !error && i != end; i.increment(error))
    if (i->path().extension() == ".icd") files.push_back(i->path());
  std::sort(files.begin(), files.end());
  for (const fs::path& file : files) all.push_back(examine_vendor_file(file));
  if (files.empty())
    all.push_back({grade::note, "OpenCL drivers", place.string(), "no vendor file (*.icd)",
                   "install the OpenCL driver of your device; for the CPU: apt-get install "
                   "pocl-opencl-icd"});
  return all;
}

std::vector<finding> examine_cache() {
  base::disk_cache& cache = base::program_cache();
  const base::cache_options& options = cache.options();
  finding f{grade::good, "cache", options.folder.string(), {}, {}};
  if (!options.enabled) {
    f.how = grade::note;
    f.text = "disabled by TUTTI_CACHE_MB=0; every process compiles its programs again";
    return {f};
  }
  if (const std::string problem = cache.problem(); !problem.empty()) {
    f.how = grade::problem;
    f.text = problem;
    f.advice = "make it your own directory (chown, chmod 700), or set TUTTI_CACHE_DIR to one";
    return {f};
  }
  std::error_code error;
  const auto mode = static_cast<unsigned>(fs::status(options.folder, error).permissions());
  uint64_t bytes = 0;
  size_t entries = 0;
  for (const auto& file : base::private_folder(options.folder).list()) {
    bytes += file.bytes;
    entries += file.name.ends_with(".tutti") ? 1 : 0;
  }
  f.text = fmt::format("usable, mode {:04o}, {} programs, {} of at most {}", mode & 07777, entries,
                       size_text(bytes), size_text(options.limit_bytes));
  if ((mode & 0077) != 0) {
    f.how = grade::note;
    f.advice = fmt::format("chmod 700 {} prevents access by other users", options.folder.string());
  }
  std::vector<finding> all = {f};
  for (const auto& record : safety::process_journal().all())
    all.push_back({grade::note, "cache", record.text,
                   fmt::format("earlier processes ended within it; {}",
                               record.care < 2    ? "tried again as before"
                               : record.care == 2 ? "with more care from now on"
                                                  : "left out for a day"),
                   fmt::format("remove {} to try again at once", record.file.string())});
  return all;
}

}  // namespace tutti::tools
