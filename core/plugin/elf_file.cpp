// SPDX-License-Identifier: Apache-2.0
#include "plugin/elf_file.hpp"

#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <bit>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <optional>
#include <string_view>
#include <type_traits>

namespace tutti::detail {
namespace {

namespace fs = std::filesystem;

using elf_header = ElfW(Ehdr);
using segment = ElfW(Phdr);

constexpr unsigned char own_class = sizeof(void*) == 8 ? ELFCLASS64 : ELFCLASS32;
constexpr unsigned char own_order =
    std::endian::native == std::endian::little ? ELFDATA2LSB : ELFDATA2MSB;
constexpr std::uint64_t most_segments = 4096;

template <class T>
bool read_at(std::ifstream& file, std::uint64_t at, T& out) {
  static_assert(std::is_trivially_copyable_v<T>);
  file.clear();
  file.seekg(static_cast<std::streamoff>(at));
  file.read(reinterpret_cast<char*>(&out), sizeof out);
  return file.gcount() == static_cast<std::streamsize>(sizeof out);
}

/// The class and the order of bytes stand alike in the headers of all; the rest only where both are
/// ours.
bool is_elf(const elf_header& h) { return std::memcmp(h.e_ident, ELFMAG, SELFMAG) == 0; }

std::string machine_name(unsigned machine) {
  switch (machine) {
    case EM_386:
      return "x86";
    case EM_X86_64:
      return "x86-64";
    case EM_ARM:
      return "ARM";
    case EM_AARCH64:
      return "AArch64";
    case EM_RISCV:
      return "RISC-V";
    case EM_PPC64:
      return "PowerPC";
    case EM_S390:
      return "s390";
    default:
      return fmt::format("the processor of ELF number {}", machine);
  }
}

/// Of this process: its program's.
std::optional<elf_header> own_header() {
  std::ifstream file("/proc/self/exe", std::ios::binary);
  elf_header h{};
  if (!read_at(file, 0, h) || !is_elf(h)) return std::nullopt;
  return h;
}

/// The bytes that the file must have, by its segments; 0 where that is not to be seen.
std::uint64_t needed_bytes(std::ifstream& file, const elf_header& h) {
  std::uint64_t most = 0;
  if (h.e_phentsize != sizeof(segment)) return 0;
  for (std::uint64_t i = 0; i < std::min<std::uint64_t>(h.e_phnum, most_segments); ++i) {
    segment s{};
    if (!read_at(file, h.e_phoff + i * sizeof s, s)) return h.e_phoff + h.e_phnum * sizeof s;
    if (s.p_type == PT_LOAD && s.p_filesz > 0)
      most = std::max<std::uint64_t>(most, s.p_offset + s.p_filesz);
  }
  return most;
}

}  // namespace

std::string elf_problem(const fs::path& path) {
  std::error_code error;
  const std::uint64_t bytes = fs::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  elf_header h{};
  if (error || !read_at(file, 0, h) || !is_elf(h)) return {};
  if (h.e_ident[EI_CLASS] != own_class)
    return fmt::format("is for {} bits, this library for {}",
                       h.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32,
                       own_class == ELFCLASS64 ? 64 : 32);
  if (h.e_ident[EI_DATA] != own_order) return "is for a processor with another order of bytes";
  const auto own = own_header();
  if (own && h.e_machine != own->e_machine)
    return fmt::format("is for {}, this library for {}", machine_name(h.e_machine),
                       machine_name(own->e_machine));
  if (const std::uint64_t needed = needed_bytes(file, h); needed > bytes)
    return fmt::format("is cut off: it has {} bytes of {}", bytes, needed);
  return {};
}

}  // namespace tutti::detail
