/* Installed packages of Debian that need CUDA's libraries. */
#pragma once

#include "find/place_list.h"

/* dpkg's status (DPKG_ADMINDIR, else /var/lib/dpkg) names them, and its lists their files. Packages
 * without a file that may hold device code are left out. Does nothing where there is no dpkg. */
int debian_packages_add(struct jw_error *err, struct place_list *list);
