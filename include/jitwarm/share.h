/* Packs in a registry: one machine compiles, machines of its kind pull. docs/many-machines.md.
 *
 * A name is "oci://HOST[:PORT]/REPOSITORY[:TAG]". skopeo or oras, whichever is on PATH, carries the
 * packs and keeps the logins. Nothing that a registry sends is trusted except what a trusted key
 * has signed.
 *
 * Threads: any number of threads may call these functions at the same time. In a process, one pull
 * at a time per cache. */
#ifndef JITWARM_SHARE_H
#define JITWARM_SHARE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cancel.h>
#include <jitwarm/error.h>
#include <jitwarm/pack.h>
#include <jitwarm/system.h>

enum { JW_TAG = 129 };

/* ---- push */

struct jw_push_options {
	const char *to; /* without a tag: a pack for each GPU, tagged by names, GPU and driver */
	/* Provides cache, driver and GPUs. May be NULL with `pack`. */
	const struct jw_system *system;
	const char *cache_dir; /* another directory than the system's */
	/* Push this file instead, with its signature in PACK.minisig, if that exists. */
	const char *pack;
	/* Only entries of modules in these files. NULL for all entries. */
	const struct jw_found *found;
	const char *const *names; /* the names of these files as the user gave them, for the tag */
	size_t name_count;        /* if 0, the tag begins with "cache" */
	/* A key's name, or the file of a secret key; NULL to leave the pack unsigned. */
	const char *sign_key;
	const char *state_dir;          /* the directory with the keys; NULL for the system's */
	const char *const *plain_hosts; /* use plain HTTP for these: "HOST" or "HOST:PORT" */
	size_t plain_host_count;
	struct jw_cancel cancel;
};

struct jw_pushed_pack {
	char tag[JW_TAG];
	char targets[256], drivers[512];
	size_t entries;
	uint64_t pack_bytes;
	char signed_by[17]; /* the id of the key; "" if it was not signed now */
	char public_key[64];
};

struct jw_push_result {
	char place[512]; /* "HOST/REPOSITORY" */
	struct jw_pushed_pack *packs;
	size_t pack_count;
	double seconds;
};

/* Pushes packs. JW_ERR_NOT_FOUND if there is nothing to push; JW_ERR_USAGE if `to` is not such a
 * name; JW_ERR_UNSUPPORTED if neither skopeo nor oras is installed; JW_ERR_IO with the program's
 * message. The caller frees the result with jw_push_result_free. */
int jw_push(struct jw_error *err, const struct jw_push_options *options,
			struct jw_push_result **ret_result);
void jw_push_result_free(struct jw_push_result *result);

/* ---- pull */

struct jw_pull_options {
	const char *from; /* without a tag: the packs of `names` for each GPU here, and its driver */
	const char *const *names;
	size_t name_count;
	/* Options for importing each pack: `path` is ignored, `system` is required. */
	const struct jw_import_options *how;
	const char *const *plain_hosts; /* as in jw_push_options */
	size_t plain_host_count;
	struct jw_cancel cancel;
};

struct jw_pulled_pack {
	char tag[JW_TAG];
	uint64_t pack_bytes;
	struct jw_import_result *import; /* NULL if `failed` */
	struct jw_error failed;          /* JW_ERR_NOT_FOUND if the place has no such tag */
};

struct jw_pull_result {
	char place[512];
	struct jw_pulled_pack *packs; /* one for each requested tag */
	size_t pack_count, failed;
	double seconds;
};

/* Pulls and imports packs. JW_ERR_NOT_FOUND if there is no such pack, with the existing tags;
 * JW_ERR_FORMAT if it is not a pack, or no trusted key has signed it; otherwise as jw_push, and as
 * jw_import for a single pack. If one of several packs fails, the others are still imported. The
 * caller frees the result with jw_pull_result_free. */
int jw_pull(struct jw_error *err, const struct jw_pull_options *options,
			struct jw_pull_result **ret_result);
void jw_pull_result_free(struct jw_pull_result *result);

/* ---- a shared folder, used while compiling */

/* A folder that several machines mount. It holds single entries as signed packs, which are taken
 * before their modules are compiled, and put there afterwards (jw_prime_compile_options.share).
 * docs/internals/formats.md has its layout. If the folder fails, the work continues without it. */
struct jw_share_options {
	const char *folder;
	const char *sign_key;  /* a key's name, or the file of a secret key; NULL to leave new entries
							  unsigned */
	const char *state_dir; /* the directory with the keys; NULL for the system's */
	bool allow_unsigned;   /* accept entries that no trusted key has signed: everybody who may write
							  there is trusted */
};

/* These check names and do no work. JW_ERR_USAGE if `folder` cannot be a folder's path, or `name`
 * is not oci://HOST/REPOSITORY[:TAG]. */
int jw_share_check(struct jw_error *err, const char *folder);
int jw_registry_name_check(struct jw_error *err, const char *name);

struct jw_shared {
	size_t fetched;                       /* entries that were taken from the folder */
	size_t placed;                        /* entries that were added to the folder */
	size_t refused;                       /* entries of the folder that are not trusted */
	uint64_t fetched_bytes, placed_bytes; /* the size of these entries' packs */
	double saved_seconds;  /* the predicted time of compiling the fetched entries on one core */
	char refused_why[512]; /* a line on the first refused entry */
	/* Why the folder was no longer used; with `unplaced`, why so many entries could not be added,
	 * while others could be taken; "" if it worked. */
	char trouble[512];
	size_t unplaced;
};

/* A worker that reads and writes such a folder, like jw_worker_main, which compiles (worker.h):
 * whether this process was started as one, and its work. */
bool jw_is_share_worker(void);
int jw_share_worker_main(void);

#endif
