/* Several packs as one: what they hold, each member and each entry once, with all that their
 * manifests say of it. Nothing is unpacked to disk, and of the content a member at a time is in
 * memory. */
#pragma once

#include "pack/writer.h"

/* Writes `output` from the packs at `paths`, the newest last: of two entries of one name its is
 * taken. They have to be of one system. JW_ERR_FORMAT where one of them is damaged, JW_ERR_LIMIT
 * where they hold too much for one pack. What is left at `output` then is none. */
int merge_packs(struct jw_error *err, char *const *paths, size_t count, const char *output,
				struct written *ret_written);
