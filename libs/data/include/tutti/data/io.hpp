// SPDX-License-Identifier: Apache-2.0
//
// Files: numeric tables (CSV, plain or gzip), NumPy's .npy, safetensors. Every failure throws
// io_error with the file and, if applicable, the position in it; out_of_memory if host memory does
// not suffice for the contents. Only regular files are read, because others may block forever.
// Files are replaced atomically, so an interrupted write or a full disk leaves the old file;
// permissions are kept, and for a symbolic link its target is replaced.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/named_arrays.hpp"

namespace tutti::io {

/// A rectangular table of numbers on the host, row-major.
struct table {
  std::int64_t rows = 0;
  std::int64_t columns = 0;
  std::vector<double> values;

  /// Not checked.
  double operator()(std::int64_t row, std::int64_t column) const {
    return values[static_cast<std::size_t>(row * columns + column)];
  }
};

struct csv_options {
  char delimiter = ',';
  bool skip_header = false;  ///< the first line is not data
};

/// Reads a table of numbers, with a decimal point in every locale; `nan` and `inf` are numbers too.
/// Blanks around a number, CR LF line ends, a byte order mark and blank lines at the end are
/// allowed. Throws io_error with file, line, column (field, from 1) and text for a field that is
/// not a number or does not fit a double, for rows of different lengths, blank lines between rows,
/// no rows, lines of more than 2^28 bytes, and files that cannot be read or decompressed: each
/// member of a gzip file must be intact, and only zeros may follow or separate them.
TUTTI_API table read_csv(const std::filesystem::path& path, const csv_options& options = {});

/// Writes arrays of any dtype but c128, which the format lacks, in the safetensors format
/// (https://github.com/huggingface/safetensors). Readers older than its C64 refuse c64. Evaluates.
/// `metadata` becomes "__metadata__". Throws io_error also for the name "__metadata__" and for
/// c128.
TUTTI_API void save_safetensors(const std::filesystem::path& path, const named_arrays& arrays,
                                const std::map<std::string, std::string>& metadata = {});

/// Reads every tensor of a safetensors file to `on`. Throws io_error for each way in which a file
/// can violate the format: truncated or oversized header, invalid JSON, duplicate names, unknown
/// dtypes, offsets that are out of range, overlap or leave gaps, and byte counts that contradict
/// shape and dtype. `metadata`, if given, receives the texts of "__metadata__".
TUTTI_API named_arrays load_safetensors(const std::filesystem::path& path,
                                        const device& on = default_device(),
                                        std::map<std::string, std::string>* metadata = nullptr);

/// Writes one array in NumPy's format, version 1.0, C order. Evaluates. Throws io_error also for
/// bf16, which NumPy lacks.
TUTTI_API void save_npy(const std::filesystem::path& path, const array& a);

/// Reads a .npy file (versions 1.0 to 3.0, little-endian, C or Fortran order) of bool, integers,
/// f16 to f64, c64 or c128. Throws io_error for anything else.
TUTTI_API array load_npy(const std::filesystem::path& path, const device& on = default_device());

enum class compression : bool { none, deflate };

/// Writes arrays as NumPy's .npz: a ZIP archive with one NAME.npy each, stored (as numpy.savez) or
/// deflated (numpy.savez_compressed), with the ZIP64 extension if sizes or numbers need it.
/// Evaluates. Throws io_error as save_npy, and for a name that is empty, longer than 65531 bytes or
/// contains a NUL.
TUTTI_API void save_npz(const std::filesystem::path& path, const named_arrays& arrays,
                        compression packed = compression::none);

/// Reads every array of a .npz file, named without ".npy". Throws io_error if the archive is
/// damaged (including checksums), encrypted, split, uses other methods than stored and deflated, or
/// contains duplicate names, members that share bytes, or arrays that load_npy would refuse.
TUTTI_API named_arrays load_npz(const std::filesystem::path& path,
                                const device& on = default_device());

/// Replaces `path`, or the target of the link, with these bytes atomically: they are written to a
/// new file in the same folder, which is then renamed.
TUTTI_API void write_file(const std::filesystem::path& path, std::string_view bytes);

}  // namespace tutti::io
