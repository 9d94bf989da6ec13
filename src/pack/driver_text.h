/* Drivers as packs name them. */
#pragma once

#include "pack/manifest.h"

enum { PACK_DRIVER_TEXT = 64 };
/* "550.163.01 (CUDA 12.4)", "built Feb  9 2019 19:17:30"; returns `text`. */
const char *pack_driver_text(char text[PACK_DRIVER_TEXT], const struct pack_driver *driver);

/* The driver with this stamp, as far as known: from `system` (NULL: no system), the table of known
 * drivers, or the former drivers that the system remembers. */
struct jw_system;
void pack_driver_of_stamp(struct pack_driver *driver, const char *stamp,
						  const struct jw_system *system);

/* "sm_70 sm_86", by number, and "418.39, built Feb  9 2019 19:17:30", in the manifest's order; cut
 * where they are longer. A signature's comment holds them (pack-format.md), so they stay as they
 * are.
 */
enum { PACK_TARGETS_TEXT = 256, PACK_DRIVERS_TEXT = 512 };
const char *pack_targets_text(char text[PACK_TARGETS_TEXT], const struct pack_manifest *manifest);
const char *pack_drivers_text(char text[PACK_DRIVERS_TEXT], const struct pack_manifest *manifest);
