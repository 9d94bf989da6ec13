/* Shared by the parts of jw_record: recorder.c runs the command, record_entries.c reads the cache
 * that it has filled, record_owners.c finds the files of the modules, record_warm.c inserts the
 * entries into the user's cache. */
#pragma once

#include <jitwarm/record.h>

#include "base/set.h"
#include "cache/key.h"
#include "cache/view.h"
#include "plan/plan.h"

enum { RECORD_MAX_PATHS = 1 << 20 };

/* An entry of the command's cache: facts that the recording lacks and the user's cache needs. */
struct record_entry {
	enum cache_key_form form;
	bool insertable; /* a cubin of a known form */
	bool in_file;    /* a searched file has the module in the form that was compiled */
	int64_t written_ns;
	struct jw_identity identity;
	/* The name and the identity of the key if the payload is a text without options. */
	uint64_t text_key;
	struct jw_identity text_identity;
	char stamp[CACHE_STAMP_SIZE + 1];
};

struct recorder {
	const struct jw_system *system;
	const struct jw_record_options *options;
	struct jw_record_result *result;
	char *cache_dir;           /* the command's cache */
	struct cache_files before; /* the user's cache before the command ran, if the command uses it */
	/* The files to search for modules: those of the caller, or those that the command's processes
	 * mapped. */
	char **paths;
	size_t path_count, path_capacity;
	bool given; /* the caller named files */
	struct set known_paths;
	uint32_t nvrtc_cuda; /* the CUDA version of the newest NVRTC that a process had loaded; 0 if
							there was none */
	struct record_entry *entries; /* one for each module of the recording */
	struct plan *plan;            /* the plan of the files; NULL if nothing was compiled */
};

/* Fills in the recording's modules, in the order in which they were written, and the entries. */
int record_read_entries(struct jw_error *err, struct recorder *recorder);
/* Fills in the recording's driver and files, and each module's file. */
int record_find_owners(struct jw_error *err, struct recorder *recorder);
/* Fills in the texts of modules that are in no file. */
void record_keep_texts(struct recorder *recorder);
/* Inserts the entries into the user's cache; the result says why any are left out. */
void record_warm(struct recorder *recorder);

/* Returns whether the caller has cancelled; the result is then marked as cancelled. */
bool record_is_stopped(struct recorder *recorder);

void record_note(struct jw_record_result *result, const char *line);
