/* pip, which alone speaks to package indexes: that of the active environment's Python, else of the
 * Python on PATH, else one that uv lends. It runs as this account, never runs code of what it gets
 * (wheels alone, none of the packages that they require), and ends with this process. Nothing that
 * it says is trusted: texts, files and times are bounded. */
#pragma once

#include <jitwarm/compiler.h>
#include <jitwarm/scan.h>

#include "base/buf.h"
#include "base/error.h"
#include "os/file.h"

struct pip_options {
	const char *folder;   /* an empty one that only this account can write to: all that pip writes
							 goes there, and it is its caller's to remove */
	const char *platform; /* "x86_64-linux", as jw_platform; NULL: that of the Python */
	const char *python;   /* "3.11"; NULL: the active environment's */
	bool any_python;      /* what is asked for is no Python code */
	const char *by_hand;  /* what to do without pip and uv */
	const struct jw_compiler_fetch_options *fetch; /* how far it is; when to end */
};

struct pip;

/* Starts nothing yet. `options` and what it points to must outlive it. */
int pip_open(struct jw_error *err, const struct pip_options *options, struct pip **ret_pip);
void pip_close(struct pip *pip);

/* Gets the wheel of a requirements file's content (pip_lines_read). *ret_path is in the folder, for
 * the caller to free, and gone with the next call. Otherwise the error has pip's own words, without
 * a password. JW_ERR_NOT_FOUND: it finds none, or there is neither pip nor uv. */
int pip_download(struct jw_error *err, struct pip *pip, const char *lines, char **ret_path);
/* Gets the wheels of many lines at once, each one time; the caller frees their names. A line may
 * have none, by its marker. */
int pip_download_all(struct jw_error *err, struct pip *pip, const char *lines,
					 struct os_names *ret_names);
/* The path of a wheel that pip_download_all has named, for the caller to free. */
char *pip_downloaded(const struct pip *pip, const char *name);

/* Why the last download has failed with JW_ERR_NOT_FOUND, or with JW_ERR_IO for PIP_LACKS_INDEX. */
enum pip_lack {
	PIP_LACKS_NOTHING,   /* it failed for another reason: there is neither pip nor uv */
	PIP_LACKS_INDEX,     /* an index cannot be reached, refuses the login, or fails */
	PIP_LACKS_PACKAGE,   /* an unknown name */
	PIP_LACKS_ACCESS,    /* an index keeps the package to itself, or does not know it */
	PIP_LACKS_ANY_WHEEL, /* there is source code alone */
	PIP_LACKS_WHEEL,     /* for this Python and system */
	PIP_LACKS_VERSION    /* the asked one */
};
enum pip_lack pip_lack(const struct pip *pip);

/* What indexes have of a package: each wheel one time, also for other systems and Pythons. */
struct pip_file {
	char *name;
	char *address;       /* without a password */
	char sha256[65];     /* "": the index does not tell */
	uint64_t size_bytes; /* 0: not known */
	char python[8];      /* the oldest one that it is for ("3.9"); "": not known */
	bool fits;           /* pip would take it, for the platform and the Python of the options */
	bool yanked;
};
struct pip_listing {
	char *index; /* "pypi.org/simple"; of several: the one that was asked first */
	struct pip_file *items;
	size_t count, capacity;
};
/* Lists them. The sizes that the index does not tell are asked of it one by one if `sized` has the
 * wheels' names (with a blank between two). Without any wheel it fails as pip_download. */
int pip_list(struct jw_error *err, struct pip *pip, const char *package, const char *sized,
			 struct pip_listing *ret_listing);
void pip_listing_free(struct pip_listing *listing);

/* Takes what may be a password out of a text, in place: what is before the host of each address in
 * it. */
void pip_hide_passwords(char *text);

/* ---- what pip may be asked for (pip_lines.c): it builds what is no wheel, and that runs code of
 * the package. */

/* NAME, with extras and version clauses ("torch>=2.1,<2.3"), as pip gets it: the name is normalised
 * (PEP 503), so it has no dot, and no version ends like an archive, so pip finds no file by it.
 * NULL: a file, an address, an option, or something else. The caller frees it. */
char *pip_requirement(const char *text);

struct pip_lines {
	struct buf options;      /* lines with indexes of the list's own */
	struct buf requirements; /* lines of requirements, with markers and hashes */
	struct jw_package_list left_out;
	struct jw_package_list packages; /* of a report; then there are no lines */
};
/* Of a requirements file, a pylock.toml or pip's report; `name` is the file's. JW_ERR_FORMAT: it is
 * none, or names no package. */
int pip_lines_read(struct jw_error *err, const char *name, const void *data, size_t size,
				   struct pip_lines *ret_lines);
void pip_lines_free(struct pip_lines *lines);
/* The packages of pip's report. */
int pip_report_read(struct jw_error *err, const void *data, size_t size,
					struct jw_package_list *ret_packages);
