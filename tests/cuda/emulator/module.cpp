// SPDX-License-Identifier: Apache-2.0
//
// Compiled kernels as shared objects: loaded from bytes, each time anew.
#include <dlfcn.h>
#include <link.h>
#include <sys/mman.h>
#include <unistd.h>

#include <stdexcept>

#include "launch.hpp"

namespace tutti_emulator {
namespace {

// The range of the object that holds `inside`.
struct found_range {
  uintptr_t inside, first, last;
};

int look(dl_phdr_info* info, size_t, void* opaque) {
  auto& range = *static_cast<found_range*>(opaque);
  uintptr_t first = ~uintptr_t{0}, last = 0;
  for (int n = 0; n < info->dlpi_phnum; ++n) {
    const auto& part = info->dlpi_phdr[n];
    if (part.p_type != PT_LOAD) continue;
    first = std::min<uintptr_t>(first, info->dlpi_addr + part.p_vaddr);
    last = std::max<uintptr_t>(last, info->dlpi_addr + part.p_vaddr + part.p_memsz);
  }
  if (range.inside < first || range.inside >= last) return 0;
  range.first = first;
  range.last = last;
  return 1;
}

// Never the same twice, though numbers of files are: the loader takes a path that it knows for the
// object that it has. The count is spelt in steps that lead nowhere.
std::string path_of(int file) {
  static unsigned count = 0;
  std::string path = "/proc/self/fd";
  for (unsigned left = ++count; left != 0; left /= 2) path += left % 2 != 0 ? "/." : "/";
  return path + "/" + std::to_string(file);
}

}  // namespace

module::module(const void* elf, size_t bytes) {
  // A file of its own, so that two loads of the same bytes share nothing.
  const int file = memfd_create("kernel", MFD_CLOEXEC);
  if (file < 0 || write(file, elf, bytes) != static_cast<ssize_t>(bytes))
    throw std::runtime_error("memfd_create failed");
  handle = dlopen(path_of(file).c_str(), RTLD_NOW | RTLD_LOCAL);
  close(file);
  if (handle == nullptr) throw std::runtime_error(dlerror());
  const auto get = reinterpret_cast<image* (*)()>(dlsym(handle, "emulator_image"));
  if (get == nullptr) throw std::runtime_error("no kernel of the emulator");
  code = get();
  found_range range{reinterpret_cast<uintptr_t>(code), 0, 0};
  dl_iterate_phdr(look, &range);
  first = range.first;
  last = range.last;
}

module::~module() {
  if (handle != nullptr) dlclose(handle);
}

const kernel* module::find(const std::string& name) const {
  return static_cast<const kernel*>(dlsym(handle, ("emulator_kernel_" + name).c_str()));
}

}  // namespace tutti_emulator
