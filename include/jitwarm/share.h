/* Packs in a registry (OCI Distribution 1.1): one machine compiles, machines of its kind pull.
 * docs/share.md.
 *
 * A name is "oci://HOST[:PORT]/REPOSITORY[:TAG|@DIGEST]". Names and passwords come from the files
 * of docker and podman, and from the programs that they name. Nothing that a registry sends is
 * trusted except what a trusted key has signed.
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

JW_BEGIN_DECLS

/* What went over the wire. */
struct jw_traffic {
	uint64_t requests;
	uint64_t sent_bytes, received_bytes; /* of bodies */
	size_t blobs_sent, blobs_there;      /* uploaded; not uploaded, since the registry has them */
	size_t resumed;                      /* downloads continued after they had broken off */
};

enum { JW_PLAN_TAG = 43 }; /* "p-", 40 hex digits, NUL */

/* ---- push */

struct jw_push_options {
	size_t size;    /* JW_PUSH_OPTIONS_INIT sets it (jitwarm/api.h) */
	const char *to; /* without a tag: each plan's own tag alone; needed for a whole cache */
	/* Its cache, driver and GPUs: one pack for each architecture. May be NULL with `pack`. */
	const struct jw_system *system;
	const char *cache_dir; /* another directory than the system's */
	const char *pack; /* this file instead, with its signature in PACK.minisig, if that is there */
	/* Only entries of modules in these files, whose plan gives the tag. NULL: all entries. */
	const struct jw_found *found;
	const char *sign_key; /* NULL: not signed; a key's name, or the file of a secret key */
	const char *passphrase;
	const char *state_dir;             /* the directory with the keys; NULL: the system's */
	bool insecure;                     /* plain HTTP to a registry on this machine */
	const char *const *insecure_hosts; /* and to these: "HOST" or "HOST:PORT" */
	size_t insecure_host_count;
	uint64_t timeout_ms; /* of a silent registry; 0: 30 s */
	struct jw_cancel cancel;
};
#define JW_PUSH_OPTIONS_INIT JW_INIT(jw_push_options)

struct jw_pushed_pack {
	char plan[JW_PLAN_TAG]; /* its tag */
	char digest[72];        /* of its manifest: "sha256:…" */
	char targets[256], drivers[512];
	size_t entries, missing; /* in the pack; of the plan, not in the cache */
	uint64_t pack_bytes;
	char signed_by[17]; /* id of the key, "" if it is not signed, or was not signed now */
	char public_key[64];
	bool there;  /* the registry had exactly this manifest */
	bool fuller; /* the registry keeps a pack of this plan with more entries */
};

struct jw_push_result {
	char place[512]; /* "HOST/REPOSITORY" */
	char tag[132];   /* that was set beside the plans', "" for none */
	struct jw_pushed_pack *packs;
	size_t pack_count;
	struct jw_traffic traffic;
	double seconds;
};

/* JW_ERR_NOT_FOUND: nothing to push; JW_ERR_USAGE: not such a name; JW_ERR_IO: the registry cannot
 * be reached, or refuses; JW_ERR_FORMAT: its answers make no sense. The manifest comes last: a push
 * that fails leaves nothing that a pull could find. The caller frees with jw_push_result_free. */
int jw_push(struct jw_error *err, const struct jw_push_options *options,
			struct jw_push_result **ret_result);
void jw_push_result_free(struct jw_push_result *result);

/* ---- pull */

struct jw_pull_options {
	size_t size; /* JW_PULL_OPTIONS_INIT sets it (jitwarm/api.h) */
	/* Without a tag or digest: the packs of the plans of `found`, which is needed then */
	const char *from;
	const struct jw_found *found; /* with a tag: only entries of modules in these files */
	/* How each pack is imported. `path`, `wanted` and `context` are ignored; `system`
	 * is needed. */
	const struct jw_import_options *how;
	bool insecure; /* as in jw_push_options */
	const char *const *insecure_hosts;
	size_t insecure_host_count;
	uint64_t timeout_ms;
	struct jw_cancel cancel;
	void *context; /* of the function below */
	void (*progress)(void *context, uint64_t done_bytes, uint64_t total_bytes); /* may be NULL */
};
#define JW_PULL_OPTIONS_INIT JW_INIT(jw_pull_options)

struct jw_pulled_pack {
	char plan[JW_PLAN_TAG];          /* as its manifest says, "" if it does not */
	char digest[72];                 /* of its manifest */
	char targets[256], drivers[512]; /* as its manifest says */
	uint64_t pack_bytes;
	struct jw_import_result *import; /* NULL: */
	struct jw_error failed;
};

struct jw_pull_result {
	char place[512];
	struct jw_pulled_pack *packs;
	size_t pack_count, failed;
	size_t missed;                 /* plans without a pack there */
	char missed_plan[JW_PLAN_TAG]; /* the first of them */
	struct jw_traffic traffic;
	double seconds;
};

/* JW_ERR_NOT_FOUND: no such pack, or none that fits; JW_ERR_FORMAT: also one that no trusted key
 * has signed; otherwise as jw_push, and jw_import of the one pack. If one of several packs
 * fails, the others are still imported. The caller frees with jw_pull_result_free. */
int jw_pull(struct jw_error *err, const struct jw_pull_options *options,
			struct jw_pull_result **ret_result);
void jw_pull_result_free(struct jw_pull_result *result);

/* ---- a place of objects, used while compiling */

/* A directory that several machines share, a web server or an object store: single entries as
 * signed packs, taken before their modules are compiled, and put there afterwards
 * (jw_prime_options.share). Whatever happens to it, the work goes on. */
struct jw_share_options {
	size_t size; /* JW_SHARE_OPTIONS_INIT sets it (jitwarm/api.h) */
	/* A directory, https://HOST/PATH or s3://BUCKET/PREFIX (docs/share.md) */
	const char *place;
	const char *sign_key; /* NULL: what is put there is not signed; a key's name, or the file of a
							 secret key */
	const char *passphrase;
	const char *state_dir; /* the directory with the keys; NULL: the system's */
	bool allow_unsigned; /* takes what no trusted key has signed: who may write there is trusted */
	bool insecure;       /* plain HTTP to this machine */
	const char *const *insecure_hosts; /* and to these: "HOST" or "HOST:PORT" */
	size_t insecure_host_count;
};
#define JW_SHARE_OPTIONS_INIT JW_INIT(jw_share_options)

/* JW_ERR_USAGE: not such a place, or not oci://HOST/REPOSITORY[:TAG|@DIGEST]. Nobody is asked, and
 * nothing looked at: before any work. */
int jw_share_check(struct jw_error *err, const struct jw_share_options *options);
int jw_registry_name_check(struct jw_error *err, const char *name);

struct jw_shared {
	size_t fetched, placed, refused;      /* entries taken from there, put there, and not trusted */
	uint64_t fetched_bytes, placed_bytes; /* of their packs */
	double saved_seconds;                 /* predicted for compiling the fetched ones on one core */
	char refused_why[512];                /* a line on the first of the refused ones */
	/* Why it was used no further; with `unplaced`, why so many entries could not be put there,
	 * while others could be taken; "" if it worked. */
	char trouble[512];
	size_t unplaced;
};

JW_END_DECLS

#endif
