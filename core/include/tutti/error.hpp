// SPDX-License-Identifier: Apache-2.0
//
// Exceptions of the library. Every one derives from tutti::error; messages name the operation and
// both offending values, e.g. "matmul: inner dimensions differ: [3,4] x [5,6]".
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>
#include <utility>

#include "tutti/export.hpp"

namespace tutti {

/// Base class of all exceptions that this library throws deliberately.
class TUTTI_API error : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Shapes that do not match the operation or each other, or sizes that no array can have.
class TUTTI_API shape_error : public error {
 public:
  using error::error;
};

/// A dtype that the operation does not accept.
class TUTTI_API dtype_error : public error {
 public:
  using error::error;
};

/// An index outside its extent, or an axis that does not exist.
class TUTTI_API index_error : public error {
 public:
  using error::error;
};

/// Any other argument or setting out of range, including malformed device lists.
class TUTTI_API value_error : public error {
 public:
  using error::error;
};

/// A plugin that cannot be found, loaded or used.
class TUTTI_API plugin_error : public error {
 public:
  using error::error;
};

/// A file that cannot be read or written, or whose content is malformed.
class TUTTI_API io_error : public error {
 public:
  using error::error;
};

/// A failure on a device, or a device that does not exist.
class TUTTI_API device_error : public error {
 public:
  /// `code` is a tutti_code of plugin.h, such as TUTTI_ERROR_OUT_OF_MEMORY or
  /// TUTTI_ERROR_DEVICE_LOST; docs/guide/errors.md explains them. `vendor_code` is the driver's
  /// number, or 0; `device` is a name such as "opencl:0", or empty if no device was
  /// involved.
  device_error(const std::string& message, int32_t code, int32_t vendor_code = 0,
               bool retryable = false, std::string device = {})
      : error(message),
        code_(code),
        vendor_code_(vendor_code),
        retryable_(retryable),
        device_(std::move(device)) {}

  int32_t code() const noexcept { return code_; }
  int32_t vendor_code() const noexcept { return vendor_code_; }
  /// True if the same call may succeed later.
  bool retryable() const noexcept { return retryable_; }
  const std::string& device() const noexcept { return device_; }

 private:
  int32_t code_;
  int32_t vendor_code_;
  bool retryable_;
  std::string device_;
};

/// Not enough device or host memory, even after the memory pool was trimmed.
class TUTTI_API out_of_memory : public device_error {
 public:
  using device_error::device_error;
};

}  // namespace tutti
