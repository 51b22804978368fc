// SPDX-License-Identifier: Apache-2.0
//
// NVRTC, loaded at run time: compiles CUDA C++ to cubins; modules from source or from the host's
// cache.
#include <nvrtc.h>

#include <algorithm>
#include <chrono>
#include <sstream>

#include "cuda/objects.hpp"

namespace tutti::cuda {
namespace {

#define TUTTI_NVRTC_FUNCTIONS(X) \
  X(nvrtcVersion)                \
  X(nvrtcGetNumSupportedArchs)   \
  X(nvrtcGetSupportedArchs)      \
  X(nvrtcGetErrorString)         \
  X(nvrtcCreateProgram)          \
  X(nvrtcDestroyProgram)         \
  X(nvrtcCompileProgram)         \
  X(nvrtcGetProgramLogSize)      \
  X(nvrtcGetProgramLog)          \
  X(nvrtcGetCUBINSize)           \
  X(nvrtcGetCUBIN)               \
  X(nvrtcGetPTXSize)             \
  X(nvrtcGetPTX)

// For programs during whose compilation processes have crashed: crashes occur in optimisation
// passes, which are disabled for debuggable code.
constexpr const char* safer_options = " --device-debug";

struct compiler {
#define TUTTI_NVRTC_MEMBER(name) decltype(&::name) name = nullptr;
  TUTTI_NVRTC_FUNCTIONS(TUTTI_NVRTC_MEMBER)
#undef TUTTI_NVRTC_MEMBER
  std::string version;
  std::vector<int> architectures;  // 75, 80, ...: ascending
};

compiler load_compiler() {
  std::string why;
  void* library = open_library("libnvrtc.so.13 libnvrtc.so.12", why);
  if (library == nullptr) {
    throw sdk::plugin_error(TUTTI_ERROR_NO_DRIVER,
                            "CUDA's run-time compiler is missing: " + why +
                                "; install the CUDA toolkit (or its package cuda-nvrtc), or set "
                                "CUDA_HOME to where it is");
  }
  compiler c;
#define TUTTI_NVRTC_LOAD(name)                                          \
  c.name = reinterpret_cast<decltype(&::name)>(symbol(library, #name)); \
  if (c.name == nullptr) sdk::throw_unsupported("NVRTC is too old: it lacks " #name);
  TUTTI_NVRTC_FUNCTIONS(TUTTI_NVRTC_LOAD)
#undef TUTTI_NVRTC_LOAD
  int major = 0, minor = 0, count = 0;
  c.nvrtcVersion(&major, &minor);
  c.version = "NVRTC " + std::to_string(major) + "." + std::to_string(minor);
  if (c.nvrtcGetNumSupportedArchs(&count) == NVRTC_SUCCESS && count > 0) {
    c.architectures.resize(static_cast<size_t>(count));
    c.nvrtcGetSupportedArchs(c.architectures.data());
    std::sort(c.architectures.begin(), c.architectures.end());
  }
  return c;
}

const compiler& nvrtc() {
  static const compiler* const loaded = new compiler(load_compiler());  // never unloaded
  return *loaded;
}

struct program_guard {
  nvrtcProgram handle = nullptr;
  ~program_guard() {
    if (handle != nullptr) nvrtc().nvrtcDestroyProgram(&handle);
  }
};

std::string log_of(nvrtcProgram program) {
  size_t size = 0;
  if (nvrtc().nvrtcGetProgramLogSize(program, &size) != NVRTC_SUCCESS || size <= 1) return {};
  std::string text(size, '\0');
  nvrtc().nvrtcGetProgramLog(program, text.data());
  return std::string(text.c_str());
}

// Macros are defined in the source: NVRTC's own header precedes it and uses such short names.
struct split_options {
  explicit split_options(const std::string& options) {
    std::istringstream words(options);
    for (std::string word; words >> word;) {
      if (word.rfind("-D", 0) != 0) {
        flags.push_back(word);
        continue;
      }
      std::replace(word.begin(), word.end(), '=', ' ');
      defines += "#define " + word.substr(2) + '\n';
    }
  }
  std::string defines;
  std::vector<std::string> flags;
};

[[noreturn]] void throw_compile(nvrtcResult code, const std::string& label,
                                const std::string& more) {
  throw sdk::plugin_error(
      TUTTI_ERROR_COMPILE,
      label + ": " + nvrtc().nvrtcGetErrorString(code) + " (" + compiler_version() + ")" + more,
      static_cast<int32_t>(code));
}

}  // namespace

const std::string& compiler_version() { return nvrtc().version; }

std::string architecture_for(int major, int minor) {
  const int wanted = 10 * major + minor;
  const std::vector<int>& known = nvrtc().architectures;
  if (known.empty()) return "compute_" + std::to_string(wanted);
  if (std::binary_search(known.begin(), known.end(), wanted)) {
    return "sm_" + std::to_string(wanted);
  }
  // The device is newer than the compiler: PTX of its newest architecture, which the driver
  // compiles.
  const auto after = std::upper_bound(known.begin(), known.end(), wanted);
  if (after == known.begin()) {
    sdk::throw_unsupported("compute capability ", major, ".", minor, " is older than what ",
                           nvrtc().version, " compiles for (", known.front() / 10, ".",
                           known.front() % 10, " and later)");
  }
  return "compute_" + std::to_string(*(after - 1));
}

namespace {

// `file` is the name of the source in messages.
std::vector<char> compile_with(const std::string& source, const std::string& file,
                               const std::string& architecture,
                               const std::vector<std::string>& flags, const std::string& label) {
  const compiler& c = nvrtc();
  program_guard program;
  nvrtcResult code =
      c.nvrtcCreateProgram(&program.handle, source.c_str(), file.c_str(), 0, nullptr, nullptr);
  if (code != NVRTC_SUCCESS) throw_compile(code, label, "");
  const std::string target = "--gpu-architecture=" + architecture;
  std::vector<const char*> all = {target.c_str()};
  for (const std::string& flag : flags) all.push_back(flag.c_str());
  code = c.nvrtcCompileProgram(program.handle, static_cast<int>(all.size()), all.data());
  if (code != NVRTC_SUCCESS) {
    throw_compile(code, label, " for " + architecture + "\n" + log_of(program.handle));
  }
  if (const std::string warnings = log_of(program.handle); !warnings.empty()) {
    log(TUTTI_LOG_DEBUG, label + ": " + warnings);
  }
  const bool ptx = architecture.rfind("compute_", 0) == 0;
  size_t size = 0;
  code =
      ptx ? c.nvrtcGetPTXSize(program.handle, &size) : c.nvrtcGetCUBINSize(program.handle, &size);
  std::vector<char> image(size);
  if (code == NVRTC_SUCCESS) {
    code = ptx ? c.nvrtcGetPTX(program.handle, image.data())
               : c.nvrtcGetCUBIN(program.handle, image.data());
  }
  if (code != NVRTC_SUCCESS) throw_compile(code, label, "");
  return image;
}

}  // namespace

std::vector<char> compile(const std::string& source, const std::string& architecture,
                          const std::string& options, const std::string& label) {
  split_options words(options);
  words.flags.insert(words.flags.begin(), {"--std=c++17", "--device-as-default-execution-space"});
  return compile_with(words.defines + source, "tutti.cu", architecture, words.flags, label);
}

module::~module() {
  if (handle_ == nullptr) return;
  const scoped_context context(*device_, std::nothrow);
  cu().module_unload(handle_);
}

CUresult module::find(const char* name, CUfunction* result) const {
  return cu().module_function(result, handle_, name);
}

CUfunction module::function(const char* name) const {
  CUfunction result = nullptr;
  const CUresult code = find(name, &result);
  if (code != CUDA_SUCCESS) throw_error(device_, code, std::string("kernel ") + name);
  return result;
}

namespace {

// From source by `compile(architecture, careful options)`, or from the host's cache.
template <class Compile>
module build_cached(tutti_device& device, const std::string& source, const std::string& own_options,
                    const std::string& label, Compile&& compile) {
  const device_info& info = *device.info;
  const auto start = std::chrono::steady_clock::now();
  const std::string architecture = architecture_for(info.major, info.minor);
  const auto key_with = [&](const std::string& options) {
    return compiler_version() + ' ' + architecture + ' ' + options + '\n' + source;
  };
  const sdk::compilation guard(info, key_with(own_options), label);
  const std::string careful = guard.careful_options(safer_options);
  const std::string key = key_with(own_options + careful);
  std::vector<char> image;
  CUmodule handle = nullptr;
  if (sdk::cache_load(info, key, image)) {
    const CUresult code = cu().module_load(&handle, image.data());
    if (code == CUDA_SUCCESS) {
      sdk::report_compiled(label, start, true);
      return module(&device, handle);
    }
    if (is_sticky(code)) throw_error(&device, code, label);
    log(TUTTI_LOG_WARN, label + ": " + info.name + " refused the cached cubin, compiling again");
  }
  image = compile(architecture, careful);
  const CUresult code = cu().module_load(&handle, image.data());
  if (code != CUDA_SUCCESS) throw_error(&device, code, label + ": loading " + architecture);
  module result(&device, handle);
  sdk::cache_store(info, key, image);
  sdk::report_compiled(label, start, false);
  return result;
}

}  // namespace

module build_module(tutti_device& device, const std::string& source, const std::string& options,
                    const std::string& label) {
  return build_cached(device, source, options, label,
                      [&](const std::string& architecture, const std::string& careful) {
                        return compile(source, architecture, options + careful, label);
                      });
}

module build_application(tutti_device& device, const std::string& source,
                         const std::string& options, const std::string& label) {
  // Distinguishes it from the plugin's own builds of the same text.
  return build_cached(device, source, "application " + options, label,
                      [&](const std::string& architecture, const std::string& careful) {
                        std::vector<std::string> flags;
                        std::istringstream words(options + careful);
                        for (std::string word; words >> word;) flags.push_back(word);
                        return compile_with(source, label + ".cu", architecture, flags, label);
                      });
}

module load_application(tutti_device& device, const std::string& ptx, const std::string& label) {
  const auto start = std::chrono::steady_clock::now();
  std::vector<char> log(16384, '\0');
  CUjit_option options[] = {CU_JIT_ERROR_LOG_BUFFER, CU_JIT_ERROR_LOG_BUFFER_SIZE_BYTES};
  void* values[] = {log.data(), reinterpret_cast<void*>(log.size() - 1)};
  CUmodule handle = nullptr;
  const CUresult code = cu().module_load_with(&handle, ptx.c_str(), 2, options, values);
  if (is_sticky(code)) throw_error(&device, code, label);
  if (code != CUDA_SUCCESS) {
    throw sdk::plugin_error(
        TUTTI_ERROR_COMPILE,
        label + ": " + error_text(code) + " on " + device.info->name + "\n" + log.data(), code);
  }
  sdk::report_compiled(label, start, false);
  return module(&device, handle);
}

void launch(tutti_stream& stream, CUfunction function, const launch_grid& grid, void** arguments,
            const char* what) {
  const auto& [b, t, shared_bytes] = grid;
  check(stream.device,
        cu().launch(function, b[0], b[1], b[2], t[0], t[1], t[2], shared_bytes, stream.handle,
                    arguments, nullptr),
        what);
}

void launch(tutti_stream& stream, CUfunction function, uint64_t groups, unsigned group_size,
            void** arguments, const char* what, unsigned groups_y) {
  launch(stream, function, {{static_cast<unsigned>(groups), groups_y, 1}, {group_size, 1, 1}, 0},
         arguments, what);
}

}  // namespace tutti::cuda

CUfunction tutti_device::kernel(std::string_view source, const std::string& options,
                                const char* name) {
  using namespace tutti::cuda;
  const std::string module_key =
      std::to_string(reinterpret_cast<uintptr_t>(source.data())) + ' ' + options;
  const std::string kernel_key = module_key + ' ' + name;
  // Not compiled under the lock, which throw_error takes as well; the first module to arrive is
  // kept.
  std::unique_lock lock(mutex);
  if (const auto found = kernels.find(kernel_key); found != kernels.end()) return found->second;
  const auto known = modules.find(module_key);
  if (known == modules.end()) {
    lock.unlock();
    module built = build_module(*this, std::string(source), options, name);
    lock.lock();
    modules.emplace(module_key, std::move(built));
  }
  const module& from = modules.at(module_key);
  lock.unlock();
  const CUfunction function = from.function(name);
  lock.lock();
  kernels.emplace(kernel_key, function);
  return function;
}
