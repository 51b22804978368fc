/* SPDX-License-Identifier: Apache-2.0
 *
 * plugin.h is pure C: this file is compiled as pedantic C99, with warnings as errors. It fills in a
 * table as a plugin in C would. */
#include "tutti/plugin.h"

static tutti_status* count(uint32_t* result) {
  *result = TUTTI_OP_add == 1 && TUTTI_OP_INVALID == 0;
  return 0;
}

int tutti_plugin_header_is_c(void);

int tutti_plugin_header_is_c(void) {
  const tutti_device_api device = {sizeof(tutti_device_api), count, 0, 0, 0, 0};
  uint32_t result = 0;
  return device.count(&result) == 0 && result == 1 ? 1 : 0;
}
