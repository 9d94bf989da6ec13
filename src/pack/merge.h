/* Merges several packs into one: each member and each entry once, with all manifest data. Nothing
 * is unpacked to disk, and one member at a time is in memory. */
#pragma once

#include "pack/writer.h"

/* Writes `output` from the packs at `paths`, the newest last: of two entries with one name the
 * newer is taken. All packs must be for one system. JW_ERR_FORMAT: a pack is damaged; JW_ERR_LIMIT:
 * the packs hold too much for one. After a failure `output` is not a valid pack. */
int merge_packs(struct jw_error *err, char *const *paths, size_t count, const char *output,
				struct written *ret_written);
