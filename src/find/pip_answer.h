/* The answers of index.py, which runs in pip's Python: lines of JSON, in which an index may have
 * written any text. */
#pragma once

#include "base/error.h"
#include "find/pip.h"

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
