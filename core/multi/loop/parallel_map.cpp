// SPDX-License-Identifier: Apache-2.0
//
// A function of rows applied to all rows: a parallel loop that uploads the rows of each chunk and
// joins the results.

#include <cstring>
#include <memory>

#include "base/one_line.hpp"
#include "graph/build.hpp"
#include "graph/sizes.hpp"
#include "multi/groups/participants.hpp"
#include "multi/loop/gradients.hpp"
#include "multi/loop/loop_ranks.hpp"
#include "tutti/error.hpp"
#include "tutti/host_memory.hpp"
#include "tutti/parallel.hpp"

namespace tutti {
namespace {

using row_function = std::function<array(const std::vector<array>& rows)>;

/// An array's values on the host, where a failing device does not affect them.
struct host_rows {
  std::vector<std::byte> data;
  shape extents;
  dtype type;

  host_rows(const array& a, const std::string& label)
      : data(detail::host_vector<std::byte>(label, a.nbytes())),
        extents(a.shape()),
        type(a.dtype()) {
    a.copy_to(data.data(), data.size());
  }

  array upload(std::int64_t begin, std::int64_t end, const device& on) const {
    shape part = extents;
    part[0] = end - begin;
    const std::size_t row =
        extents[0] == 0 ? 0 : data.size() / static_cast<std::size_t>(extents[0]);
    return array::from_bytes(data.data() + row * static_cast<std::size_t>(begin),
                             static_cast<std::size_t>(part.size()), type, part, on);
  }
};

/// Where the rows of the result are collected. The first chunk determines their shape and dtype.
struct collected_rows {
  using array_record = multi::array_record;
  const std::string& label;
  std::int64_t rows;
  std::vector<std::byte> data{};  ///< an array_record and the rows, as ranks exchange them

  void add(const chunk& c, const chunk_results& results) {
    const array& part = results.arrays()[0];
    shape whole = part.shape();
    whole[0] = rows;
    if (data.empty()) {
      array_record first = multi::describe(part);
      first.extents[0] = rows;
      const auto elements = graph::checked_elements(whole, part.dtype(), label);
      data = detail::host_vector<std::byte>(
          label, sizeof first + static_cast<std::uint64_t>(elements) * size_of(part.dtype()));
      std::memcpy(data.data(), &first, sizeof first);
    }
    const array_record record = header();
    const shape extents = multi::extents_of(record);
    const auto type = static_cast<dtype>(record.dtype);
    if (!(whole == extents))
      base::fail<shape_error>("{}: rows of shapes {} and {}", label, extents, whole);
    if (part.dtype() != type)
      base::fail<dtype_error>("{}: rows of dtypes {} and {}", label, type, part.dtype());
    const std::span<const std::byte> bytes = results.bytes();
    if (bytes.empty()) return;
    const std::size_t row = (data.size() - sizeof record) / static_cast<std::size_t>(rows);
    std::memcpy(data.data() + sizeof record + row * static_cast<std::size_t>(c.begin), bytes.data(),
                bytes.size());
  }

  array as_array(const device& on) const {
    const array_record record = header();
    const shape extents = multi::extents_of(record);
    return array::from_bytes(data.data() + sizeof record, static_cast<std::size_t>(extents.size()),
                             static_cast<dtype>(record.dtype), extents, on);
  }

 private:
  array_record header() const {
    array_record record;
    if (data.size() < sizeof record)  // on another rank
      base::fail<value_error>("{}: rank 0 runs another loop of this name", label);
    std::memcpy(&record, data.data(), sizeof record);
    return record;
  }
};

void require_no_gradient(const array& a, const std::string& what, const std::string& label) {
  multi::require_no_gradient(a, label, what,
                             "give a function that calls parallel_map a gradient by custom_vjp()");
}

std::int64_t common_rows(array_list inputs, const std::string& label) {
  if (inputs.empty()) base::fail<value_error>("{}: there are no inputs", label);
  for (const array& a : inputs) {
    if (a.ndim() == 0) base::fail<shape_error>("{}: a 0-d array has no rows", label);
    if (a.dim(0) != inputs[0].dim(0))
      base::fail<shape_error>("{}: inputs with differing numbers of rows: {} and {}", label,
                              inputs[0].shape(), a.shape());
  }
  return inputs[0].dim(0);
}

array checked(array made, std::int64_t rows, const std::string& label) {
  require_no_gradient(made, "what f made, from an array that it captured,", label);
  if (made.ndim() == 0 || made.dim(0) != rows)
    base::fail<shape_error>("{}: f made an array of shape {} of {} rows", label, made.shape(),
                            rows);
  return made;
}

const device& survivor(const device_group& group, const loop_report& report) {
  for (std::size_t i = 0; i < group.size(); ++i)
    if (report.devices[i].failure.empty()) return group[i];
  return group[0];
}

// Meets the other ranks of the job in a loop that no other rank runs, so that they throw as well.
void tell_other_ranks(const device_group& group, array_list inputs, loop_options options,
                      const std::string& why) {
  if (!group.ranks()) return;
  // Loops without rows do not meet.
  if (!inputs.empty() && inputs[0].valid() && inputs[0].size() == 0) return;
  options.label += " (" + base::one_line(why) + ")";
  try {
    multi::run_loop(
        group, {0, 1}, [](const chunk&) { return std::vector<array>(); }, {}, options, nullptr);
  } catch (const std::exception&) {  // the loops differ
  }
}

}  // namespace

array parallel_map(const device_group& group, array_list inputs, const row_function& f,
                   const loop_options& options, loop_report* report) {
  loop_options own = options;
  own.fetch = true;
  if (own.label == loop_options().label) own.label = "parallel_map";
  std::int64_t rows = 0;
  const auto sources = std::make_shared<std::vector<host_rows>>();
  try {
    rows = common_rows(inputs, own.label);
    multi::require_function(f, own.label, "function");
    for (std::size_t i = 0; i < inputs.size(); ++i)
      require_no_gradient(inputs[i], "input " + std::to_string(i), own.label);
    for (const array& a : inputs) sources->emplace_back(a, own.label);
  } catch (const std::exception& e) {
    tell_other_ranks(group, inputs, own, e.what());
    throw;
  }
  // No references: a body may outlive this call (parallel_for).
  const auto body = [sources, f, label = own.label](const chunk& c) -> std::vector<array> {
    std::vector<array> parts;
    for (const host_rows& s : *sources) parts.push_back(s.upload(c.begin, c.end, c.device));
    return {checked(f(parts), c.size(), label)};
  };
  collected_rows result{own.label, rows};
  const loop_report told = multi::run_loop(
      group, {0, rows}, body,
      [&result](const chunk& c, const chunk_results& r) { result.add(c, r); }, own, &result.data);
  if (report != nullptr) *report = told;
  if (rows == 0) return body({0, 0, group[0]})[0].to(group[0]);
  return result.as_array(survivor(group, told));
}

array parallel_map(const device_group& group, const array& input,
                   const std::function<array(const array& rows)>& f, const loop_options& options,
                   loop_report* report) {
  row_function of_rows;
  if (f) of_rows = [f](const std::vector<array>& rows) { return f(rows[0]); };
  return parallel_map(group, {input}, of_rows, options, report);
}

}  // namespace tutti
