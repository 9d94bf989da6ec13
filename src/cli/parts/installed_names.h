/* Files by names that mean the same on other machines. */
#ifndef JW_CLI_PARTS_INSTALLED_NAMES_H
#define JW_CLI_PARTS_INSTALLED_NAMES_H

#include <jitwarm/find.h>
#include <jitwarm/pack.h>

/* The part behind ".../site-packages/", or the path itself: a pointer into it. */
const char *installed_name(const char *path);

/* What was found, as packs want it. It points into `found`, which must outlive it; the caller frees
 * *ret_files with mem_free. */
int installed_files(struct jw_error *err, const struct jw_found *found,
					struct jw_pack_file **ret_files);

#endif
