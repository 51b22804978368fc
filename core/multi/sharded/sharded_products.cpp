// SPDX-License-Identifier: Apache-2.0
//
// Matrix products of sharded operands: split by rows, by columns, or along the inner dimension.

#include "base/fail.hpp"
#include "tutti/multi.hpp"

namespace tutti {
namespace {

std::vector<array> products(const sharded& x, const sharded& w) {
  std::vector<array> out;
  for (std::size_t i = 0; i < x.parts().size(); ++i)
    out.push_back(matmul(x.parts()[i], w.parts()[i]));
  return out;
}

}  // namespace

sharded matmul(const sharded& x, const sharded& w, const collective::options& how) {
  const auto refuse = [&](std::string_view why) {
    return value_error(fmt::format("matmul: {}: {} x {}; reshard() one", why, x.str(), w.str()));
  };
  if (!(x.group() == w.group())) throw refuse("operands over different groups");
  const int rank = x.shape().rank();
  if (rank < 2 || w.shape().rank() != 2 || x.shape()[rank - 1] != w.shape()[0])
    base::fail<shape_error>("matmul: needs x [...,M,K] and w [K,N], got {} x {}", x.shape(),
                            w.shape());
  const bool inner = !x.replicated() && x.axis() == rank - 1;
  if (x.replicated() && w.replicated()) return sharded::from_replicas(x.group(), products(x, w));
  if (x.replicated() && w.axis() == 1) return {x.group(), rank - 1, w.boundaries(), products(x, w)};
  if (!x.replicated() && !inner && w.replicated())
    return {x.group(), x.axis(), x.boundaries(), products(x, w)};
  if (!inner || w.replicated() || w.axis() != 0) throw refuse("no product of these layouts");
  if (x.boundaries() != w.boundaries()) throw refuse("the inner dimension is split differently");
  return sharded::from_replicas(x.group(), collective::all_reduce(x.group(), products(x, w),
                                                                  collective::reduction::sum, how));
}

}  // namespace tutti
