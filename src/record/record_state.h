/* Between the parts of jw_record: record.c runs the command, record_entries.c reads what it left in
 * its cache, record_owners.c finds the files that it came from, record_warm.c puts it into the
 * user's cache. */
#pragma once

#include <jitwarm/record.h>

#include "base/set.h"
#include "cache/key.h"
#include "plan/plan.h"

enum { RECORD_MOST_PATHS = 1 << 20 };

/* What the recording does not say of a module, but the user's cache wants to know. */
struct record_entry {
	enum cache_key_form form;
	bool insertable; /* a cubin of a form that we know */
	int64_t written_ns;
	char stamp[CACHE_STAMP_SIZE + 1];
};

struct recorder {
	const struct jw_system *system;
	const struct jw_record_options *options;
	struct jw_record_result *result;
	char *cache_dir; /* the command's own */
	/* Files to look into: those given, or what the command's processes mapped. */
	char **paths;
	size_t path_count, path_capacity;
	struct set known_paths;
	struct record_entry *entries; /* one for each of the recording's modules */
	struct plan *plan;            /* of the files; NULL where nothing was compiled */
};

/* Fills in the recording's modules, in the order in which they were written, and the entries. */
int record_read_entries(struct jw_error *err, struct recorder *recorder);
/* Fills in the recording's driver and files, and which module comes from which. */
int record_find_owners(struct jw_error *err, struct recorder *recorder);
/* Into the user's cache, as far as it goes: what stood in the way is in the result. */
void record_warm(struct recorder *recorder);

/* Whether the caller wants no more of it; the result says so from then on. */
bool record_is_stopped(struct recorder *recorder);

int record_note(struct jw_error *err, struct jw_record_result *result, const char *line);
