/* Between the parts of jw_import: what becomes of each entry (import_check.c), and the insertion
 * (import.c). */
#ifndef JW_PACK_IMPORT_H
#define JW_PACK_IMPORT_H

#include <jitwarm/pack.h>

#include "base/set.h"
#include "cache/insert.h"
#include "pack/judge.h"
#include "pack/member_walk.h"
#include "pack/minisign.h"

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
	struct jw_import_result *result;
	struct source *source;
	struct pack_manifest manifest;
	struct import_fate *fates; /* of each entry */
	size_t group_capacity;
	struct set keys; /* names that entries of this pack get */
	uint64_t limit_bytes;
	uint64_t room_bytes; /* only_missing: what is left of the limit */
	uint64_t new_bytes;  /* that the disk must have room for */
	size_t wanted;       /* entries that are inserted or looked at again */
	struct cache_live *live;
	struct minisign_signature signature; /* a trusted one, or zeros */
	struct supply *supply;               /* of a thin pack */
	struct member_walk walk;
	struct import_writing *writing;
};

/* By the manifest alone: who is refused. */
int import_begin(struct jw_error *err, struct import *import);
/* For member_walk_pack: name, cubin and checksum of entries whose members are at hand. A pack whose
 * content contradicts its manifest is refused as a whole (JW_ERR_FORMAT). */
int import_check(struct jw_error *err, void *context, const struct member_walk *walk,
				 const uint32_t *entries, size_t count);
/* What the cache has already; sums and groups. */
int import_conclude(struct jw_error *err, struct import *import);

/* Of a directory that is not there yet; 0: for this account alone. */
uint32_t import_new_mode(const struct jw_import_options *options);

/* What the driver's limit leaves in this cache, by its index. */
uint64_t import_free_room(const char *dir, uint64_t limit_bytes);

/* Why an entry of a cache that is filled again stays out. */
#define IMPORT_NO_ROOM "no room in the cache"

/* What stands before the payload in the key that an entry gets here. */
size_t import_key_start(char start[PACK_MOST_START], const struct import *import, uint32_t at);

#endif
