// SPDX-License-Identifier: Apache-2.0
//
// The output of a parallel loop: results of chunks, and the report as text.

#include "base/fail.hpp"
#include "tutti/error.hpp"
#include "tutti/parallel.hpp"

namespace tutti {
namespace {

std::string amount(double value, std::string_view unit) {
  static constexpr std::string_view prefixes[] = {"", "k", "M", "G", "T"};
  std::size_t i = 0;
  for (; value >= 1000 && i + 1 < std::size(prefixes); ++i) value /= 1000;
  return fmt::format("{:.3g} {}{}", value, prefixes[i], unit);
}

}  // namespace

std::string_view to_string(loop_policy policy) noexcept {
  static constexpr std::string_view names[] = {"static_equal", "weighted", "dynamic",
                                               "work_stealing"};
  const auto i = static_cast<std::size_t>(policy);
  return i < std::size(names) ? names[i] : "unknown";
}

std::span<const std::byte> chunk_results::bytes(std::size_t i) const {
  if (i >= arrays_.size())
    base::fail<index_error>("chunk_results: no array {} of {}", i, arrays_.size());
  if (host_.size() != arrays_.size())
    throw value_error("chunk_results: values were not read (loop_options::fetch is off)");
  return host_[i];
}

std::span<const std::byte> chunk_results::bytes_of(std::size_t i, dtype type) const {
  const std::span<const std::byte> found = bytes(i);
  if (arrays_[i].dtype() != type)
    base::fail<dtype_error>("chunk_results: the array has dtype {}, not {}", arrays_[i].dtype(),
                            type);
  return found;
}

std::vector<double> loop_report::speeds() const {
  std::vector<double> found;
  for (const device_report& d : devices) found.push_back(d.throughput);
  return found;
}

std::string to_string(const loop_report& report) {
  std::size_t width = 6;
  for (const device_report& d : report.devices) width = std::max(width, d.device.size());
  std::string text = fmt::format("{:<{}}  {:>6}  {:>12}  {:>6}  {:>9}  {:>12}\n", "device", width,
                                 "chunks", "items", "busy", "bytes", "items/s");
  for (const device_report& d : report.devices) {
    text += fmt::format("{:<{}}  {:>6}  {:>12}  {:>5.1f}%  {:>9}  {:>12}", d.device, width,
                        d.chunks, d.items, 100 * d.busy_share,
                        amount(static_cast<double>(d.bytes), "B"), amount(d.throughput, ""));
    if (!d.failure.empty())
      text += fmt::format("  failed, {} items taken back: {}", d.taken_back, d.failure);
    text += '\n';
  }
  return text + fmt::format("{} items in {:.4g} s, lower bound {:.4g} s, ratio {:.3f}\n",
                            report.items, report.makespan, report.lower_bound, report.ratio);
}

}  // namespace tutti
