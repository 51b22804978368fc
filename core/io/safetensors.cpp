// SPDX-License-Identifier: Apache-2.0
//
// safetensors: 8 bytes of header length, a JSON header, the tensors' bytes.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "file.hpp"
#include "safetensors_header.hpp"
#include "tutti/error.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/io.hpp"

namespace tutti::io {

using safetensors::entry;

void save_safetensors(const std::filesystem::path& path, const named_arrays& arrays,
                      const std::map<std::string, std::string>& metadata) {
  constexpr std::string_view op = "save_safetensors";
  std::vector<entry> entries;
  for (const auto& [name, a] : arrays) {
    if (name == safetensors::metadata_name) {
      fail(op, path, fmt::format("{} is not a name for a tensor", printable(name)));
    }
    if (!safetensors::has_dtype(a.dtype())) {
      fail(op, path,
           fmt::format("tensor {}: the format has no dtype {}", printable(name),
                       tutti::name(a.dtype())));
    }
    entries.push_back({name, a.dtype(), a.shape(), 0, 0});
  }
  // Wide elements first keeps every tensor aligned to its element size.
  std::stable_sort(entries.begin(), entries.end(), [](const entry& a, const entry& b) {
    return size_of(a.type) > size_of(b.type);
  });
  std::uint64_t position = 0;
  for (entry& e : entries) {
    e.begin = position;
    position += static_cast<std::uint64_t>(e.extents.size()) * size_of(e.type);
    e.end = position;
  }
  std::string header;
  try {
    header = safetensors::render_header(entries, metadata);
  } catch (const nlohmann::json::exception&) {
    fail(op, path, "a name or metadata text is not UTF-8");
  }
  const std::uint64_t length = header.size();
  if (length > safetensors::longest_header) fail(op, path, "too many tensors for one header");

  writer out(op, path);
  out.write(&length, sizeof length);
  out.write(header);
  for (const entry& e : entries) out.write(arrays.at(e.name));
  out.commit();
}

named_arrays load_safetensors(const std::filesystem::path& path, const device& on) {
  reader in("load_safetensors", path);
  std::uint64_t length = 0;
  in.read(&length, sizeof length, "the header length");
  if (length > safetensors::longest_header) {
    in.fail(fmt::format("header of {} bytes is too long", length));
  }
  if (length > in.remaining()) {
    in.fail(fmt::format("truncated: header of {} bytes, {} are left", length, in.remaining()));
  }
  std::string header(length, '\0');
  in.read(header.data(), length, "the header");

  std::vector<entry> entries;
  try {
    entries = detail::within_host_memory(
        in.op(), length, 1, [&] { return safetensors::parse_header(header, in.remaining()); });
  } catch (const safetensors::malformed_header& e) {
    in.fail(e.what());
  }
  named_arrays out;
  for (const entry& e : entries) {
    out.emplace(e.name, read_array(in, e.type, e.extents, "tensor " + printable(e.name), on));
  }
  return out;
}

}  // namespace tutti::io
