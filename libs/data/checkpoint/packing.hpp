// SPDX-License-Identifier: Apache-2.0
//
// Stages between a checkpoint's content and the bytes of its file: zstd, then encryption. Each
// stage takes pieces of any size and passes pieces on.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::data {

using bytes_view = std::span<const unsigned char>;
using bytes_sink = std::function<void(bytes_view)>;

/// Content that is not the result of packing, or not with this key.
struct malformed_content : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// A stage. finish() is called once, after the last piece.
class packing_stage {
 public:
  virtual ~packing_stage() = default;
  virtual void take(bytes_view piece) = 0;
  virtual void finish() = 0;
};

/// Initialises libsodium. Throws io_error if that fails.
void start_encryption();

bool has_zstd();
/// Throws std::runtime_error if has_zstd() is false.
std::unique_ptr<packing_stage> compressor(bytes_sink to);
/// Throws malformed_content for data that zstd did not write or that is truncated.
std::unique_ptr<packing_stage> decompressor(bytes_sink to);

constexpr std::size_t stream_header_bytes = 24;
using stream_header = std::array<unsigned char, stream_header_bytes>;
using secret_bytes = std::array<unsigned char, 32>;

/// Random numbers for one file's stream are written to `header`; the content is bound to `bound`.
std::unique_ptr<packing_stage> encryptor(const secret_bytes& key, stream_header& header,
                                         std::string bound, bytes_sink to);
/// Throws malformed_content for another key, changed bytes, and a stream without its end.
std::unique_ptr<packing_stage> decryptor(const secret_bytes& key, const stream_header& header,
                                         std::string bound, bytes_sink to);

}  // namespace tutti::data
