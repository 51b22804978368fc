// SPDX-License-Identifier: Apache-2.0
//
// The functions of NVRTC, by the host's compiler: what comes out as a cubin is a shared object. It
// is kept in TUTTI_EMULATOR_CACHE by the hash of all that went in, and where the build goes through
// ccache, it is looked for there as well: other builds and clones have had most of them. Optimised
// little, no multiply-add is made up, and every access to memory is told to the emulator
// (kernel_hooks.cpp).
#include <fcntl.h>
#include <nvrtc.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <sstream>
#include <string>
#include <vector>

#include "kernel_text.hpp"

struct _nvrtcProgram {
  std::string source, name, log, object;
};

namespace tutti_emulator {
namespace {

namespace fs = std::filesystem;

std::string contents(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void store(const fs::path& file, const std::string& text) {
  std::ofstream(file, std::ios::binary) << text;
}

std::string hash(const std::string& text) {
  uint64_t a = 14695981039346656037ull, b = 88172645463325252ull;
  for (const char c : text) {
    a = (a ^ static_cast<unsigned char>(c)) * 1099511628211ull;
    b = (b + static_cast<unsigned char>(c)) * 6364136223846793005ull + (b >> 29);
  }
  std::ostringstream out;
  out << std::hex << a << b;
  return out.str();
}

fs::path folder() {
  const char* text = std::getenv("TUTTI_EMULATOR_CACHE");
  const fs::path chosen = text != nullptr ? text : fs::temp_directory_path() / "tutti-emulator";
  fs::create_directories(chosen);
  return chosen;
}

// Runs the host's compiler in `folder`; what it says goes to `log` there.
bool run(std::vector<std::string> words, const fs::path& folder) {
  words.insert(words.begin(), EMULATOR_COMPILER);
  if (*EMULATOR_LAUNCHER != 0) words.insert(words.begin(), EMULATOR_LAUNCHER);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, 2, "log", O_WRONLY | O_CREAT | O_TRUNC, 0600);
  pid_t child = 0;
  const int failed =
      posix_spawnp(&child, arguments[0], &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  int status = 0;
  return failed == 0 && waitpid(child, &status, 0) == child && status == 0;
}

bool is_known(const std::string& option) {
  for (const char* known : {"--std=", "--gpu-architecture=", "--fmad=", "--device-debug",
                            "--device-as-default-execution-space", "-D", "-I"})
    if (option.rfind(known, 0) == 0) return true;
  return false;
}

const std::vector<std::string> common = {
    "-x", "c++", "-std=c++17", "-nostdinc", "-nostdinc++", "-w", "-fno-diagnostics-color"};

// Structures are not taken apart: the access to a vector is to stay one, as its alignment counts.
const std::vector<std::string> for_kernels = {"-O1",
                                              "-fPIC",
                                              "-fvisibility=hidden",
                                              "-fno-exceptions",
                                              "-fno-rtti",
                                              "-fwrapv",
                                              "-fno-strict-aliasing",
                                              "-ffp-contract=off",
                                              "-fno-math-errno",
                                              "-fno-tree-sra",
                                              "-fno-ipa-sra",
                                              "-fno-tree-loop-distribute-patterns",
                                              "-fsanitize=thread",
                                              "--param",
                                              "tsan-instrument-func-entry-exit=0",
                                              "-include",
                                              EMULATOR_WORDS,
                                              "-c"};

// True where `object` has come out. The steps go on in a folder of their own, in which names are
// always the same: ccache looks at them.
bool build(_nvrtcProgram& p, const std::vector<std::string>& defines, const fs::path& object) {
  static std::atomic<int> count = 0;
  const fs::path folder =
      object.string() + "." + std::to_string(getpid()) + "." + std::to_string(++count);
  fs::create_directory(folder);
  const auto step = [&](std::vector<std::string> words) {
    const bool good = run(std::move(words), folder);
    if (!good) p.log += contents(folder / "log");
    return good;
  };
  const auto with = [&](std::vector<std::string> words) {
    words.insert(words.begin(), common.begin(), common.end());
    return words;
  };
  std::vector<std::string> first = with({"-E", "-D__CUDACC__", "-D__CUDACC_RTC__",
                                         "-D__CUDA_ARCH__=900", "-o", "kernel.ii", "kernel.cu"});
  first.insert(first.end(), defines.begin(), defines.end());
  store(folder / "kernel.cu", "#line 1 \"" + p.name + "\"\n" + p.source);
  bool good = step(first);
  if (good) {
    store(folder / "kernel.cu", for_host(contents(folder / "kernel.ii")));
    std::vector<std::string> second = with({"-o", "kernel.o", "kernel.cu"});
    second.insert(second.end(), for_kernels.begin(), for_kernels.end());
    good = step(second) && step({"-shared", "-nostdlib", "-o", "kernel.so", "kernel.o",
                                 EMULATOR_HOOKS, "-lm", "-lc", "-lgcc"});
  }
  std::error_code ignored;
  if (good) fs::rename(folder / "kernel.so", object, ignored);
  fs::remove_all(folder, ignored);
  return good;
}

}  // namespace
}  // namespace tutti_emulator

using namespace tutti_emulator;

#define NVRTC(name, parameters) \
  extern "C" __attribute__((visibility("default"))) nvrtcResult name parameters

NVRTC(nvrtcVersion, (int* major, int* minor)) {
  *major = 13;
  *minor = 0;
  return NVRTC_SUCCESS;
}
NVRTC(nvrtcGetNumSupportedArchs, (int* count)) {
  *count = 1;
  return NVRTC_SUCCESS;
}
NVRTC(nvrtcGetSupportedArchs, (int* list)) {
  list[0] = 90;
  return NVRTC_SUCCESS;
}
extern "C" __attribute__((visibility("default"))) const char* nvrtcGetErrorString(
    nvrtcResult code) {
  return code == NVRTC_ERROR_COMPILATION      ? "NVRTC_ERROR_COMPILATION"
         : code == NVRTC_ERROR_INVALID_OPTION ? "NVRTC_ERROR_INVALID_OPTION"
                                              : "an error of NVRTC";
}
NVRTC(nvrtcCreateProgram, (nvrtcProgram * program, const char* source, const char* name, int,
                           const char* const*, const char* const*)) {
  *program = new _nvrtcProgram{source, name, {}, {}};
  return NVRTC_SUCCESS;
}
NVRTC(nvrtcDestroyProgram, (nvrtcProgram * program)) {
  delete *program;
  *program = nullptr;
  return NVRTC_SUCCESS;
}
NVRTC(nvrtcCompileProgram, (nvrtcProgram program, int count, const char* const* options)) {
  std::vector<std::string> defines;
  std::string key;
  for (int n = 0; n < count; ++n) {
    const std::string option = options[n];
    if (!is_known(option)) {
      program->log = "nvrtc: error: unrecognized option " + option;
      return NVRTC_ERROR_INVALID_OPTION;
    }
    if (option.rfind("-D", 0) == 0 || option.rfind("-I", 0) == 0) defines.push_back(option);
    key += option + '\n';
  }
  static const std::string words = contents(EMULATOR_WORDS) + contents(EMULATOR_HOOKS);
  const fs::path object = folder() / (hash(words + key + program->name + program->source) + ".so");
  if (!fs::exists(object) && !build(*program, defines, object)) return NVRTC_ERROR_COMPILATION;
  program->object = contents(object);
  return NVRTC_SUCCESS;
}
NVRTC(nvrtcGetProgramLogSize, (nvrtcProgram program, size_t* bytes)) {
  *bytes = program->log.size() + 1;
  return NVRTC_SUCCESS;
}
NVRTC(nvrtcGetProgramLog, (nvrtcProgram program, char* log)) {
  program->log.copy(log, program->log.size());
  log[program->log.size()] = 0;
  return NVRTC_SUCCESS;
}
NVRTC(nvrtcGetCUBINSize, (nvrtcProgram program, size_t* bytes)) {
  *bytes = program->object.size();
  return NVRTC_SUCCESS;
}
NVRTC(nvrtcGetCUBIN, (nvrtcProgram program, char* image)) {
  program->object.copy(image, program->object.size());
  return NVRTC_SUCCESS;
}
NVRTC(nvrtcGetPTXSize, (nvrtcProgram, size_t*)) { return NVRTC_ERROR_INVALID_INPUT; }
NVRTC(nvrtcGetPTX, (nvrtcProgram, char*)) { return NVRTC_ERROR_INVALID_INPUT; }
