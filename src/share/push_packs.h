/* The packs of a push: made of a cache, one for each architecture, or a file; signed; and as blobs
 * with their manifest. */
#pragma once

#include "pack/minisign.h"
#include "share/artifact.h"
#include "share/blobs.h"
#include "state/run_folder.h"

enum { PUSH_CONFIG, PUSH_SIGNATURE, PUSH_PACK, PUSH_BLOBS };

struct push_pack {
	struct artifact artifact;
	char own_digest[REFERENCE_DIGEST]; /* of `manifest`, whatever the registry has instead */
	size_t missing;                    /* entries of the plan that the cache lacks */
	char signed_by[MINISIGN_ID_TEXT], public_key[MINISIGN_PUBLIC_TEXT];
	struct blob blobs[PUSH_BLOBS]; /* without a digest: there is none */
	struct buf config, signature, manifest;
	char *path;
	struct os_file *file;
};

struct push_packs {
	struct push_pack *items;
	size_t count;
	struct run_folder folder;
	struct minisign_secret secret;
};

/* JW_ERR_NOT_FOUND: nothing to push. The caller frees in any case. */
int push_packs_make(struct jw_error *err, const struct jw_push_options *options,
					struct push_packs *packs);
void push_packs_free(struct push_packs *packs);
