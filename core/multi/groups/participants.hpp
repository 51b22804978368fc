// SPDX-License-Identifier: Apache-2.0
//
// Checks of the arguments of collectives, and splits along an axis.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/fail.hpp"
#include "tutti/array.hpp"
#include "tutti/collective.hpp"
#include "tutti/device_group.hpp"
#include "tutti/error.hpp"
#include "tutti/extension.hpp"

namespace tutti::multi {

/// `value`, which must be on `member` or a constant for any device, as an ordinary array there.
/// Throws device_error with both devices; `what` identifies the array.
array on_member(const array& value, const device& member, std::string_view op,
                const std::string& what);

/// Position of the member that has `value`; for a constant without a device, the first. Throws
/// device_error with the device if it is not a member.
std::size_t owner(const device_group& group, const array& value, std::string_view op);

/// One array per member, each on its own; throws value_error for another number of arrays.
std::vector<array> on_members(const device_group& group, const std::vector<array>& values,
                              std::string_view op);

/// Checks that the extents of all but `axis`, and the dtypes, are equal; axis -1: all extents.
/// Throws shape_error or dtype_error with the first two members that differ.
void require_agreement(const device_group& group, const std::vector<array>& values, int axis,
                       std::string_view op);

/// The extents and dtype of `values`, of one group, concatenated along `axis`. Throws shape_error
/// if no array can be so large.
shape joined_extents(const std::vector<array>& values, int axis, std::string_view op);

/// The axis along which arrays with these extents are cut. Throws shape_error for 0-d arrays,
/// index_error for an axis out of range.
int checked_axis(const shape& extents, integer axis, std::string_view op);

/// Throws value_error for a time limit that is not positive and for an unknown algorithm.
void check_options(const collective::options& how, std::string_view op);
/// The sum of `weights`. Throws value_error with one that is negative or not finite, and if the sum
/// is 0 or not finite.
double checked_sum(std::span<const double> weights, std::string_view op);
/// Throws value_error if the function `what` is empty.
template <class F>
void require_function(const std::function<F>& f, std::string_view op, std::string_view what) {
  if (!f) base::fail<value_error>("{}: there is no {}", op, what);
}

/// `a` on `to`: a copy that counts as part of `op`, with its time limit in seconds (infinity: that
/// of TUTTI_TIMEOUT).
array move(const array& a, const device& to, double time_limit, std::string_view op);

/// f16 and bf16 as f32, in which they are reduced: each addition in their own dtype would round.
inline array widened(const array& a) { return a.astype(graph::compute_dtype(a.dtype())); }

/// Elements first to last of an axis; a itself if that is all of it.
array piece(const array& a, int axis, std::int64_t first, std::int64_t last);
/// `extent` divided into `count` equal parts, the first ones longer by one: count + 1 positions.
std::vector<std::int64_t> equal_boundaries(std::int64_t extent, std::size_t count);
/// The same in proportion to `weights`, rounded.
std::vector<std::int64_t> weighted_boundaries(std::int64_t extent, std::span<const double> weights);
/// Consecutive arrays that are sent as one: values[first] to values[last - 1].
struct bucket {
  std::size_t first, last;
};
/// Buckets of one dtype, of at most `most` bytes unless one array has more; with `by_device` also
/// of one device.
std::vector<bucket> buckets_of(const std::vector<array>& values, std::uint64_t most,
                               bool by_device);
/// The arrays of a bucket, flat, as one; and back from it, with their shapes.
array joined(const std::vector<array>& values, const bucket& which);
void separate(const array& flat, const bucket& which, std::vector<array>& values);

/// Concatenates pieces of one device and dtype; some may be empty, there is at least one.
array join(const std::vector<array>& pieces, int axis);

}  // namespace tutti::multi
