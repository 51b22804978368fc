// SPDX-License-Identifier: Apache-2.0
//
// Checks of what the members of a group bring to a collective, and cuts along an axis.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tutti/array.hpp"
#include "tutti/collective.hpp"
#include "tutti/device_group.hpp"
#include "tutti/error.hpp"

namespace tutti::multi {

/// `value`, which must be on `member` or a constant that fits any device, as an array of its own
/// dtype there. Throws device_error naming both devices; `what` says which array it is.
array on_member(const array& value, const device& member, std::string_view op,
                const std::string& what);

/// Position of the member that has `value`; of a constant that is on no device, the first. Throws
/// device_error naming the device where that is no member.
std::size_t owner(const device_group& group, const array& value, std::string_view op);

/// One array a member, each on its own; throws value_error for another number of arrays.
std::vector<array> on_members(const device_group& group, const std::vector<array>& values,
                              std::string_view op);

/// The extents of all but `axis` agree, and the dtypes; axis -1: all extents. Throws shape_error or
/// dtype_error naming the first two members that differ.
void require_agreement(const device_group& group, const std::vector<array>& values, int axis,
                       std::string_view op);

/// The extents and dtype of `values`, of one group, put together along `axis`. Throws shape_error
/// where no array can be so large.
shape joined_extents(const std::vector<array>& values, int axis, std::string_view op);

/// Throws value_error for a time limit that is not positive and for no algorithm.
void check_options(const collective::options& how, std::string_view op);
/// The sum of `weights`. Throws value_error naming one that is negative or not finite, and where
/// the sum is 0 or not finite.
double checked_sum(std::span<const double> weights, std::string_view op);
/// Throws value_error where there is no function, `what`, to call.
template <class F>
void require_function(const std::function<F>& f, std::string_view op, std::string_view what) {
  if (!f) throw value_error(std::string(op) + ": there is no " + std::string(what));
}

/// `a` on `to`: a copy that counts as part of `op`, with its time limit in seconds (infinity: that
/// of TUTTI_TIMEOUT).
array move(const array& a, const device& to, double time_limit, std::string_view op);

/// Elements first to last of an axis; a itself where that is all of it.
array piece(const array& a, int axis, std::int64_t first, std::int64_t last);
/// `extent` cut into `count` equal parts, the first ones longer by one: count + 1 positions.
std::vector<std::int64_t> equal_boundaries(std::int64_t extent, std::size_t count);
/// Pieces of one device and dtype, one after the other; some may be empty, there is at least one.
array join(const std::vector<array>& pieces, int axis);

}  // namespace tutti::multi
