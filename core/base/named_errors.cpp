// SPDX-License-Identifier: Apache-2.0
#include "base/named_errors.hpp"

#include <algorithm>
#include <string>

#include "tutti/plugin.h"

namespace tutti::base {
namespace {

bool is_of_names(char c) {
  return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_' || c == ':';
}

// If a message does not begin with a name, all of it is kept.
std::string renamed(std::string_view message, std::string_view op,
                    std::initializer_list<std::string_view> steps) {
  const std::size_t colon = message.find(": ");
  const std::string_view name = message.substr(0, colon == std::string_view::npos ? 0 : colon);
  if (steps.size() > 0 && std::ranges::find(steps, name) == steps.end())
    return std::string(message);
  if (!name.empty() && std::all_of(name.begin(), name.end(), is_of_names))
    message.remove_prefix(colon + 2);
  return std::string(op) + ": " + std::string(message);
}

}  // namespace

void rethrow_named(std::string_view op, std::initializer_list<std::string_view> steps) {
  try {
    throw;
  } catch (const shape_error& e) {
    throw shape_error(renamed(e.what(), op, steps));
  } catch (const dtype_error& e) {
    throw dtype_error(renamed(e.what(), op, steps));
  } catch (const index_error& e) {
    throw index_error(renamed(e.what(), op, steps));
  } catch (const value_error& e) {
    throw value_error(renamed(e.what(), op, steps));
  } catch (const device_error& e) {
    if (e.code() != TUTTI_ERROR_INVALID_ARGUMENT) throw;
    throw device_error(renamed(e.what(), op, steps), e.code(), e.vendor_code(), e.retryable(),
                       e.device());
  }
}

}  // namespace tutti::base
