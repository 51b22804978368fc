// SPDX-License-Identifier: Apache-2.0
//
// The syntax of TUTTI_DEVICE and its only parser, a pure function of the text.
//
//   list     = item { "," item }            spaces around items do not count
//   item     = "auto" | backend | backend ":" selector
//   backend  = lower-case letter { lower-case letter | digit | "_" }
//   selector = index | "cpu" | "gpu" | "accelerator" | "all"
//            | "uuid=" 32 hex digits, dashes and a leading "GPU-" tolerated
//            | "pci=" [domain ":"] bus ":" device ["." function], hexadecimal
//            | "name~" text                 part of the device's name, upper or lower case;
//                                           \, and \\ and "\ " stand for , and \ and a space
//
// A backend alone is its first GPU, else accelerator, else CPU. An index, uuid or pci selects one
// device; cpu, gpu, accelerator, all and name~ select every device that matches.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/device.hpp"

namespace tutti::plugins {

struct device_item {
  enum class kind { automatic, preferred, index, type, all, uuid, pci, name };
  kind what = kind::automatic;
  std::string text;     ///< as written, for messages
  std::string backend;  ///< empty for automatic
  uint32_t index = 0;
  device_type type = device_type::cpu;
  std::array<uint8_t, 16> uuid{};
  pci_address pci;
  std::string name;  ///< unescaped
};

/// Text of only spaces is {auto}. Throws value_error that names the position (counted from 1), what
/// was expected and what was found.
TUTTI_INTERNAL_API std::vector<device_item> parse_device_list(std::string_view text);

}  // namespace tutti::plugins
