/* SPDX-License-Identifier: Apache-2.0
 *
 * Prints the version of the plugin ABI, from the header alone. */
#include <stdio.h>
#include <tutti/plugin.h>

int main(void) {
  printf("plugin ABI %d.%d, %u bytes\n", TUTTI_ABI_MAJOR, TUTTI_ABI_MINOR,
         (unsigned)sizeof(tutti_plugin_api));
  return 0;
}
