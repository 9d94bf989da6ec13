/* Files whose device code cannot run on a GPU: a program that uses one fails (error 209 or 200, or
 * its process ends).
 *
 * Libraries of one folder may be variants of which a program loads one (bitsandbytes has six), so
 * they fail only if none of them runs. A program or a loose file fails by itself. */
#pragma once

#include "base/set.h"
#include "plan/analyse.h"

/* A file or member that will fail on one GPU architecture. */
struct file_fate {
	char *file; /* "path" or "path: member" */
	uint32_t target;
	enum plan_reason reason; /* REASON_NONE: it has only code for other GPUs */
	size_t folder;           /* index in fates.folders */
};

struct fates {
	struct file_fate *items;
	size_t count, capacity;
	uint32_t *folders; /* for each, a bit mask of the targets on which some file of it runs */
	size_t folder_count, folder_capacity;
	struct set names; /* of folders, by hash */
};

int fates_add(struct jw_error *err, struct fates *fates, const char *path, const char *member,
			  const struct analyse_target *targets, size_t target_count);
/* After the last file: drops those in whose folder another one runs. */
void fates_settle(struct fates *fates);
void fates_free(struct fates *fates);

enum { FATE_TEXT = 160 };
/* "will fail: no kernel image for sm_90" */
const char *fate_text(char text[FATE_TEXT], enum plan_reason reason, struct jw_target device);
