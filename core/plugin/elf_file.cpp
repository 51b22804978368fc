// SPDX-License-Identifier: Apache-2.0
#include "plugin/elf_file.hpp"

#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>

namespace tutti::plugins {

namespace {

using elf_header = ElfW(Ehdr);

template <class T>
bool read_at(std::ifstream& file, std::uint64_t at, T& to) {
  file.seekg(static_cast<std::streamoff>(at));
  return static_cast<bool>(file.read(reinterpret_cast<char*>(&to), sizeof to));
}

bool is_for_same_machine(const elf_header& a, const elf_header& b) {
  return a.e_ident[EI_CLASS] == b.e_ident[EI_CLASS] && a.e_ident[EI_DATA] == b.e_ident[EI_DATA] &&
         a.e_machine == b.e_machine;
}

}  // namespace

std::string elf_problem(const std::filesystem::path& path) {
  std::error_code error;
  const std::uint64_t bytes = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary), self("/proc/self/exe", std::ios::binary);
  elf_header head{}, own{};
  if (error || !read_at(file, 0, head) || std::memcmp(head.e_ident, ELFMAG, SELFMAG) != 0)
    return {};
  if (read_at(self, 0, own) && !is_for_same_machine(head, own)) return "is for another processor";
  std::uint64_t needed = head.e_phoff + head.e_phnum * sizeof(ElfW(Phdr));
  for (unsigned i = 0; i < head.e_phnum && needed <= bytes; ++i) {
    ElfW(Phdr) segment{};
    if (!read_at(file, head.e_phoff + i * sizeof segment, segment)) break;
    if (segment.p_type == PT_LOAD)
      needed = std::max<std::uint64_t>(needed, segment.p_offset + segment.p_filesz);
  }
  return needed > bytes ? fmt::format("is cut off: it has {} bytes of {}", bytes, needed) : "";
}

}  // namespace tutti::plugins
