// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints of a run: named arrays and texts in a folder, a file a step, so that a run that ends
// at any moment, by a signal or a power cut, goes on from the last one that was saved. A file takes
// its name only when all of it is on the disk, and carries a checksum; it may be compressed (zstd)
// and encrypted (secretstream of libsodium: XChaCha20-Poly1305).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/data/io.hpp"
#include "tutti/export.hpp"

namespace tutti {

/// The 32 bytes of a secret key, wiped when they go.
class TUTTI_API checkpoint_key {
 public:
  /// From a file of 64 hexadecimal digits. Throws io_error where it is not this user's, anybody
  /// else may read or write it (chmod 600), or it holds anything else; the message never has the
  /// digits.
  static checkpoint_key from_file(const std::filesystem::path& path);
  /// From the digits in an environment variable. Throws value_error where it is not set or holds
  /// anything else.
  static checkpoint_key from_environment(const std::string& variable = "TUTTI_CHECKPOINT_KEY");
  /// Writes a new random key to a new file of mode 0600. Throws io_error where the file is there.
  static void create(const std::filesystem::path& path);

  checkpoint_key(const checkpoint_key&) = default;
  checkpoint_key& operator=(const checkpoint_key&) = default;
  ~checkpoint_key();
  const std::array<unsigned char, 32>& bytes() const { return bytes_; }

 private:
  checkpoint_key() = default;
  void parse(const std::string& digits, const std::string& source);

  std::array<unsigned char, 32> bytes_{};
};

/// What a run needs to go on. Numbers such as the epoch or a random key are texts in `metadata`.
struct checkpoint {
  std::int64_t step = 0;
  io::named_arrays arrays{};
  std::map<std::string, std::string> metadata{};
};

struct checkpoint_options {
  /// Of how many steps files are kept, the newest ones.
  int keep = 3;
  bool compress = false;  ///< by zstd, level 3
  /// Encrypts with it, and reads what was encrypted with it.
  std::optional<checkpoint_key> key{};
};

/// A file of the folder.
struct checkpoint_file {
  std::filesystem::path path;
  std::int64_t step = 0;
  std::uint64_t bytes = 0;
  bool is_compressed = false, is_encrypted = false;
  std::string problem{};  ///< empty: none was found
};

/// The checkpoints in one folder, checkpoint-STEP.tutti each. One process writes there at a time.
class TUTTI_API checkpoints {
 public:
  /// Makes the folder where it is not there. Throws io_error, and value_error unless keep >= 1, or
  /// where compression is asked for from a library that was built without zstd.
  explicit checkpoints(std::filesystem::path folder, checkpoint_options options = {});

  /// Writes a temporary file, waits until the disk has it, gives it its name (in the place of one
  /// of the same step) and removes what is older than options.keep sound ones. Files of higher
  /// steps are renamed to NAME.retired, so that newest() gives this one. Evaluates. Any dtype
  /// but c128, as io::save_safetensors(). Throws io_error; what was there before is then still
  /// there. Throws value_error for a negative step.
  void save(const checkpoint& state) const;

  /// The newest one that is sound; nothing where there is none. Files that are damaged are passed
  /// over, and told in `passed_over`. Throws io_error where a sound file cannot be read with this
  /// key or this build of the library.
  std::optional<checkpoint> newest(const device& on = default_device(),
                                   std::vector<checkpoint_file>* passed_over = nullptr) const;
  /// The one of that step. Throws io_error.
  checkpoint load(std::int64_t step, const device& on = default_device()) const;

  /// All of them, oldest first, by what their first and last bytes say.
  std::vector<checkpoint_file> list() const;
  /// The same with all bytes read: checksums, and with a key, or where none is needed, content.
  std::vector<checkpoint_file> verify() const;
  /// Removes what is older than the newest `keep` sound ones, damaged ones too; verifies for that.
  /// Returns what was removed. Throws value_error unless keep >= 1.
  std::vector<checkpoint_file> prune(int keep) const;

 private:
  std::filesystem::path folder_;
  checkpoint_options options_;
};

/// One file. Throws io_error.
TUTTI_API checkpoint read_checkpoint(const std::filesystem::path& file,
                                     const std::optional<checkpoint_key>& key = {},
                                     const device& on = default_device());
/// The file's arrays and texts as a safetensors file. Throws io_error.
TUTTI_API void export_checkpoint(const std::filesystem::path& file,
                                 const std::filesystem::path& safetensors,
                                 const std::optional<checkpoint_key>& key = {});

}  // namespace tutti
