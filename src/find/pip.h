/* pip, the only program that contacts package indexes: that of the active environment's Python,
 * else of the Python on PATH, else of a Python that uv finds; an installed one, else the wheel of
 * it that this Python brings for ensurepip. An index's pip would be code of the index, so none is
 * fetched. index.py runs in that Python, with pip's finder and session, and answers all questions
 * in one process, which ends with this one. It runs as this account, and never runs code of the
 * packages that it gets (only wheels, without the packages that they require). Its answers are not
 * trusted: texts, files and times are bounded. */
#pragma once

#include <jitwarm/compiler.h>
#include <jitwarm/scan.h>

#include "base/buf.h"
#include "base/error.h"
#include "find/pip_answer.h"

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

/* Lists the wheels of a package in the indexes, each once, the newest first, also those for other
 * systems and Pythons. Without any wheel it fails as pip_get. */
int pip_list(struct jw_error *err, struct pip *pip, const char *package,
			 struct pip_listing *ret_listing);
/* Asks for the sizes of wheels of a listing, one by one: `names` has a blank between two. A size
 * stays 0 if an index does not tell. */
int pip_sizes(struct jw_error *err, struct pip *pip, const char *names,
			  struct pip_listing *listing);
/* Reads the requirements of wheels of a listing from their ends; those of an index that sends no
 * parts of files stay unknown. */
int pip_requires(struct jw_error *err, struct pip *pip, const char *names,
				 struct pip_listing *listing);
/* Gets the wheels for lines of requirements, each once, with `options`, lines about indexes
 * (pip_lines_read). A line may have no wheel because of its marker. The wheels are in the folder
 * (pip_got) until the next call. JW_ERR_NOT_FOUND if no wheel fits, or there is no pip. */
int pip_get(struct jw_error *err, struct pip *pip, const char *options, const char *lines,
			struct pip_listing *ret_got);
/* Gets the one wheel of a line. The caller frees the path. */
int pip_get_one(struct jw_error *err, struct pip *pip, const char *options, const char *line,
				char **ret_path);
/* Returns the path of a wheel that pip_get has named; the caller frees it. */
char *pip_got(const struct pip *pip, const char *name);

/* Returns why the last question has failed with JW_ERR_NOT_FOUND, or with JW_ERR_IO for
 * PIP_LACKS_INDEX. */
enum pip_lack pip_lack(const struct pip *pip);

/* The most bytes of a line of a list, and of an address: a package's hashes take some
 * thousands. */
enum { PIP_MAX_LINE = 1 << 18 };

/* ---- the input that pip may get (pip_lines.c), since pip builds packages that are not wheels,
 * which runs their code */

/* Returns NAME, with extras and version clauses ("torch>=2.1,<2.3"), in the form for pip: the name
 * is normalised (PEP 503). NULL for a file, an address, an option, or something else. The caller
 * frees it. */
char *pip_requirement(const char *text);

struct pip_lines {
	struct buf options;      /* lines with indexes that the list itself names */
	struct buf requirements; /* lines of requirements, with markers and hashes */
	struct jw_package_list left_out;
	struct jw_package_list packages; /* the packages of a report, which has no lines */
};
/* Reads a requirements file, the table of “pip list”, a pylock.toml or pip's report; `name` is the
 * file's. JW_ERR_FORMAT if it is none of these, or names no package. */
int pip_lines_read(struct jw_error *err, const char *name, const void *data, size_t size,
				   struct pip_lines *ret_lines);
/* Reads such a file, or “-”, standard input, or /dev/fd/N, which the shell writes for “<(pip
 * freeze)”. The error names the file. */
int pip_lines_read_file(struct jw_error *err, const char *path, struct pip_lines *ret_lines);
void pip_lines_free(struct pip_lines *lines);
/* Reads the packages of pip's report. */
int pip_report_read(struct jw_error *err, const void *data, size_t size,
					struct jw_package_list *ret_packages);
