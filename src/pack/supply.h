/* The PTX that a thin pack lacks, from files of this machine.
 *
 * The files are searched once, and the modules found are copied into a private file: a module may
 * come from an archive, and a library may change before the last entry is written. */
#pragma once

#include <jitwarm/pack.h>

#include "pack/manifest.h"

struct supply;

/* The files that jw_import_options.find leads to: looked for once, also for several imports. Begins
 * as {0}. */
struct supply_search {
	bool done;
	struct jw_found *found;
	struct jw_pack_file *files;
};
void supply_search_free(struct supply_search *search);

/* Looks for the `needed` thin members (one flag for each member). A member that is not found is not
 * a failure. The caller closes it; what is given, but for `needed`, must outlive it. */
int supply_open(struct jw_error *err, const struct jw_import_options *options,
				struct supply_search *search, const struct pack_manifest *manifest,
				const bool *needed, struct supply **ret_supply);
void supply_close(struct supply *supply);

bool supply_has(const struct supply *supply, uint32_t member);
/* Reads a member that supply_has; `bytes` has room for its size_bytes. */
int supply_read(struct jw_error *err, const struct supply *supply, uint32_t member, uint8_t *bytes);

/* Reports missing modules, file by file: `lacking` flags the entries. Counts them and names the
 * files in `result`, whose list was empty. */
int supply_report(struct jw_error *err, const struct supply *supply, const bool *lacking,
				  struct jw_import_result *result);
void supply_free_report(struct jw_import_result *result);
