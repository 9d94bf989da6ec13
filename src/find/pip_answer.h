/* The answers of index.py, which runs in pip's Python: lines of JSON, in which an index may have
 * written any text. */
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/error.h"

/* A wheel of an index. */
struct pip_file {
	char *name, *version; /* the version is normalised */
	char *systems;        /* "linux,windows", "any", or a tag that jitwarm has no name for */
	char *pythons;        /* as in a list of wheels: "cp310,cp38+" */
	char *address;        /* without a password */
	char sha256[65];      /* "": the index does not tell */
	uint64_t size_bytes;  /* 0: not known */
	bool best; /* pip would take it for its version, on the platform and Python of the options */
	bool pre, yanked;
	bool requires_known; /* it was downloaded, or pip_requires found them */
	char **required;     /* its requirements as they are written */
	size_t required_count;
};
struct pip_listing {
	void *owner; /* of all below (base/arena.h) */
	char *index; /* "index.example/simple"; if there are several, the first one */
	struct pip_file *items;
	size_t count, capacity;
	char **sources; /* the versions of which there is only source code */
	size_t source_count;
};
void pip_listing_free(struct pip_listing *listing);

/* The thing that is missing if a question has failed. */
enum pip_lack {
	PIP_LACKS_NOTHING, /* another reason: there is no pip */
	PIP_LACKS_INDEX,   /* an index cannot be reached, refuses the login, or fails */
	PIP_LACKS_PACKAGE, /* the name is unknown */
	PIP_LACKS_ACCESS, /* the index does not show the package to this account, or does not know it */
	PIP_LACKS_ANY_WHEEL, /* there is only source code */
	PIP_LACKS_WHEEL,     /* there is no wheel for this Python and system */
	PIP_LACKS_VERSION    /* the requested version does not exist */
};
struct pip_answer {
	struct pip_listing listing;
	uint64_t total_bytes; /* of the wheels that are downloaded */
	enum pip_lack lack;
	/* why there is no answer; the code 0 if there is one. JW_ERR_UNSUPPORTED: this Python has no
	 * pip, or an old one */
	struct jw_error failure;
};

/* Reads a line into the answer. Returns 1 if it is the last one, 0 if more follow, or -1 if it is
 * no answer (JW_ERR_FORMAT). `folder` is where wheels are downloaded, for a message. */
int pip_answer_read(struct jw_error *err, struct pip_answer *answer, const char *line,
					const char *folder);
void pip_answer_free(struct pip_answer *answer);
