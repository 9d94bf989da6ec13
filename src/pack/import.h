/* Between the parts of jw_import. A pack is gone through twice: the first pass checks all of it,
 * the second inserts what was found new. import.c is the door, where packs of entries
 * (import_check.c, import_decide.c, import_insert.c) and opaque ones (opaque_import.c) are told
 * apart. */
#pragma once

#include <jitwarm/pack.h>

#include "base/set.h"
#include "pack/manifest.h"
#include "pack/member_walk.h"
#include "pack/minisign.h"

struct import;

/* What one of the two kinds does. */
struct import_form {
	/* First pass: all of the pack is read and held against its manifest, and what is not for this
	 * machine is refused. JW_ERR_FORMAT: its content contradicts its manifest. */
	int (*check)(struct jw_error *err, struct import *import, struct reader *reader);
	/* By what the directory holds: verdicts, sums, groups, `wanted`. */
	int (*decide)(struct jw_error *err, struct import *import);
	/* For a dry run, which promises nothing that would fail. */
	int (*try_insert)(struct jw_error *err, const struct import *import);
	/* Second pass. */
	int (*insert)(struct jw_error *err, struct import *import);
};
extern const struct import_form import_of_entries, import_of_tree;

struct import_fate {
	enum jw_import_verdict verdict;
	bool insert;    /* accepted, and no other entry of the pack is for the same place */
	bool carried;   /* under this machine's stamp */
	bool older;     /* of the carried: an older compiler's, to be marked */
	uint32_t group; /* index in the result's groups */
	uint64_t key;   /* the name that it gets */
	uint64_t key_bytes;
	uint64_t checksum; /* of the cubin, as the driver computes it */
};

struct import {
	const struct jw_import_options *options;
	const struct jw_system *system; /* whose driver and GPUs decide; NULL: as it stands */
	const struct import_form *form;
	struct jw_import_result *result;
	struct source *source;
	struct pack_manifest manifest;
	struct minisign_signature signature; /* a trusted one, or zeros */
	uint64_t limit_bytes;
	uint64_t new_bytes;       /* that the disk must have room for */
	uint64_t most_kept_bytes; /* content up to here is unpacked once and kept for the second pass */
	uint32_t new_mode;        /* of a directory that is not there yet; 0: for this account alone */
	size_t wanted;            /* entries that are inserted or looked at again */

	/* Of a pack of entries */
	struct import_fate *fates; /* of each entry */
	size_t group_capacity;
	uint64_t room_bytes;   /* only_missing: what is left of the limit */
	struct set keys;       /* names that entries of this pack get */
	struct supply *supply; /* of a thin pack */
	struct member_walk walk;
};

/* Counts an entry of the manifest in the result's groups, by its fate and `why`. */
int import_put_into_group(struct jw_error *err, struct import *import, uint32_t at,
						  const char *why);
/* What stands before the payload in the key that an entry gets here. */
size_t import_key_start(char start[PACK_MOST_START], const struct import *import, uint32_t at);

/* JW_ERR_UNSUPPORTED where it is not known what the system's driver calls its entries. */
int import_needs_stamp(struct jw_error *err, const struct jw_system *system);

int import_check_entries(struct jw_error *err, struct import *import, struct reader *reader);
int import_decide_entries(struct jw_error *err, struct import *import);
int import_try_entries(struct jw_error *err, const struct import *import);
int import_insert_entries(struct jw_error *err, struct import *import);

/* What the driver's limit leaves in this cache, by its index. */
uint64_t import_free_room(const char *dir, uint64_t limit_bytes);

/* Why an entry of a cache that is filled again stays out. */
#define IMPORT_NO_ROOM "no room in the cache"
