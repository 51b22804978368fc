// SPDX-License-Identifier: Apache-2.0
//
// NumPy's .npz format: a ZIP archive of .npy files.
#include "tutti/data/io.hpp"
#include "tutti/host_memory.hpp"
#include "zip.hpp"

namespace tutti::io {

void save_npz(const std::filesystem::path& path, const named_arrays& arrays, compression packed) {
  writer out("save_npz", path);
  zip_writer archive(out);
  for (const auto& [name, a] : arrays) {
    const auto refuse = [&](const char* what) { out.fail(printable(name) + " " + what); };
    const std::string file = name + ".npy";
    if (name.empty()) refuse("is no name");
    if (file.size() > zip_writer::longest_name) refuse("is too long a name");
    if (name.find('\0') != std::string::npos) refuse("has a NUL in it");
    const std::string header = npy_header_of("save_npz", path, a);
    const auto bytes = [header, a] {
      const std::uint64_t size = header.size() + a.nbytes();
      std::string file_bytes =
          detail::within_host_memory("save_npz", size, 1, [&] { return std::string(size, '\0'); });
      header.copy(file_bytes.data(), header.size());
      a.copy_to(file_bytes.data() + header.size(), a.nbytes());
      return file_bytes;
    };
    archive.add(file, header.size() + a.nbytes(), bytes, packed == compression::deflate);
  }
  archive.finish();
  out.commit();
}

named_arrays load_npz(const std::filesystem::path& path, const device& on) {
  constexpr std::string_view suffix = ".npy";
  reader in("load_npz", path);
  zip_reader archive(in);
  named_arrays out;
  out.source = path;
  for (std::uint64_t i = 0; i < archive.count(); ++i) {
    const std::string file = archive.name(i);
    if (!file.ends_with(suffix)) in.fail(printable(file) + " is not a .npy file");
    const std::string name = file.substr(0, file.size() - suffix.size());
    if (out.contains(name)) in.fail(printable(name) + " is there twice");
    reader bytes("load_npz", path.string() + ": " + printable(file), archive.read(i));
    out.emplace(name, read_npy(bytes, on));
  }
  archive.finish();
  return out;
}

}  // namespace tutti::io
