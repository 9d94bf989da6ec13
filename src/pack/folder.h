/* A store's folder that other machines use as well, which may be on a server that does not answer.
 * A process of its own (folder_worker.c) reads and writes it: no signal may be able to end a thread
 * that waits for a dead file server, and such a thread would keep the program from ending. */
#pragma once

#include <jitwarm/store.h>

#include "base/cancel.h"

/* The task's name, in place of the file that names another compiler (driver/task.h). */
#define FOLDER_TASK "store"
/* Separates a message of the process and its translation. */
#define FOLDER_TRANSLATION "\x1f"

/* The time after which a folder counts as silent. A process that copies reports each block. */
enum { FOLDER_SILENCE_MS = 10000 };

struct folder_request {
	const struct jw_store_folder *folder;
	const struct jw_system *system;
	unsigned silence_ms; /* 0 for FOLDER_SILENCE_MS */
	struct jw_cancel cancel;
};

/* Copies the packs that have wanted entries, and that the folder's rules trust, into the folder
 * `into`, with the driver's own before those of other drivers of its CUDA version. Returns -1 if
 * the folder cannot be used: JW_ERR_NOT_FOUND if it does not exist; JW_ERR_INTERRUPTED. */
int folder_fetch(struct jw_error *err, const struct folder_request *request, const uint64_t *keys,
				 const uint64_t *key_bytes, size_t count, const char *into,
				 struct jw_store_traffic *ret_traffic);
/* Copies all packs in the folder `from` into the shared folder: the signature first, and each file
 * under a temporary name until it is complete. */
int folder_put(struct jw_error *err, const struct folder_request *request, const char *from,
			   struct jw_store_traffic *ret_traffic);

/* The message to the process: one line of JSON, then a line for each wanted entry with its name and
 * the length of its key. */
struct folder_job {
	char folder[4096], local[4096]; /* the shared folder, and this run's own */
	char state[4096];               /* the directory with the trusted keys */
	char stamp[64];                 /* the driver's */
	char **names; /* the beginnings of the names of the driver's packs: "sm_86-550.163.01-" */
	size_t name_count;
	uint32_t cuda;
	uint64_t most_bytes; /* the most bytes of a pack */
	bool put, allow_unsigned;
};
struct json_table;
extern const struct json_table folder_job_table;
