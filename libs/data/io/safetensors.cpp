// SPDX-License-Identifier: Apache-2.0
//
// safetensors: 8 bytes of header length, a JSON header, the tensors' bytes.
#include "data/io/safetensors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "tutti/error.hpp"
#include "tutti/host_memory.hpp"

namespace tutti::io {

namespace safetensors {

layout layout_of(std::string_view op, const std::filesystem::path& path, const named_arrays& arrays,
                 const std::map<std::string, std::string>& metadata) {
  layout out;
  for (const auto& [name, a] : arrays) {
    if (name == metadata_name) {
      fail(op, path, fmt::format("{} is not a name for a tensor", printable(name)));
    }
    if (!has_dtype(a.dtype())) {
      fail(op, path,
           fmt::format("tensor {}: the format has no dtype {}", printable(name),
                       tutti::name(a.dtype())));
    }
    out.entries.push_back({name, a.dtype(), a.shape(), 0, 0});
  }
  // Wide elements first keeps every tensor aligned to its element size.
  std::stable_sort(out.entries.begin(), out.entries.end(), [](const entry& a, const entry& b) {
    return size_of(a.type) > size_of(b.type);
  });
  std::uint64_t position = 0;
  for (entry& e : out.entries) {
    e.begin = position;
    position += static_cast<std::uint64_t>(e.extents.size()) * size_of(e.type);
    e.end = position;
  }
  std::string text;
  try {
    text = render_header(out.entries, metadata);
  } catch (const nlohmann::json::exception&) {
    fail(op, path, "a name or metadata text is not UTF-8");
  }
  const std::uint64_t length = text.size();
  if (length > longest_header) fail(op, path, "too many tensors for one header");
  out.header.assign(reinterpret_cast<const char*>(&length), sizeof length);
  out.header += text;
  return out;
}

std::vector<entry> read_entries(reader& in, std::map<std::string, std::string>* metadata) {
  std::uint64_t length = 0;
  in.read(&length, sizeof length, "the header length");
  if (length > longest_header) {
    in.fail(fmt::format("header of {} bytes is too long", length));
  }
  if (length > in.remaining()) {
    in.fail(fmt::format("truncated: header of {} bytes, {} are left", length, in.remaining()));
  }
  std::string header(length, '\0');
  in.read(header.data(), length, "the header");

  try {
    return detail::within_host_memory(
        in.op(), length, 1, [&] { return parse_header(header, in.remaining(), metadata); });
  } catch (const malformed_header& e) {
    in.fail(e.what());
  }
}

named_arrays read(reader& in, const device& on, std::map<std::string, std::string>* metadata) {
  named_arrays out;
  out.source = in.path();
  for (const entry& e : read_entries(in, metadata)) {
    out.emplace(e.name, read_array(in, e.type, e.extents, "tensor " + printable(e.name), on));
  }
  return out;
}

}  // namespace safetensors

void save_safetensors(const std::filesystem::path& path, const named_arrays& arrays,
                      const std::map<std::string, std::string>& metadata) {
  constexpr std::string_view op = "save_safetensors";
  const safetensors::layout layout = safetensors::layout_of(op, path, arrays, metadata);
  writer out(op, path);
  out.write(layout.header);
  for (const safetensors::entry& e : layout.entries) out.write(arrays.at(e.name));
  out.commit();
}

named_arrays load_safetensors(const std::filesystem::path& path, const device& on,
                              std::map<std::string, std::string>* metadata) {
  reader in("load_safetensors", path);
  std::map<std::string, std::string> texts;
  named_arrays out = safetensors::read(in, on, &texts);
  if (metadata != nullptr) *metadata = std::move(texts);
  return out;
}

}  // namespace tutti::io
