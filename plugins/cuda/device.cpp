// SPDX-License-Identifier: Apache-2.0
//
// Finding devices, their properties, and opening them. A device uses its primary context, which it
// shares with other users of the CUDA runtime in the process.
#include <algorithm>
#include <cstring>

#include "cuda/objects.hpp"
#include "sdk/device_layer/device_table.hpp"

namespace tutti::cuda {
namespace {

using known = sdk::device_functions<backend>;

int attribute(CUdevice id, CUdevice_attribute what, int otherwise = 0) {
  int value = 0;
  return cu().device_attribute(&value, what, id) == CUDA_SUCCESS ? value : otherwise;
}

uint32_t positive(CUdevice id, CUdevice_attribute what, int otherwise) {
  return static_cast<uint32_t>(std::max(attribute(id, what, otherwise), 1));
}

void find_identity(device_info& info) {
  tutti_device_properties& p = info.properties;
  CUuuid uuid{};
  p.has_uuid = cu().device_uuid(&uuid, info.id) == CUDA_SUCCESS;
  static_assert(sizeof uuid.bytes == sizeof p.uuid);
  std::memcpy(p.uuid, uuid.bytes, sizeof p.uuid);
  const int bus = attribute(info.id, CU_DEVICE_ATTRIBUTE_PCI_BUS_ID, -1);
  const int slot = attribute(info.id, CU_DEVICE_ATTRIBUTE_PCI_DEVICE_ID, -1);
  p.has_pci = bus >= 0 && slot >= 0;
  if (!p.has_pci) return;
  p.pci_domain = static_cast<uint32_t>(attribute(info.id, CU_DEVICE_ATTRIBUTE_PCI_DOMAIN_ID));
  p.pci_bus = static_cast<uint32_t>(bus);
  p.pci_device = static_cast<uint32_t>(slot);
}

void find_limits(device_info& info) {
  tutti_device_properties& p = info.properties;
  info.vendor = "NVIDIA Corporation";
  info.work_group = work_group;
  p.type = TUTTI_DEVICE_GPU;
  p.schedule = "gpu";
  p.speed_class = TUTTI_SPEED_NATIVE;
  p.compute_units = positive(info.id, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT, 1);
  info.busy_items = 512 * p.compute_units;
  size_t bytes = 0;
  check(nullptr, cu().device_memory(&bytes, info.id), "cuDeviceTotalMem");
  p.memory_bytes = p.max_allocation_bytes = bytes;
  p.unified_memory = attribute(info.id, CU_DEVICE_ATTRIBUTE_INTEGRATED) != 0;
  // Kernel parameters on every driver and architecture; newer ones support 32 KiB.
  p.max_argument_bytes = 4096;
  p.max_inputs = 24;
  p.max_outputs = 8;
  p.max_instructions = 512;
  p.max_work_group_size = positive(info.id, CU_DEVICE_ATTRIBUTE_MAX_THREADS_PER_BLOCK, 1024);
  p.alignment = 256;
  uint32_t computed = TUTTI_DTYPE_BIT(TUTTI_BOOL) | TUTTI_DTYPE_BIT(TUTTI_F32) |
                      TUTTI_DTYPE_BIT(TUTTI_F64) | TUTTI_DTYPE_BIT(TUTTI_C64) |
                      TUTTI_DTYPE_BIT(TUTTI_C128);
  for (uint32_t d = TUTTI_I8; d <= TUTTI_U64; ++d) computed |= TUTTI_DTYPE_BIT(d);
  p.computed_dtypes = computed;
  p.stored_dtypes = computed | TUTTI_DTYPE_BIT(TUTTI_F16) | TUTTI_DTYPE_BIT(TUTTI_BF16);
  info.has_pools = attribute(info.id, CU_DEVICE_ATTRIBUTE_MEMORY_POOLS_SUPPORTED) != 0;
}

std::unique_ptr<device_info> describe(int ordinal) {
  auto info = std::make_unique<device_info>();
  check(nullptr, cu().device_get(&info->id, ordinal), "cuDeviceGet");
  char name[256] = {};
  check(nullptr, cu().device_name(name, sizeof name - 1, info->id), "cuDeviceGetName");
  info->name = name;
  info->major = attribute(info->id, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
  info->minor = attribute(info->id, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
  const std::string capability = std::to_string(info->major) + "." + std::to_string(info->minor);
  const std::string driver_text = version_text(cu().version);
  info->driver = "CUDA " + driver_text + ", compute capability " + capability;
  info->cache_key = info->name + " sm " + capability + " CUDA " + driver_text;
  find_identity(*info);
  find_limits(*info);
  tutti_device_properties& p = info->properties;
  p.struct_size = sizeof p;
  p.name = info->name.c_str();
  p.vendor = info->vendor.c_str();
  p.driver = info->driver.c_str();
  p.cache_key = info->cache_key.c_str();
  return info;
}

// Gives every device that can access this one's memory directly access to it.
void share_pool(tutti_device& device) {
  std::vector<CUmemAccessDesc> peers;
  for (const auto& other : known::all()) {
    int can = 0;
    if (other->id == device.info->id) continue;
    if (cu().can_access_peer(&can, other->id, device.info->id) != CUDA_SUCCESS || can == 0)
      continue;
    CUmemAccessDesc access{};
    access.location.type = CU_MEM_LOCATION_TYPE_DEVICE;
    access.location.id = other->id;
    access.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE;
    peers.push_back(access);
  }
  if (peers.empty()) return;
  const CUresult code = cu().pool_set_access(device.pool, peers.data(), peers.size());
  if (code != CUDA_SUCCESS) {
    log(TUTTI_LOG_WARN,
        device.info->name + ": no direct access for its peers: " + error_text(code));
  }
}

void release(tutti_device* device) {
  if (device == nullptr) return;
  device->modules.clear();
  device->products.reset();
  if (device->context != nullptr) {
    const scoped_context context(*device, std::nothrow);
    device->listening.clear();
    device->events.clear();
    device->words.clear();
    if (device->clock_base != nullptr) cu().event_destroy(device->clock_base);
    for (CUevent event : device->old_clocks) cu().event_destroy(event);
    for (int n = 0; n < 2; ++n) {
      if (device->staging.done[n] != nullptr) cu().event_destroy(device->staging.done[n]);
      if (device->staging.memory[n] != nullptr) cu().host_free(device->staging.memory[n]);
    }
    if (device->allocation_stream != nullptr) cu().stream_destroy(device->allocation_stream);
  }
  if (device->context != nullptr) {
    CUcontext current = nullptr;
    // No thread keeps a context that may be destroyed.
    if (cu().context_get(&current) == CUDA_SUCCESS && current == device->context) {
      cu().context_set(nullptr);
    }
    cu().context_release(device->info->id);
  }
  delete device;
}

struct device_deleter {
  void operator()(tutti_device* device) const { release(device); }
};

tutti_status* open(uint32_t index, tutti_device** result) {
  return sdk::guarded([&] {
    sdk::deref(result, "device") = nullptr;
    std::unique_ptr<tutti_device, device_deleter> device(new tutti_device);
    device->info = &known::at(index);
    check(nullptr, cu().context_retain(&device->context, device->info->id),
          "cuDevicePrimaryCtxRetain");
    const scoped_context context(*device);
    check(device.get(), cu().stream_create(&device->allocation_stream, CU_STREAM_NON_BLOCKING),
          "cuStreamCreate");
    if (device->info->has_pools &&
        cu().pool_default(&device->pool, device->info->id) == CUDA_SUCCESS) {
      share_pool(*device);
    }
    *result = device.release();
  });
}

tutti_status* memory_available(tutti_device* device, uint64_t* bytes) {
  return sdk::guarded([&] {
    sdk::deref(bytes, "bytes") = 0;
    const scoped_context context(sdk::deref(device, "device"));
    size_t free = 0, total = 0;
    check(device, cu().memory_info(&free, &total), "cuMemGetInfo");
    *bytes = free;
  });
}

}  // namespace

std::vector<std::unique_ptr<device_info>> backend::find_devices() {
  driver();
  int found = 0;
  const CUresult code = cu().device_count(&found);
  if (code != CUDA_SUCCESS && code != CUDA_ERROR_NO_DEVICE) {
    throw_error(nullptr, code, "cuDeviceGetCount");
  }
  if (found == 0) {
    throw sdk::plugin_error(TUTTI_ERROR_NO_DRIVER,
                            "the NVIDIA driver finds no device; see whether `nvidia-smi` lists it "
                            "and what CUDA_VISIBLE_DEVICES hides",
                            code);
  }
  compiler_version();  // without NVRTC nothing runs here, and another backend is preferable
  std::vector<std::unique_ptr<device_info>> all;
  for (int n = 0; n < found; ++n) all.push_back(describe(n));
  return all;
}

const tutti_device_api device_api = {
    sizeof(tutti_device_api), known::count, known::properties, open, release, memory_available};

}  // namespace tutti::cuda
