/* Shared by the parts of jw_import. A pack is read twice: the first pass checks all of it, the
 * second inserts the new entries. import.c has the entry point. */
#pragma once

#include <jitwarm/pack.h>

#include "base/set.h"
#include "pack/manifest.h"
#include "pack/member_walk.h"

struct import;

struct import_fate {
	enum jw_import_verdict verdict;
	bool insert;  /* accepted, and to be inserted as the only entry of the pack with this name */
	bool carried; /* inserted under this machine's stamp */
	bool taken;   /* refused, since another module's entry has its name */
	uint64_t key; /* its name in this cache */
	struct jw_identity identity;
	uint64_t key_bytes;
	uint64_t checksum; /* the cubin's checksum, as the driver computes it */
};

struct import {
	const struct jw_import_options *options;
	/* The system whose driver and GPUs decide; NULL to insert entries unchanged. */
	const struct jw_system *system;
	struct jw_import_result *result;
	struct source *source;
	struct pack_manifest manifest;
	uint64_t limit_bytes;
	uint64_t new_bytes;            /* the bytes that must fit on the disk */
	uint64_t evicts_nothing_bytes; /* a limit with which nothing would be evicted, if the present
									  one would evict something */
	uint64_t most_kept_bytes;      /* content up to this size is decompressed once and kept for the
									  second pass */
	uint32_t new_mode; /* the mode of a directory that is created; 0 for this account alone */
	size_t wanted;     /* entries that are inserted or checked again */

	/* For a pack of entries: */
	struct import_fate *fates; /* for each entry */
	size_t group_capacity;
	uint64_t room_bytes; /* with only_missing: what remains of the limit */
	struct set keys;     /* the names of this pack's entries in this cache */
	struct member_walk walk;
};

int import_check_entries(struct jw_error *err, struct import *import, struct reader *reader);
int import_decide_entries(struct jw_error *err, struct import *import);
/* Decides about each entry, and refuses the pack if the limit, or the disk, has no room for it:
 * JW_ERR_LIMIT, JW_ERR_IO. Nothing is written before. */
int import_decide(struct jw_error *err, struct import *import);
int import_insert_entries(struct jw_error *err, struct import *import);

/* Writes a part of a message: what to do if `needed` bytes require a larger limit, and which limit
 * is better. */
enum { IMPORT_ADVICE = 128 };

/* Computes the bytes that the driver's limit leaves in this cache, by its index. */
int import_free_room(struct jw_error *err, const char *dir, uint64_t limit_bytes,
					 uint64_t *ret_room_bytes);

/* Why an entry is left out of a refilled cache. */
#define IMPORT_NO_ROOM "no space in the cache"
/* Why an entry is left out beside that of another module with the same name. */
#define IMPORT_TAKEN "the entry of another module has the same name, and stays"
