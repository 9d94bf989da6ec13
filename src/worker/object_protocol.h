/* The protocol between supervisor and the worker that speaks to a shared place of objects
 * (share/object_worker.c): one JSON object per line. The first line to it is the place, then come
 * jobs; each is answered once, in any order. That worker reads what strangers wrote, so its answers
 * are read as hostile input. */
#pragma once

#include <stdbool.h>
#include <stdint.h>

#include <jitwarm/share.h>
#include <jitwarm/system.h>

#include "base/buf.h"
#include "base/error.h"

/* In place of the file that names another compiler (worker/task.h) */
#define OBJECT_TASK "share"

enum { OBJECT_MOST_HOSTS = 64 };
/* In the folder of object_setup: the names of the plan's entries, as this machine's numbers */
#define OBJECT_PLAN_NAMES "plan"
/* While requests are under way, the worker says so often whether anything is heard. Where it lacks
 * processor time, that comes later, and nobody blames the place. */
enum { OBJECT_BEAT_MS = 200 };

/* What that worker has to know. */
struct object_setup {
	const char *folder; /* of this run, for its files */
	const struct jw_system *system;
	const struct jw_share_options *options;
	uint64_t
		plan_bytes; /* the most that a pack of the whole plan can have; 0: none is looked for */
};

enum object_what {
	OBJECT_LOOK,  /* take the entry, if it is there */
	OBJECT_CLAIM, /* the same; if it is not there, claim it */
	OBJECT_PUT,   /* put the entry there */
	OBJECT_PLAN,  /* put a pack of the whole plan there, unless somebody has */
	OBJECT_WHATS,
};

struct object_job {
	uint64_t id;
	enum object_what what;
	uint64_t key;
	uint16_t sm;
	uint64_t most_bytes; /* of the entry's pack */
	uint64_t seconds;    /* validity of a claim */
	uint64_t dead;       /* a claim that no longer counts; 0: none */
};

enum object_said {
	OBJECT_BEAT,    /* no answer: it has begun, or bytes have arrived for OBJECT_BEAT_MS */
	OBJECT_QUIET,   /* no answer: none has, while requests were under way */
	OBJECT_HERE,    /* the entry is in the folder of this job: object_folder */
	OBJECT_MISSING, /* it is not there; `why`: or it is not to be trusted */
	OBJECT_OURS,    /* it is not there, and we have claimed it */
	OBJECT_THEIRS,  /* it is not there, and `claim` is another node's, valid for `seconds` */
	OBJECT_PLACED,  /* it was put there */
	OBJECT_LATER,   /* the place answers that it cannot now: `why`, and for `seconds` if not 0 */
	OBJECT_FAILED,  /* no answer came, or a broken one: `why` */
	OBJECT_GONE,    /* the place does not work: `why` */
	OBJECT_SAIDS,
};

struct object_answer {
	uint64_t id;
	enum object_what what;
	enum object_said said;
	uint64_t claim, seconds;
	uint64_t bytes; /* of the pack */
	char why[512];
};

/* Each appends one line, with its line feed, to `line`. */
int object_put_setup(struct jw_error *err, struct buf *line, const struct object_setup *setup);
int object_put_job(struct jw_error *err, struct buf *line, const struct object_job *job);
int object_put_answer(struct jw_error *err, struct buf *line, const struct object_answer *answer);

/* The setup as it arrived; object_setup_free frees it. */
struct object_given {
	struct object_setup setup;
	struct jw_system system;
	struct jw_share_options options;
	const char *hosts[OBJECT_MOST_HOSTS];
	void *document; /* holds the texts */
};

/* Each reads one line, without its line feed. JW_ERR_FORMAT for any other line. */
int object_get_setup(struct jw_error *err, const char *line, size_t size,
					 struct object_given *ret_given);
void object_given_free(struct object_given *given);
int object_get_job(struct jw_error *err, const char *line, size_t size, struct object_job *ret_job);
int object_get_answer(struct jw_error *err, const char *line, size_t size,
					  struct object_answer *ret_answer);

/* FOLDER/KEY, a cache of the one entry that was fetched. The caller frees it. */
char *object_folder(struct jw_error *err, const char *folder, uint64_t key);
