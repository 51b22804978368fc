// SPDX-License-Identifier: Apache-2.0
//
// Loading libraries with dlopen, and the driver's function table.
#include <dlfcn.h>

#include <cstdlib>
#include <sstream>

#include "cuda/objects.hpp"

namespace tutti::cuda {
namespace {

driver_table the_table;

[[noreturn]] void throw_start(CUresult code) {
  // The stub that a toolkit installs under the driver's name without a driver reports this itself.
  throw sdk::plugin_error(
      code == CUDA_ERROR_STUB_LIBRARY ? TUTTI_ERROR_NO_DRIVER : TUTTI_ERROR_DRIVER,
      (code == CUDA_ERROR_STUB_LIBRARY ? "no NVIDIA driver, only the toolkit's stub of it: "
                                       : "the NVIDIA driver does not start: ") +
          error_text(code) + "; `nvidia-smi` and `dmesg` say more, a restart helps after an update",
      code);
}

void load_table() {
  const auto folder = sdk::option("CUDA_LIBRARIES");
  const std::string file = (folder ? *folder + "/" : "") + "libcuda.so.1";
  void* library = dlopen(file.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    const char* why = dlerror();
    throw sdk::plugin_error(
        TUTTI_ERROR_NO_DRIVER,
        "no NVIDIA driver: " + std::string(why != nullptr ? why : file) +
            "; on a machine with an NVIDIA GPU install its driver, one for CUDA " +
            version_text(oldest_driver) + " or later");
  }
  // The version first: an old driver lacks functions, and the version is a better message.
  the_table.error_name =
      reinterpret_cast<CUresult (*)(CUresult, const char**)>(symbol(library, "cuGetErrorName"));
  the_table.driver_version =
      reinterpret_cast<CUresult (*)(int*)>(symbol(library, "cuDriverGetVersion"));
  int version = 0;
  if (the_table.driver_version != nullptr) {
    const CUresult code = the_table.driver_version(&version);
    if (code != CUDA_SUCCESS) throw_start(code);
  }
  if (version < oldest_driver) {
    throw sdk::plugin_error(TUTTI_ERROR_DRIVER,
                            "the NVIDIA driver (" + file + ") is for CUDA " +
                                version_text(version) + ", Tutti needs one for CUDA " +
                                version_text(oldest_driver) + " or later; update the driver");
  }
  the_table.version = version;
#define TUTTI_CUDA_LOAD(member, name, parameters)                                          \
  the_table.member = reinterpret_cast<CUresult(*) parameters>(symbol(library, name));      \
  if (the_table.member == nullptr) {                                                       \
    throw sdk::plugin_error(TUTTI_ERROR_DRIVER,                                            \
                            "the NVIDIA driver (" + file + ") lacks " name "; update it"); \
  }
  TUTTI_CUDA_DRIVER_FUNCTIONS(TUTTI_CUDA_LOAD)
#undef TUTTI_CUDA_LOAD
  the_table.function_parameter = reinterpret_cast<decltype(the_table.function_parameter)>(
      symbol(library, "cuFuncGetParamInfo"));
}

bool initialise() {
  load_table();
  // Drivers older than 12.2 do this only on request: a module's kernels, including hundreds of
  // cuBLAS's, are loaded when they are first used.
  setenv("CUDA_MODULE_LOADING", "LAZY", 0);
  const CUresult code = the_table.init(0);
  if (code == CUDA_ERROR_NO_DEVICE) {
    throw sdk::plugin_error(TUTTI_ERROR_NO_DRIVER,
                            "the NVIDIA driver finds no device: " + error_text(code) +
                                "; see whether `nvidia-smi` lists it and what "
                                "CUDA_VISIBLE_DEVICES hides",
                            code);
  }
  if (code != CUDA_SUCCESS) throw_start(code);
  return true;
}

}  // namespace

const driver_table& driver() {
  static const bool ready = initialise();  // throws again on the next call
  (void)ready;
  return the_table;
}

const driver_table& cu() { return the_table; }

std::string version_text(int version) {
  return std::to_string(version / 1000) + "." + std::to_string(version % 1000 / 10);
}

void* symbol(void* library, const char* name) { return dlsym(library, name); }

void* open_library(const char* names, std::string& why) {
  std::vector<std::string> folders = {""};
  const auto only = sdk::option("CUDA_LIBRARIES");
  for (const char* variable : {"CUDA_HOME", "CUDA_PATH"}) {
    const char* value = std::getenv(variable);
    if (value == nullptr || *value == 0) continue;
    folders.push_back(std::string(value) + "/lib64/");
    folders.push_back(std::string(value) + "/lib/");
  }
  folders.push_back("/usr/local/cuda/lib64/");
  folders.push_back("/usr/local/cuda/lib/");
  if (only) folders = {*only + "/"};
  std::string searched;
  for (const std::string& folder : folders) {
    searched += (searched.empty() ? "" : ", ") + (folder.empty() ? "the loader's folders" : folder);
    std::istringstream list(names);
    for (std::string name; list >> name;) {
      if (void* library = dlopen((folder + name).c_str(), RTLD_LAZY | RTLD_LOCAL)) return library;
    }
  }
  why = std::string(names) + " not found (searched: " + searched + ")";
  return nullptr;
}

}  // namespace tutti::cuda
