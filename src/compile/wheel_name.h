/* What wheels are called (PEP 427), and the order of their versions (PEP 440). */
#pragma once

#include <stdbool.h>

#include "base/text.h"

enum { WHEEL_MOST_NAME = 512, WHEEL_LOCAL = 48 };

/* What a version has behind its numbers (PEP 440): 2.0rc1.post1.dev3+cu121. Zeros: nothing. */
struct wheel_tail {
	int order[4];            /* stage (rc: -1), its number, post, dev: the larger is newer */
	char local[WHEEL_LOCAL]; /* "cu121" */
};

struct wheel_wanted {
	const char *package;    /* "nvidia-cuda-nvcc-cu12" */
	struct version version; /* 12.4 means any 12.4.x, 12.4.131 exactly that, no numbers any */
	const char *platform;   /* as in jw_platform: "x86_64-linux" */
	struct wheel_tail tail; /* of the version, which is exact then */
	const char *text;       /* the version for messages; NULL: its numbers */
	const char *ranges;     /* ">=2.1,<2.3" in place of a version; NULL: none */
	const char *hashes;     /* a text with the SHA-256 of each file that it may be; NULL: any */
};

/* What a wheel's name says. */
struct wheel_named {
	struct version version;
	struct wheel_tail tail;
	int rank; /* among those of one version, by the glibc that it needs: the newer one is built with
				 more. 0: for any platform. -1: for another one */
};

/* Reads what is behind a version's numbers; false: no version as PEP 440 writes it. */
bool wheel_tail_read(const char *text, struct wheel_tail *ret_tail);
/* The whole version, numbers and tail. */
bool wheel_version_read(const char *text, struct wheel_named *named);
/* Whether this is the file name (PEP 427) of a wheel of this package, for this platform or, with
 * rank -1, for another one. */
bool wheel_name_read(const struct wheel_wanted *wanted, const char *name,
					 struct wheel_named *ret_named);

/* Whether it names numbers alone, and not all of them: 12.4 is any 12.4.x. */
bool wheel_is_open(const struct wheel_wanted *wanted);
/* Clauses of PEP 440, but ===, without blanks; a pre-release only where one of them names one.
 * False: they are none. */
bool wheel_ranges_read(const char *text, const struct wheel_named *named, bool *ret_hold);
bool wheel_is_wanted(const struct wheel_wanted *wanted, const struct wheel_named *named);
/* Neither a pre-release nor a developers' one. */
bool wheel_is_final(const struct wheel_tail *tail);
bool wheel_is_newer(const struct wheel_named *a, const struct wheel_named *b);
