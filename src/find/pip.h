/* pip, the only program that contacts package indexes: that of the active environment's Python,
 * else of the Python on PATH, else the wheel of pip that one of them brings for ensurepip, else
 * those of a Python that uv finds. An index's pip would be code of the index, so none is fetched.
 * It runs as this account, never runs code of the packages that it gets (only wheels, without the
 * packages that they require), and ends with this process. Its output is not trusted: texts, files
 * and times are bounded. */
#pragma once

#include <jitwarm/compiler.h>
#include <jitwarm/scan.h>

#include "base/buf.h"
#include "base/error.h"
#include "os/file.h"

struct pip_options {
	const char *folder;   /* an empty folder that only this account can write to: pip writes all its
							 files there, and the caller removes it */
	const char *platform; /* "x86_64-linux", as in jw_platform; NULL for the Python's platform */
	const char *python;   /* "3.11"; NULL for the active environment's */
	bool any_python;      /* the package contains no Python code, so any version will do */
	const char *by_hand;  /* for a message: what to do without pip */
	/* Receives the progress, and tells when to stop. */
	const struct jw_compiler_fetch_options *fetch;
};

struct pip;

/* Prepares pip, and starts nothing yet. `options` and the objects that it points to must outlive
 * it. */
int pip_open(struct jw_error *err, const struct pip_options *options, struct pip **ret_pip);
void pip_close(struct pip *pip);

/* Gets the wheel for the content of a requirements file (pip_lines_read). *ret_path is in the
 * folder; the caller frees the text, and the next call removes the file. Otherwise the error has
 * pip's own words, without a password. JW_ERR_NOT_FOUND if pip finds no wheel, or there is no
 * pip. */
int pip_download(struct jw_error *err, struct pip *pip, const char *lines, char **ret_path);
/* Gets the wheels for many lines at once, each once; the caller frees their names. A line may have
 * no wheel because of its marker. */
int pip_download_all(struct jw_error *err, struct pip *pip, const char *lines,
					 struct os_names *ret_names);
/* Returns the path of a wheel that pip_download_all has named; the caller frees it. */
char *pip_downloaded(const struct pip *pip, const char *name);

/* Why the last download has failed with JW_ERR_NOT_FOUND, or with JW_ERR_IO for PIP_LACKS_INDEX. */
enum pip_lack {
	PIP_LACKS_NOTHING, /* another reason: there is no pip */
	PIP_LACKS_INDEX,   /* an index cannot be reached, refuses the login, or fails */
	PIP_LACKS_PACKAGE, /* the name is unknown */
	PIP_LACKS_ACCESS, /* the index does not show the package to this account, or does not know it */
	PIP_LACKS_ANY_WHEEL, /* there is only source code */
	PIP_LACKS_WHEEL,     /* there is no wheel for this Python and system */
	PIP_LACKS_VERSION    /* the requested version does not exist */
};
enum pip_lack pip_lack(const struct pip *pip);

/* The wheels of a package in the indexes, each once, also for other systems and Pythons. */
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
	char *index; /* "index.example/simple"; if there are several, the first one */
	struct pip_file *items;
	size_t count, capacity;
};
/* Lists them. The sizes that the index does not tell are asked of it one by one if `sized` has the
 * wheels' names (with a blank between two). Without any wheel it fails as pip_download. */
int pip_list(struct jw_error *err, struct pip *pip, const char *package, const char *sized,
			 struct pip_listing *ret_listing);
void pip_listing_free(struct pip_listing *listing);

/* Removes text that may be a password, in place: everything before the host of each address in
 * it. */
void pip_hide_passwords(char *text);

/* The most bytes of a line of a list or of a program's output, and of an address: a package's
 * hashes take some thousands, pip's own lines some hundreds. */
enum { PIP_MAX_LINE = 1 << 18 };

/* ---- the input that pip may get (pip_lines.c), since pip builds packages that are not wheels,
 * which runs their code */

/* Returns NAME, with extras and version clauses ("torch>=2.1,<2.3"), in the form for pip: the name
 * is normalised (PEP 503), so it has no dot, and no version ends like an archive, so pip finds no
 * file by it. NULL for a file, an address, an option, or something else. The caller frees it. */
char *pip_requirement(const char *text);

struct pip_lines {
	struct buf options;      /* lines with indexes that the list itself names */
	struct buf requirements; /* lines of requirements, with markers and hashes */
	struct jw_package_list left_out;
	struct jw_package_list packages; /* the packages of a report, which has no lines */
};
/* Reads a requirements file, a pylock.toml or pip's report; `name` is the file's. JW_ERR_FORMAT if
 * it is none of these, or names no package. */
int pip_lines_read(struct jw_error *err, const char *name, const void *data, size_t size,
				   struct pip_lines *ret_lines);
void pip_lines_free(struct pip_lines *lines);
/* Reads the packages of pip's report. */
int pip_report_read(struct jw_error *err, const void *data, size_t size,
					struct jw_package_list *ret_packages);
