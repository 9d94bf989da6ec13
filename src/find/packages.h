/* The packages of an environment: their names, files and requirements. */
#pragma once

#include "find/found.h"
#include "find/package_files.h"
#include "find/sites.h"

enum { PACKAGES_MAX = 1 << 18 };

/* A package by its name. */
struct package_name {
	const char *name;
	size_t at;
};

struct packages {
	void *owner; /* base/arena.h */
	const struct sites *environment;
	struct package *items; /* sorted in the order of the sites, conda's last */
	size_t count, capacity;
	struct package_name *names; /* sorted by name, then by place, without hidden packages */
	size_t name_count;
	struct set modules; /* the package of each module, by the hash of the module's name */
	bool modules_read;
};

/* Reads the names of the installed packages without opening their files. */
int packages_open(struct jw_error *err, const struct sites *environment,
				  struct packages *ret_packages);
void packages_close(struct packages *packages);

/* Returns the first package with that normalised name at or after `start`, or SET_NONE. A package
 * in an earlier folder of sys.path hides one in a later folder; conda's own record of a package
 * counts in addition. */
size_t packages_find(const struct packages *packages, const char *name, size_t start);

/* Returns whether the package's version is the wanted one ("": any); true if the record's name has
 * no version. Writes the installed version to `ret_version`, "" if it is unknown. */
bool packages_is_version(const struct package *package, const char *wanted,
						 char ret_version[PACKAGE_MAX_NAME]);

/* Finds the package with a top-level module of this name ("cv2"); *ret_at is SET_NONE if there is
 * none. The first call reads the records of all packages, which count as those of `list`. */
int packages_find_module(struct jw_error *err, struct packages *packages, struct found_list *list,
						 const char *module, size_t *ret_at);

/* Names the packages of the files of the list from `first` on that lie in a folder of packages
 * (site-packages) and have none so far, so that they are judged together. */
int packages_name_owners(struct jw_error *err, struct found_list *list, size_t first);

/* Lists some of the installed packages whose code runs on GPUs, for a message: "a, b". */
void packages_name_gpu(const struct packages *packages, char *text, size_t size);
