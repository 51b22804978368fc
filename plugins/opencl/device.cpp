// SPDX-License-Identifier: Apache-2.0
//
// Finding devices on all platforms, their properties, and opening them.
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdlib>
#include <optional>

#include "base/signals.hpp"
#include "opencl/objects.hpp"
#include "opencl/pocl.hpp"
#include "opencl/settings.hpp"
#include "sdk/device_layer/device_table.hpp"

// From OpenCL 2.1; NULL if the loader is older. The headers hide it from programs for 1.2.
extern "C" __attribute__((weak)) CL_API_ENTRY cl_program CL_API_CALL
clCreateProgramWithIL(cl_context context, const void* il, size_t length, cl_int* code);

namespace tutti::opencl {
namespace {

using known = sdk::device_functions<backend>;

// Extension constants that old headers lack.
constexpr cl_device_info device_uuid = 0x106A;  // cl_khr_device_uuid
constexpr cl_device_info device_pci = 0x410F;   // cl_khr_pci_bus_info
constexpr cl_device_info nv_pci_bus = 0x4008;   // cl_nv_device_attribute_query
constexpr cl_device_info nv_pci_slot = 0x4009;
constexpr cl_device_info nv_pci_domain = 0x400A;
constexpr cl_device_info amd_topology = 0x4037;  // cl_amd_device_attribute_query

template <typename T>
T query(cl_device_id id, cl_device_info what, T otherwise) {
  T value{};
  return clGetDeviceInfo(id, what, sizeof value, &value, nullptr) == CL_SUCCESS ? value : otherwise;
}

template <auto Query, typename Id>
std::string text_from(Id id, cl_uint what) {
  size_t size = 0;
  if (Query(id, what, 0, nullptr, &size) != CL_SUCCESS || size == 0) return {};
  std::string text(size, '\0');
  if (Query(id, what, size, text.data(), nullptr) != CL_SUCCESS) return {};
  return std::string(text.c_str());
}

std::string query_text(cl_device_id id, cl_device_info what) {
  return text_from<clGetDeviceInfo>(id, what);
}

std::string platform_text(cl_platform_id id, cl_platform_info what) {
  return text_from<clGetPlatformInfo>(id, what);
}

// Rusticl runs CPUs through llvmpipe, which maps the work-items of a group to vector lanes, as GPUs
// do. Groups of one item leave lanes idle, and then its results are wrong in products, partitions
// and selections.
bool has_groups_of_one(cl_device_type type, const std::string& driver) {
  return (type & CL_DEVICE_TYPE_CPU) != 0 && !driver.starts_with("rusticl");
}

sdk::schedule choose_schedule(cl_device_type type, const std::string& driver) {
  if (settings().schedule) return *settings().schedule;
  return has_groups_of_one(type, driver) ? sdk::schedule::cpu : sdk::schedule::gpu;
}

bool has(const device_info& info, const char* extension) {
  return (" " + info.extensions + " ").find(std::string(" ") + extension + " ") !=
         std::string::npos;
}

constexpr cl_device_info device_il_version = 0x105B;  // also for the extension

create_from_il find_il(const device_info& info) {
  if (query_text(info.id, device_il_version).find("SPIR-V_") == std::string::npos) return nullptr;
  if (!has(info, "cl_khr_il_program")) return &clCreateProgramWithIL;
  if (void* const khr =
          clGetExtensionFunctionAddressForPlatform(info.platform, "clCreateProgramWithILKHR"))
    return reinterpret_cast<create_from_il>(khr);
  return &clCreateProgramWithIL;
}

void find_identity(device_info& info) {
  tutti_device_properties& p = info.properties;
  if (has(info, "cl_khr_device_uuid")) {
    p.has_uuid =
        clGetDeviceInfo(info.id, device_uuid, sizeof p.uuid, p.uuid, nullptr) == CL_SUCCESS;
  }
  if (has(info, "cl_khr_pci_bus_info")) {
    uint32_t where[4] = {};
    p.has_pci = clGetDeviceInfo(info.id, device_pci, sizeof where, where, nullptr) == CL_SUCCESS;
    p.pci_domain = where[0], p.pci_bus = where[1], p.pci_device = where[2];
    p.pci_function = where[3];
  } else if (has(info, "cl_nv_device_attribute_query")) {
    const cl_uint none = ~cl_uint{0};
    const cl_uint bus = query(info.id, nv_pci_bus, none);
    const cl_uint slot = query(info.id, nv_pci_slot, none);
    p.has_pci = bus != none && slot != none;
    p.pci_domain = query(info.id, nv_pci_domain, cl_uint{0});
    p.pci_bus = bus, p.pci_device = slot >> 3, p.pci_function = slot & 7;
  } else if (has(info, "cl_amd_device_attribute_query")) {
    // A record of 24 bytes: type 1 (PCIe), then at the end bus, device and function.
    unsigned char record[24] = {};
    p.has_pci =
        clGetDeviceInfo(info.id, amd_topology, sizeof record, record, nullptr) == CL_SUCCESS &&
        record[0] == 1;
    p.pci_bus = record[21], p.pci_device = record[22], p.pci_function = record[23];
  }
  if (!p.has_pci) p.pci_domain = p.pci_bus = p.pci_device = p.pci_function = 0;
}

// Pointer, offset and strides of an operand of rank 8 with 32-bit words. Programs with 64-bit words
// are rare, and have lower rank in practice; creating one that is too large reports an error.
constexpr uint32_t operand_argument_bytes = 8 + 4 + 4 * TUTTI_MAX_RANK;

void find_limits(device_info& info) {
  tutti_device_properties& p = info.properties;
  const cl_device_id id = info.id;
  p.compute_units = std::max(query(id, CL_DEVICE_MAX_COMPUTE_UNITS, cl_uint{1}), cl_uint{1});
  p.memory_bytes = query(id, CL_DEVICE_GLOBAL_MEM_SIZE, cl_ulong{0});
  p.max_allocation_bytes = query(id, CL_DEVICE_MAX_MEM_ALLOC_SIZE, cl_ulong{0});
  p.unified_memory = query(id, CL_DEVICE_HOST_UNIFIED_MEMORY, cl_bool{0}) ? 1 : 0;
  const auto argument_bytes = query(id, CL_DEVICE_MAX_PARAMETER_SIZE, size_t{1024});
  p.max_argument_bytes = static_cast<uint32_t>(std::min<size_t>(argument_bytes, 1u << 20));
  // The space after extents, plan, divisors, workspace and eight scalars is for operands.
  const uint32_t divisors = info.kind == sdk::schedule::gpu ? 8 * TUTTI_MAX_RANK : 0;
  const uint32_t fixed = 4 * TUTTI_MAX_RANK + 4 * sdk::plan_words + divisors + 24 + 64;
  const uint32_t spare = p.max_argument_bytes > fixed ? p.max_argument_bytes - fixed : 0;
  const uint32_t operands = std::clamp(spare / operand_argument_bytes, 8u, 32u);
  p.max_outputs = std::clamp(operands / 4, 2u, 8u);
  p.max_inputs = operands - p.max_outputs;
  p.max_instructions = 512;
  const auto group = query(id, CL_DEVICE_MAX_WORK_GROUP_SIZE, size_t{1});
  p.max_work_group_size = static_cast<uint32_t>(group);
  info.work_group = std::bit_floor(static_cast<uint32_t>(std::min<size_t>(group, 128)));
  p.alignment = std::max(query(id, CL_DEVICE_MEM_BASE_ADDR_ALIGN, cl_uint{1024}) / 8, cl_uint{1});
  info.local_bytes = query(id, CL_DEVICE_LOCAL_MEM_SIZE, cl_ulong{0});
  const cl_uint lanes = query(id, CL_DEVICE_NATIVE_VECTOR_WIDTH_FLOAT, cl_uint{4});
  info.vector_bytes = std::clamp(std::bit_floor(std::max(lanes, 1u)) * 4, 16u, 64u);
}

void find_dtypes(device_info& info) {
  uint32_t computed = TUTTI_DTYPE_BIT(TUTTI_BOOL) | TUTTI_DTYPE_BIT(TUTTI_F32);
  for (uint32_t d = TUTTI_I8; d <= TUTTI_U64; ++d) computed |= TUTTI_DTYPE_BIT(d);
  info.has_f64 = has(info, "cl_khr_fp64") ||
                 query(info.id, CL_DEVICE_DOUBLE_FP_CONFIG, cl_device_fp_config{0}) != 0;
  computed |= TUTTI_DTYPE_BIT(TUTTI_C64);
  if (info.has_f64) computed |= TUTTI_DTYPE_BIT(TUTTI_F64) | TUTTI_DTYPE_BIT(TUTTI_C128);
  info.properties.computed_dtypes = computed;
  info.properties.stored_dtypes =
      computed | TUTTI_DTYPE_BIT(TUTTI_F16) | TUTTI_DTYPE_BIT(TUTTI_BF16);
}

std::unique_ptr<device_info> describe(cl_platform_id platform, cl_device_id id) {
  auto info = std::make_unique<device_info>();
  info->platform = platform;
  info->id = id;
  info->name = query_text(id, CL_DEVICE_NAME);
  info->vendor = query_text(id, CL_DEVICE_VENDOR);
  info->extensions = query_text(id, CL_DEVICE_EXTENSIONS);
  info->driver = platform_text(platform, CL_PLATFORM_NAME) + " " +
                 query_text(id, CL_DRIVER_VERSION) + " (" + query_text(id, CL_DEVICE_VERSION) + ")";
  const auto type = query(id, CL_DEVICE_TYPE, cl_device_type{CL_DEVICE_TYPE_GPU});
  info->kind = choose_schedule(type, info->driver);
  tutti_device_properties& p = info->properties;
  p.struct_size = sizeof p;
  p.type = type & CL_DEVICE_TYPE_CPU   ? TUTTI_DEVICE_CPU
           : type & CL_DEVICE_TYPE_GPU ? TUTTI_DEVICE_GPU
                                       : TUTTI_DEVICE_ACCELERATOR;
  find_limits(*info);
  find_dtypes(*info);
  find_identity(*info);
  info->il = find_il(*info);
  p.schedule = info->kind == sdk::schedule::cpu ? "cpu" : "gpu";
  p.speed_class = TUTTI_SPEED_PORTABLE;
  info->cache_key = platform_text(platform, CL_PLATFORM_VERSION) + "|" + info->name + "|" +
                    info->driver + "|" + p.schedule;
  info->takes_declarations = p.type == TUTTI_DEVICE_CPU && is_pocl(info->driver);
  p.name = info->name.c_str();
  p.vendor = info->vendor.c_str();
  p.driver = info->driver.c_str();
  p.cache_key = info->cache_key.c_str();
  return info;
}

// The device, or its subdevices if requested and if it can be divided.
void add_device(cl_platform_id platform, cl_device_id id,
                std::vector<std::unique_ptr<device_info>>& found) {
  auto whole = describe(platform, id);
  const cl_uint units = whole->properties.compute_units, count = std::min(settings().parts, units);
  if (whole->properties.type != TUTTI_DEVICE_CPU || count < 2) {
    found.push_back(std::move(whole));
    return;
  }
  std::vector<cl_device_partition_property> wanted = {CL_DEVICE_PARTITION_BY_COUNTS};
  for (cl_uint n = 0; n < count; ++n) wanted.push_back((units + n) / count);
  wanted.insert(wanted.end(), {CL_DEVICE_PARTITION_BY_COUNTS_LIST_END, 0});
  std::vector<cl_device_id> parts(count);
  if (clCreateSubDevices(id, wanted.data(), count, parts.data(), nullptr) != CL_SUCCESS) {
    log(TUTTI_LOG_WARN, whole->name + " cannot be divided into " + std::to_string(count));
    found.push_back(std::move(whole));
    return;
  }
  for (cl_uint n = 0; n < count; ++n) {
    auto part = describe(platform, parts[n]);
    part->name += ", part " + std::to_string(n + 1) + " of " + std::to_string(count);
    part->properties.name = part->name.c_str();
    // These identify the whole device.
    part->properties.has_uuid = part->properties.has_pci = 0;
    found.push_back(std::move(part));
  }
}

void warn_of_affinity(const device_info& info) {
  if (info.properties.type != TUTTI_DEVICE_CPU) return;
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return;
  const auto allowed = static_cast<uint32_t>(CPU_COUNT(&mask));
  if (allowed >= info.properties.compute_units) return;
  log(TUTTI_LOG_WARN, info.name + ": this thread may run on " + std::to_string(allowed) + " of " +
                          std::to_string(info.properties.compute_units) +
                          " cores, and the driver's threads inherit that; unset OMP_PROC_BIND or "
                          "widen the affinity mask (taskset)");
}

// The context of a platform's devices; created when the first of them is opened, kept while one is
// open.
std::shared_ptr<const owned_context> context_of(cl_platform_id platform) {
  static auto* const mutex = new std::mutex;
  static auto* const open = new std::map<cl_platform_id, std::weak_ptr<const owned_context>>;
  const std::lock_guard lock(*mutex);
  if (auto shared = (*open)[platform].lock()) return shared;
  std::vector<cl_device_id> ids;
  for (const auto& info : known::all())
    if (info->platform == platform) ids.push_back(info->id);
  const cl_context_properties wanted[] = {CL_CONTEXT_PLATFORM,
                                          reinterpret_cast<cl_context_properties>(platform), 0};
  cl_int code = CL_SUCCESS;
  owned_context made(clCreateContext(wanted, static_cast<cl_uint>(ids.size()), ids.data(), nullptr,
                                     nullptr, &code));
  check(code, "clCreateContext");
  auto shared = std::make_shared<const owned_context>(std::move(made));
  (*open)[platform] = shared;
  return shared;
}

tutti_status* open(uint32_t index, tutti_device** result) {
  return sdk::guarded([&] {
    sdk::deref(result, "device") = nullptr;
    const device_info& info = known::at(index);
    auto device = std::make_unique<tutti_device>();
    device->info = &info;
    device->context = context_of(info.platform);
    device->works_in_place = works_in_place(info, device->context->get());
    warn_of_affinity(info);
    *result = device.release();
  });
}

void release(tutti_device* device) { delete device; }

tutti_status* memory_available(tutti_device* device, uint64_t* bytes) {
  return sdk::guarded([&] {
    const device_info& info = *sdk::deref(device, "device").info;
    const uint64_t used = device->allocated.load();
    uint64_t left = info.properties.memory_bytes > used ? info.properties.memory_bytes - used : 0;
    if (info.properties.unified_memory) {
      const long pages = sysconf(_SC_AVPHYS_PAGES), page = sysconf(_SC_PAGESIZE);
      if (pages > 0 && page > 0) {
        left = std::min(left, static_cast<uint64_t>(pages) * static_cast<uint64_t>(page));
      }
    }
    sdk::deref(bytes, "bytes") = left;
  });
}

// The devices of a platform. PoCL starts its threads at the first query.
std::vector<cl_device_id> devices_of(cl_platform_id platform) {
  std::optional<base::blocked_signals> none_for_its_threads;
  if (is_pocl(platform_text(platform, CL_PLATFORM_NAME))) {
    if (!is_sys_mounted()) return {};
    warn_of_ignored_children();
    none_for_its_threads.emplace();
  }
  cl_uint count = 0;
  if (clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, nullptr, &count) != CL_SUCCESS) return {};
  std::vector<cl_device_id> ids(count);
  if (count == 0 ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, ids.data(), nullptr) != CL_SUCCESS) {
    return {};
  }
  return ids;
}

}  // namespace

std::vector<std::unique_ptr<device_info>> backend::find_devices() {
  settings();  // invalid settings are reported first
  prepare_pocl();
  std::vector<std::unique_ptr<device_info>> found;
  cl_uint count = 0;
  const cl_int code = clGetPlatformIDs(0, nullptr, &count);
  std::vector<cl_platform_id> platforms(code == CL_SUCCESS ? count : 0);
  if (!platforms.empty()) {
    check(clGetPlatformIDs(count, platforms.data(), nullptr), "clGetPlatformIDs");
  }
  for (cl_platform_id platform : platforms) {
    for (cl_device_id id : devices_of(platform)) add_device(platform, id, found);
  }
  if (found.empty()) {
    const char* folder = std::getenv("OCL_ICD_VENDORS");
    throw sdk::plugin_error(
        TUTTI_ERROR_NO_DRIVER,
        "no OpenCL device: " + std::to_string(platforms.size()) +
            (platforms.size() == 1 ? " platform" : " platforms") +
            " found through the ICD files in " +
            (folder != nullptr ? folder : "/etc/OpenCL/vendors") +
            "; install the OpenCL driver of the hardware, or pocl-opencl-icd for the CPU" +
            about_pocl(),
        code);
  }
  return found;
}

const tutti_device_api device_api = {
    sizeof(tutti_device_api), known::count, known::properties, open, release, memory_available};

}  // namespace tutti::opencl
