// SPDX-License-Identifier: Apache-2.0
//
// Data sets: rows in memory, parts of others, and functions over their items.
#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "base/fail.hpp"
#include "tutti/data/loader.hpp"

namespace tutti::data {

namespace {

void require_item(std::int64_t index, std::int64_t size, std::string_view op) {
  if (index < 0 || index >= size) base::fail<index_error>("{}: item {} of {}", op, index, size);
}

struct row_store {
  std::vector<host_array> arrays;
  std::vector<shape> row_shapes;

  static std::size_t bytes_of_row(const host_array& a) {
    return a.shape()[0] == 0 ? 0 : a.bytes().size() / static_cast<std::size_t>(a.shape()[0]);
  }
  std::int64_t size() const { return arrays.front().shape()[0]; }
  const std::byte* row(std::size_t a, std::int64_t index) const {
    return arrays[a].bytes().data() + bytes_of_row(arrays[a]) * static_cast<std::size_t>(index);
  }

  item get(std::int64_t index) const {
    require_item(index, size(), "rows_of");
    item out;
    out.reserve(arrays.size());
    for (std::size_t a = 0; a < arrays.size(); ++a)
      out.push_back(host_array::from_bytes(row(a, index),
                                           static_cast<std::size_t>(row_shapes[a].size()),
                                           arrays[a].dtype(), row_shapes[a]));
    return out;
  }

  item get_batch(std::span<const std::int64_t> indices) const {
    for (const std::int64_t index : indices) require_item(index, size(), "rows_of");
    item out;
    out.reserve(arrays.size());
    for (std::size_t a = 0; a < arrays.size(); ++a) {
      shape extents = row_shapes[a];
      extents.insert(0, static_cast<std::int64_t>(indices.size()));
      out.emplace_back(arrays[a].dtype(), extents);
      const std::size_t width = bytes_of_row(arrays[a]);
      std::byte* to = out.back().bytes().data();
      if (width == 0) continue;
      for (const std::int64_t index : indices) {
        std::memcpy(to, row(a, index), width);
        to += width;
      }
    }
    return out;
  }
};

}  // namespace

dataset rows_of(std::vector<host_array> arrays) {
  if (arrays.empty()) throw value_error("rows_of: no arrays");
  const auto store = std::make_shared<row_store>();
  for (const host_array& a : arrays) {
    if (a.shape().rank() == 0 || a.shape()[0] != arrays.front().shape()[0])
      base::fail<shape_error>("rows_of: arrays of {} and {} have no rows in common",
                              arrays.front().shape(), a.shape());
    shape row = a.shape();
    row.erase(0);
    store->row_shapes.push_back(row);
  }
  store->arrays = std::move(arrays);
  dataset out;
  out.size = store->size();
  out.get = [store](std::int64_t index, random::key) { return store->get(index); };
  out.get_batch = [store](std::span<const std::int64_t> indices) {
    return store->get_batch(indices);
  };
  return out;
}

dataset rows_of(std::span<const array> arrays) {
  std::vector<host_array> all;
  for (const array& a : arrays) all.push_back(host_array::of(a));
  return rows_of(std::move(all));
}

dataset subset(dataset of, std::vector<std::int64_t> indices) {
  for (const std::int64_t index : indices) require_item(index, of.size, "subset");
  const auto places = std::make_shared<const std::vector<std::int64_t>>(std::move(indices));
  dataset out;
  out.size = static_cast<std::int64_t>(places->size());
  const auto at = [places](std::int64_t i) {
    require_item(i, static_cast<std::int64_t>(places->size()), "subset");
    return (*places)[static_cast<std::size_t>(i)];
  };
  if (of.get)
    out.get = [at, get = std::move(of.get)](std::int64_t i, random::key k) {
      return get(at(i), k);
    };
  if (of.get_batch)
    out.get_batch = [at, get = std::move(of.get_batch)](std::span<const std::int64_t> some) {
      std::vector<std::int64_t> there;
      there.reserve(some.size());
      for (const std::int64_t i : some) there.push_back(at(i));
      return get(there);
    };
  out.name = [at, name = std::move(of.name)](std::int64_t i) {
    return name ? name(at(i)) : fmt::format("item {} of the whole", at(i));
  };
  return out;
}

dataset map(dataset of, std::function<item(item, random::key from)> f) {
  if (!of.get || !f) throw value_error("map: a data set without get(), or no function");
  dataset out;
  out.size = of.size;
  out.name = std::move(of.name);
  out.get = [get = std::move(of.get), f = std::move(f)](std::int64_t i, random::key k) {
    return f(get(i, random::fold_in(k, 0)), random::fold_in(k, 1));
  };
  return out;
}

}  // namespace tutti::data
