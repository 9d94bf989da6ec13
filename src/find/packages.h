/* The packages of an environment: which there are, which files they have, what they require. */
#ifndef JW_FIND_PACKAGES_H
#define JW_FIND_PACKAGES_H

#include "find/requirement.h"
#include "find/sites.h"

enum { PACKAGES_MOST = 1 << 18 };

enum package_kind { PACKAGE_DIST_INFO, PACKAGE_EGG_INFO, PACKAGE_CONDA };

struct package {
	char *name; /* normalised */
	char *path; /* its .dist-info or .egg-info (folder or file), or its JSON in conda-meta */
	enum package_kind kind;
	size_t site; /* index in environment.sites; none for conda */
};

struct packages {
	const struct sites *environment;
	struct package *items; /* in the order of the sites, conda's last */
	size_t count, capacity;
	struct set by_name;
};

/* Reads the names of what is installed; nothing of it is opened yet. */
int packages_open(struct jw_error *err, const struct sites *environment,
				  struct packages *ret_packages);
void packages_close(struct packages *packages);

/* The first package of that normalised name at or behind `start`, SET_NONE where there is none.
 * What an earlier folder of sys.path has hides what a later one has; conda's own record of a
 * package counts beside it. */
size_t packages_find(const struct packages *packages, const char *name, size_t start);

/* The package that has a top-level module of this name ("cv2"), SET_NONE where there is none. Reads
 * the records of all packages. */
size_t packages_find_module(const struct packages *packages, const char *module);

/* Adds the files of a package that may hold device code to the list; what it requires is appended
 * to `wanted` where that is not NULL. `extras` as in requirement_applies. What cannot be read
 * becomes a trouble or a note in the list. */
struct wanted {
	struct requirement *items;
	size_t count, capacity;
};
int packages_take(struct jw_error *err, const struct packages *packages, size_t at,
				  const char *extras, struct found_list *list, struct wanted *wanted);
int wanted_add(struct jw_error *err, struct wanted *wanted, const struct requirement *requirement);

#endif
