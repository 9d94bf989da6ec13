/* A pack as an OCI artifact: the manifest with its annotations, and the index of several. What is
 * read is hostile: it selects packs, and nothing else. docs/share.md has the layout. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/share.h>

#include "base/buf.h"
#include "pack/manifest.h"
#include "share/reference.h"

#define ARTIFACT_TYPE           "application/vnd.jitwarm.pack.v1"
#define ARTIFACT_CONFIG_TYPE    "application/vnd.jitwarm.pack.config.v1+json"
#define ARTIFACT_PACK_TYPE      "application/vnd.jitwarm.pack.v1.tar+zstd"
#define ARTIFACT_SIGNATURE_TYPE "application/vnd.jitwarm.pack.minisig.v1"

enum {
	ARTIFACT_STAMPS = PACK_MOST_DRIVERS * (CACHE_STAMP_SIZE + 1) + 1,
	ARTIFACT_CUDA = PACK_MOST_DRIVERS * sizeof "999.99",
	ARTIFACT_TITLE = 128,
	ARTIFACT_MOST = 256,
};

struct artifact_part {
	char digest[REFERENCE_DIGEST]; /* "": there is none */
	uint64_t size_bytes;
};

struct artifact {
	struct artifact_part manifest; /* where it is known */
	char plan[JW_PLAN_TAG];        /* its tag, "" */
	char targets[256], drivers[512];
	char stamps[ARTIFACT_STAMPS]; /* of its drivers, with commas */
	char cuda[ARTIFACT_CUDA];     /* their versions: "12.4", with commas */
	uint64_t entries, entry_bytes;
	struct artifact_part config, pack, signature;
	char title[ARTIFACT_TITLE]; /* a file name that is harmless everywhere, "" */
};

/* What a pack's own manifest says. */
void artifact_describe(struct artifact *artifact, const struct pack_manifest *manifest);
/* Whether a pack may be for this system: one of its GPUs, and its driver's stamp or CUDA version */
struct jw_system;
bool artifact_fits(const struct artifact *artifact, const struct jw_system *system);
/* Whether it would take the other one's place in an index. */
bool artifact_same_kind(const struct artifact *a, const struct artifact *b);

/* The same artifact gives the same bytes. */
int artifact_write_config(struct jw_error *err, const struct artifact *artifact, struct buf *text);
int artifact_write(struct jw_error *err, const struct artifact *artifact, struct buf *text);
int artifact_write_index(struct jw_error *err, const struct artifact *items, size_t count,
						 struct buf *text);

/* A manifest gives one item with its parts, an index the items' manifests. JW_ERR_FORMAT: neither
 * of jitwarm's; JW_ERR_LIMIT: more or larger than can be. At most ARTIFACT_MOST items. */
struct artifact_list {
	bool index;
	struct artifact *items;
	size_t count;
};
int artifact_read(struct jw_error *err, const char *text, size_t size,
				  struct artifact_list *ret_list);
/* What the registry has under a tag or a digest, with the digest of a manifest that stands alone.
 * JW_ERR_NOT_FOUND: nothing. */
struct registry;
int artifact_fetch(struct jw_error *err, struct registry *registry, const char *name,
				   struct artifact_list *ret_list);
void artifact_list_free(struct artifact_list *list);
