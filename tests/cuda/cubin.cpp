// SPDX-License-Identifier: Apache-2.0
//
// ELF sections of a cubin by <elf.h>, and the instructions' fields as `nvdisasm -hex` shows them:
// 16 bytes each; bits 0 to 8 tell the operation, bits 73 to 75 how much an access to memory moves.
#include "cubin.hpp"

#include <elf.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <stdexcept>

namespace tutti::test {
namespace {

// Attributes of .nv.info: a byte that tells the form, one that names it, two of size, then symbol
// and value.
constexpr uint8_t sized_form = 0x04, of_registers = 0x2f, of_frame = 0x11;
constexpr uint64_t load_global = 0x181, load_local = 0x183, store_global = 0x186,
                   store_local = 0x187;

struct cubin {
  const char* bytes;
  size_t size;

  template <typename T>
  T at(uint64_t offset) const {
    if (offset > size || sizeof(T) > size - offset) throw std::runtime_error("cubin: cut off");
    T result;
    std::memcpy(&result, bytes + offset, sizeof result);
    return result;
  }
  Elf64_Ehdr header() const { return at<Elf64_Ehdr>(0); }
  Elf64_Shdr section(uint32_t number) const {
    return at<Elf64_Shdr>(header().e_shoff + number * sizeof(Elf64_Shdr));
  }
  std::string text(uint32_t table, uint32_t offset) const {
    std::string result;
    for (uint64_t n = section(table).sh_offset + offset; at<char>(n) != 0; ++n)
      result += at<char>(n);
    return result;
  }
};

void count(const cubin& file, const Elf64_Shdr& code, kernel_figures& k) {
  for (uint64_t n = 0; n + 16 <= code.sh_size; n += 16) {
    const uint64_t what = file.at<uint64_t>(code.sh_offset + n) & 0x1ff;
    const uint64_t width = file.at<uint64_t>(code.sh_offset + n + 8) >> 9 & 7;
    ++k.instructions;
    if (what == load_local) ++k.local_loads;
    if (what == store_local) ++k.local_stores;
    if (what != load_global && what != store_global) continue;
    access_counts& to = what == load_global ? k.loads : k.stores;
    ++(width == 6 ? to.whole : width == 5 ? to.wide : to.narrow);
  }
}

void read_attributes(const cubin& file, const Elf64_Shdr& info, uint32_t symbols,
                     std::map<std::string, kernel_figures>& kernels) {
  const Elf64_Shdr table = file.section(symbols);
  for (uint64_t n = 0; n + 4 <= info.sh_size;) {
    const uint64_t at = info.sh_offset + n;
    const auto form = file.at<uint8_t>(at), name = file.at<uint8_t>(at + 1);
    n += form == sized_form ? 4u + file.at<uint16_t>(at + 2) : 4u;
    if (form != sized_form || (name != of_registers && name != of_frame)) continue;
    const auto symbol =
        file.at<Elf64_Sym>(table.sh_offset + file.at<uint32_t>(at + 4) * sizeof(Elf64_Sym));
    const auto found = kernels.find(file.text(table.sh_link, symbol.st_name));
    if (found == kernels.end()) continue;
    (name == of_frame ? found->second.stack_bytes : found->second.registers) =
        file.at<uint32_t>(at + 8);
  }
}

}  // namespace

std::vector<kernel_figures> read_cubin(const std::vector<char>& image) {
  const cubin file{image.data(), image.size()};
  const Elf64_Ehdr header = file.header();
  constexpr uint16_t cuda_machine = 190;
  if (std::memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_machine != cuda_machine)
    throw std::runtime_error("cubin: not one");
  std::map<std::string, kernel_figures> kernels;
  const std::string code = ".text.", shared = ".nv.shared.";
  const auto each = [&](auto&& f) {
    for (uint32_t n = 0; n < header.e_shnum; ++n) {
      const Elf64_Shdr section = file.section(n);
      f(section, file.text(header.e_shstrndx, section.sh_name), n);
    }
  };
  uint32_t symbols = 0;
  each([&](const Elf64_Shdr& section, const std::string& name, uint32_t number) {
    if (section.sh_type == SHT_SYMTAB) symbols = number;
    if (name.rfind(code, 0) != 0) return;
    kernel_figures& k = kernels[name.substr(code.size())];
    k.name = name.substr(code.size());
    count(file, section, k);
  });
  each([&](const Elf64_Shdr& section, const std::string& name, uint32_t) {
    if (name == ".nv.info") read_attributes(file, section, symbols, kernels);
    const bool of_kernel = name.rfind(shared, 0) == 0 && kernels.count(name.substr(shared.size()));
    if (of_kernel)
      kernels[name.substr(shared.size())].shared_bytes = static_cast<uint32_t>(section.sh_size);
  });
  std::vector<kernel_figures> result;
  for (auto& [name, figures] : kernels) result.push_back(figures);
  return result;
}

double kernel_figures::occupancy(uint32_t block, int architecture) const {
  constexpr uint32_t all_registers = 65536, piece = 256, warps_at_once = 64, blocks_at_once = 32;
  const uint32_t all_shared = (architecture >= 90 ? 228u : 164u) << 10;
  const uint32_t warps = (block + 31) / 32;
  const uint32_t of_warp = (std::max(registers, 1u) * 32 + piece - 1) / piece * piece;
  // From 9.0 on the section holds what the system takes.
  const uint32_t with_reserved =
      architecture >= 90 ? std::max(shared_bytes, 1024u) : shared_bytes + 1024;
  const uint32_t blocks = std::min({blocks_at_once, warps_at_once / warps,
                                    all_registers / of_warp / warps, all_shared / with_reserved});
  return static_cast<double>(blocks * warps) / warps_at_once;
}

}  // namespace tutti::test
