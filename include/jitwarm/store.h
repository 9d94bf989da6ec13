/* The store: packs of compiled entries in a folder. That of the state directory refills this
 * account's cache after the driver has wiped it or evicted entries; another folder is for machines
 * that share it, which accept only packs that a trusted key has signed.
 *
 * Threads: several processes and threads may use one store. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <jitwarm/cancel.h>
#include <jitwarm/error.h>
#include <jitwarm/system.h>

#define JW_STORE_DEFAULT_BYTES (UINT64_C(2) << 30)

struct jw_store_pack {
	char name[96]; /* "sm_86-550.163.01-0123456789abcdef.jwpack" */
	uint64_t bytes, content_bytes;
	size_t entries;
	char targets[256], drivers[512];
	int64_t mtime_ns;
	char damage[512]; /* why it cannot be read; "" if it can */
	bool broken;      /* permanently unreadable: not a pack, or only a part of one */
};

struct jw_store {
	char *path;
	struct jw_store_pack *packs; /* the oldest first */
	size_t count;
	uint64_t bytes;
};

struct jw_store_options {
	const char *state_dir;
	const char *folder; /* the folder; NULL for the store of the state directory */
};

/* Lists a store, with the digest of each pack and its manifest. A missing store of a state
 * directory is empty; another missing folder is JW_ERR_NOT_FOUND. The caller frees the list. */
int jw_store_open(struct jw_error *err, const struct jw_store_options *options,
				  struct jw_store **ret_store);

struct jw_store_cleared {
	size_t removed; /* packs that were removed; with dry_run, packs to remove */
	uint64_t removed_bytes;
};

/* Removes all packs; with `superseded`, only packs all of whose
 * entries remain in other packs, which must be signed by a trusted key if the pack is. JW_ERR_BUSY
 * if another process is adding some. */
int jw_store_clear(struct jw_error *err, const struct jw_store_options *options, bool superseded,
				   bool dry_run, struct jw_store_cleared *ret_cleared);

/* ---- a folder that several machines use */

struct jw_store_folder {
	const char *path;      /* NULL: none is used */
	const char *state_dir; /* the directory with the keys; NULL for the system's */
	const char *sign_key;  /* a key's name, or the file of a secret key; NULL to leave new packs
							  unsigned */
	bool allow_unsigned;   /* accept packs that no trusted key has signed: whoever may write to the
							  folder is trusted */
	bool required;         /* a missing folder is an error, not a line */
};

struct jw_store_traffic {
	size_t packs;          /* packs that were taken from the folder */
	size_t refused;        /* packs that are damaged, or that no trusted key has signed */
	size_t placed;         /* entries of this run that were put into the folder */
	uint64_t placed_bytes; /* the size of their packs */
	char refused_why[512]; /* a line on the first refused pack */
	char trouble[512];     /* why the folder was not used any longer; "" if it worked */
};

/* A worker that reads and writes such a folder, like jw_worker_main, which compiles (worker.h):
 * whether this process was started as one, and its work. */
bool jw_is_store_worker(void);
int jw_store_worker_main(void);

struct jw_store_keep_options {
	const struct jw_system *system;
	/* The maximum size of the store after that; 0 for JW_STORE_DEFAULT_BYTES. */
	uint64_t most_bytes;
	struct jw_cancel cancel;
};

/* Stores entries of the system's cache for its driver and GPUs that no pack of the store has yet,
 * in one new pack for each architecture. Then removes broken packs, and the oldest ones until at
 * most `most_bytes` and 256 packs are left.
 * Sets *ret_entries to the number of the entries that it has stored; 0, without looking, if the
 * names of the driver's entries are unknown. JW_ERR_BUSY if another process is doing the same;
 * JW_ERR_INTERRUPTED; other codes if the cache cannot be read or the store cannot be written. */
int jw_store_keep(struct jw_error *err, const struct jw_store_keep_options *options,
				  size_t *ret_entries);

struct jw_store_refill_options {
	const struct jw_system *system;
	/* A folder of packs that are trusted, and its name in messages; NULL for the store of the
	 * system's state directory. */
	const char *folder, *shown;
	const uint64_t *keys;                 /* names of the wanted entries */
	const struct jw_identity *identities; /* whose entries they must be; NULL: any */
	size_t count;
	bool dry_run; /* only report, from the packs' manifests, what would be added */
	bool *found;  /* with dry_run: set for each entry that would be restored; may be NULL */
	struct jw_cancel cancel;
};

enum { JW_STORE_MAX_NOTES = 8 };

struct jw_store_refilled {
	size_t entries; /* entries restored; with dry_run, those that would be */
	uint64_t bytes;
	/* The first problems, one line each: damaged or unread packs, entries without room */
	char notes[JW_STORE_MAX_NOTES][512];
	size_t note_count, more_notes;
};

/* Adds the wanted entries that the system's cache lacks and the store has, as long as there is
 * room: evicts nothing. Skips damaged packs. */
int jw_store_refill(struct jw_error *err, const struct jw_store_refill_options *options,
					struct jw_store_refilled *ret_refilled);
