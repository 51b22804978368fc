// SPDX-License-Identifier: Apache-2.0
//
// Connected components, pixel by pixel on the host.

#include "base/fail.hpp"
#include "base/named_errors.hpp"
#include "image/flooding.hpp"
#include "image/images.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/image/features.hpp"

namespace tutti::image {

components_result connected_components(const array& x, connectivity by) {
  constexpr const char* op = "connected_components";
  return base::named(op, [&]() -> components_result {
    op::check_image(x, op);
    base::require_known(op, "connectivity", by, connectivity::eight);
    const array mask = astype(stop_gradient(x) != 0, dtype::u8);
    shape of_counts = x.shape();
    of_counts.erase(of_counts.rank() - 2);
    of_counts.erase(of_counts.rank() - 2);
    if (x.size() == 0)
      return {op::zeros_on(x.shape(), dtype::i64, op::device_of(x)),
              op::zeros_on(of_counts, dtype::i64, op::device_of(x), op)};
    const auto pixels = static_cast<std::uint64_t>(x.size());
    // Labels, and in the worst case as many pending positions.
    detail::require_host_memory(op, pixels, 2 * sizeof(std::int64_t));
    const std::vector<std::uint8_t> set = mask.to_vector<std::uint8_t>();
    auto labels = detail::host_vector<std::int64_t>(op, pixels);
    const op::image_extents extents(x.shape());
    const std::int64_t image = extents.height * extents.width * extents.channels;
    auto counts =
        detail::host_vector<std::int64_t>(op, static_cast<std::uint64_t>(of_counts.size()));
    std::vector<std::int64_t> waiting;
    for (std::int64_t start = 0; start < x.size(); ++start) {
      const auto at = static_cast<std::size_t>(start);
      if (set[at] == 0 || labels[at] != 0) continue;
      const std::int64_t channel = start / image * extents.channels + start % extents.channels;
      const std::int64_t label = ++counts[static_cast<std::size_t>(channel)];
      labels[at] = label;
      op::flood(extents, start, by, waiting, [&](std::int64_t place) {
        const auto next = static_cast<std::size_t>(place);
        const bool joins = set[next] != 0 && labels[next] == 0;
        if (joins) labels[next] = label;
        return joins;
      });
    }
    return {array::from(labels, x.shape(), x.device()), array::from(counts, of_counts, x.device())};
  });
}

}  // namespace tutti::image
