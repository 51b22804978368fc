// SPDX-License-Identifier: Apache-2.0
#include "data/checkpoint/format.hpp"

#include <fmt/format.h>
#include <sodium.h>

#include <algorithm>
#include <cstring>

#include "base/fail.hpp"
#include "data/checkpoint/durable_file.hpp"
#include "data/io/safetensors.hpp"
#include "tutti/host_array.hpp"
#include "tutti/host_memory.hpp"

namespace tutti::data {

namespace {

constexpr std::string_view checkpoint_magic = "TUTTICKP";
constexpr std::uint32_t checkpoint_version = 1;
constexpr std::size_t bound_bytes = 32;  // of the head, before the stream's header
constexpr std::size_t head_bytes = 64;
constexpr std::size_t sum_bytes = 32, tail_bytes = 8 + sum_bytes;
constexpr std::size_t piece_bytes = std::size_t{1} << 18;

using checksum = std::array<unsigned char, sum_bytes>;

template <class T>
void put(std::string& out, T value) {
  out.append(reinterpret_cast<const char*>(&value), sizeof value);
}
template <class T>
T get(const std::string& in, std::size_t at) {
  T value{};
  std::memcpy(&value, in.data() + at, sizeof value);
  return value;
}

class summing {
 public:
  summing() {
    start_encryption();
    crypto_generichash_init(&state_, nullptr, 0, sum_bytes);
  }
  void take(bytes_view piece) { crypto_generichash_update(&state_, piece.data(), piece.size()); }
  checksum finish() {
    checksum out{};
    crypto_generichash_final(&state_, out.data(), out.size());
    return out;
  }

 private:
  crypto_generichash_state state_;
};

bytes_view view_of(std::string_view text) {
  return {reinterpret_cast<const unsigned char*>(text.data()), text.size()};
}

[[noreturn]] void damaged(const io::reader& in, std::string_view what) {
  base::fail<damaged_checkpoint>("{}: {}: {}", in.op(), in.path().string(), what);
}

std::string bound_part(const checkpoint_head& head) {
  std::string out(checkpoint_magic);
  put(out, checkpoint_version);
  put(out, head.flags);
  put(out, head.step);
  put(out, head.content_bytes);
  return out;
}

/// Writes bytes from memory through the stages into the file, including all of them in the
/// checksum.
class checkpoint_writer {
 public:
  checkpoint_writer(std::string_view op, const std::filesystem::path& path, checkpoint_head head,
                    const checkpoint_options& options)
      : file_(op, path), to_file_([this](bytes_view piece) { write(piece); }) {
    if (options.key) {
      encryption_ = encryptor(options.key->bytes(), head.stream, bound_part(head), to_file_);
      to_file_ = [this](bytes_view piece) { encryption_->take(piece); };
    }
    if (options.compress) {
      compression_ = compressor(to_file_);
      to_file_ = [this](bytes_view piece) { compression_->take(piece); };
    }
    std::string text = bound_part(head);
    text.append(reinterpret_cast<const char*>(head.stream.data()), head.stream.size());
    text.resize(head_bytes);
    write(view_of(text));
    stored_ = 0;
  }

  void take(bytes_view piece) { to_file_(piece); }
  void commit() {
    if (compression_) compression_->finish();
    if (encryption_) encryption_->finish();
    std::string tail;
    put(tail, stored_);
    write(view_of(tail));
    const checksum sum = sum_.finish();
    file_.write(sum.data(), sum.size());
    file_.commit();
  }

 private:
  void write(bytes_view piece) {
    sum_.take(piece);
    stored_ += piece.size();
    file_.write(piece.data(), piece.size());
  }

  durable_file file_;
  summing sum_;
  std::uint64_t stored_ = 0;
  std::unique_ptr<packing_stage> encryption_, compression_;
  bytes_sink to_file_;
};

}  // namespace

void write_checkpoint(std::string_view op, const std::filesystem::path& path,
                      const checkpoint& state, const checkpoint_options& options) {
  const io::safetensors::layout layout =
      io::safetensors::layout_of(op, path, state.arrays, state.metadata);
  checkpoint_head head;
  head.step = state.step;
  head.flags = (options.compress ? checkpoint_head::compressed_flag : 0) |
               (options.key ? checkpoint_head::encrypted_flag : 0);
  head.content_bytes =
      layout.header.size() + (layout.entries.empty() ? 0 : layout.entries.back().end);
  checkpoint_writer out(op, path, head, options);
  out.take(view_of(layout.header));
  for (const io::safetensors::entry& e : layout.entries) {
    const host_array values = host_array::of(state.arrays.at(e.name));
    const auto* const data = reinterpret_cast<const unsigned char*>(values.bytes().data());
    out.take({data, values.bytes().size()});
  }
  out.commit();
}

checkpoint_head read_head(io::reader& in) {
  if (in.size() < head_bytes + tail_bytes) damaged(in, "is too short for a checkpoint");
  std::string text(head_bytes, '\0');
  in.seek(0, "the head");
  in.read(text.data(), text.size(), "the head");
  if (!text.starts_with(checkpoint_magic)) damaged(in, "is no checkpoint");
  checkpoint_head head;
  const auto version = get<std::uint32_t>(text, 8);
  head.flags = get<std::uint32_t>(text, 12);
  head.step = get<std::int64_t>(text, 16);
  head.content_bytes = get<std::uint64_t>(text, 24);
  std::copy_n(text.begin() + bound_bytes, stream_header_bytes, head.stream.begin());
  if (version != checkpoint_version) {
    check_sum(in);  // which is at the end of every version, and covers this number
    in.fail("has version {} of the format, this library reads {}", version, checkpoint_version);
  }
  constexpr std::uint32_t known =
      checkpoint_head::compressed_flag | checkpoint_head::encrypted_flag;
  if ((head.flags & ~known) != 0 || head.step < 0) damaged(in, "has a damaged head");
  std::uint64_t stored = 0;
  in.seek(in.size() - tail_bytes, "the tail");
  in.read(&stored, sizeof stored, "the tail");
  if (stored != in.size() - head_bytes - tail_bytes)
    damaged(in, "is shorter or longer than what was saved");
  return head;
}

namespace {

checksum sum_of(io::reader& in, checksum& there) {
  in.seek(0, "the head");
  summing sum;
  auto piece = detail::host_vector<unsigned char>(in.op(), piece_bytes);
  while (in.remaining() > sum_bytes) {
    const auto count = std::min<std::uint64_t>(piece.size(), in.remaining() - sum_bytes);
    in.read(piece.data(), count, "the content");
    sum.take(bytes_view(piece).first(count));
  }
  in.read(there.data(), there.size(), "the checksum");
  return sum.finish();
}

}  // namespace

void check_sum(io::reader& in) {
  checksum there{};
  bool is_right = false;
  try {
    is_right = sum_of(in, there) == there;
  } catch (const io_error& e) {  // a disk that cannot read it
    throw damaged_checkpoint(e.what());
  }
  if (!is_right) damaged(in, "its checksum is another one");
}

std::string read_content(io::reader& in, const checkpoint_head& head,
                         const std::optional<checkpoint_key>& key) {
  if (head.is_encrypted() && !key) in.fail("is encrypted, and no key is given");
  if (head.is_compressed() && !has_zstd())
    in.fail("is compressed by zstd, which this build of the library does not have");
  std::string content;
  const std::string user = fmt::format("{}: {}", in.op(), in.path().string());
  detail::within_host_memory(user, head.content_bytes, 1, [&] {
    content.reserve(head.content_bytes);
    return 0;
  });
  const auto collect = [&](bytes_view piece) {
    if (piece.size() > head.content_bytes - content.size())
      throw malformed_content("there is more in it than it says");
    content.append(reinterpret_cast<const char*>(piece.data()), piece.size());
  };
  try {
    bytes_sink to = collect;
    std::unique_ptr<packing_stage> unpacking, opening;
    if (head.is_compressed()) {
      unpacking = decompressor(to);
      to = [&unpacking](bytes_view piece) { unpacking->take(piece); };
    }
    if (head.is_encrypted()) {
      opening = decryptor(key->bytes(), head.stream, bound_part(head), to);
      to = [&opening](bytes_view piece) { opening->take(piece); };
    }
    auto piece = detail::host_vector<unsigned char>(in.op(), piece_bytes);
    in.seek(head_bytes, "the content");
    while (in.remaining() > tail_bytes) {
      const auto count = std::min<std::uint64_t>(piece.size(), in.remaining() - tail_bytes);
      in.read(piece.data(), count, "the content");
      to(bytes_view(piece).first(count));
    }
    if (opening) opening->finish();
    if (unpacking) unpacking->finish();
    if (content.size() != head.content_bytes)
      throw malformed_content("there is less in it than it says");
  } catch (const malformed_content& e) {
    in.fail("{}", e.what());
  }
  return content;
}

}  // namespace tutti::data
