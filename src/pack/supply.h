/* What a thin pack lacks: PTX out of files of this machine, which an import needs beside the pack.
 *
 * It is looked for once, and what is found lies in a private file from then on: a module may come
 * out of an archive, and no library is held to stay as it is until the last entry is written.
 */
#pragma once

#include <jitwarm/pack.h>

#include "pack/manifest.h"

struct supply;

/* Looks for the thin members that are `needed` (one flag for each member). What is not found is no
 * failure. The caller closes it; `options` and `manifest` must outlive it. */
int supply_open(struct jw_error *err, const struct jw_import_options *options,
				const struct pack_manifest *manifest, const bool *needed,
				struct supply **ret_supply);
void supply_close(struct supply *supply);

bool supply_has(const struct supply *supply, uint32_t member);
/* A member that supply_has; `bytes` takes its size_bytes. */
int supply_read(struct jw_error *err, const struct supply *supply, uint32_t member, uint8_t *bytes);

/* What is missing, file by file: `lacking` says which entries. Counts that and names the files in
 * `result`, whose list was empty. */
int supply_report(struct jw_error *err, const struct supply *supply, const bool *lacking,
				  struct jw_import_result *result);
void supply_free_report(struct jw_import_result *result);
