/* Versions of Python packages, and what is asked of them (PEP 440). */
#pragma once

#include "base/text.h"

enum { VERSION_LABEL = 48, VERSION_TEXT = 128 };

/* 2.0rc1.post1.dev3+cu121 */
struct package_version {
	struct version numbers;
	int order[4];              /* stage (rc: -1), its number, post, dev: the larger is newer */
	char label[VERSION_LABEL]; /* "cu121"; of an odd one all that is behind its numbers */
	bool odd;                  /* conda's 1.1.1w: not as PEP 440 writes versions */
};

/* False if it does not begin with a number. */
bool package_version_read(const char *text, size_t length, struct package_version *ret_version);
/* -1, 0 or 1, whatever the labels are. */
int package_version_order(const struct package_version *a, const struct package_version *b);
/* Neither a pre-release nor a developers' one. */
bool package_version_is_final(const struct package_version *version);

/* Whether `text` is a list of clauses such as ">=1.3,<2", "~=2.1", "==1.3.*", "!=1.4" or conda's
 * "=1.3"; blanks between its parts do not count. The empty list is one. */
bool version_is_wanted(const char *text);
/* Whether the version satisfies each of them, as pip has it. */
bool package_version_fits(const struct package_version *version, const char *wanted);
/* The same for what is installed: 2.1.0a0+git is a 2.1 there, and less than that only for clauses
 * that say what is behind their numbers. A version that does not begin with a number satisfies the
 * empty list alone. */
bool version_fits(const char *version, const char *wanted);
