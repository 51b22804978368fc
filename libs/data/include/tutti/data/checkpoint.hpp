// SPDX-License-Identifier: Apache-2.0
//
// Checkpoints of a run: named arrays and texts in a folder, one file per step, so that a run that
// ends at any time, by a signal or a power failure, can resume from the last checkpoint. A file is
// renamed to its name only when it is completely on disk, and contains a checksum; it may be
// compressed (zstd) and encrypted (secretstream of libsodium: XChaCha20-Poly1305).
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

/// The 32 bytes of a secret key, which are wiped on destruction.
class TUTTI_API checkpoint_key {
 public:
  /// From a file of 64 hexadecimal digits. Throws io_error if it does not belong to this user, if
  /// anybody else may read or write it (chmod 600), or if it contains anything else; messages never
  /// contain the digits.
  static checkpoint_key from_file(const std::filesystem::path& path);
  /// From the digits in an environment variable. Throws value_error if it is not set or contains
  /// anything else.
  static checkpoint_key from_environment(const std::string& variable = "TUTTI_CHECKPOINT_KEY");
  /// Writes a new random key to a new file with mode 0600. Throws io_error if the file exists.
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

/// The data to resume a run. Numbers such as the epoch or a random key are texts in `metadata`.
struct checkpoint {
  std::int64_t step = 0;
  io::named_arrays arrays{};
  std::map<std::string, std::string> metadata{};
};

struct checkpoint_options {
  /// Number of newest steps whose files are kept.
  int keep = 3;
  bool compress = false;  ///< with zstd, level 3
  /// Encrypts with it, and reads files that were encrypted with it.
  std::optional<checkpoint_key> key{};
};

/// A file in the folder.
struct checkpoint_file {
  std::filesystem::path path;
  std::int64_t step = 0;
  std::uint64_t bytes = 0;
  bool is_compressed = false, is_encrypted = false;
  std::string problem{};  ///< empty: none was found
};

/// The checkpoints in one folder, named checkpoint-STEP.tutti. Only one process may write at a
/// time.
class TUTTI_API checkpoints {
 public:
  /// Creates the folder if it does not exist. Throws io_error, and value_error unless keep >= 1, or
  /// if compression is requested from a library that was built without zstd.
  explicit checkpoints(std::filesystem::path folder, checkpoint_options options = {});

  /// Writes a temporary file, waits until it is on disk, renames it (replacing one of the same
  /// step) and removes files older than the newest options.keep intact ones. Files of higher steps
  /// are renamed to NAME.retired, so that newest() returns this one. Evaluates. Any dtype except
  /// c128, as io::save_safetensors(). Throws io_error, in which case earlier files are not changed,
  /// and value_error for a negative step.
  void save(const checkpoint& state) const;

  /// The newest intact checkpoint, if there is one. Damaged files are skipped and listed in
  /// `passed_over`. Throws io_error if an intact file cannot be read with this key or this build of
  /// the library.
  std::optional<checkpoint> newest(const device& on = default_device(),
                                   std::vector<checkpoint_file>* passed_over = nullptr) const;
  /// The checkpoint of that step. Throws io_error.
  checkpoint load(std::int64_t step, const device& on = default_device()) const;

  /// All of them, oldest first, according to their first and last bytes.
  std::vector<checkpoint_file> list() const;
  /// The same after reading all bytes: checksums, and content if no key is needed or it is given.
  std::vector<checkpoint_file> verify() const;
  /// Removes everything older than the newest `keep` intact ones, including damaged files; verifies
  /// them first. Returns what was removed. Throws value_error unless keep >= 1.
  std::vector<checkpoint_file> prune(int keep) const;

 private:
  std::filesystem::path folder_;
  checkpoint_options options_;
};

/// One file. Throws io_error.
TUTTI_API checkpoint read_checkpoint(const std::filesystem::path& file,
                                     const std::optional<checkpoint_key>& key = {},
                                     const device& on = default_device());
/// Writes the arrays and texts of the file as a safetensors file. Throws io_error.
TUTTI_API void export_checkpoint(const std::filesystem::path& file,
                                 const std::filesystem::path& safetensors,
                                 const std::optional<checkpoint_key>& key = {});

}  // namespace tutti
