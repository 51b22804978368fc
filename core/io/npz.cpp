// SPDX-License-Identifier: Apache-2.0
//
// NumPy's .npz format: a ZIP archive of .npy files.
#include <algorithm>

#include "tutti/error.hpp"
#include "tutti/io.hpp"
#include "zip.hpp"

namespace tutti::io {

void save_npz(const std::filesystem::path& path, const named_arrays& arrays, compression packed) {
  writer out("save_npz", path);
  zip_writer archive(out);
  for (const auto& [name, a] : arrays) {
    const auto refuse = [&](const char* what) {
      fail("save_npz", path, printable(name) + " " + what);
    };
    const std::string file = name + ".npy";
    if (name.empty()) refuse("is no name");
    if (file.size() > zip_writer::longest_name) refuse("is too long a name");
    std::string bytes = npy_header_of("save_npz", path, a);
    const std::size_t start = bytes.size();
    bytes.resize(start + a.nbytes());
    a.copy_to(bytes.data() + start, a.nbytes());
    archive.add(file, bytes, packed == compression::deflate);
  }
  archive.finish();
  out.commit();
}

named_arrays load_npz(const std::filesystem::path& path, const device& on) {
  constexpr std::string_view suffix = ".npy";
  reader in("load_npz", path);
  named_arrays out;
  for (const zip_member& member : read_zip_directory(in)) {
    std::string name = member.name;
    if (!name.ends_with(suffix)) in.fail(printable(name) + " is not a .npy file");
    name.resize(name.size() - suffix.size());
    if (out.contains(name)) in.fail(printable(name) + " is there twice");
    const std::string place = path.string() + ": " + printable(member.name);
    reader bytes("load_npz", place, read_zip_member(in, member));
    out.emplace(name, read_npy(bytes, on));
  }
  return out;
}

}  // namespace tutti::io
