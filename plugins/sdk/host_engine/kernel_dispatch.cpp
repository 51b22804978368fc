// SPDX-License-Identifier: Apache-2.0
//
// Searches the kernels of an instruction set (units: CMakeLists.txt, which writes
// host_kernel_units.hpp).
#include <algorithm>

#include "host_kernel_units.hpp"
#include "sdk/host_engine/dispatch.hpp"

#define TUTTI_DECLARED(SET, UNIT) extern const kernel_table SET##_##UNIT;
#define TUTTI_ADDRESS(SET, UNIT) &routines::SET##_##UNIT,

namespace tutti::sdk {
namespace routines {

#ifdef TUTTI_HOST_BASELINE
TUTTI_KERNEL_UNITS(TUTTI_DECLARED, baseline)
#endif
#ifdef TUTTI_HOST_AVX2
TUTTI_KERNEL_UNITS(TUTTI_DECLARED, avx2)
#endif
#ifdef TUTTI_HOST_AVX512
TUTTI_FLOAT_PRODUCTS(TUTTI_DECLARED, avx512)
#endif

}  // namespace routines

namespace {

template <size_t N>
routines::kernel_routine find_in(const routines::kernel_table* const (&tables)[N],
                                 const std::string& key) {
  for (const routines::kernel_table* table : tables) {
    const routines::kernel_row* end = table->rows + table->count;
    const routines::kernel_row* row = std::lower_bound(
        table->rows, end, key,
        [](const routines::kernel_row& r, const std::string& k) { return r.key < k; });
    if (row != end && row->key == key) return row->run;
  }
  return nullptr;
}

}  // namespace

routines::kernel_routine find_kernel([[maybe_unused]] host_routines set, const std::string& key) {
  routines::kernel_routine found = nullptr;
#ifdef TUTTI_HOST_AVX512
  static constexpr const routines::kernel_table* avx512[] = {
      TUTTI_FLOAT_PRODUCTS(TUTTI_ADDRESS, avx512)};
  if (set == host_routines::avx512) found = find_in(avx512, key);
#endif
#ifdef TUTTI_HOST_AVX2
  static constexpr const routines::kernel_table* avx2[] = {TUTTI_KERNEL_UNITS(TUTTI_ADDRESS, avx2)};
  if (found == nullptr && set != host_routines::baseline) found = find_in(avx2, key);
#endif
#ifdef TUTTI_HOST_BASELINE
  static constexpr const routines::kernel_table* baseline[] = {
      TUTTI_KERNEL_UNITS(TUTTI_ADDRESS, baseline)};
  if (found == nullptr) found = find_in(baseline, key);
#endif
  return found;
}

}  // namespace tutti::sdk
