// SPDX-License-Identifier: Apache-2.0
#include "multi/collectives/backend.hpp"

#include <algorithm>
#include <cmath>

#include "base/env.hpp"
#include "graph/build.hpp"
#include "multi/groups/participants.hpp"
#include "plugin/opened_device.hpp"
#include "runtime/transfer/collectives.hpp"
#include "tutti/ops.hpp"

namespace tutti::multi {
namespace {

using collective::reduction;

bool is_suited(const std::vector<array>& values, reduction with, const collective::options& how) {
  const dtype type = values[0].dtype();
  const bool ordered = with == reduction::min || with == reduction::max;
  return values.size() > 1 && how.algorithm == collective::algorithm::automatic &&
         !how.deterministic && !(ordered && is_floating(type)) &&
         std::none_of(values.begin(), values.end(), [](const array& v) {
           return v.size() == 0 || v.node()->is_traced() || v.node()->device == nullptr;
         });
}

}  // namespace

std::string_view name_of(collective::reduction with) {
  constexpr std::string_view names[] = {"sum", "prod", "min", "max", "avg"};
  return names[static_cast<int>(with)];
}

tutti_reduction code_of(reduction with) {
  return with == reduction::prod  ? TUTTI_REDUCE_PROD
         : with == reduction::min ? TUTTI_REDUCE_MIN
         : with == reduction::max ? TUTTI_REDUCE_MAX
                                  : TUTTI_REDUCE_SUM;
}

std::optional<std::vector<array>> by_backend(const device_group& group,
                                             const std::vector<array>& values,
                                             tutti_collective kind, reduction with,
                                             std::int64_t elements, const collective::options& how,
                                             std::string_view op) {
  if (!is_suited(values, with, how)) return std::nullopt;
  std::vector<const detail::opened_device*> members;
  for (const device& d : group) members.push_back(&detail::get(d));
  const bool reduces =
      kind == TUTTI_COLLECTIVE_ALL_REDUCE || kind == TUTTI_COLLECTIVE_REDUCE_SCATTER;
  const tutti_reduction reduction = reduces ? code_of(with) : TUTTI_REDUCE_NONE;
  const dtype type = values[0].dtype();
  if (!runtime::offers_collectives(members, kind, reduces ? graph::compute_dtype(type) : type,
                                   reduction))
    return std::nullopt;

  auto call = std::make_shared<graph::collective_call>();
  call->kind = kind;
  call->reduction = reduction;
  call->time_limit = std::isinf(how.time_limit) ? base::time_limit() : how.time_limit;
  call->label = std::string(op);
  std::vector<array> flat;
  for (const array& v : values) flat.push_back(contiguous((reduces ? widened(v) : v).flatten()));
  std::vector<array> results = graph::collective(call, flat, elements);
  for (array& r : results)
    r = (with == reduction::avg ? r / static_cast<double>(group.size()) : r).astype(type);
  return results;
}

}  // namespace tutti::multi
