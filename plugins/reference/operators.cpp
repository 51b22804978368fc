// SPDX-License-Identifier: Apache-2.0
//
// The operator group: the plain loops of the SDK, with an input that is packed and an extent that
// is measured.
#include <algorithm>
#include <cstring>
#include <memory>
#include <string>

#include "sdk/host_device/objects.hpp"
#include "sdk/host_layer/host_operator.hpp"
#include "sdk/host_types.hpp"
#include "sdk/validate.hpp"
#include "sdk/validate_operator.hpp"

namespace tutti::host_device {
namespace {

using sdk::deref;
using sdk::guarded;
using sdk::throw_invalid;

// Packed is the second factor of a product, with its columns one after the other: it is read like
// any other view then.
constexpr uint32_t packable = 2;
constexpr uint64_t packed_form = 1;

void lay_out_packed(sdk::owned_operator& what) {
  const tutti_view& b = what.call().views[packable];
  // Unsigned, since that of no batches may be beyond 63 bits.
  what.set_strides(packable, {static_cast<int64_t>(b.extent[1] * b.extent[2]), 1,
                              static_cast<int64_t>(b.extent[1])});
}

// The description, or the reason against it.
std::shared_ptr<const sdk::owned_operator> read_description(const tutti_operator_desc* desc,
                                                            const char*& against) {
  auto what = std::make_shared<sdk::owned_operator>(desc, against);
  if (against != nullptr) return nullptr;
  const sdk::operator_call call = what->call();
  for (uint32_t n = 0; n < call.view_count; ++n) {
    const bool can = call.kind == TUTTI_OPERATOR_MATMUL && n == packable;
    if (what->is_packed(n) && !can) against = "this operand is not packed";
  }
  sdk::check_operator(call);
  if (what->is_measured() && call.kind != TUTTI_OPERATOR_SELECT)
    against = "the extents of this operator's results do not depend on values";
  if (against == nullptr) against = sdk::against_on_host(call);
  if (against != nullptr) return nullptr;
  if (what->is_packed(packable)) lay_out_packed(*what);
  return what;
}

}  // namespace
}  // namespace tutti::host_device

struct tutti_plan {
  std::shared_ptr<const tutti::sdk::owned_operator> what;  // kept by launches in line
};

namespace tutti::host_device {
namespace {

tutti_status* supports(tutti_device* device, const tutti_operator_desc* desc, int32_t* support,
                       const char** reason) {
  return guarded([&] {
    deref(device, "device");
    deref(support, "support") = TUTTI_SUPPORT_NO;
    const char* against = nullptr;
    if (read_description(desc, against)) *support = TUTTI_SUPPORT_YES;
    if (reason != nullptr) *reason = against != nullptr ? against : "";
  });
}

tutti_status* create(tutti_device* device, const tutti_operator_desc* desc, tutti_plan** plan) {
  return guarded([&] {
    deref(device, "device");
    deref(plan, "plan") = nullptr;
    const char* against = nullptr;
    auto what = read_description(desc, against);
    if (!what) sdk::throw_unsupported(against);
    *plan = new tutti_plan{std::move(what)};
  });
}

void release(tutti_plan* plan) { delete plan; }

tutti_status* workspace(tutti_plan* plan, uint64_t* bytes) {
  return guarded([&] {
    deref(plan, "plan");
    deref(bytes, "bytes") = 0;
  });
}

tutti_status* launch_operator(tutti_stream* stream, tutti_plan* plan,
                              const tutti_operator_launch* given, tutti_event** event) {
  return guarded([&] {
    const auto what = deref(plan, "plan").what;
    if (what->is_measured())
      throw_invalid(std::string(sdk::operator_name(what->call().kind)) +
                    ": launched with extents that are unknown");
    sdk::host_operator work(what, sdk::read_launch(given, what->call()), memory_of);
    tutti_stream& line = deref(stream, "stream");
    enqueue(line, event, [work = std::move(work), &team = line.device->team] { work.run(team); });
  });
}

sdk::host_view with_memory(const tutti_view& v) {
  return {memory_of(*v.buffer).data + v.offset, v.dtype, v.rank, v.extent, v.stride};
}

const tutti_view& packed_view(const tutti_plan& plan, uint32_t operand) {
  const sdk::operator_call call = plan.what->call();
  if (operand >= call.view_count || !plan.what->is_packed(operand)) {
    throw_invalid(std::string(sdk::operator_name(call.kind)) + ": operand " +
                  std::to_string(operand) + " of the plan is not packed");
  }
  return call.views[operand];
}

tutti_status* packed(tutti_plan* plan, uint32_t operand, uint64_t* bytes, uint64_t* form) {
  return guarded([&] {
    const tutti_view& v = packed_view(deref(plan, "plan"), operand);
    deref(bytes, "bytes") = v.extent[0] * v.extent[1] * v.extent[2] * sdk::dtype_size(v.dtype);
    deref(form, "form") = packed_form;
  });
}

tutti_status* pack(tutti_stream* stream, tutti_plan* plan, uint32_t operand, const tutti_view* from,
                   const tutti_range* to, tutti_event** event) {
  return guarded([&] {
    tutti_view target = packed_view(deref(plan, "plan"), operand);
    const tutti_view source = deref(from, "view to pack");
    target.buffer = deref(to, "packed operand").buffer;
    target.offset = to->offset;
    sdk::validate_view(source, "pack", false);
    sdk::validate_view(target, "pack", false);
    if (source.dtype != target.dtype || source.rank != target.rank ||
        !std::equal(source.extent, source.extent + source.rank, target.extent))
      throw_invalid("pack: the view has another dtype or shape than the plan's operand");
    enqueue(deref(stream, "stream"), event, [source, target] {
      for (const tutti_view* v : {&source, &target})
        sdk::validate_range("pack", v->offset, sdk::dtype_size(v->dtype), v->rank, v->extent,
                            v->stride, v->buffer->bytes);
      sdk::copy_on_host(with_memory(source), with_memory(target));
    });
  });
}

tutti_status* measure(tutti_stream* stream, tutti_plan* plan, const tutti_operator_launch* given,
                      const tutti_range* to, tutti_event** event) {
  return guarded([&] {
    const auto what = deref(plan, "plan").what;
    const char* name = sdk::operator_name(what->call().kind);
    if (!what->is_measured())
      throw_invalid(std::string(name) + ": there is nothing to measure, the extents are known");
    sdk::host_operator work(what, sdk::read_launch(given, what->call()), memory_of, 1);
    const tutti_range place = deref(to, "extents");
    deref(place.buffer, "buffer of the extents");
    enqueue(deref(stream, "stream"), event, [work = std::move(work), place] {
      const uint64_t extents[TUTTI_MAX_RANK] = {work.selected()};
      sdk::validate_span("extents", place.offset, sizeof extents, place.buffer->bytes);
      std::memcpy(place.buffer->memory + place.offset, extents, sizeof extents);
    });
  });
}

}  // namespace

const tutti_operator_api operator_api = {sizeof(tutti_operator_api),
                                         supports,
                                         create,
                                         release,
                                         workspace,
                                         launch_operator,
                                         packed,
                                         pack,
                                         measure};

}  // namespace tutti::host_device
