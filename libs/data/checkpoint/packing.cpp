// SPDX-License-Identifier: Apache-2.0
#include "data/checkpoint/packing.hpp"

#include <sodium.h>

#include <algorithm>
#include <new>
#include <utility>

#include "tutti/error.hpp"

#if TUTTI_HAVE_ZSTD
#include <zstd.h>
#endif

namespace tutti::data {

namespace {

static_assert(stream_header_bytes == crypto_secretstream_xchacha20poly1305_HEADERBYTES);
static_assert(std::tuple_size_v<secret_bytes> == crypto_secretstream_xchacha20poly1305_KEYBYTES);

constexpr std::size_t chunk_bytes = std::size_t{1} << 16;
constexpr std::size_t sealed_bytes = chunk_bytes + crypto_secretstream_xchacha20poly1305_ABYTES;

/// Combines pieces to chunks of one size. At least one byte is held back, if there is any, so that
/// the last chunk is known to be the last.
class chunked : public packing_stage {
 public:
  explicit chunked(std::size_t size) : size_(size) { chunk_.reserve(size); }
  void take(bytes_view piece) override {
    while (!piece.empty()) {
      if (chunk_.size() == size_) {
        hand_on(chunk_, false);
        chunk_.clear();
      }
      const std::size_t count = std::min(piece.size(), size_ - chunk_.size());
      chunk_.insert(chunk_.end(), piece.begin(),
                    piece.begin() + static_cast<std::ptrdiff_t>(count));
      piece = piece.subspan(count);
    }
  }
  void finish() override { hand_on(chunk_, true); }

 protected:
  virtual void hand_on(bytes_view chunk, bool is_last) = 0;

 private:
  const std::size_t size_;
  std::vector<unsigned char> chunk_;
};

/// The state of a stream, wiped on destruction, and the data to which its first chunk is bound.
class secret_stream {
 public:
  explicit secret_stream(std::string bound) : bound_(std::move(bound)) {}
  ~secret_stream() { sodium_memzero(&state_, sizeof state_); }
  secret_stream(const secret_stream&) = delete;
  secret_stream& operator=(const secret_stream&) = delete;

  crypto_secretstream_xchacha20poly1305_state* state() { return &state_; }
  std::string next_bound() { return std::exchange(bound_, {}); }

 private:
  crypto_secretstream_xchacha20poly1305_state state_{};
  std::string bound_;
};

const unsigned char* bytes_of(const std::string& text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

class sealing : public chunked {
 public:
  sealing(const secret_bytes& key, stream_header& header, std::string bound, bytes_sink to)
      : chunked(chunk_bytes), stream_(std::move(bound)), to_(std::move(to)) {
    start_encryption();
    crypto_secretstream_xchacha20poly1305_init_push(stream_.state(), header.data(), key.data());
  }

 private:
  void hand_on(bytes_view chunk, bool is_last) override {
    const std::string bound = stream_.next_bound();
    unsigned long long count = 0;
    crypto_secretstream_xchacha20poly1305_push(
        stream_.state(), sealed_.data(), &count, chunk.data(), chunk.size(), bytes_of(bound),
        bound.size(),
        is_last ? crypto_secretstream_xchacha20poly1305_TAG_FINAL
                : crypto_secretstream_xchacha20poly1305_TAG_MESSAGE);
    to_(bytes_view(sealed_).first(static_cast<std::size_t>(count)));
  }

  secret_stream stream_;
  bytes_sink to_;
  std::vector<unsigned char> sealed_ = std::vector<unsigned char>(sealed_bytes);
};

class opening : public chunked {
 public:
  opening(const secret_bytes& key, const stream_header& header, std::string bound, bytes_sink to)
      : chunked(sealed_bytes), stream_(std::move(bound)), to_(std::move(to)) {
    start_encryption();
    if (crypto_secretstream_xchacha20poly1305_init_pull(stream_.state(), header.data(),
                                                        key.data()) != 0)
      throw malformed_content("the key does not open it");
  }

 private:
  void hand_on(bytes_view chunk, bool is_last) override {
    const std::string bound = stream_.next_bound();
    unsigned long long count = 0;
    unsigned char tag = 0;
    if (crypto_secretstream_xchacha20poly1305_pull(stream_.state(), plain_.data(), &count, &tag,
                                                   chunk.data(), chunk.size(), bytes_of(bound),
                                                   bound.size()) != 0)
      throw malformed_content("the key does not open it, or it was changed");
    const bool is_final = tag == crypto_secretstream_xchacha20poly1305_TAG_FINAL;
    if (is_final != is_last) throw malformed_content("its end is missing, or more follows it");
    to_(bytes_view(plain_).first(static_cast<std::size_t>(count)));
  }

  secret_stream stream_;
  bytes_sink to_;
  std::vector<unsigned char> plain_ = std::vector<unsigned char>(chunk_bytes);
};

#if TUTTI_HAVE_ZSTD

class compressing : public packing_stage {
 public:
  explicit compressing(bytes_sink to) : to_(std::move(to)), stream_(ZSTD_createCStream()) {
    if (!stream_) throw std::bad_alloc();
    ZSTD_CCtx_setParameter(stream_.get(), ZSTD_c_compressionLevel, 3);
  }
  void take(bytes_view piece) override { run(piece, ZSTD_e_continue); }
  void finish() override { run({}, ZSTD_e_end); }

 private:
  void run(bytes_view piece, ZSTD_EndDirective what) {
    ZSTD_inBuffer in{piece.data(), piece.size(), 0};
    for (;;) {
      ZSTD_outBuffer out{packed_.data(), packed_.size(), 0};
      const std::size_t left = ZSTD_compressStream2(stream_.get(), &out, &in, what);
      if (ZSTD_isError(left)) throw std::runtime_error(ZSTD_getErrorName(left));
      to_(bytes_view(packed_).first(out.pos));
      if (what == ZSTD_e_end ? left == 0 : in.pos == in.size) return;
    }
  }

  bytes_sink to_;
  std::unique_ptr<ZSTD_CStream, decltype([](ZSTD_CStream* s) { ZSTD_freeCStream(s); })> stream_;
  std::vector<unsigned char> packed_ = std::vector<unsigned char>(ZSTD_CStreamOutSize());
};

class decompressing : public packing_stage {
 public:
  explicit decompressing(bytes_sink to) : to_(std::move(to)), stream_(ZSTD_createDStream()) {
    if (!stream_) throw std::bad_alloc();
    constexpr int most_window = 27;  // 128 MiB, which no level exceeds
    ZSTD_DCtx_setParameter(stream_.get(), ZSTD_d_windowLogMax, most_window);
  }
  void take(bytes_view piece) override {
    ZSTD_inBuffer in{piece.data(), piece.size(), 0};
    bool is_full = false;
    while (in.pos < in.size || is_full) {
      if (left_ == 0 && in.pos < in.size && began_)
        throw malformed_content("more follows what was compressed");
      ZSTD_outBuffer out{plain_.data(), plain_.size(), 0};
      left_ = ZSTD_decompressStream(stream_.get(), &out, &in);
      if (ZSTD_isError(left_))
        throw malformed_content(std::string("cannot decompress: ") + ZSTD_getErrorName(left_));
      began_ = true;
      is_full = out.pos == out.size && left_ != 0;
      to_(bytes_view(plain_).first(out.pos));
    }
  }
  void finish() override {
    if (!began_ || left_ != 0) throw malformed_content("cannot decompress: its end is missing");
  }

 private:
  bytes_sink to_;
  std::unique_ptr<ZSTD_DStream, decltype([](ZSTD_DStream* s) { ZSTD_freeDStream(s); })> stream_;
  std::vector<unsigned char> plain_ = std::vector<unsigned char>(ZSTD_DStreamOutSize());
  std::size_t left_ = 0;
  bool began_ = false;
};

#endif

}  // namespace

#if TUTTI_HAVE_ZSTD
void start_encryption() {
  static const bool is_ready = ::sodium_init() >= 0;
  if (!is_ready) throw io_error("libsodium cannot be used: it finds no random numbers");
}

bool has_zstd() { return true; }
std::unique_ptr<packing_stage> compressor(bytes_sink to) {
  return std::make_unique<compressing>(std::move(to));
}
std::unique_ptr<packing_stage> decompressor(bytes_sink to) {
  return std::make_unique<decompressing>(std::move(to));
}
#else
bool has_zstd() { return false; }
std::unique_ptr<packing_stage> compressor(bytes_sink) {
  throw std::runtime_error("this build of the library has no zstd");
}
std::unique_ptr<packing_stage> decompressor(bytes_sink) {
  throw std::runtime_error("this build of the library has no zstd");
}
#endif

std::unique_ptr<packing_stage> encryptor(const secret_bytes& key, stream_header& header,
                                         std::string bound, bytes_sink to) {
  return std::make_unique<sealing>(key, header, std::move(bound), std::move(to));
}

std::unique_ptr<packing_stage> decryptor(const secret_bytes& key, const stream_header& header,
                                         std::string bound, bytes_sink to) {
  return std::make_unique<opening>(key, header, std::move(bound), std::move(to));
}

}  // namespace tutti::data
