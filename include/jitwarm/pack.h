/* Packs: entries of a driver's cache in one compressed file, for other machines of the same kind.
 * docs/internals/formats.md.
 *
 * Threads: in a process, one import at a time per cache. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cache.h>
#include <jitwarm/cancel.h>
#include <jitwarm/error.h>
#include <jitwarm/system.h>
#include <jitwarm/target.h>

struct jw_found; /* jitwarm/find.h */

/* ---- export */

struct jw_export_options {
	const char *cache_dir;           /* the directory; NULL for that of `system` */
	const struct jw_system *system;  /* may be NULL if cache_dir is given */
	const struct jw_target *targets; /* only for these GPUs */
	size_t target_count;             /* 0 for any GPU */
	const char *const *paths; /* only entries of modules in these files, as jw_find lists them */
	size_t path_count;        /* 0 for any files */
	bool all_drivers;     /* also entries of other drivers than the system's, or without a system */
	const char *output;   /* the file; replaced when the pack is complete */
	bool best;            /* as small as possible, in forty times the time */
	const char *sign_key; /* a key's name, or the file of a secret key; NULL to leave the pack
							 unsigned. The signature is `output` plus ".minisig" */
	const char *state_dir; /* the directory with the keys */
	struct jw_cancel cancel;
	void *context; /* passed to the functions below */
	/* Returns whether to export the entry with this name; several threads call it. It is asked
	 * first without the identity (NULL), and again when the entry is read. NULL: every entry is
	 * exported. */
	bool (*wanted)(void *context, uint64_t key, const struct jw_identity *identity);
	const struct jw_found *found; /* only entries of modules in these files, in place of `paths` */
};

struct jw_export_result {
	size_t entries, modules, cubins; /* in the pack: entries, distinct PTX, distinct cubins */
	uint64_t entry_bytes;            /* the size of the entries' files */
	uint64_t content_bytes;          /* the size of distinct PTX and cubins */
	uint64_t pack_bytes;
	size_t damaged;       /* left out because they are not sound, or the driver refuses them */
	size_t not_cuda;      /* left out: OpenCL's entries, and those of an unknown form */
	size_t other_drivers; /* left out: entries of other drivers */
	size_t other_targets;
	size_t unsuited; /* sound, but unsuited for a pack: a cubin of an unknown ABI or another
						architecture, options that are not text, 32 bits */
	double seconds;
	char blake2b_512[129]; /* the hash of the whole file, as `b2sum` prints it */
	char targets[256];     /* "sm_70 sm_86" */
	char signed_by[17];    /* the id of the key; "" if the pack was not signed */
	char public_key[64];   /* the public key, as its receivers pass it to jw_key_trust */
	char drivers[512]; /* "550.163.01", or "built Feb  9 2019 19:17:30", with commas between them */
	/* Left out because this account may not read the files, or the disk cannot. */
	size_t unreadable;
};

/* Exports a pack. JW_ERR_NOT_FOUND if there is no such directory, or nothing in it to export;
 * JW_ERR_UNSUPPORTED if `found` is empty. Then no file is written. */
int jw_export(struct jw_error *err, const struct jw_export_options *options,
			  struct jw_export_result *ret_result);

/* ---- import */

enum jw_import_verdict {
	JW_IMPORT_NEW,
	JW_IMPORT_THERE,   /* the cache already has it */
	JW_IMPORT_REFUSED, /* no program would find it here, or it would do harm; `why` has the reason
						*/
};

/* Entries of a pack that share these values. */
struct jw_import_group {
	enum jw_import_verdict verdict;
	char target[JW_TARGET_TEXT];
	char driver[64]; /* the driver that made them: "550.163.01 (CUDA 12.4)", "built …" */
	bool carried;    /* made by another build of its CUDA version, and inserted with this machine's
						stamp */
	size_t entries;
	char why[512]; /* if refused: each mismatching field by name */
};

struct jw_import_options {
	const char *path;      /* the pack; its signature is this path plus ".minisig" */
	const char *cache_dir; /* the directory; NULL for the system's */
	/* The system whose driver and GPUs decide. If it is NULL, or has no driver, or one with an
	 * unknown stamp, the entries go unchanged into cache_dir, on any machine; without cache_dir
	 * that is JW_ERR_UNSUPPORTED. */
	const struct jw_system *system;
	uint64_t limit_bytes;  /* the driver's limit; 0 for the system's, or that of the environment */
	const char *state_dir; /* the directory with trusted keys */
	bool allow_unsigned; /* accept a pack without signature, or signed by a key that is not trusted
						  */
	bool dry_run;        /* check everything, also write permissions; write nothing */
	bool only_missing; /* keep existing entries, and evict nothing: entries without room are refused
						*/
	struct jw_cancel cancel;
	void *context; /* passed to the functions below */
	/* Returns whether to import the entry with this new name; others are refused. NULL: every entry
	 * is imported. */
	bool (*wanted)(void *context, uint64_t key, const struct jw_identity *identity);
};

struct jw_import_result {
	char *path; /* the cache directory */
	struct jw_import_group *groups;
	size_t group_count;
	bool as_is;   /* no driver of this machine decided (see jw_import_options.system) */
	bool dry_run; /* nothing was written (see jw_import_options.dry_run) */
	size_t entries;
	size_t accepted, there, refused; /* the sum of these is `entries` */
	size_t added, replaced;          /* those of the accepted entries; 0 for a dry run */
	/* In a dry run: the oldest entries of others that the driver would evict to keep to the cache's
	 * limit, and their size. Without it, such an import fails. */
	size_t evicted;
	uint64_t evicted_bytes;
	uint64_t accepted_bytes, added_bytes, pack_bytes, content_bytes;
	double seconds;
	char signed_by[64]; /* the name of the trusted key; "" if none has signed */
	char note[256];     /* a line about the signature, or "" */
};

/* Imports a pack. Writes nothing before the whole pack has been read and found sound.
 * JW_ERR_NOT_FOUND if there is no such file, or no signature by a trusted key; JW_ERR_FORMAT if it
 * is not a pack, or damaged; JW_ERR_UNSUPPORTED if it needs a newer jitwarm, or the driver caches
 * nothing; JW_ERR_LIMIT if it is larger than a pack may be, or than the limit of the driver's
 * cache, or if entries of others would be evicted (before anything is written);
 * JW_ERR_IO for missing space or permission; JW_ERR_INTERRUPTED. Entries added before a failure
 * stay and are sound; another run completes the import. The caller frees the result with
 * jw_result_free. */
int jw_import(struct jw_error *err, const struct jw_import_options *options,
			  struct jw_import_result **ret_result);
