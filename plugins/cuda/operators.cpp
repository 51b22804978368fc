// SPDX-License-Identifier: Apache-2.0
//
// The operator table: checks of the views, then the operator.
#include "cuda/operators.hpp"

#include "sdk/validate.hpp"

namespace tutti::cuda {
namespace {

const char* operator_name(int32_t kind) {
  switch (kind) {
    case TUTTI_OPERATOR_MATMUL:
      return "matmul";
    case TUTTI_OPERATOR_TAKE:
      return "take";
    case TUTTI_OPERATOR_SCATTER_ADD:
      return "scatter_add";
    default:
      return nullptr;
  }
}

std::string shape(const tutti_view& view) {
  std::string text = "[";
  for (uint32_t d = 0; d < view.rank && d < TUTTI_MAX_RANK; ++d) {
    if (d > 0) text += ',';
    text += std::to_string(view.extent[d]);
  }
  return text + "]";
}

void require(bool good, const char* name, const tutti_view* v, const char* what) {
  if (good) return;
  sdk::throw_invalid(std::string(name) + ": " + what + ": " + shape(v[0]) + ", " + shape(v[1]) +
                     ", " + shape(v[2]));
}

void check_shapes(const tutti_operator_launch& l, const char* name) {
  const tutti_view *v = l.views, *out = v, *in = v + 1, *last = v + 2;
  const bool product = l.kind == TUTTI_OPERATOR_MATMUL;
  require(out->rank == 3 && in->rank == 3 && last->rank == (product ? 3u : 1u), name, v,
          "wrong ranks");
  require(out->dtype == in->dtype, name, v, "dtypes differ");
  if (product) {
    require(last->dtype == in->dtype, name, v, "dtypes differ");
    require(in->extent[0] == out->extent[0] && last->extent[0] == out->extent[0], name, v,
            "batches differ");
    require(in->extent[1] == out->extent[1] && last->extent[2] == out->extent[2], name, v,
            "outer dimensions differ");
    require(in->extent[2] == last->extent[1], name, v, "inner dimensions differ");
    return;
  }
  require(last->dtype == TUTTI_I32 || last->dtype == TUTTI_I64, name, v, "index is not i32 or i64");
  require(last->extent[0] < 2 || last->stride[0] == 1, name, v, "index is not contiguous");
  require(out->extent[0] == in->extent[0] && out->extent[2] == in->extent[2], name, v,
          "outer or inner extents differ");
  const bool take = l.kind == TUTTI_OPERATOR_TAKE;
  require((take ? out : in)->extent[1] == last->extent[0], name, v, "picked rows and index differ");
  const uint64_t rows = (take ? in : out)->extent[1];
  require(rows > 0 || last->extent[0] == 0, name, v, "index into no rows");
}

// Without buffers only shapes are looked at.
tutti_operator_launch checked(const tutti_operator_launch* given, const tutti_device* device) {
  const tutti_operator_launch l = sdk::read_struct(given, "operator launch");
  const char* name = operator_name(l.kind);
  if (name == nullptr) {
    sdk::throw_unsupported("operator " + std::to_string(l.kind) + " is unknown");
  }
  if (l.view_count != 3 || l.views == nullptr) {
    sdk::throw_invalid(std::string(name) + ": " + std::to_string(l.view_count) +
                       " views, expected 3");
  }
  for (uint32_t n = 0; n < 3; ++n) {
    const tutti_view& view = l.views[n];
    sdk::validate_view(view, name, device == nullptr);
    if (device == nullptr) continue;
    memory_on(*device, view.buffer, name);
    sdk::validate_range(name, view.offset, sdk::dtype_size(view.dtype), view.rank, view.extent,
                        view.stride, view.buffer->bytes);
  }
  check_shapes(l, name);
  return l;
}

tutti_status* supports(tutti_device* device, const tutti_operator_launch* launch, int32_t* support,
                       const char** reason) {
  return sdk::guarded([&] {
    sdk::deref(support, "support") = TUTTI_SUPPORT_NO;
    const char* ignored = nullptr;
    const char** why = reason != nullptr ? reason : &ignored;
    *why = "";
    sdk::deref(device, "device");
    const tutti_operator_launch l = sdk::read_struct(launch, "operator launch");
    if (operator_name(l.kind) == nullptr) {
      *why = "an operator that this plugin does not know";
      return;
    }
    const tutti_operator_launch good = checked(launch, nullptr);
    const bool can = good.kind == TUTTI_OPERATOR_MATMUL ? matmul_supported(good.views[0].dtype, why)
                                                        : gather_supported(good, why);
    *support = can ? TUTTI_SUPPORT_YES : TUTTI_SUPPORT_NO;
  });
}

tutti_status* workspace(tutti_device* device, const tutti_operator_launch* launch,
                        uint64_t* bytes) {
  return sdk::guarded([&] {
    sdk::deref(bytes, "bytes") = 0;
    sdk::deref(device, "device");
    const tutti_operator_launch l = checked(launch, nullptr);
    const scoped_context context(*device);
    if (l.kind == TUTTI_OPERATOR_MATMUL) *bytes = matmul_workspace(*device, l);
  });
}

tutti_status* launch(tutti_stream* stream, const tutti_operator_launch* given,
                     tutti_event** event) {
  return sdk::guarded([&] {
    if (event != nullptr) *event = nullptr;
    const tutti_operator_launch l = checked(given, sdk::deref(stream, "stream").device);
    const scoped_context context(*stream->device);
    const char* reason = "";
    if (l.kind == TUTTI_OPERATOR_MATMUL) {
      if (!matmul_supported(l.views[0].dtype, &reason)) sdk::throw_unsupported(reason);
      matmul(*stream, l, event);
    } else {
      if (!gather_supported(l, &reason)) sdk::throw_unsupported(reason);
      gather(*stream, l, event);
    }
  });
}

}  // namespace

const tutti_operator_api operator_api = {sizeof(tutti_operator_api), supports, workspace, launch};

}  // namespace tutti::cuda
