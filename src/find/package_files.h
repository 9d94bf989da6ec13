/* The files of an installed package: its RECORD (PEP 376 and 627: CSV), and the paths in it. */
#pragma once

#include <stdbool.h>

#include "base/buf.h"
#include "base/cursor.h"
#include "base/error.h"
#include "find/found.h"
#include "find/requirement.h"
#include "find/sites.h"

/* The files that describe packages: RECORD, METADATA, conda's JSON. Another account can make any
 * number of packages from one such file by links, and large ones from holes; so a search reads a
 * RECORD once, by its device and inode, and at most this many bytes together. A row of a RECORD has
 * about 100 bytes: an environment of 5 million files would reach this. */
enum { DESCRIBED_MAX_BYTES = 512 << 20 };

/* Fails if the search is cancelled or has read that many bytes; `path` is the package's. */
int described_check(struct jw_error *err, const struct found_list *list, const char *path);
/* Reads such a file and counts its bytes. */
int described_read(struct jw_error *err, struct found_list *list, const char *path, size_t most,
				   struct buf *ret_text);
/* Same, but *ret_text stays empty if `seen` has the file already. */
int described_read_once(struct jw_error *err, struct found_list *list, struct found_seen *seen,
						const char *path, size_t most, struct buf *ret_text);

enum { RECORD_MAX_BYTES = 64 << 20, RECORD_MAX_PATH = 32768 };

/* Reads the first field of the next row, unquoted, into `path` (cleared first). False at the end.
 * Skips rows whose field is empty, contains a NUL or is longer than RECORD_MAX_PATH. */
bool wheel_record_next(struct cursor *cursor, struct buf *path);

/* Returns `path`, relative to `base` or absolute, without "." and "..", resolved by its text only.
 * NULL and JW_ERR_FORMAT if it leaves `root`. `base` and `root` are absolute. The caller frees
 * it. */
char *wheel_record_resolve(struct jw_error *err, const char *root, const char *base,
						   const char *path);

/* conda's record of an installed package: conda-meta/NAME-VERSION-BUILD.json. */
enum { CONDA_MAX_BYTES = 64 << 20 };

struct conda_package {
	char *name, *version;
	char **files; /* relative to the environment's prefix, with '/' between names */
	size_t file_count;
	char **depends; /* only their names, as conda writes them */
	size_t depend_count;
};

/* The caller frees the package with jw_result_free. */
int conda_parse(struct jw_error *err, const void *data, size_t size,
				struct conda_package **ret_package);

enum package_kind { PACKAGE_DIST_INFO, PACKAGE_EGG_INFO, PACKAGE_CONDA };

struct package {
	char *name; /* normalised */
	char *path; /* its .dist-info or .egg-info (folder or file), or its JSON in conda-meta */
	enum package_kind kind;
	size_t site; /* index into environment.sites; unused for conda */
};

/* Adds the files of a package that may hold device code to the list, and appends its requirements
 * to `wanted` unless that is NULL. requirement_applies describes `extras`. An unreadable file
 * becomes a trouble or a note in the list. */
struct requirements {
	struct requirement *items;
	size_t count, capacity;
	struct set added; /* "name[extras]" of all that were ever added, by their hash */
};
int package_take(struct jw_error *err, const struct sites *environment,
				 const struct package *package, const char *extras, struct found_list *list,
				 struct requirements *wanted);
/* Adds a requirement, unless it was added before. */
int requirements_add(struct jw_error *err, struct requirements *wanted,
					 const struct requirement *requirement);
